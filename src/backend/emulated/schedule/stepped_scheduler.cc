// Executes tasks one at a time in a repeatable order: early, late, or by a seed.
#include "backend/emulated/schedule/stepped_scheduler.h"

#include <algorithm>
#include <utility>

#include "backend/emulated/queue/emulated_queue.h"
#include "base/error/assert.h"

namespace sampan::emulated {
namespace {

/// The interval at which an idle waiting thread checks time limits.
constexpr std::chrono::milliseconds kLimitCheckInterval{2};
constexpr std::size_t kMaxQueues = 1 << 16;

}  // namespace

SteppedScheduler::SteppedScheduler(Schedule schedule, GateWatch& gates, WriteBudget* writes)
    : QueueScheduler(writes),
      schedule_(schedule),
      gates_(gates),
      random_(schedule.seed),
      arrangements_(schedule.seed) {
  ready_.reserve(kMaxQueues);
  idle_ = StartThread("sampan-steps", [this] { IdleLoop(); });
}

SteppedScheduler::~SteppedScheduler() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  idle_.Join();
}

void SteppedScheduler::MakeReady(std::shared_ptr<EmulatedQueue> queue) noexcept {
  {
    const std::lock_guard lock(mutex_);
    SAMPAN_ASSERT(queue != nullptr && ready_.size() < ready_.capacity());
    ready_.push_back(std::move(queue));
    ++activity_;
  }
  changed_.notify_all();
}

void SteppedScheduler::WakeAt(Deadline time, std::weak_ptr<EmulatedQueue> queue) {
  const std::lock_guard lock(mutex_);
  wake_times_.emplace_back(time, std::move(queue));
}

void SteppedScheduler::UnblockExpired() {
  std::vector<std::weak_ptr<EmulatedQueue>> expired;
  {
    const std::lock_guard lock(mutex_);
    const auto now = Clock::now();
    std::erase_if(wake_times_, [&](auto& entry) {
      if (entry.first > now) return false;
      expired.push_back(entry.second);
      return true;
    });
  }
  for (const auto& entry : expired) {
    if (const auto queue = entry.lock()) queue->Unblock();
  }
}

std::shared_ptr<EmulatedQueue> SteppedScheduler::Choose(EmulatedTimeline* wanted) {
  const std::lock_guard lock(mutex_);
  ++activity_;
  if (ready_.empty()) return nullptr;
  // Follows the chain of waits in front of the wanted task: to its end, or to the first queue that can
  // continue.
  std::shared_ptr<EmulatedQueue> needed = wanted == nullptr ? nullptr : wanted->queue();
  const auto is_ready = [&] { return std::find(ready_.begin(), ready_.end(), needed) != ready_.end(); };
  for (std::size_t hops = 0;
       needed != nullptr && needed->blocked_on() != nullptr && !is_ready() && hops < kMaxQueues; ++hops) {
    const auto holding = std::dynamic_pointer_cast<EmulatedTimeline>(needed->blocked_on());
    needed = holding == nullptr ? nullptr : holding->queue();
  }
  auto chosen = ready_.begin();
  if (schedule_.kind == Schedule::Kind::kSeeded) {
    chosen += static_cast<std::ptrdiff_t>(random_() % ready_.size());
  } else if (const auto found = std::find(ready_.begin(), ready_.end(), needed); found != ready_.end()) {
    chosen = found;
  }
  std::shared_ptr<EmulatedQueue> queue = std::move(*chosen);
  ready_.erase(chosen);
  return queue;
}

bool SteppedScheduler::Step(EmulatedTimeline* wanted) {
  const std::lock_guard step(step_mutex_);
  gates_.ResumeReady();
  std::shared_ptr<EmulatedQueue> queue = Choose(wanted);
  if (queue == nullptr) return false;
  switch (queue->TakeTurn(1)) {
    case EmulatedQueue::TurnEnd::kBlocked:
      break;
    case EmulatedQueue::TurnEnd::kMore:
      MakeReady(std::move(queue));
      break;
    case EmulatedQueue::TurnEnd::kEmpty:
      if (!queue->TryLeave()) MakeReady(std::move(queue));
      break;
  }
  return true;
}

void SteppedScheduler::StepAll() {
  while (Step(nullptr)) {
  }
}

void SteppedScheduler::Submitted() {
  switch (schedule_.kind) {
    case Schedule::Kind::kEarly:
      StepAll();
      break;
    case Schedule::Kind::kSeeded: {
      std::uint64_t steps = 0;
      {
        const std::lock_guard step(step_mutex_);
        steps = random_() % 3;
      }
      while (steps-- > 0 && Step(nullptr)) {
      }
      break;
    }
    case Schedule::Kind::kLate:
    case Schedule::Kind::kParallel:
      break;
  }
}

void SteppedScheduler::Polled(EmulatedTimeline& timeline) {
  UnblockExpired();
  Step(&timeline);
}

void SteppedScheduler::Drive(EmulatedTimeline& timeline, std::uint64_t number, Deadline deadline) {
  while (timeline.done() < number && Clock::now() < deadline) {
    UnblockExpired();
    if (Step(&timeline)) continue;
    std::unique_lock lock(mutex_);
    if (ready_.empty()) changed_.wait_for(lock, kLimitCheckInterval);
  }
}

void SteppedScheduler::Arrange(std::span<Segment> segments) {
  if (schedule_.kind == Schedule::Kind::kLate) {
    std::reverse(segments.begin(), segments.end());
  } else if (schedule_.kind == Schedule::Kind::kSeeded) {
    const std::lock_guard lock(arranging_);
    std::shuffle(segments.begin(), segments.end(), arrangements_);
  }
}

void SteppedScheduler::Run(const ChunkedWork& work) {
  for (std::size_t chunk = 0; chunk < work.chunks; ++chunk)
    work.Run(chunk);
}

void SteppedScheduler::IdleLoop() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const std::uint64_t before = activity_;
    changed_.wait_for(lock, kIdleTime, [&] { return stopping_; });
    if (stopping_ || activity_ != before) continue;
    lock.unlock();
    StepAll();
    lock.lock();
  }
}

}  // namespace sampan::emulated
