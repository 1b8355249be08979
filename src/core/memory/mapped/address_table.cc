// Reserved addresses and the physical memory that is mapped there.
#include "core/memory/mapped/address_table.h"

#include <utility>

#include "base/error/text.h"
#include "core/memory/mapped/peer_mapping.h"

namespace sampan::core {
namespace {

constexpr std::size_t kUnit = VirtualMemory::kGranularity;

std::uintptr_t Number(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address);
}

Status Unsupported() {
  return {Code::kFeatureNotSupport, "this backend cannot map memory at reserved addresses"};
}

/// Returns the first entry of an ordered map that overlaps [address, +bytes), or the end.
template <typename Map, typename BytesOf>
auto FirstIn(Map& map, std::uintptr_t address, std::size_t bytes, BytesOf bytes_of) {
  auto entry = map.upper_bound(address);
  if (entry != map.begin()) {
    const auto before = std::prev(entry);
    if (address - before->first < bytes_of(before->second)) return before;
  }
  return entry != map.end() && entry->first - address < bytes ? entry : map.end();
}

std::uint64_t Bit(std::int32_t device) {
  return std::uint64_t{1} << device;
}

}  // namespace

/// A reserved range. Exists until it is released and its last mapping is gone.
class AddressTable::Reservation {
 public:
  Reservation(VirtualMemory& views, const AddressRange& range, std::uint64_t id)
      : views_(views), range_(range), id_(id) {}
  ~Reservation() { views_.Release(range_); }
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;

  const AddressRange& range() const { return range_; }
  std::uint64_t id() const { return id_; }
  VirtualMemory& views() const { return views_; }

  /// Returns false if something is mapped there, or is being unmapped.
  bool Occupy(const AddressRange& part) {
    const std::lock_guard lock(mutex_);
    const auto bytes_of = [](std::size_t bytes) { return bytes; };
    if (FirstIn(pieces_, part.address, part.bytes, bytes_of) != pieces_.end()) return false;
    pieces_.emplace(part.address, part.bytes);
    return true;
  }
  void Vacate(const AddressRange& part) noexcept {
    const std::lock_guard lock(mutex_);
    pieces_.erase(part.address);
  }

 private:
  VirtualMemory& views_;
  const AddressRange range_;
  const std::uint64_t id_;
  std::mutex mutex_;
  std::map<std::uintptr_t, std::size_t> pieces_;
};

/// Physical memory mapped at its addresses. Exists until its last use is released.
class AddressTable::MappedPiece final : public PeerMapping {
 public:
  MappedPiece(std::shared_ptr<Reservation> reservation, const AddressRange& part,
              std::shared_ptr<PhysicalMemory> physical)
      : reservation_(std::move(reservation)), part_(part), physical_(std::move(physical)) {}
  ~MappedPiece() override {
    if (mapped_) reservation_->views().Unmap(part_);
    reservation_->Vacate(part_);
  }
  MappedPiece(const MappedPiece&) = delete;
  MappedPiece& operator=(const MappedPiece&) = delete;

  std::shared_ptr<PeerMemory> peer() const override { return physical_->peer(); }
  Status Map(MapAccess access) {
    if (peer() != nullptr) return {};  // nothing is at its addresses
    Status mapped = reservation_->views().Map(part_, physical_->file(), access);
    mapped_ = mapped.ok();
    return mapped;
  }

 private:
  const std::shared_ptr<Reservation> reservation_;
  const AddressRange part_;
  const std::shared_ptr<PhysicalMemory> physical_;
  bool mapped_ = false;
};

Result<void*> AddressTable::Reserve(std::size_t bytes, void* wish) {
  if (views_ == nullptr) return Unsupported();
  const std::size_t whole = (bytes + kUnit - 1) / kUnit * kUnit;
  if (whole < bytes)
    return Error{Code::kMemoryAllocation, Text("there are no ", bytes, " bytes of addresses")};
  auto range = views_->Reserve(whole, Number(wish));
  if (!range.ok()) return range.TakeStatus();
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Reservation> reservation;
  try {
    reservation = std::make_shared<Reservation>(*views_, *range, next_id_);
  } catch (...) {
    views_->Release(*range);
    throw;
  }
  reservations_.emplace(range->address, std::move(reservation));
  ++next_id_;
  return reinterpret_cast<void*>(range->address);
}

Status AddressTable::Release(void* address) {
  std::shared_ptr<Reservation> ended;
  const std::lock_guard lock(mutex_);
  const auto found = reservations_.find(Number(address));
  if (found == reservations_.end()) {
    return {Code::kParamInvalid, Text("virPtr ", Hex(address), " is not the beginning of a reserved range")};
  }
  const AddressRange& range = found->second->range();
  const auto bytes_of = [](const Mapping& mapping) { return mapping.bytes; };
  if (const auto mapping = FirstIn(mappings_, range.address, range.bytes, bytes_of);
      mapping != mappings_.end()) {
    return {Code::kParamInvalid, Text("virPtr ", Hex(address), ": memory is mapped at ", Hex(mapping->first),
                                      ", call aclrtUnmapMem first")};
  }
  ended = std::move(found->second);
  reservations_.erase(found);
  return {};
}

std::shared_ptr<AddressTable::Reservation> AddressTable::ReservationAt(std::uintptr_t address,
                                                                       std::size_t bytes) {
  auto entry = reservations_.upper_bound(address);
  if (entry == reservations_.begin()) return nullptr;
  const AddressRange& range = (--entry)->second->range();
  const std::size_t before = address - range.address;
  return before <= range.bytes && bytes <= range.bytes - before ? entry->second : nullptr;
}

Status AddressTable::Map(void* address, std::size_t bytes, std::shared_ptr<PhysicalMemory> physical,
                         MapAccess access, const char* made_by) {
  if (views_ == nullptr) return Unsupported();
  const std::uintptr_t start = Number(address);
  if (bytes != physical->bytes()) {
    return {Code::kParamInvalid,
            Text("size ", bytes, " is not that of the physical memory, which has ", physical->bytes())};
  }
  if (start % kUnit != 0)
    return {Code::kParamInvalid, Text("virPtr ", Hex(address), " must be aligned to ", kUnit, " bytes")};
  const std::lock_guard lock(mutex_);
  const auto reservation = ReservationAt(start, bytes);
  if (reservation == nullptr) {
    return {Code::kParamInvalid,
            Text("[", Hex(address), ", +", bytes, " bytes] does not lie in one reserved range")};
  }
  const auto bytes_of = [](const Mapping& mapping) { return mapping.bytes; };
  if (const auto there = FirstIn(mappings_, start, bytes, bytes_of); there != mappings_.end()) {
    return {Code::kParamInvalid, Text("[", Hex(address), ", +", bytes, " bytes]: memory is mapped at ",
                                      Hex(there->first), " already")};
  }
  const AddressRange part{start, bytes, reservation->range().engine_delta};
  bool occupied = reservation->Occupy(part);
  if (!occupied) {
    views_->Sweep();
    occupied = reservation->Occupy(part);
  }
  if (!occupied) {
    return {Code::kParamInvalid, Text("[", Hex(address), ", +", bytes,
                                      " bytes]: work that is queued still uses what was mapped there")};
  }
  std::shared_ptr<MappedPiece> piece;
  try {
    piece = std::make_shared<MappedPiece>(reservation, part, physical);
  } catch (...) {
    reservation->Vacate(part);
    throw;
  }
  if (Status mapped = piece->Map(access); !mapped.ok()) return mapped;
  const Place place = physical->place();
  const bool open_to_peers = physical->imported_as() == ShareForm::kFabric;
  const std::uint64_t own = place.on_device() ? Bit(place.device) : 0;
  const std::uint64_t given = access == MapAccess::kNone ? 0 : own;
  const auto entry = mappings_.emplace(start, Mapping{bytes, std::move(physical), given, given}).first;
  try {
    auto known = memory_.Adopt({.address = start,
                                .bytes = bytes,
                                .asked_bytes = bytes,
                                .engine_delta = part.engine_delta,
                                .place = place,
                                .page_bytes = kUnit,
                                .has_rights = true,
                                .open_to_peers = open_to_peers,
                                .reservation = reservation->id(),
                                .made_by = made_by,
                                .backtrace = {}},
                               std::move(piece), MemoryOrigin::kMapped,
                               access == MapAccess::kNone ? 0 : ~std::uint64_t{0});
    if (!known.ok()) {
      mappings_.erase(entry);
      return known.TakeStatus();
    }
  } catch (...) {
    mappings_.erase(entry);
    throw;
  }
  return {};
}

Result<std::map<std::uintptr_t, AddressTable::Mapping>::iterator> AddressTable::Find(void* address) {
  const auto found = mappings_.find(Number(address));
  if (found != mappings_.end()) return found;
  return Error{Code::kParamInvalid, Text("virPtr ", Hex(address), " is not where a mapping begins")};
}

Status AddressTable::Unmap(void* address) {
  std::shared_ptr<PhysicalMemory> physical;  // destroyed after the lock is released
  const std::lock_guard lock(mutex_);
  auto mapping = Find(address);
  if (!mapping.ok()) return mapping.TakeStatus();
  physical = std::move((*mapping)->second.physical);
  mappings_.erase(*mapping);
  // A reset of the device may have closed it before.
  static_cast<void>(memory_.End("virPtr", address, MemoryOrigin::kMapped, Code::kParamInvalid));
  return {};
}

Status AddressTable::SetAccess(void* address, std::size_t bytes, std::int32_t device, MapAccess access) {
  const std::lock_guard lock(mutex_);
  auto mapping = Find(address);
  if (!mapping.ok()) return mapping.TakeStatus();
  Mapping& rights = (*mapping)->second;
  if (bytes != rights.bytes) {
    return {Code::kParamInvalid, Text("size ", bytes, " is not that of the mapping at ", Hex(address),
                                      ", which has ", rights.bytes)};
  }
  const AllocationUse use = memory_.Find(Number(address));
  const auto change = [&](std::uint64_t& given, std::atomic<std::uint64_t>& in_force, bool may) {
    given = may ? given | Bit(device) : given & ~Bit(device);
    if (may) {
      in_force.fetch_or(Bit(device));
    } else {
      in_force.fetch_and(~Bit(device));
    }
  };
  if (!use) return {Code::kParamInvalid, Text("virPtr ", Hex(address), ": the device was reset meanwhile")};
  change(rights.readers, use->readers, access != MapAccess::kNone);
  change(rights.writers, use->writers, access == MapAccess::kReadWrite);
  if (use->facts.place == Place{PlaceKind::kDevice, device})
    views_->SetAccess({Number(address), bytes, use->facts.engine_delta}, access);
  return {};
}

Result<MapAccess> AddressTable::Access(void* address, std::int32_t device) {
  const std::lock_guard lock(mutex_);
  const auto bytes_of = [](const Mapping& mapping) { return mapping.bytes; };
  const auto found = FirstIn(mappings_, Number(address), 1, bytes_of);
  if (found == mappings_.end())
    return Error{Code::kParamInvalid, Text("nothing is mapped at virPtr ", Hex(address))};
  const Mapping& rights = found->second;
  if ((rights.writers & Bit(device)) != 0) return MapAccess::kReadWrite;
  return (rights.readers & Bit(device)) != 0 ? MapAccess::kRead : MapAccess::kNone;
}

Result<std::shared_ptr<PhysicalMemory>> AddressTable::PhysicalAt(void* address) {
  const std::lock_guard lock(mutex_);
  const auto bytes_of = [](const Mapping& mapping) { return mapping.bytes; };
  const auto found = FirstIn(mappings_, Number(address), 1, bytes_of);
  if (found == mappings_.end())
    return Error{Code::kParamInvalid, Text("nothing is mapped at virPtr ", Hex(address))};
  return found->second.physical;
}

}  // namespace sampan::core
