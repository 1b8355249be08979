// Addresses that programs reserve, and their mappings, by the driver's virtual memory management.
#include "backend/cuda/memory/mapped_ranges.h"

#include <chrono>
#include <iterator>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "backend/cuda/memory/gpu_memory.h"
#include "base/error/text.h"
#include "base/time/clock.h"

namespace sampan::cuda {
namespace {

/// How long Map waits for kernels that may access what was mapped there, and the interval of checking.
constexpr std::chrono::milliseconds kLongestUnmap{500};
constexpr std::chrono::microseconds kUnmapInterval{50};

/// The entry of an ordered map with the address in [key, +bytes), or the end.
template <typename Map>
auto EntryAt(Map& map, std::uintptr_t address) {
  const auto behind = map.upper_bound(address);
  if (behind == map.begin()) return map.end();
  const auto found = std::prev(behind);
  return address - found->first < found->second.bytes ? found : map.end();
}

}  // namespace

OutsideRange MappedRanges::OutsideOf(const Piece& piece) {
  return {piece.seen.address, piece.seen.bytes, piece.range, piece.access};
}

ReservedMemory* MappedRanges::TableOf(std::int32_t device) const {
  return device < 0 ? nullptr : tables_[static_cast<std::size_t>(device)];
}

void MappedRanges::Attach(std::int32_t device, ReservedMemory& memory) {
  const std::lock_guard attaching(attaching_);
  memory.set_outside(*this);
  std::vector<OutsideRange> present;
  {
    const std::shared_lock lock(mutex_);
    for (const auto& [address, piece] : pieces_) {
      if (piece.device == device && !piece.ending) present.push_back(OutsideOf(piece));
    }
  }
  for (const OutsideRange& range : present)
    memory.AddOutside(range);
  tables_[static_cast<std::size_t>(device)] = &memory;
}

// ---- addresses ----

Result<std::uintptr_t> MappedRanges::ReserveRange(const Range& range, std::uintptr_t wish) {
  CuAddress address = 0;
  CuResult reserved = driver_.AddressReserve(&address, range.bytes, kGranularity, wish, 0);
  if (reserved != cu::kSuccess && wish != 0)
    reserved = driver_.AddressReserve(&address, range.bytes, kGranularity, 0, 0);
  if (reserved != cu::kSuccess) {
    return Error{Code::kMemoryAllocation, Text("the driver has no ", range.bytes,
                                               " bytes of addresses: ", Describe(driver_, reserved))};
  }
  try {
    const std::lock_guard lock(mutex_);
    ranges_.emplace(address, range);
  } catch (...) {
    driver_.AddressFree(address, range.bytes);
    throw;
  }
  return address;
}

Result<AddressRange> MappedRanges::Reserve(std::size_t bytes, std::uintptr_t wish) {
  auto address = ReserveRange({.bytes = bytes}, wish);
  if (!address.ok()) return address.TakeStatus();
  return AddressRange{*address, bytes, 0};
}

void MappedRanges::Release(const AddressRange& range) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = ranges_.find(range.address);
  if (found == ranges_.end()) return;
  found->second.released = true;
  FreeIfUnused(found);
}

void MappedRanges::FreeIfUnused(Ranges::iterator range) noexcept {
  if (!range->second.released || range->second.pieces != 0) return;
  if (range->second.for_import) {
    const std::uintptr_t oldest = std::exchange(kept_back_[next_kept_++ % kKeptBack], range->first);
    range = ranges_.find(oldest);
    if (range == ranges_.end()) return;
  }
  driver_.AddressFree(range->first, range->second.bytes);
  ranges_.erase(range);
}

bool MappedRanges::Owns(std::uintptr_t address) const {
  const std::shared_lock lock(mutex_);
  return EntryAt(ranges_, address) != ranges_.end();
}

// ---- memory at addresses ----

Result<std::shared_ptr<const MemoryHandle>> MappedRanges::Import(const Descriptor& descriptor,
                                                                 std::size_t bytes) {
  return GpuMemory::Import(driver_, descriptor, bytes);
}

Status MappedRanges::Map(const AddressRange& part, const MemoryFile& file, MapAccess access) {
  AwaitUnmapped(part);
  const std::shared_lock attaching(attaching_);
  Piece piece{.bytes = part.bytes, .seen = part, .device = file.device, .access = access};
  if (file.handle == nullptr || file.handle->bytes != part.bytes) {
    return {Code::kFeatureNotSupport, Text(part.bytes, " bytes are to be mapped at ", Hex(part.address),
                                           " of memory that a GPU maps otherwise, or not at all")};
  }
  {
    const std::shared_lock lock(mutex_);
    const auto range = EntryAt(ranges_, part.address);
    if (range != ranges_.end()) piece.range = range->first;
  }
  return MapPiece(part.address, piece, file);
}

MappedRanges::Pieces::const_iterator MappedRanges::PieceIn(std::uintptr_t address, std::size_t bytes) const {
  if (const auto piece = EntryAt(pieces_, address); piece != pieces_.end()) return piece;
  const auto behind = pieces_.lower_bound(address);
  return behind != pieces_.end() && behind->first - address < bytes ? behind : pieces_.end();
}

// A kernel that was launched is completed soon: tasks that something holds are not launched.
void MappedRanges::AwaitUnmapped(const AddressRange& part) {
  for (std::optional<Deadline> until;;) {
    std::int32_t device = -1;
    {
      const std::shared_lock lock(mutex_);
      const auto piece = PieceIn(part.address, part.bytes);
      if (piece == pieces_.end() || !piece->second.ending) return;
      device = piece->second.device;
    }
    if (until) {
      if (Clock::now() >= *until) return;
      std::this_thread::sleep_for(kUnmapInterval);
    } else {
      until = Clock::now() + kLongestUnmap;
    }
    sweep_();
    const std::shared_lock attaching(attaching_);
    if (ReservedMemory* const table = TableOf(device)) table->ReleaseFreed();
  }
}

Status MappedRanges::MapPiece(std::uintptr_t at, const Piece& piece, const MemoryFile& file) {
  {
    const std::lock_guard lock(mutex_);
    if (PieceIn(at, piece.bytes) != pieces_.end()) {
      return {Code::kParamInvalid, Text("[", Hex(at), ", +", piece.bytes,
                                        " bytes]: work that is queued still uses what was mapped there")};
    }
    const auto range = ranges_.find(piece.range);
    pieces_.emplace(at, piece);
    if (range != ranges_.end()) ++range->second.pieces;
  }
  try {
    Status mapped = MapHandle(at, piece, file);
    if (!mapped.ok()) {
      Finish(at);
      return mapped;
    }
    if (ReservedMemory* const table = TableOf(piece.device)) table->AddOutside(OutsideOf(piece));
  } catch (...) {
    Finish(at);
    throw;
  }
  return {};
}

Status MappedRanges::MapHandle(std::uintptr_t at, const Piece& piece, const MemoryFile& file) {
  const std::vector<CuAccess> access = access_of_(piece.device);
  const auto& memory = static_cast<const GpuMemory&>(*file.handle);
  CuResult result = driver_.MemMap(at, piece.bytes, 0, memory.get(), 0);
  if (result == cu::kSuccess) {
    result = driver_.MemSetAccess(at, piece.bytes, access.data(), access.size());
    if (result != cu::kSuccess) driver_.MemUnmap(at, piece.bytes);
  }
  if (result != cu::kSuccess)
    return Failure(driver_, result, Text("mapping ", piece.bytes, " bytes at ", Hex(at)));
  const std::lock_guard lock(mutex_);
  pieces_.at(at).mapped = true;
  return {};
}

void MappedRanges::SetAccess(const AddressRange& part, MapAccess access) {
  const std::shared_lock attaching(attaching_);
  std::int32_t device = -1;
  {
    const std::lock_guard lock(mutex_);
    const auto piece = PieceAt(part.address);
    if (piece == pieces_.end()) return;
    piece->second.access = access;
    device = piece->second.device;
  }
  if (ReservedMemory* const table = TableOf(device)) table->SetOutsideAccess(part.address, access);
}

MappedRanges::Pieces::iterator MappedRanges::PieceAt(std::uintptr_t address) {
  return EntryAt(pieces_, address);
}

void MappedRanges::Unmap(const AddressRange& seen) noexcept {
  const std::shared_lock attaching(attaching_);
  std::int32_t device = -1;
  {
    const std::lock_guard lock(mutex_);
    const auto piece = PieceAt(seen.address);
    if (piece == pieces_.end()) return;
    piece->second.ending = true;
    device = piece->second.device;
  }
  ReservedMemory* const table = TableOf(device);
  if (table == nullptr) return Finish(seen.address);
  table->EndOutside(seen.address, seen.bytes);  // calls Finish when no kernel can access it
}

void MappedRanges::Finish(std::uintptr_t address) noexcept {
  const std::lock_guard lock(mutex_);
  const auto piece = PieceAt(address);
  if (piece == pieces_.end()) return;
  if (piece->second.mapped) driver_.MemUnmap(piece->first, piece->second.bytes);
  const auto range = ranges_.find(piece->second.range);
  pieces_.erase(piece);
  if (range == ranges_.end()) return;
  --range->second.pieces;
  FreeIfUnused(range);
}

Result<AddressRange> MappedRanges::MapAnywhere(const MemoryFile& file) {
  if (file.handle == nullptr) {
    return Error{Code::kFeatureNotSupport, "memory of another kind of device cannot be mapped here"};
  }
  const std::shared_lock attaching(attaching_);
  const std::size_t whole = file.handle->bytes;
  auto base = ReserveRange({.bytes = whole, .for_import = true}, 0);
  if (!base.ok()) return base.TakeStatus();
  const AddressRange seen{*base + file.offset, file.bytes, 0};
  Status mapped;
  try {
    mapped = MapPiece(*base, {.bytes = whole, .range = *base, .seen = seen, .device = file.device}, file);
  } catch (...) {
    Release({*base, whole, 0});
    throw;
  }
  if (mapped.ok()) return seen;
  Release({*base, whole, 0});
  return mapped;
}

void MappedRanges::UnmapAnywhere(const AddressRange& range) noexcept {
  AddressRange whole;
  {
    const std::shared_lock lock(mutex_);
    const auto found = EntryAt(ranges_, range.address);
    if (found == ranges_.end()) return;
    whole = {found->first, found->second.bytes, 0};
  }
  Unmap(range);
  Release(whole);
}

}  // namespace sampan::cuda
