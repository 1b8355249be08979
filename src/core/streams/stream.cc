// A stream: an in-order queue of a context, with the rules about failures.
#include "core/streams/stream.h"

#include <algorithm>
#include <utility>

#include <unistd.h>

#include "backend/api/task_memory.h"
#include "base/error/assert.h"
#include "base/error/text.h"
#include "base/log/log.h"
#include "base/threads/threads.h"
#include "core/streams/observed_submit.h"
#include "core/streams/stream_roster.h"
#include "observe/hooks.h"

namespace sampan::core {
namespace {

/// Unique in the process, over all devices.
std::uint64_t NextQueueNumber() {
  static constinit std::atomic<std::uint64_t> last_queue{0};
  return last_queue.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

void StickyFailure::Set(const Error& error) {
  const std::lock_guard lock(mutex_);
  if (set_.load(std::memory_order_relaxed)) return;
  error_ = error;
  set_.store(true, std::memory_order_release);
}

Error StickyFailure::Get() const {
  const std::lock_guard lock(mutex_);
  return error_;
}

Stream::Stream(std::shared_ptr<StickyFailure> context_failure, const StreamOptions& options, IdLease id)
    : options_(options),
      id_(id.id()),
      context_failure_(std::move(context_failure)),
      id_lease_(std::move(id)) {
  SAMPAN_ASSERT(context_failure_ != nullptr && options_.queue_depth != 0);
}

Result<std::shared_ptr<Stream>> Stream::Create(BackendDevice& device,
                                               std::shared_ptr<StickyFailure> context_failure,
                                               const StreamOptions& options, IdLease id) {
  std::shared_ptr<Stream> stream(new Stream(std::move(context_failure), options, std::move(id)));
  auto queue = device.CreateQueue(
      {.listener = *stream,
       .depth = options.queue_depth,
       .label = {NextQueueNumber(), static_cast<std::int32_t>(options.device), stream->id()}});
  if (!queue.ok()) return queue.TakeStatus();
  stream->queue_ = std::move(*queue);
  if (options.roster != nullptr) options.roster->Add(stream);
  if (observe::On()) {
    observe::TellStream(
        {.queue = stream->label(), .timeline = stream->timeline(), .of_context = options.of_context});
  }
  return stream;
}

Result<std::uint64_t> Stream::SubmitWatched(Task&& task) {
  const NoCancellation no_cancellation;
  for (;;) {
    if (Status sticky = context_failure_->Check(); !sticky.ok()) return sticky;
    auto wait = AwaitHandovers(task);
    if (!wait.ok()) return wait;
    if (FailuresReported()) submitter_.store(CurrentThreadNumber());
    auto number = observe::On() ? SubmitObserved(*queue_, task, *wait) : queue_->Submit(task, *wait);
    if (!number.ok() || *number != 0) return number;
    // Another thread's abort dropped the wait.
  }
}

Result<std::uint64_t> Stream::AwaitHandovers(const Task& task) {
  std::uint64_t first = 0;
  if (!options_.memory->AnyHandover()) return first;
  Status waits = VisitUses(task, [&](const AllocationUse& use) -> Status {
    MemoryKeeper* const keeper = options_.memory->HandoverOf(use);
    if (keeper == nullptr) return {};
    auto wait = keeper->AwaitHandover(*this, *use.get());
    if (!wait.ok()) return wait.TakeStatus();
    if (*wait != 0 && (first == 0 || *wait < first)) first = *wait;
    return {};
  });
  if (!waits.ok()) return waits;
  return first;
}

Result<Point> Stream::EnqueueWithPoint(Task&& task) {
  auto number = is_watched() ? SubmitWatched(std::move(task)) : queue_->Submit(task, 0);
  if (!number.ok()) return number.TakeStatus();
  SAMPAN_ASSERT(*number != 0 && *number <= queue_->submitted());
  return Point{queue_->timeline(), *number};
}

Point Stream::Last() const {
  return {queue_->timeline(), queue_->submitted()};
}

Status Stream::Await(Deadline deadline, Code timeout_code) {
  const std::uint64_t drops_before = drops_.load();
  if (observe::On()) {
    observe::TellAwaited({observe::Awaited::kStream, label().device, id(), queue_->submitted()});
  }
  const std::uint64_t last = queue_->submitted();
  if (!queue_->timeline()->Wait(last, deadline)) {
    const std::string why = options_.roster != nullptr ? options_.roster->Explain(*timeline()) : "";
    return {timeout_code,
            Text("stream ", id(), " still has work after the time limit", why.empty() ? "" : ": ", why)};
  }
  queue_->timeline()->Observe(last);
  observe::Learned({queue_->timeline(), last});
  if (drops_.load() != drops_before) {
    return {
        drop_code_.load(),
        Text("stream ", id(), " was aborted or destroyed while this call waited for it: work was dropped")};
  }
  return {};
}

Status Stream::Synchronize(Deadline deadline, Code timeout_code) {
  if (Status waited = Await(deadline, timeout_code); !waited.ok()) return waited;
  return TakeFailure();
}

Result<bool> Stream::Query() {
  const Point last = Last();
  const bool done = last.Reached();
  if (done) {
    last.Observe();
    observe::Learned(last);
  }
  if (Status failure = TakeFailure(); !failure.ok()) return failure;
  return done;
}

void Stream::NoteDrop(Code code) {
  SAMPAN_ASSERT(code != Code::kOk);
  drop_code_.store(code);
  drops_.fetch_add(1);
}

Point Stream::Drop(Code code) {
  NoteDrop(code);
  const std::uint64_t last = queue_->Discard(code);
  const std::lock_guard lock(mutex_);
  forgotten_ = std::max(forgotten_, last);
  if (failure_ && first_failed_ <= forgotten_) failure_.reset();
  return {queue_->timeline(), last};
}

void Stream::PassDropped() {
  queue_->PassDiscarded();
}

void Stream::Abort(Code code) {
  const Point dropped = Drop(code);
  PassDropped();
  dropped.Wait(kNever);
  dropped.Observe();
  observe::Learned(dropped);
}

void Stream::Close() {
  if (!Last().Reached()) NoteDrop(Code::kStreamAbort);
  queue_->Close();
  SAMPAN_ASSERT(queue_->timeline()->completed() >= queue_->submitted());  // and nothing comes any more
  Last().Observe();
  observe::Learned(Last());
  if (options_.roster != nullptr) options_.roster->Remove(*this);
  if (observe::On()) observe::TellStream({.queue = label(), .timeline = timeline(), .destroyed = true});
  const std::lock_guard lock(mutex_);
  id_lease_.reset();
}

std::uint32_t Stream::CurrentThreadNumber() {
  thread_local const auto number = static_cast<std::uint32_t>(::gettid());
  return number;
}

Status Stream::TakeFailure() {
  if (Status sticky = context_failure_->Check(); !sticky.ok()) {
    if (observe::On()) observe::TellFailureSeen(label(), 0);
    if (options_.reports != nullptr) options_.reports->Await();
    return sticky;
  }
  if (!failed_.exchange(false)) return {};
  if (observe::On()) observe::TellFailureSeen(label(), 0);
  if (options_.reports != nullptr) options_.reports->Await();
  const std::lock_guard lock(mutex_);
  if (!failure_) return {};
  queue_->NoteTold(last_failed_);
  return Status(*std::exchange(failure_, std::nullopt));
}

Status Stream::PendingFailure() const {
  if (!failed_.load()) return {};
  const std::lock_guard lock(mutex_);
  return failure_ ? Status(*failure_) : Status();
}

bool Stream::OnTaskFailed(std::uint64_t number, Status failure) noexcept {
  SAMPAN_ASSERT(number != 0 && !failure.ok());
  if (options_.reports != nullptr) {
    options_.reports->Report({.task = static_cast<std::uint32_t>(number),
                              .stream = id(),
                              .thread = submitter_.load(),
                              .device = options_.device,
                              .code = static_cast<std::uint32_t>(failure.code()),
                              .queue = label(),
                              .number = number});
  }
  try {
    Error error = std::move(failure.error());
    error.message = Text("task ", number, " of stream ", id(), " failed: ", error.message);
    if (error.code == Code::kTaskTimeout && options_.roster != nullptr)
      error.message += options_.roster->DescribeOthers(*timeline());
    Log(LogLevel::kError, "RUNTIME", error.message);
    if (stops_on_failure()) {
      context_failure_->Set(error);
      return true;
    }
    KeepFailure(number, std::move(error));
  } catch (...) {
    KeepFailure(number, {failure.code(), {}});  // out of memory: the code without a message
  }
  return false;
}

void Stream::KeepFailure(std::uint64_t number, Error&& error) {
  const std::lock_guard lock(mutex_);
  last_failed_ = number;
  if (failure_ || number <= forgotten_) return;
  failure_ = std::move(error);
  first_failed_ = number;
  failed_.store(true);
}

}  // namespace sampan::core
