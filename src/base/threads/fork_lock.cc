// Locks that are free in a forked child, because fork waits for them.
#include "base/threads/fork_lock.h"

#include <pthread.h>

#include <mutex>

#include "base/time/local_time.h"

namespace sampan {
namespace {

const void* CallingThread() noexcept {
  thread_local constinit char mark = 0;
  return &mark;
}

constinit std::atomic<bool> is_forked_child{false};

}  // namespace

/// The list of all ForkLocks, and the functions that fork calls.
struct ForkLocks {
  static void Add(ForkLock& added) noexcept {
    const std::lock_guard lock(list_lock);
    ForkLock** place = &first;
    while (*place != nullptr && (*place)->rank_ <= added.rank_)
      place = &(*place)->next_;
    added.next_ = *place;
    *place = &added;
  }
  static void BeforeFork() noexcept {
    RefreshLocalTimeOffset();
    list_lock.lock();
    for (ForkLock* each = first; each != nullptr; each = each->next_)
      each->lock();
  }
  static void AfterFork() noexcept {
    for (ForkLock* each = first; each != nullptr; each = each->next_)
      each->unlock();
    list_lock.unlock();
  }
  static void AfterForkInChild() noexcept {
    is_forked_child.store(true);
    AfterFork();
  }

  static constinit inline ParkingLock list_lock;
  static constinit inline ForkLock* first = nullptr;
};

namespace {

/// Runs when the library is loaded, because the program's first call may come from a forked child.
[[gnu::constructor]] void WatchForks() {
  ::pthread_atfork(&ForkLocks::BeforeFork, &ForkLocks::AfterFork, &ForkLocks::AfterForkInChild);
}

}  // namespace

ForkLock::ForkLock(Rank rank) noexcept : rank_(rank) {
  ForkLocks::Add(*this);
}

void ForkLock::lock() noexcept {
  const void* const self = CallingThread();
  if (owner_.load(std::memory_order_relaxed) != self) {
    lock_.lock();
    owner_.store(self, std::memory_order_relaxed);
  }
  ++depth_;
}

void ForkLock::unlock() noexcept {
  if (--depth_ != 0) return;
  owner_.store(nullptr, std::memory_order_relaxed);
  lock_.unlock();
}

bool IsForkedChild() noexcept {
  return is_forked_child.load(std::memory_order_relaxed);
}

}  // namespace sampan
