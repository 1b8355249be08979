// The allocations of the process, and those that were freed a short time ago.
#include "check/memory/memory_table.h"

#include <algorithm>
#include <iterator>

namespace sampan::check {

CheckedMemory& MemoryTable::Add(const observe::MemoryEvent& event) {
  auto& memory = *(by_number_[event.allocation] = std::make_unique<CheckedMemory>(event));
  by_address_.insert_or_assign(event.address, &memory);
  return memory;
}

CheckedMemory* MemoryTable::Find(std::uint64_t allocation) const noexcept {
  const auto found = by_number_.find(allocation);
  return found == by_number_.end() ? nullptr : found->second.get();
}

CheckedMemory* MemoryTable::At(std::uintptr_t address) const noexcept {
  const auto behind = by_address_.upper_bound(address);
  if (behind == by_address_.begin()) return nullptr;
  CheckedMemory* const memory = std::prev(behind)->second;
  return address < memory->end() ? memory : nullptr;
}

void MemoryTable::Remove(CheckedMemory& memory) {
  const auto found = by_address_.find(memory.facts.address);
  if (found != by_address_.end() && found->second == &memory) by_address_.erase(found);
  by_number_.erase(memory.facts.allocation);
}

const FreedMemory* MemoryTable::FreedAt(std::uintptr_t address) const noexcept {
  const std::size_t count = std::min(next_freed_, freed_.size());
  for (std::size_t i = 1; i <= count; ++i) {
    const FreedMemory& freed = freed_[(next_freed_ - i) % freed_.size()];
    if (address - freed.address < freed.usable_bytes) return &freed;
  }
  return nullptr;
}

}  // namespace sampan::check
