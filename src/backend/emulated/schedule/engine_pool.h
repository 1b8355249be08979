// The copy engines of one device: threads that execute queues and share large copies.
#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "backend/emulated/schedule/queue_scheduler.h"
#include "base/threads/threads.h"

namespace sampan::emulated {

/// Thread-safe. Engines spin briefly, one at a time, and then sleep. The destructor joins the threads; all
/// queues must be closed before.
class EnginePool final : public QueueScheduler {
 public:
  explicit EnginePool(unsigned engines, WriteBudget* writes = nullptr);
  ~EnginePool() override;
  EnginePool(const EnginePool&) = delete;
  EnginePool& operator=(const EnginePool&) = delete;

  void MakeReady(std::shared_ptr<EmulatedQueue> queue) noexcept override;
  void WakeAt(Deadline time, std::weak_ptr<EmulatedQueue> queue) override;
  void Drive(EmulatedTimeline& timeline, std::uint64_t number, Deadline deadline) override;
  bool RunsShortTasksAtOnce() const override { return true; }
  void Run(const ChunkedWork& work) override;

 private:
  struct Job;

  void Stop();
  void EngineLoop();
  bool HasWork() const { return ready_count_.load() != 0 || open_jobs_.load() != 0; }
  /// Executes a queue, or helps with a job. Returns false if there is neither.
  bool DoSomething();
  void RunQueue(std::shared_ptr<EmulatedQueue> queue);
  /// Executes the timeline's queue up to the number, unless an engine has begun.
  void RunQueueInstead(EmulatedTimeline& timeline, std::uint64_t number);
  /// Takes chunks of a job until none is left or `enough()` holds; false when no job wants help.
  template <typename Enough>
  bool HelpWithJob(Enough enough);
  void WakeEngines(std::size_t count);
  /// Called with the lock held, after every change of a job.
  void CountOpenJobs();
  void Sleep();
  void UnblockExpired();
  std::shared_ptr<EmulatedQueue> TakeReady();
  /// Removes the queue from the ready list and returns it, or null if it is not ready.
  std::shared_ptr<EmulatedQueue> TakeReady(const EmulatedQueue& wanted);

  const std::chrono::nanoseconds spin_time_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable job_left_;
  std::shared_ptr<EmulatedQueue> first_ready_;
  EmulatedQueue* last_ready_ = nullptr;
  std::vector<Job*> jobs_;
  std::multimap<Deadline, std::weak_ptr<EmulatedQueue>> wake_times_;
  unsigned sleeping_ = 0;
  bool stopping_ = false;
  std::atomic<std::size_t> ready_count_{0};
  std::atomic<std::size_t> open_jobs_{0};  // jobs that need help, counted at the last change
  std::atomic<std::size_t> timed_count_{0};
  std::atomic<bool> spinning_{false};
  std::vector<Thread> engines_;
};

}  // namespace sampan::emulated
