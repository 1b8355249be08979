// Memory of one place: a reserved range of addresses. Memory is committed to it in units.
#include "backend/cuda/memory/reserved_memory.h"

#include <algorithm>
#include <utility>

#include "base/containers/reserve.h"
#include "base/containers/round.h"
#include "base/error/text.h"

namespace sampan::cuda {

ReservedMemory::ReservedMemory(const ReservedMemoryOptions& options, std::unique_ptr<Backing> backing)
    : options_(options),
      backing_(std::move(backing)),
      units_(options.reserved_bytes / kUnitBytes, UnitState::kFree),
      epoch_(std::make_shared<Epoch>(*this)) {}

ReservedMemory::~ReservedMemory() = default;

Status ReservedMemory::OutOfMemory(std::size_t bytes, std::string_view why) const {
  return {Code::kMemoryAllocation,
          Text(options_.name, ": ", bytes, " bytes asked for, ", options_.capacity_bytes - used_bytes_,
               " of ", options_.capacity_bytes, " free: ", why)};
}

Result<MemoryBlock> ReservedMemory::Allocate(std::size_t bytes, Pages pages) {
  const std::lock_guard lock(mutex_);
  if (options_.faults->ShouldFail(FaultKind::kMemory))
    return OutOfMemory(bytes, "failure ordered by SAMPAN_FAULT");
  ReleaseUnheld();
  if (bytes > options_.capacity_bytes) return OutOfMemory(bytes, "more than the capacity");
  const bool huge = pages == Pages::kHuge || (pages == Pages::kBySize && bytes > kUnitBytes / 2);
  const bool shares = Shares(RoundUp(bytes, kPageBytes), huge);
  const std::size_t whole = RoundUp(bytes, shares ? kPageBytes : kUnitBytes);
  if (whole > options_.capacity_bytes - used_bytes_) return OutOfMemory(bytes, "the capacity is used up");
  ReserveDoubling(epoch_->freed_, live_.size() + 1);  // so that freeing does not allocate
  auto address = shares ? TakePages(PagesFor(whole)) : TakeOwn(whole);
  if (!address.ok()) {
    Status failure = address.TakeStatus();
    if (failure.code() == Code::kMemoryAllocation) return OutOfMemory(bytes, failure.error().message);
    return failure;
  }
  const MemoryBlock block{*address, whole, options_.engine_delta,
                          static_cast<std::uint32_t>(huge ? kUnitBytes : kPageBytes)};
  try {
    live_.emplace(*address, Live{bytes});
  } catch (...) {
    Release(block);
    throw;
  }
  used_bytes_ += whole;
  ++version_;
  return block;
}

bool ReservedMemory::TakeUnits(std::size_t count, UnitState state, std::size_t* first) {
  const auto search = [&](std::size_t from, std::size_t to) {
    std::size_t run = 0;
    for (std::size_t i = from; i < to; ++i) {
      run = units_[i] == UnitState::kFree ? run + 1 : 0;
      if (run < count) continue;
      *first = i + 1 - count;
      return true;
    }
    return false;
  };
  if (!search(next_unit_, units_.size()) && !search(0, units_.size())) return false;
  std::fill_n(units_.begin() + static_cast<std::ptrdiff_t>(*first), count, state);
  next_unit_ = *first + count;
  return true;
}

void ReservedMemory::ReturnUnits(std::size_t first, std::size_t count) noexcept {
  std::fill_n(units_.begin() + static_cast<std::ptrdiff_t>(first), count, UnitState::kFree);
}

Result<std::uintptr_t> ReservedMemory::TakeOwn(std::size_t bytes) {
  const std::size_t count = UnitsFor(bytes);
  std::size_t first = 0;
  if (!TakeUnits(count, UnitState::kOwn, &first))
    return Error{Code::kMemoryAllocation, "no addresses are left"};
  try {
    Status committed = backing_->Commit(AddressOf(first), bytes);
    if (committed.ok()) return AddressOf(first);
    ReturnUnits(first, count);
    return committed;
  } catch (...) {
    ReturnUnits(first, count);
    throw;
  }
}

bool ReservedMemory::TakeFrom(SharedUnit& unit, std::size_t pages, std::size_t* first) {
  if (kPagesPerUnit - unit.used_pages < pages) return false;
  const auto search = [&](std::size_t from) {
    std::size_t run = 0;
    for (std::size_t i = from; i < kPagesPerUnit; ++i) {
      run = unit.taken[i] ? 0 : run + 1;
      if (run < pages) continue;
      *first = i + 1 - pages;
      return true;
    }
    return false;
  };
  if (!search(unit.next_page) && !search(0)) return false;
  std::fill_n(unit.taken.begin() + static_cast<std::ptrdiff_t>(*first), pages, true);
  unit.used_pages += pages;
  unit.next_page = *first + pages;
  return true;
}

Result<std::uintptr_t> ReservedMemory::TakePages(std::size_t pages) {
  std::size_t page = 0;
  // Searches from the last used unit to the end, then from the beginning.
  auto unit = shared_.lower_bound(next_shared_);
  for (std::size_t tried = 0; tried < shared_.size(); ++tried) {
    if (unit == shared_.end()) unit = shared_.begin();
    if (TakeFrom(unit->second, pages, &page)) {
      next_shared_ = unit->first;
      return AddressOf(unit->first) + page * kPageBytes;
    }
    ++unit;
  }
  auto address = TakeOwn(kUnitBytes);
  if (!address.ok()) return address;
  const std::size_t index = (*address - options_.base) / kUnitBytes;
  try {
    unit = shared_.emplace(index, SharedUnit{.index = index}).first;
  } catch (...) {
    backing_->Decommit(*address, kUnitBytes);
    ReturnUnits(index, UnitsFor(kUnitBytes));
    throw;
  }
  units_[index] = UnitState::kShared;
  next_shared_ = index;
  TakeFrom(unit->second, pages, &page);
  return *address + page * kPageBytes;
}

void ReservedMemory::Free(const MemoryBlock& block) noexcept {
  const std::lock_guard lock(mutex_);
  if (live_.erase(block.address) == 0) return;  // the block is older than Forget
  used_bytes_ -= block.bytes;
  End(block);
}

void ReservedMemory::End(const MemoryBlock& block) noexcept {
  ++version_;
  if (epoch_.use_count() > 1) {
    epoch_->freed_.push_back(block);  // reserved when the block was allocated
    return;
  }
  Release(block);
}

void ReservedMemory::Release(const MemoryBlock& block) noexcept {
  if (!Owns(block.address)) return outside_->Finish(block.address);
  const std::size_t index = (block.address - options_.base) / kUnitBytes;
  const auto found = shared_.find(index);
  if (found == shared_.end()) {
    backing_->Decommit(block.address, block.bytes);
    ReturnUnits(index, UnitsFor(block.bytes));
    return;
  }
  SharedUnit& unit = found->second;
  const std::size_t page = (block.address - AddressOf(index)) / kPageBytes;
  const std::size_t pages = PagesFor(block.bytes);
  std::fill_n(unit.taken.begin() + static_cast<std::ptrdiff_t>(page), pages, false);
  unit.used_pages -= pages;
  if (unit.used_pages != 0 || shared_.size() == 1) return;  // keeps the last one for the next small block
  backing_->Decommit(AddressOf(index), kUnitBytes);
  shared_.erase(found);
  ReturnUnits(index, UnitsFor(kUnitBytes));
}

void ReservedMemory::ReleaseUnheld() noexcept {
  if (epoch_.use_count() > 1) return;
  for (const MemoryBlock& block : epoch_->freed_)
    Release(block);
  epoch_->freed_.clear();
}

void ReservedMemory::ReleaseFreed() noexcept {
  const std::lock_guard lock(mutex_);
  ReleaseUnheld();
}

std::shared_ptr<ReservedMemory::Epoch> ReservedMemory::HoldFreed() {
  std::shared_ptr<Epoch> old;  // destroyed after the lock is released
  const std::lock_guard lock(mutex_);
  ReleaseUnheld();
  if (!epoch_->freed_.empty()) {
    auto next = std::make_shared<Epoch>(*this);
    ReserveDoubling(next->freed_, live_.size() + 1);
    epoch_->newer_ = next;
    old = std::exchange(epoch_, std::move(next));
  }
  return epoch_;
}

ReservedMemory::Epoch::~Epoch() {
  const std::lock_guard lock(memory_.mutex_);
  for (const MemoryBlock& block : freed_)
    memory_.Release(block);
}

MemoryInfo ReservedMemory::Info() const {
  const std::lock_guard lock(mutex_);
  return {options_.capacity_bytes - used_bytes_, options_.capacity_bytes};
}

std::uint64_t ReservedMemory::version() const {
  const std::lock_guard lock(mutex_);
  return version_;
}

std::uint64_t ReservedMemory::CopyRanges(std::vector<Range>& ranges) const {
  const std::lock_guard lock(mutex_);
  ranges.clear();
  ranges.reserve(live_.size());
  const Live* last = nullptr;
  for (const auto& [address, live] : live_) {
    if (live.access == MapAccess::kNone) continue;
    const std::uintptr_t flag = live.access == MapAccess::kRead ? kReadOnlyRange : 0;
    const bool continues = last != nullptr && live.group != 0 && live.group == last->group &&
                           ranges.back().end == (address | flag);
    if (!continues) ranges.push_back({address, 0});
    ranges.back().end = (address + live.bytes) | flag;
    last = &live;
  }
  return version_;
}

void ReservedMemory::AddOutside(const OutsideRange& range) {
  const std::lock_guard lock(mutex_);
  ReserveDoubling(epoch_->freed_, live_.size() + 1);  // so that freeing does not allocate
  live_.insert_or_assign(range.address, Live{range.bytes, range.group, range.access});
  ++version_;
}

void ReservedMemory::SetOutsideAccess(std::uintptr_t address, MapAccess access) {
  const std::lock_guard lock(mutex_);
  const auto live = live_.find(address);
  if (live == live_.end()) return;
  live->second.access = access;
  ++version_;
}

void ReservedMemory::EndOutside(std::uintptr_t address, std::size_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  live_.erase(address);
  End({.address = address, .bytes = bytes});
}

Result<MemoryFile> ReservedMemory::FileOf(const MemoryBlock& block) const {
  std::uintptr_t base = block.address;
  std::size_t bytes = block.bytes;
  {
    const std::lock_guard lock(mutex_);
    const std::size_t unit = (block.address - options_.base) / kUnitBytes;
    if (shared_.contains(unit)) {
      base = AddressOf(unit);
      bytes = kUnitBytes;
    }
  }
  auto handle = backing_->HandleAt(base, bytes);
  if (!handle.ok()) return handle.TakeStatus();
  return MemoryFile{.handle = std::move(*handle),
                    .offset = block.address - base,
                    .bytes = block.bytes,
                    .host_visible = options_.host_visible};
}

void ReservedMemory::Hide(const MemoryBlock& block) {
  const std::lock_guard lock(mutex_);
  const auto live = live_.find(block.address);
  if (live == live_.end()) return;
  live->second.access = MapAccess::kNone;
  ++version_;
}

void ReservedMemory::Forget() noexcept {
  const std::lock_guard lock(mutex_);
  for (const auto& [address, live] : live_) {
    if (!Owns(address) || shared_.contains((address - options_.base) / kUnitBytes)) continue;
    backing_->Decommit(address, RoundUp(live.bytes, kUnitBytes));
  }
  for (const MemoryBlock& block : epoch_->freed_)
    Release(block);
  for (const auto& entry : shared_)
    backing_->Decommit(AddressOf(entry.first), kUnitBytes);
  std::fill(units_.begin(), units_.end(), UnitState::kFree);
  epoch_->freed_.clear();
  shared_.clear();
  std::erase_if(live_, [&](const auto& entry) { return Owns(entry.first); });
  used_bytes_ = 0;
  ++version_;
}

}  // namespace sampan::cuda
