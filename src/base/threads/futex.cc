// Sleeps on words of this process or of shared memory, with futex(2) and futex_waitv(2).
#include "base/threads/futex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <ctime>

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

namespace sampan {
namespace {

/// The kernel's struct futex_waitv, which system headers before 5.16 lack.
struct Waiter {
  std::uint64_t value;
  std::uint64_t address;
  std::uint32_t flags;
  std::uint32_t reserved;
};
constexpr std::uint32_t kWord32 = 2;
/// The polling interval if the kernel cannot sleep on several words.
constexpr std::chrono::microseconds kPollInterval{200};

timespec ToTimespec(std::chrono::nanoseconds time) {
  const auto ns = std::max<std::int64_t>(time.count(), 0);
  return {static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
}

void SleepOnOne(const FutexWait& wait, Deadline deadline) {
  const timespec left = deadline == kNever ? timespec{} : ToTimespec(deadline - Clock::now());
  ::syscall(SYS_futex, wait.word, FUTEX_WAIT, wait.value, deadline == kNever ? nullptr : &left, nullptr, 0);
}

}  // namespace

void FutexWake(const std::atomic<std::uint32_t>& word) noexcept {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void FutexSleep(std::span<const FutexWait> waits, Deadline deadline) noexcept {
  if (deadline != kNever && Clock::now() >= deadline) return;
  if (waits.size() == 1) return SleepOnOne(waits[0], deadline);
  std::array<Waiter, kMaxFutexWaits> waiters;
  const std::size_t count = std::min(waits.size(), waiters.size());
  for (std::size_t i = 0; i < count; ++i) {
    waiters[i] = {waits[i].value, reinterpret_cast<std::uint64_t>(waits[i].word), kWord32, 0};
  }
  const timespec end = deadline == kNever ? timespec{} : ToTimespec(deadline.time_since_epoch());
  const long woken = ::syscall(SYS_futex_waitv, waiters.data(), count, 0, deadline == kNever ? nullptr : &end,
                               CLOCK_MONOTONIC);
  // Kernels before 5.16 lack the call.
  if (woken < 0 && errno == ENOSYS) SleepOnOne(waits[0], std::min(deadline, Clock::now() + kPollInterval));
}

}  // namespace sampan
