// The allocations of the process, and those that were freed a short time ago.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>

#include "check/host/guarded_pages.h"
#include "check/memory/source_sums.h"
#include "check/memory/written_bytes.h"
#include "check/order/access_history.h"
#include "observe/observer.h"

namespace sampan::check {

/// An allocation under check.
struct CheckedMemory {
  explicit CheckedMemory(const observe::MemoryEvent& event)
      : facts(event), guard(PagesAround({facts.address, end()}), facts.kind == observe::MemoryKind::kOwn) {}

  const observe::MemoryEvent facts;
  std::uint32_t stack = 0, thread = 0;  ///< of the call that made it
  AccessHistory history;
  WrittenBytes written;
  bool knows_writes = false;  ///< all writes to it are seen
  bool is_open = false;       ///< it is in the list of those with a history
  GuardedPages guard;         ///< the pages that the host may not use freely
  /// What the task that is judged adds to them.
  Range to_guard;
  PageLevel to_guard_level = PageLevel::kAll;
  /// What copies read of the bytes that cannot be kept from the host.
  SourceSums sources;
  Range unguarded;            ///< these bytes, if the program alone can write there; empty: none
  std::uint32_t hits = 0;     ///< accesses that were reported
  std::uint32_t held = 0;     ///< its counter, see HeldCounts
  bool was_given_up = false;  ///< the program freed or unmapped what it had registered

  std::uintptr_t end() const { return facts.address + facts.usable_bytes; }
  bool is_pinned() const { return facts.place.kind == PlaceKind::kPinned; }
  /// The engines use other addresses than the program, so pages can be kept from the program alone.
  bool can_guard() const { return is_pinned() && facts.engine_delta != 0 && !was_given_up; }
  bool is_registered() const { return facts.kind == observe::MemoryKind::kRegistered; }
};

/// Memory that the program freed.
struct FreedMemory {
  std::uintptr_t address = 0;
  std::uint64_t bytes = 0, usable_bytes = 0;
  std::uint64_t allocation = 0;
  const char* made_by = "";
  const char* freed_by = "";
  Place place;
  bool registered = false;
  std::uint32_t made_stack = 0, freed_stack = 0, freed_thread = 0;
};

/// Not thread-safe. Lookups allocate nothing.
class MemoryTable {
 public:
  CheckedMemory& Add(const observe::MemoryEvent& event);
  CheckedMemory* Find(std::uint64_t allocation) const noexcept;
  CheckedMemory* At(std::uintptr_t address) const noexcept;
  void Remove(CheckedMemory& memory);
  /// Calls `each` with the memory that has bytes of the range.
  template <typename Each>
  void ForAllIn(const Range& range, Each each) const {
    auto at = by_address_.upper_bound(range.begin);
    if (at != by_address_.begin()) --at;
    for (; at != by_address_.end() && at->first < range.end; ++at) {
      if (at->second->end() > range.begin) each(*at->second);
    }
  }
  void NoteFreed(const FreedMemory& freed) { freed_[next_freed_++ % freed_.size()] = freed; }
  /// Memory that was there; null: none that is remembered.
  const FreedMemory* FreedAt(std::uintptr_t address) const noexcept;
  template <typename Each>
  void ForAll(Each each) const {
    for (const auto& [address, memory] : by_address_)
      each(*memory);
  }

 private:
  std::unordered_map<std::uint64_t, std::unique_ptr<CheckedMemory>> by_number_;
  std::map<std::uintptr_t, CheckedMemory*> by_address_;
  std::array<FreedMemory, 1024> freed_{};
  std::size_t next_freed_ = 0;
};

}  // namespace sampan::check
