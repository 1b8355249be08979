// A thread that continues held queues when the reason for the hold is gone.
#include "backend/cuda/queue/hold_watch.h"

#include <sys/prctl.h>

#include <utility>

#include "backend/cuda/queue/cuda_queue.h"
#include "base/threads/spin.h"

namespace sampan::cuda {
namespace {

/// A shorter wait spins, because sleeping and waking up takes longer.
constexpr std::chrono::microseconds kAwake{5};
/// How late the system may wake the thread, instead of the default of fifty microseconds.
constexpr unsigned long kSlackNs = 1000;
constexpr int kPausesPerCheck = 8;

}  // namespace

HoldWatch::~HoldWatch() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.Join();
}

void HoldWatch::Start() {
  const std::lock_guard lock(mutex_);
  if (!thread_.joinable()) thread_ = StartThread("sampan-holds", [this] { Loop(); });
}

void HoldWatch::Wake(std::weak_ptr<CudaQueue> queue) noexcept {
  {
    const std::lock_guard lock(mutex_);
    awake_.push_back(std::move(queue));
  }
  changed_.notify_one();
}

void HoldWatch::WakeAt(Deadline time, std::weak_ptr<CudaQueue> queue) {
  {
    const std::lock_guard lock(mutex_);
    later_.emplace(time, std::move(queue));
  }
  changed_.notify_one();
}

void HoldWatch::Loop() {
  ::prctl(PR_SET_TIMERSLACK, kSlackNs);
  std::unique_lock lock(mutex_);
  for (;;) {
    for (auto due = later_.begin(); due != later_.end() && due->first <= Clock::now();
         due = later_.erase(due))
      awake_.push_back(std::move(due->second));
    if (stopping_) return;
    if (!awake_.empty()) {
      const auto queues = std::exchange(awake_, {});
      lock.unlock();
      for (const auto& weak : queues) {
        if (const auto queue = weak.lock()) queue->Continue();
      }
      lock.lock();
    } else if (later_.empty()) {
      changed_.wait(lock);
    } else {
      const Deadline next = later_.begin()->first;  // a copy, because others change the list meanwhile
      if (next - Clock::now() > kAwake) {
        changed_.wait_until(lock, next);
        continue;
      }
      lock.unlock();
      for (int pause = 0; pause < kPausesPerCheck; ++pause)
        CpuRelax();
      lock.lock();
    }
  }
}

}  // namespace sampan::cuda
