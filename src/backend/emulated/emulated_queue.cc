// A queue of tasks on an emulated device: a ring that programs fill and one engine at a time empties.
#include "backend/emulated/emulated_queue.h"

#include <cstring>
#include <new>
#include <utility>

#include "backend/emulated/task_execution.h"
#include "base/text.h"
#include "trace/trace.h"

namespace sampan::emulated {
namespace {

/// How long a submitter waits for a full queue to drain well.
constexpr std::chrono::milliseconds kPatience{1};
/// How far ahead slots are brought near.
constexpr std::uint64_t kSlotsAhead = 4;
/// Short tasks that are executed by whoever sees a gate open.
constexpr int kTasksBehindGate = 16;
/// More than a submitter does by itself: here an engine has to be woken while others wait for what the stream
/// signals next.
constexpr std::size_t kMostBytesBehindGate = std::size_t{256} << 10;

}  // namespace

std::shared_ptr<EmulatedQueue> EmulatedQueue::Create(QueueScheduler& scheduler, GateWatch& gates,
                                                     QueueListener& listener, FaultPlan& faults) {
  std::shared_ptr<EmulatedQueue> queue(new EmulatedQueue(scheduler, gates, listener, faults));
  queue->timeline_->set_queue(queue);
  return queue;
}

EmulatedQueue::EmulatedQueue(QueueScheduler& scheduler, GateWatch& gates, QueueListener& listener,
                             FaultPlan& faults)
    : scheduler_(scheduler),
      gates_(gates),
      listener_(listener),
      faults_(faults),
      short_tasks_at_once_(scheduler.RunsShortTasksAtOnce()),
      timeline_(std::make_shared<EmulatedTimeline>(scheduler)),
      public_timeline_(timeline_),
      slots_(static_cast<Task*>(::operator new(kSlots * sizeof(Task)))) {
  if (short_tasks_at_once_) express = {.segments = SIZE_MAX, .bytes = kMostBytesAtOnce};
}

EmulatedQueue::~EmulatedQueue() {
  for (std::uint64_t value = timeline_->value() + 1; value <= tail_.load(); ++value)
    std::destroy_at(&SlotOf(value));
  ::operator delete(slots_);
}

Result<std::uint64_t> EmulatedQueue::Submit(Task&& task) {
  if (faults_.ShouldFail(FaultKind::kQueue)) {
    return Error{Code::kResourceAllocFail, "the task could not be queued: failure ordered by SAMPAN_FAULT"};
  }
  if (short_tasks_at_once_ && IsShort(task, kMostBytesAtOnce)) {
    if (const std::uint64_t value = TryExecuteAtOnce(task); value != 0) return value;
  }
  bool first = false;
  auto value = TryAppend(task, first);
  while (value.ok() && *value == 0) {
    WaitForRoom();
    value = TryAppend(task, first);
  }
  if (!value.ok()) return value;
  if (first) scheduler_.MakeReady(shared_from_this());
  scheduler_.Submitted();
  return value;
}

std::uint64_t EmulatedQueue::TryExecuteAtOnce(Task& task) {
  const std::lock_guard lock(submit_lock_);
  if (closed_ || state_.load(std::memory_order_acquire) != kIdle) return 0;
  if (auto* gate = std::get_if<GateTask>(&task); gate != nullptr && !gate->gate->TryPass()) return 0;
  // Nobody has the turn, and the lock keeps others from taking it.
  const std::uint64_t value = tail_.load(std::memory_order_relaxed) + 1;
  const std::int64_t traced_ns = trace::BeginAtOnce();
  if (Status status = ExecuteTask(task, scheduler_); !status.ok()) Fail(value, std::move(status));
  task.emplace<std::monostate>();  // lets go of memory before anybody hears that the task is over
  if (traced_ns != 0) [[unlikely]]
    trace::EndAtOnce(traced_ns);
  PassAtOnce(value);
  return value;
}

std::uint64_t EmulatedQueue::TryExpress(std::span<const Segment> segments, AllocationUse&, AllocationUse&,
                                        trace::Span* traced) {
  if (!short_tasks_at_once_ || faults_.Armed(FaultKind::kQueue)) return 0;
  const std::lock_guard lock(submit_lock_);
  if (closed_ || state_.load(std::memory_order_acquire) != kIdle) return 0;
  if (traced != nullptr) [[unlikely]]
    traced->begin_ns = trace::NowNs();
  for (const auto& [dst, src, bytes] : segments)
    std::memmove(dst, src, bytes);
  if (traced != nullptr) [[unlikely]]
    traced->end_ns = trace::NowNs();
  const std::uint64_t value = tail_.load(std::memory_order_relaxed) + 1;
  PassAtOnce(value);
  return value;
}

void EmulatedQueue::PassAtOnce(std::uint64_t value) {
  timeline_->AdvanceBeforeSubmission(value);
  tail_.store(value, std::memory_order_release);
}

Result<std::uint64_t> EmulatedQueue::TryAppend(Task& task, bool& first) {
  const std::lock_guard lock(submit_lock_);
  if (closed_) return Error{Code::kInvalidHandle, "the stream was destroyed at the same time"};
  const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
  if (tail - seen_done_ >= kDepth) seen_done_ = timeline_->value();
  if (tail - seen_done_ >= kDepth) return std::uint64_t{0};
  __builtin_prefetch(&SlotOf(tail + kSlotsAhead), 1);  // the engine had it last
  std::construct_at(&SlotOf(tail + 1), std::move(task));
  tail_.store(tail + 1, std::memory_order_release);
  first = state_.load(std::memory_order_relaxed) == kIdle;
  if (first) {
    done_ = tail;  // tasks that were executed at once are not counted one by one
    seen_tail_ = tail;
    state_.store(kScheduled, std::memory_order_relaxed);
  }
  return tail + 1;
}

void EmulatedQueue::WaitForRoom() {
  const trace::HostWait traced(summary::WaitReason::kQueueFull, label);
  // Rather for a quarter of the queue than for one place: a sleep per task would be slow. But not for ever,
  // because the one place may be all that comes until this thread goes on.
  const std::uint64_t full_at = submitted() - kDepth;
  if (timeline_->Wait(full_at + kDepth / 4, Clock::now() + kPatience)) return;
  timeline_->Wait(full_at + 1, kNever);
}

EmulatedQueue::TurnEnd EmulatedQueue::TakeTurn(int most, Tasks tasks) {
  for (int i = 0; i < most; ++i) {
    if (!HasTasks()) return TurnEnd::kEmpty;
    const std::uint64_t value = done_ + 1;
    Task& task = SlotOf(value);
    __builtin_prefetch(&SlotOf(value + kSlotsAhead));
    if (tasks == Tasks::kShort && !IsShort(task, kMostBytesBehindGate) &&
        !std::holds_alternative<GateTask>(task) && !std::holds_alternative<WaitTask>(task)) {
      return TurnEnd::kMore;
    }
    if (trace::On()) [[unlikely]]
      TraceHead(task, value);
    const bool discarded = Discarded(value);
    if (!discarded && !ExecuteHead(task, value)) return TurnEnd::kBlocked;
    if (trace::On()) [[unlikely]]
      trace::EndExecution(std::exchange(head_since_ns_, 0), discarded);
    blocked_on_ = nullptr;
    std::destroy_at(&task);  // lets go of memory before anybody hears that the task is over
    done_ = value;
    timeline_->Advance(value);
  }
  return HasTasks() ? TurnEnd::kMore : TurnEnd::kEmpty;
}

void EmulatedQueue::TraceHead(const Task& task, std::uint64_t value) {
  if (head_since_ns_ == 0) head_since_ns_ = trace::NowNs();
  trace::BeginExecution({label, value, TraceType(task)});
}

bool EmulatedQueue::TryLeave() {
  const std::lock_guard lock(submit_lock_);
  if (tail_.load(std::memory_order_relaxed) != done_) return false;
  state_.store(kIdle, std::memory_order_release);
  return true;
}

bool EmulatedQueue::TakeFromBlocked() noexcept {
  std::uint64_t state = state_.load(std::memory_order_seq_cst);
  while (state >= kFirstTicket) {
    if (state_.compare_exchange_weak(state, kScheduled)) return true;
  }
  return false;
}

void EmulatedQueue::Unblock() noexcept {
  if (TakeFromBlocked()) scheduler_.MakeReady(shared_from_this());
}

void EmulatedQueue::GoOnAtGate() {
  if (!short_tasks_at_once_) return Unblock();
  if (!TakeFromBlocked()) return;
  switch (TakeTurn(kTasksBehindGate, Tasks::kShort)) {
    case TurnEnd::kBlocked:
      return;
    case TurnEnd::kEmpty:
      if (TryLeave()) return;
      break;
    case TurnEnd::kMore:
      break;
  }
  scheduler_.MakeReady(shared_from_this());
}

bool EmulatedQueue::ExecuteHead(Task& task, std::uint64_t value) {
  if (auto* wait = std::get_if<WaitTask>(&task)) return ExecuteWait(*wait, value);
  if (auto* host = std::get_if<HostTask>(&task)) return ExecuteHost(*host, value);
  if (auto* gate = std::get_if<GateTask>(&task)) return ExecuteGate(*gate, value);
  if (Status status = ExecuteTask(task, scheduler_); !status.ok()) Fail(value, std::move(status));
  return true;
}

template <typename Over>
bool EmulatedQueue::BlockUnless(Over over) {
  std::uint64_t ticket = next_ticket_++;
  state_.store(ticket, std::memory_order_seq_cst);
  // From here on the queue may be somebody else's.
  return over() && state_.compare_exchange_strong(ticket, kScheduled);
}

bool EmulatedQueue::ExecuteWait(WaitTask& task, std::uint64_t value) {
  // Copies: once blocked, another thread may end the task under our feet.
  const auto awaited = std::dynamic_pointer_cast<EmulatedTimeline>(task.point.timeline);
  const std::uint64_t awaited_value = task.point.value;
  const WaitTask::Limit limit = task.limit;
  if (awaited == nullptr) return true;
  while (awaited->value() < awaited_value && !Discarded(value)) {
    if (Clock::now() >= limit.deadline) {
      Fail(value, limit.Exceeded());
      return true;
    }
    if (limit.deadline != kNever && blocked_on_ == nullptr)
      scheduler_.WakeAt(limit.deadline, weak_from_this());
    blocked_on_ = awaited;
    const bool taken_back = BlockUnless([&] {
      return !awaited->AddWaiter(awaited_value, weak_from_this()) || Discarded(value) ||
             Clock::now() >= limit.deadline;
    });
    if (!taken_back) return false;
  }
  return true;
}

bool EmulatedQueue::ExecuteGate(GateTask& task, std::uint64_t value) {
  // Copies: once blocked, another thread may end the task.
  const std::shared_ptr<Gate> gate = task.gate;
  const std::chrono::nanoseconds limit = task.limit;
  if (gate_reached_ != value) {
    gate_reached_ = value;
    gate_deadline_ = limit.count() == 0 ? kNever : Clock::now() + limit;
  }
  const Deadline deadline = gate_deadline_;
  while (!Discarded(value) && !gate->TryPass()) {
    if (Status possible = gate->Check(); !possible.ok()) {
      Fail(value, std::move(possible));
      return true;
    }
    if (Clock::now() >= deadline) {
      Fail(value, gate->TimedOut(limit));
      return true;
    }
    const bool taken_back = BlockUnless([&] {
      gates_.Add({gate, deadline, weak_from_this(), value});
      return gate->Open() || Discarded(value);
    });
    if (!taken_back) return false;
  }
  return true;
}

bool EmulatedQueue::ExecuteHost(HostTask& task, std::uint64_t value) {
  const auto finished = [&] {
    const std::lock_guard lock(host_mutex_);
    return host_done_ == value;
  };
  while (!finished() && !Discarded(value)) {
    const std::shared_ptr<HostWork> to_start = host_started_ == value ? nullptr : task.work;
    host_started_ = value;
    const bool taken_back = BlockUnless([&] {
      if (to_start != nullptr) {
        to_start->Start([self = shared_from_this(), value](Status status) {
          self->OnHostDone(value, std::move(status));
        });
      }
      return finished() || Discarded(value);
    });
    if (!taken_back) return false;
  }
  Status status;
  {
    const std::lock_guard lock(host_mutex_);
    if (host_done_ == value) status = std::exchange(host_status_, Status());
  }
  if (!status.ok()) Fail(value, std::move(status));
  return true;
}

void EmulatedQueue::OnHostDone(std::uint64_t value, Status status) noexcept {
  {
    const std::lock_guard lock(host_mutex_);
    if (value <= host_done_) return;  // of a task that was discarded
    host_done_ = value;
    host_status_ = std::move(status);
  }
  Unblock();
}

void EmulatedQueue::Fail(std::uint64_t value, Status failure) {
  trace::NoteFailure(static_cast<std::int32_t>(failure.code()));
  if (listener_.OnTaskFailed(value, std::move(failure)))
    discard_to_.store(submitted(), std::memory_order_release);
}

void EmulatedQueue::Discard() {
  discard_to_.store(submitted(), std::memory_order_seq_cst);
  Unblock();
}

void EmulatedQueue::Close() {
  {
    const std::lock_guard lock(submit_lock_);
    closed_ = true;
  }
  Discard();
  timeline_->Wait(submitted(), kNever);
}

}  // namespace sampan::emulated
