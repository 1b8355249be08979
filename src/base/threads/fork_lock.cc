// Locks that a forked child finds free: a fork waits until they are.
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

/// All locks of the process, and what fork does with them.
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

/// When the library is loaded: the first call of the program may be in a forked child already.
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
