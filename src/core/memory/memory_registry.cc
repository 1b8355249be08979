// All memory that the runtime knows: which allocation is at an address, and its uses.
#include "core/memory/memory_registry.h"

#include <algorithm>
#include <utility>

#include "base/containers/reserve.h"
#include "base/error/assert.h"
#include "base/error/text.h"
#include "base/threads/thread_sanitizer.h"
#include "core/memory/mapped/peer_mapping.h"
#include "observe/hooks.h"

namespace sampan::core {
namespace {

Status Overlap(std::uintptr_t address, std::size_t bytes) {
  return {Code::kHostMemoryAlreadyRegistered,
          Text("[", Hex(address), ", +", bytes, " bytes] overlaps memory that is already known")};
}

observe::MemoryKind ObservedKind(MemoryOrigin origin) {
  switch (origin) {
    case MemoryOrigin::kDevice:
    case MemoryOrigin::kPinned:
      return observe::MemoryKind::kOwn;
    case MemoryOrigin::kRegistered:
      return observe::MemoryKind::kRegistered;
    case MemoryOrigin::kMapped:
      return observe::MemoryKind::kMapped;
    case MemoryOrigin::kImported:
      return observe::MemoryKind::kImported;
    case MemoryOrigin::kPool:
      return observe::MemoryKind::kPool;
  }
  return {};
}

observe::MemoryEvent ObservedMemory(const AllocationFacts& facts, MemoryOrigin origin,
                                    observe::MemoryChange change) {
  return {.change = change,
          .allocation = facts.serial,
          .bytes = facts.asked_bytes,
          .address = facts.address,
          .made_by = facts.made_by,
          .place = facts.place,
          .kind = ObservedKind(origin),
          .usable_bytes = facts.bytes,
          .engine_delta = facts.engine_delta};
}

}  // namespace

MemoryRegistry::Record& MemoryRegistry::TakeRecord() {
  if (unused_records_.empty()) {
    ReserveDoubling(unused_records_, records_.size() + 1);  // so that Reclaim does not allocate
    return records_.emplace_back();
  }
  Record& record = *unused_records_.back();
  unused_records_.pop_back();
  return record;
}

AllocationFacts MemoryRegistry::FactsOf(AllocationFacts facts) const {
  if (backtraces_ != nullptr) facts.backtrace = backtraces_->Current();
  return facts;
}

Result<Allocation*> MemoryRegistry::Publish(AllocationFacts facts, Origin origin, const Rights& rights,
                                            const Record* parked) {
  std::unique_lock lock(mutex_);
  if (parked == nullptr && pages_.AnyIn(facts.address, facts.bytes))
    return Overlap(facts.address, facts.bytes);
  Record& record = TakeRecord();
  SAMPAN_ASSERT(facts.bytes != 0 && facts.asked_bytes <= facts.bytes);
  record.facts = std::move(facts);
  record.facts.serial = ++serial_;
  try {
    pages_.Insert(record);
  } catch (...) {
    unused_records_.push_back(&record);
    throw;
  }
  record.origin = std::move(origin);
  if (races::Watched() && parked == nullptr && record.origin.kind != MemoryOrigin::kRegistered) [[unlikely]]
    freed_.Allocated(record.facts.address, record.facts.bytes);
  record.readers.store(rights.readers);
  record.writers.store(rights.writers);
  if (record.facts.registered_read_only()) read_only_registrations_.fetch_add(1);
  using observe::MemoryChange;  // told with copies: the program may free it right after the lock
  const observe::MemoryEvent made = ObservedMemory(record.facts, record.origin.kind, MemoryChange::kMade);
  record.Begin(*this);
  lock.unlock();
  if (observe::On()) {
    if (parked != nullptr)
      observe::TellMemory(ObservedMemory(parked->facts, parked->origin.kind, MemoryChange::kDropped));
    observe::TellMemory(made);
  }
  return &record;
}

Result<Allocation*> MemoryRegistry::Adopt(AllocationFacts facts, std::shared_ptr<MemoryKeeper> keeper,
                                          MemoryOrigin origin, std::uint64_t devices_with_rights) {
  return Publish(FactsOf(std::move(facts)), {.kind = origin, .block = {}, .keeper = std::move(keeper)},
                 {.readers = devices_with_rights, .writers = devices_with_rights});
}

MemoryRegistry::Backing MemoryRegistry::BackingOf(const Allocation& allocation) const {
  const Record& record = static_cast<const Record&>(allocation);
  return {record.origin.source, record.origin.block};
}

void MemoryRegistry::MarkShared(Allocation& allocation) {
  SAMPAN_ASSERT(shared_blocks_ != nullptr && static_cast<Record&>(allocation).origin.source != nullptr);
  static_cast<Record&>(allocation).shared.store(true);
}

Result<MemoryBlock> MemoryRegistry::TakeBlock(MemorySource& source, std::size_t bytes, Pages pages) {
  const auto free_released = [&](SharedBlocks::Effort effort) {
    return shared_blocks_ != nullptr && shared_blocks_->FreeReleased(effort);
  };
  free_released(SharedBlocks::Effort::kSome);
  auto block = source.Allocate(bytes, pages);
  if (!block.ok() && free_released(SharedBlocks::Effort::kAll)) block = source.Allocate(bytes, pages);
  return block;
}

Result<void*> MemoryRegistry::Allocate(const AllocationRequest& request) {
  AllocationFacts facts = FactsOf({.bytes = request.usable_bytes,
                                   .asked_bytes = request.asked_bytes,
                                   .place = request.place,
                                   .made_by = request.made_by,
                                   .backtrace = {}});
  auto block = TakeBlock(request.source, request.usable_bytes, request.pages);
  if (!block.ok()) return block.TakeStatus();
  facts.address = block->address;
  facts.engine_delta = block->engine_delta;
  facts.page_bytes = block->page_bytes;
  const MemoryOrigin kind = request.place.on_device() ? MemoryOrigin::kDevice : MemoryOrigin::kPinned;
  try {
    auto published =
        Publish(std::move(facts), {.kind = kind, .source = &request.source, .block = *block}, {});
    if (!published.ok()) return published.TakeStatus();
  } catch (...) {
    request.source.Free(*block);
    throw;
  }
  return reinterpret_cast<void*>(block->address);
}

Status MemoryRegistry::Register(const RegistrationRequest& request) {
  const auto address = reinterpret_cast<std::uintptr_t>(request.address);
  AllocationFacts facts = FactsOf({.address = address,
                                   .bytes = request.bytes,
                                   .asked_bytes = request.bytes,
                                   .place = {PlaceKind::kPinned, 0},
                                   .has_rights = request.read_only,
                                   .made_by = request.made_by,
                                   .backtrace = {}});
  if (Status known = CheckUnknown(address, request.bytes); !known.ok()) return known;
  if (Status made = request.registrar.Register(request.address, request.bytes, request.read_only); !made.ok())
    return made;
  try {
    facts.engine_delta = request.registrar.EngineDelta(request.address);
    auto published =
        Publish(std::move(facts), {.kind = MemoryOrigin::kRegistered, .registrar = &request.registrar},
                {.writers = request.read_only ? 0 : kAllDevices});
    if (published.ok()) return {};
    request.registrar.Unregister(request.address);
    return published.TakeStatus();
  } catch (...) {
    request.registrar.Unregister(request.address);
    throw;
  }
}

Status MemoryRegistry::CheckUnknown(std::uintptr_t address, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  return pages_.AnyIn(address, bytes) ? Overlap(address, bytes) : Status();
}

Status MemoryRegistry::End(std::string_view name, void* address, MemoryOrigin origin, Code unknown_code,
                           observe::MemoryChange change) {
  const auto start = reinterpret_cast<std::uintptr_t>(address);
  const auto refuse = [&](std::string_view why, const std::string& memory = {}) {
    return Status(unknown_code, Text(name, " ", Hex(start), why, memory));
  };
  const AllocationUse use = Find(start);
  if (!use) return refuse(" is not memory that the runtime knows: never made, or freed already");
  const Record& record = static_cast<const Record&>(*use.get());
  // Memory of a pool may be freed like other device memory.
  const bool fits = record.origin.kind == origin ||
                    (origin == MemoryOrigin::kDevice && record.origin.kind == MemoryOrigin::kPool);
  if (!fits) return refuse(" is of another kind than this call frees: ", Describe(record));
  if (record.facts.address != start)
    return refuse(" lies inside, not at the beginning of, ", Describe(record));
  // The use taken above keeps the record from being reclaimed until it has left the map.
  if (races::Watched() && (record.origin.kind == MemoryOrigin::kDevice || origin == MemoryOrigin::kPinned))
    FreedOrder::TellFree(record.facts.address, record.facts.bytes);
  const bool lingers = record.origin.kind == MemoryOrigin::kPool && record.origin.keeper->FreeIsPending();
  if (!(lingers ? record.origin.keeper->FreeBehindPending() : use->MarkFreed()))
    return refuse(" was freed by another thread at the same time: ", Describe(record));
  Tell(record, change);
  if (!lingers) Unpublish(static_cast<Record&>(*use.get()));
  return {};
}

std::uint64_t MemoryRegistry::Newest() const {
  const std::lock_guard lock(mutex_);
  return serial_;
}

void MemoryRegistry::EndAllOf(std::int32_t device, std::uint64_t newest) noexcept {
  for (std::size_t i = 0;; ++i) {
    Record* record = nullptr;
    {
      const std::lock_guard lock(mutex_);
      if (i == records_.size()) return;
      record = &records_[i];
    }
    if (!record->TryUse()) continue;
    const AllocationUse use(record);
    const AllocationFacts& facts = record->facts;
    if (facts.place != Place{PlaceKind::kDevice, device} || facts.serial > newest || !record->MarkFreed())
      continue;
    Tell(*record, observe::MemoryChange::kDropped);
    Unpublish(*record);
  }
}

void MemoryRegistry::Tell(const Record& record, observe::MemoryChange change) noexcept {
  if (observe::On()) observe::TellMemory(ObservedMemory(record.facts, record.origin.kind, change));
}

void MemoryRegistry::Unpublish(Record& record) noexcept {
  {
    const std::lock_guard lock(mutex_);
    pages_.Erase(record);
    if (record.facts.registered_read_only()) read_only_registrations_.fetch_sub(1);
    if (races::Watched() && record.origin.kind != MemoryOrigin::kRegistered) [[unlikely]]
      freed_.Freed(record.facts.address, record.facts.bytes);
  }
  if (record.shared.load()) shared_blocks_->Ended(record.facts.serial);
}

void MemoryRegistry::Reclaim(Allocation& allocation) noexcept {
  Record& record = static_cast<Record&>(allocation);
  // The addresses become free only now. Lookups do not find the record: it left the map when it was closed.
  Origin& origin = record.origin;
  EndHandover(record);
  if (record.shared.exchange(false)) {
    shared_blocks_->Free(record.facts.serial, *origin.source, origin.block);
  } else if (origin.source != nullptr) {
    origin.source->Free(origin.block);
  }
  if (origin.registrar != nullptr)
    origin.registrar->Unregister(reinterpret_cast<void*>(record.facts.address));
  origin.keeper = nullptr;
  const std::lock_guard lock(mutex_);
  SAMPAN_ASSERT(unused_records_.size() < unused_records_.capacity());  // push_back does not allocate
  unused_records_.push_back(&record);
}

Allocation* MemoryRegistry::FindCounted(std::uintptr_t address) const noexcept {
  for (;;) {
    Allocation* const found = pages_.Find(address);
    if (found == nullptr) return nullptr;
    if (!found->TryUse()) {
      // Parked by its pool; or just opened or closed, and the map is updated soon.
      if (found->parked() && pages_.Find(address) == found) return nullptr;
      continue;
    }
    if (found->Contains(address)) return found;
    found->Release();
    // Behind the end of the allocation, in its last page, unless the record was reused meanwhile.
    if (pages_.Find(address) == found) return nullptr;
  }
}

AllocationUse MemoryRegistry::FindForQueued(std::uintptr_t address) const {
  if (AllocationUse live = Find(address)) return live;
  Allocation* const found = pages_.Find(address);
  if (found == nullptr || !found->TryUseParked()) return {};
  AllocationUse use(found);  // keeps the facts and the keeper
  if (!found->Contains(address)) return {};
  if (found->parked() && !KeeperOf(*found)->FreeIsPending()) return {};
  return use;
}

AllocationUse MemoryRegistry::FindReadOnlyRegistration(std::uintptr_t address, std::size_t bytes) const {
  if (read_only_registrations_.load() == 0) return {};
  // A range may be as long as a program's mistake: parts without any allocation are passed over at once.
  constexpr std::uintptr_t kPart = std::uintptr_t{1} << 30;
  const std::uintptr_t end = address + bytes;
  while (address < end) {
    const std::uintptr_t part_end = std::min(end, address / kPart * kPart + kPart);
    if (!pages_.AnyIn(address, part_end - address)) address = part_end;
    while (address < part_end) {
      AllocationUse use = Find(address);
      if (use && use->facts.registered_read_only()) return use;
      const std::size_t page_left = PageMap::kPageBytes - address % PageMap::kPageBytes;
      address += std::min(use ? use->BytesFrom(address) : page_left, part_end - address);
    }
  }
  return {};
}

void MemoryRegistry::AddSource(const AddressOwner& source) {
  const std::lock_guard lock(sources_mutex_);
  if (std::find(sources_.begin(), sources_.end(), &source) == sources_.end()) sources_.push_back(&source);
}

bool MemoryRegistry::InSource(std::uintptr_t address) const {
  const std::shared_lock lock(sources_mutex_);
  return std::any_of(sources_.begin(), sources_.end(),
                     [&](const auto* source) { return source->Owns(address); });
}

bool MemoryRegistry::Adjoin(const Allocation& one, const Allocation& next) {
  if (one.facts.reservation != 0)
    return next.facts.reservation == one.facts.reservation && next.facts.place == one.facts.place;
  const HostRegistrar* const registrar = static_cast<const Record&>(one).origin.registrar;
  // Rights are checked for the first allocation only. So a copy must not continue from memory without rights
  // into memory with rights.
  return registrar != nullptr && static_cast<const Record&>(next).origin.registrar == registrar &&
         one.facts.has_rights == next.facts.has_rights && registrar->joins_neighbours() &&
         one.facts.engine_delta == next.facts.engine_delta;
}

Status MemoryRegistry::FindNeighbours(const AllocationUse& first, std::uintptr_t address, std::size_t bytes,
                                      Code code, std::vector<AllocationUse>& more) const {
  SAMPAN_ASSERT(first && first->Contains(address));
  const Allocation* last = first.get();
  std::uintptr_t at = address;
  while (bytes > last->BytesFrom(at)) {
    const std::size_t inside = last->BytesFrom(at);
    bytes -= inside;
    at += inside;
    AllocationUse next = Find(at);
    if (!next || !Adjoin(*last, *next.get())) {
      return {code, Text(" leaves its allocation by ", bytes, " bytes: ", Describe(*last))};
    }
    more.push_back(std::move(next));
    last = more.back().get();
  }
  return {};
}

Result<AddressResolver::Resolved> MemoryRegistry::ResolveDevice(std::uintptr_t address, std::size_t bytes,
                                                                std::int32_t device, Access access) {
  AllocationUse use = FindForQueued(address);
  if (!use || use->facts.place != Place{PlaceKind::kDevice, device}) {
    return Error{Code::kSdmaCopyError, Text(Hex(address), " is not allocated memory of device ", device,
                                            use ? Text(" but ", Describe(*use.get())) : std::string())};
  }
  std::vector<AllocationUse> memory;
  if (Status whole = FindNeighbours(use, address, bytes, Code::kSdmaCopyError, memory); !whole.ok()) {
    whole.error().message = Text("[", Hex(address), ", +", bytes, " bytes]", whole.error().message);
    return whole;
  }
  std::byte* const engine = use->EngineView(address);
  memory.push_back(std::move(use));
  for (const AllocationUse& each : memory) {
    if (Status here = RefusePeer(*this, each, "a copy with operands in device memory"); !here.ok())
      return here;
    const auto& rights = access == Access::kWrite ? each->writers : each->readers;
    if (each->facts.has_rights && (rights.load() >> device & 1) == 0) {
      return Error{Code::kSdmaCopyError,
                   Text("device ", device, " may not ", access == Access::kWrite ? "write " : "read ",
                        Describe(*each.get()))};
    }
  }
  return Resolved{engine, std::move(memory)};
}

MemoryOrigin MemoryRegistry::OriginOf(const Allocation& allocation) const {
  return static_cast<const Record&>(allocation).origin.kind;
}

}  // namespace sampan::core
