// The order between a free and the next allocation of the same addresses, for tools that look for races.
#include "core/memory/freed_order.h"

#include <algorithm>
#include <iterator>
#include <new>

namespace sampan::core {

void FreedOrder::Freed(std::uintptr_t address, std::size_t bytes) noexcept {
  try {
    auto key = std::make_shared<races::Key>();
    races::Release(key.get());
    freed_.insert_or_assign(address, Range{address + bytes, std::move(key)});
  } catch (const std::bad_alloc&) {
    // A false race is possible here.
  }
}

void FreedOrder::Allocated(std::uintptr_t address, std::size_t bytes) {
  const std::uintptr_t end = address + bytes;
  auto range = freed_.lower_bound(address);
  if (range != freed_.begin() && std::prev(range)->second.end > address) --range;
  while (range != freed_.end() && range->first < end) {
    const std::uintptr_t begin = range->first;
    const Range old = std::move(range->second);
    races::Acquire(old.key.get());
    range = freed_.erase(range);
    if (begin < address) freed_.insert_or_assign(begin, Range{address, old.key});
    if (old.end > end) range = freed_.insert_or_assign(end, Range{old.end, old.key}).first;
  }
}

void FreedOrder::TellFree(std::uintptr_t address, std::size_t bytes) noexcept {
  constexpr std::size_t kMaxBytes = 1024;  // as ThreadSanitizer's own free: more would cost its memory
  races::CallStack stack;
  stack.Capture();
  stack.KeepCall();
  races::Accesses(&stack).Write(address, std::min(bytes, kMaxBytes));
}

}  // namespace sampan::core
