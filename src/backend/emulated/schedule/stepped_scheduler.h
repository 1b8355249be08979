// Executes tasks one at a time in a repeatable order: early, late, or by a seed.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <random>
#include <vector>

#include "backend/emulated/queue/gate_watch.h"
#include "backend/emulated/schedule/queue_scheduler.h"
#include "backend/emulated/schedule/schedule.h"
#include "base/threads/threads.h"

namespace sampan::emulated {

/// Serves all devices of a process, so that it also chooses the order between them. Tasks run one at a time,
/// on the threads that submit or wait. With one program thread, a run repeats exactly. If a program neither
/// submits nor waits for kIdleTime, pending tasks run. So a program that polls memory continues. Thread-safe.
class SteppedScheduler final : public QueueScheduler {
 public:
  SteppedScheduler(Schedule schedule, GateWatch& gates, WriteBudget* writes = nullptr);
  ~SteppedScheduler() override;
  SteppedScheduler(const SteppedScheduler&) = delete;
  SteppedScheduler& operator=(const SteppedScheduler&) = delete;

  void MakeReady(std::shared_ptr<EmulatedQueue> queue) noexcept override;
  void WakeAt(Deadline time, std::weak_ptr<EmulatedQueue> queue) override;
  void Submitted() override;
  void Polled(EmulatedTimeline& timeline) override;
  void Drive(EmulatedTimeline& timeline, std::uint64_t number, Deadline deadline) override;
  void Arrange(std::span<Segment> segments) override;
  void Run(const ChunkedWork& work) override;

 private:
  static constexpr std::chrono::seconds kIdleTime{1};

  /// Executes one task; false if none is ready. With a timeline, prefers a task that advances it.
  bool Step(EmulatedTimeline* wanted);
  std::shared_ptr<EmulatedQueue> Choose(EmulatedTimeline* wanted);
  void StepAll();
  void UnblockExpired();
  void IdleLoop();

  const Schedule schedule_;
  GateWatch& gates_;
  std::mutex step_mutex_;  // held while a task executes
  std::mt19937_64 random_;
  std::mutex arranging_;  // blocking batches may run on any thread
  std::mt19937_64 arrangements_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<EmulatedQueue>> ready_;  // in the order in which they became ready
  std::vector<std::pair<Deadline, std::weak_ptr<EmulatedQueue>>> wake_times_;
  std::uint64_t activity_ = 0;
  bool stopping_ = false;
  Thread idle_;
};

}  // namespace sampan::emulated
