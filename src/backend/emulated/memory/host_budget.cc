// The limit of pinned host memory.
#include "backend/emulated/memory/host_budget.h"

#include <algorithm>

#include "base/system/memory_file.h"

namespace sampan::emulated {

bool HostBudget::TryTake(std::size_t bytes) {
  std::size_t used = used_bytes_.load(std::memory_order_relaxed);
  do {
    if (bytes > limit_bytes_ - used) return false;
  } while (!used_bytes_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  const std::size_t unseen = unseen_bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  if (unseen <= limit_bytes_ / kUnseenPart) return true;
  if (UntouchedBytes() > spare_()) {
    GiveBack(bytes);
    return false;
  }
  unseen_bytes_.store(0, std::memory_order_relaxed);
  return true;
}

void HostBudget::Watch(int memory_file) {
  const std::lock_guard lock(mutex_);
  memory_files_.push_back(memory_file);
}

void HostBudget::Forget(int memory_file) {
  const std::lock_guard lock(mutex_);
  std::erase(memory_files_, memory_file);
}

std::size_t HostBudget::UntouchedBytes() const {
  std::size_t untouched = used_bytes_.load(std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  for (const int file : memory_files_)
    untouched -= std::min(untouched, TakenBytes(file));
  return untouched;
}

}  // namespace sampan::emulated
