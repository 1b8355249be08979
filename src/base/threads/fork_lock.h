// Locks that are free in a forked child, because fork waits for them.
#pragma once

#include <atomic>

#include "base/threads/parking_lock.h"

namespace sampan {

/// A recursive lock for what a child of fork(2) may use: the log, the state of aclInit, the creation of the
/// runtime. fork takes all of them before it copies the process, and releases them in both processes.
/// Instances must live until the process exits. A thread takes several only in the order of their rank. None
/// may be held while a function of the program is called. Thread-safe.
class ForkLock {
 public:
  /// The order in which one thread may take several.
  enum class Rank { kInit, kRuntime, kLeaf };
  explicit ForkLock(Rank rank) noexcept;
  ForkLock(const ForkLock&) = delete;
  ForkLock& operator=(const ForkLock&) = delete;

  void lock() noexcept;
  void unlock() noexcept;

 private:
  friend struct ForkLocks;

  const Rank rank_;
  ForkLock* next_ = nullptr;  // in the list of all locks, ordered by rank
  ParkingLock lock_;
  std::atomic<const void*> owner_{
      nullptr};         // identifies a thread by an address that is the same in a forked child
  unsigned depth_ = 0;  // how often the owner holds it
};

/// True in a process that was forked after the library was loaded.
bool IsForkedChild() noexcept;

}  // namespace sampan
