// A stream: an in-order queue of a context, with the rules about failures.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "backend/api/backend.h"
#include "backend/api/queue.h"
#include "base/error/status.h"
#include "core/callbacks/state_callbacks.h"
#include "core/memory/memory_registry.h"
#include "core/objects/core_limits.h"
#include "core/objects/id_pool.h"
#include "observe/observers.h"

namespace sampan::core {

class StreamRoster;

/// A failure that stays with a context after one of its streams stopped at it. Thread-safe.
class StickyFailure {
 public:
  void Set(const Error& error);
  /// The first failure; success if there is none.
  Status Check() const { return is_set() ? Status(Get()) : Status(); }
  bool is_set() const { return set_.load(std::memory_order_acquire); }

 private:
  Error Get() const;

  std::atomic<bool> set_{false};
  mutable std::mutex mutex_;
  Error error_;
};

struct StreamOptions {
  std::uint32_t priority = 0;
  std::uint32_t flags = 0;
  std::uint64_t queue_depth = 0;
  FailureReports* reports = nullptr;  ///< gets the failed tasks
  StreamRoster* roster = nullptr;     ///< the list of all streams
  const MemoryRegistry* memory = nullptr;
  std::uint32_t device = 0;
  bool of_context = false;  ///< a context's own
};

/// Thread-safe. Its context and running calls share it. Its owner must call Close.
class Stream final : public std::enable_shared_from_this<Stream>, private QueueListener {
 public:
  /// With these flags, synchronizing on the host returns at once.
  static constexpr std::uint32_t kCpuSchedule = 0x10, kDeviceUseOnly = 0x20, kPersistent = 0x4;

  static Result<std::shared_ptr<Stream>> Create(BackendDevice& device,
                                                std::shared_ptr<StickyFailure> context_failure,
                                                const StreamOptions& options, IdLease id);

  /// Submits a task. Its point is reached when the task is completed.
  Status Enqueue(Task&& task) {
    auto number = is_watched() ? SubmitWatched(std::move(task)) : queue_->Submit(task, 0);
    return number.ok() ? Status() : number.TakeStatus();
  }
  Result<Point> EnqueueWithPoint(Task&& task);
  /// Whether threads execute effects that are for them inside of Enqueue.
  bool LetsSubmittersRun() const { return queue_->LetsSubmittersRun(); }
  /// A hint: all work that is queued so far is completed, and no thread is busy with the stream.
  bool LooksIdle() const { return queue_->LooksIdle(); }
  /// Waits for all work that is queued so far. Fails with `timeout_code` at the deadline. Fails if some of
  /// the work was dropped meanwhile.
  Status Await(Deadline deadline, Code timeout_code = Code::kStreamSyncTimeout);
  /// Returns and clears the first failure since the last call. Callbacks have run by then.
  Status TakeFailure();
  /// The same, which stays. A task calls it for the tasks before it in the stream.
  Status PendingFailure() const;
  /// Await, then TakeFailure.
  Status Synchronize(Deadline deadline, Code timeout_code = Code::kStreamSyncTimeout);
  /// Returns true if all work that is queued so far is completed. Fails like Synchronize.
  Result<bool> Query();
  /// Drops queued work, and failures that were not reported, and waits for the running task. Calls that wait
  /// for the stream get the code.
  void Abort(Code code = Code::kStreamAbort);
  /// The two halves of an abort, so that several streams drop their work before one of them continues. Drop
  /// returns the point at which the dropped work is over.
  Point Drop(Code code);
  void PassDropped();
  /// Drops queued work like an abort, waits for the running task, and returns the stream's number. No task
  /// may be submitted afterwards.
  void Close();
  /// The point at which all work that is queued so far is completed.
  Point Last() const;
  /// The same, cheaper if `point` already belongs to this stream.
  void GetLast(Point& point) const {
    if (point.timeline != queue_->timeline()) point.timeline = queue_->timeline();
    point.number = queue_->submitted();
  }
  const Timeline* timeline() const { return queue_->timeline().get(); }
  /// As Queue::Inspect.
  bool Inspect(const std::function<void(std::uint64_t, const Task&)>& look) const {
    return queue_->Inspect(look);
  }
  /// Makes the stream wait for queued work of earlier owners of the task's memory. Returns the first of its
  /// waits, which must not be dropped before the task is submitted; 0: there are none.
  Result<std::uint64_t> AwaitHandovers(const Task& task);
  /// True if work up to this task was dropped.
  bool Discarded(std::uint64_t number) const { return queue_->Discarded(number); }
  /// A queue with so many tasks blocks its submitters.
  std::uint64_t queue_depth() const { return options_.queue_depth; }
  std::uint64_t submitted() const { return queue_->submitted(); }

  std::uint32_t id() const { return id_; }
  const QueueLabel& label() const { return queue_->label(); }
  /// What the streams of one context have in common.
  const std::shared_ptr<StickyFailure>& context_failure() const { return context_failure_; }
  std::uint32_t priority() const { return options_.priority; }
  std::uint32_t flags() const { return options_.flags; }
  bool SkipsSynchronize() const { return SkipsDeviceSynchronize() || (options_.flags & kCpuSchedule) != 0; }
  /// The same when the host waits for the whole device.
  bool SkipsDeviceSynchronize() const { return (options_.flags & (kDeviceUseOnly | kPersistent)) != 0; }
  bool stops_on_failure() const noexcept override { return stops_on_failure_.load(); }
  void StopOnFailure() { stops_on_failure_.store(true); }
  std::atomic<std::uint32_t>& tag() { return tag_; }
  std::atomic<bool>& overflow_check() { return overflow_check_; }
  CoreLimits& core_limits() { return core_limits_; }

 private:
  Stream(std::shared_ptr<StickyFailure> context_failure, const StreamOptions& options, IdLease id);

  /// True if the context has failed, or failures or submissions are to be told, or memory is in handover.
  bool is_watched() const {
    return context_failure_->is_set() || FailuresReported() || observe::On() ||
           options_.memory->AnyHandover();
  }
  /// Queue::Submit of a stream that is watched.
  [[gnu::cold, gnu::noinline]] Result<std::uint64_t> SubmitWatched(Task&& task);
  bool OnTaskFailed(std::uint64_t number, Status failure) noexcept override;
  bool FailuresReported() const { return options_.reports != nullptr && options_.reports->any(); }
  static std::uint32_t CurrentThreadNumber();
  /// Makes waiters return this code, because work was dropped.
  void NoteDrop(Code code);
  /// Keeps the failure for the next synchronization, if it is the first.
  void KeepFailure(std::uint64_t number, Error&& error);

  const StreamOptions options_;
  const std::uint32_t id_;
  const std::shared_ptr<StickyFailure> context_failure_;
  std::shared_ptr<Queue> queue_;
  std::atomic<bool> stops_on_failure_{false};
  std::atomic<std::uint32_t> tag_{0};
  std::atomic<bool> overflow_check_{false};
  CoreLimits core_limits_;
  std::atomic<std::uint64_t> drops_{0};
  std::atomic<Code> drop_code_{Code::kOk};   // of the last one
  std::atomic<std::uint32_t> submitter_{0};  // the thread that submitted last, for callbacks
  std::atomic<bool> failed_{false};
  mutable std::mutex mutex_;         // guards what follows
  std::optional<IdLease> id_lease_;  // until the stream is closed
  std::optional<Error> failure_;
  std::uint64_t first_failed_ = 0;  // the task of failure_
  std::uint64_t last_failed_ = 0;   // the task
  std::uint64_t forgotten_ = 0;     // no failure up to this task is reported: an abort dropped its work
};

}  // namespace sampan::core
