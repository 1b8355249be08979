// A queue of tasks on an emulated device: a ring that programs fill and one thread at a time executes.
#include "backend/emulated/queue/emulated_queue.h"

#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

#include "backend/api/running_task.h"
#include "backend/emulated/queue/task_execution.h"
#include "base/error/assert.h"
#include "base/error/text.h"
#include "base/threads/spin.h"
#include "base/threads/thread_sanitizer.h"
#include "base/threads/threads.h"
#include "observe/hooks.h"

namespace sampan::emulated {
namespace {

/// How long a submitter waits until a quarter of a full queue is free.
constexpr std::chrono::milliseconds kMaxWaitForRoom{1};
/// How far ahead slots are prefetched.
constexpr std::uint64_t kSlotsAhead = 4;
/// How many short tasks the thread executes that detects an open gate.
constexpr int kTasksBehindGate = 16;
/// After an open gate the limit is higher than for a submitter: a peer waits for the stream's next signal.
constexpr ShortLimits kShortBehindGate{SIZE_MAX, std::chrono::nanoseconds(8'200)};

/// Ends what the task keeps. With its body known, nothing has to find out which of many it is.
template <typename Body>
void Empty(Task& task, Body& body) {
  std::destroy_at(&body);
  ::new (&task) Task;  // construct_at would clear all of it
}
void Empty(Task& task, Task&) {
  task.emplace<NoTask>();
}

/// Work outside the device that waiting threads help with, and effects that wait for other ranks: a thread
/// that submits one to an idle queue executes it itself, without the lock.
bool IsForSubmitter(const Task& task) {
  if (const auto* const effect = std::get_if<EffectTask>(&task)) return effect->effect->is_for_submitter();
  const auto* const host = std::get_if<HostTask>(&task);
  return host != nullptr && host->work->takes_help();
}

/// Passes the gate of a task that waits for one; true for all other tasks.
bool PassesGate(Task& task) {
  auto* const gate = std::get_if<GateTask>(&task);
  return gate == nullptr || gate->gate->TryPass();
}
template <typename Body>
constexpr bool PassesGate(Body&) {
  return true;
}

}  // namespace

std::shared_ptr<EmulatedQueue> EmulatedQueue::Create(QueueScheduler& scheduler, GateWatch& gates,
                                                     const QueueOptions& options, FaultPlan& faults) {
  std::shared_ptr<EmulatedQueue> queue(new EmulatedQueue(scheduler, gates, options, faults));
  queue->timeline_->set_queue(queue);
  return queue;
}

EmulatedQueue::EmulatedQueue(QueueScheduler& scheduler, GateWatch& gates, const QueueOptions& options,
                             FaultPlan& faults)
    : Queue(options.label),
      scheduler_(scheduler),
      gates_(gates),
      listener_(options.listener),
      faults_(faults),
      short_tasks_at_once_(scheduler.RunsShortTasksAtOnce() && !races::Watched()),
      timeline_(
          std::make_shared<EmulatedTimeline>(scheduler, RaceWatch::Create(options.label, options.depth))),
      public_timeline_(timeline_),
      ring_(options.depth) {}

EmulatedQueue::~EmulatedQueue() {
  for (std::uint64_t number = timeline_->done() + 1; number <= ring_.submitted(); ++number)
    ring_.Destroy(number);
}

template <typename Body>
inline void EmulatedQueue::ExecuteNow(Task& task, Body& body, std::uint64_t number) {
  if constexpr (std::is_same_v<Body, Task>) {
    if (auto* const gate = std::get_if<GateTask>(&task))
      return FinishWait(number, gate->gate->Outcome(), SubmitLock::kHeld);
    dropped_input_.Tell(number, task);
  }
  if (Status status = ExecuteUnqueued(body, scheduler_); !status.ok()) [[unlikely]]
    Fail(number, std::move(status), SubmitLock::kHeld);
}

template <typename Body>
void EmulatedQueue::ExecuteObserved(Task& task, Body& body, std::uint64_t number) {
  observe::BeginExecution({label(), number, observe::TypeOf(task)});
  const std::int64_t begin_ns = observe::NowNs();
  ExecuteNow(task, body, number);
  observe::EndAtOnce(begin_ns);
}

template <typename Body>
std::uint64_t EmulatedQueue::ExecuteAtOnce(Task& task, Body& body) {
  SAMPAN_ASSERT(submit_lock_.is_held() && state_.load() == kIdle);
  // No thread has the turn, and the lock keeps others from taking it.
  const std::uint64_t number = ring_.tail() + 1;
  observe::On() ? ExecuteObserved(task, body, number) : ExecuteNow(task, body, number);
  Empty(task, body);  // before a waiter can learn that the task is over
  timeline_->AdvanceBeforeSubmission(number);
  ring_.Skip(number);
  return number;
}

inline std::uint64_t EmulatedQueue::TryAtOnce(Task& task) {
  SAMPAN_ASSERT(submit_lock_.is_held());
  if (closed_ || !short_tasks_at_once_ || state_.load(std::memory_order_acquire) != kIdle) return 0;
  return WithBody(task, [&](auto& body) -> std::uint64_t {
    return IsShort(body, kShortAtOnce) && PassesGate(body) ? ExecuteAtOnce(task, body) : 0;
  });
}

/// Inlined: all that a short copy on an idle queue needs.
[[gnu::flatten]] Result<std::uint64_t> EmulatedQueue::Submit(Task& task, std::uint64_t earlier) {
  if (earlier == 0 && !faults_.Armed(FaultKind::kQueue)) [[likely]] {
    const std::lock_guard lock(submit_lock_);
    if (const std::uint64_t number = TryAtOnce(task); number != 0) return number;
  }
  return SubmitInFull(task, earlier);
}

Result<std::uint64_t> EmulatedQueue::SubmitInFull(Task& task, std::uint64_t earlier) {
  const NoCancellation no_cancellation;
  if (faults_.ShouldFail(FaultKind::kQueue)) return OrderedFailure("the task could not be queued");
  races::CallStack stack;
  if (races::Watched()) [[unlikely]]
    stack.Capture();
  const bool is_for_submitter = short_tasks_at_once_ && IsForSubmitter(task);
  bool was_idle = false;
  std::uint64_t number = 0;
  for (;;) {
    {
      const std::lock_guard lock(submit_lock_);
      if (closed_) return IsClosed();
      if (earlier != 0 && Discarded(earlier)) return std::uint64_t{0};
      number = is_for_submitter ? 0 : TryAtOnce(task);
      if (number != 0) return number;
      was_idle = state_.load(std::memory_order_acquire) == kIdle;
      number = TryAppend(task, was_idle, stack);
    }
    if (number != 0) break;
    WaitForRoom();
  }
  if (was_idle) is_for_submitter ? GoOnHere() : scheduler_.MakeReady(shared_from_this());
  scheduler_.Submitted();
  return number;
}

std::uint64_t EmulatedQueue::TryAppend(Task& task, bool was_idle, const races::CallStack& stack) {
  SAMPAN_ASSERT(submit_lock_.is_held() && !closed_);
  SAMPAN_ASSERT(was_idle == (state_.load() == kIdle));  // it changes only under the lock
  if (ring_.IsFull(seen_done_)) seen_done_ = timeline_->done();
  if (ring_.IsFull(seen_done_)) return 0;
  ring_.PrefetchToWrite(ring_.tail() + kSlotsAhead);  // the engine had it last
  if (RaceWatch* const races = timeline_->races()) [[unlikely]]
    races->Submitted(ring_.tail() + 1, stack);
  const std::uint64_t number = ring_.Put(std::move(task));
  if (was_idle) {
    done_ = number - 1;  // tasks that were executed at once are not counted one by one
    seen_tail_ = done_;
    state_.store(kScheduled, std::memory_order_relaxed);
  }
  return number;
}

void EmulatedQueue::WaitForRoom() {
  const observe::HostWait wait(observe::WaitReason::kQueueFull, label());
  // Rather for a quarter of the queue than for one place: a sleep per task would be slow. But not for ever,
  // because the one place may be all that comes until this thread goes on.
  SAMPAN_ASSERT(submitted() >= ring_.depth());
  const std::uint64_t full_at = submitted() - ring_.depth();
  if (timeline_->Wait(full_at + ring_.depth() / 4, Clock::now() + kMaxWaitForRoom)) return;
  timeline_->Wait(full_at + 1, kNever);
}

EmulatedQueue::TurnEnd EmulatedQueue::TakeTurn(int max_tasks, Tasks tasks) {
  SAMPAN_ASSERT(max_tasks > 0 && state_.load() == kScheduled);  // the caller has the turn
  SAMPAN_ASSERT(done_ == timeline_->done() && done_ <= seen_tail_);
  for (int i = 0; i < max_tasks; ++i) {
    if (!HasTasks()) return TurnEnd::kEmpty;
    const std::uint64_t number = done_ + 1;
    Task& task = ring_.At(number);
    ring_.PrefetchToRead(number + kSlotsAhead);
    if (tasks == Tasks::kShort && !IsForSubmitter(task) && !IsShort(task, kShortBehindGate) &&
        !std::holds_alternative<GateTask>(task) && !std::holds_alternative<WaitTask>(task)) {
      return TurnEnd::kMore;
    }
    if (observe::On()) [[unlikely]]
      ObserveHead(task, number);
    const bool discarded = Discarded(number) && !IsUnderWay(task, number);
    if (discarded && discarded_.Holds(number) && !BlockUnless([&] { return !discarded_.Holds(number); }))
      return TurnEnd::kBlocked;
    discarded ? discarded_.Tell(task) : dropped_input_.Tell(number, task);
    if (RaceWatch* const races = timeline_->races()) [[unlikely]]
      races->Begin(number);
    if (!discarded && !ExecuteHead(task, number)) return TurnEnd::kBlocked;
    if (observe::On()) [[unlikely]]
      observe::EndExecution(std::exchange(head_since_ns_, 0), discarded);
    blocked_on_ = nullptr;
    if (RaceWatch* const races = timeline_->races()) [[unlikely]]
      races->Complete(number);
    ring_.Destroy(number);  // releases the memory before a waiter can learn that the task is over
    done_ = number;
    timeline_->Advance(number);
  }
  return HasTasks() ? TurnEnd::kMore : TurnEnd::kEmpty;
}

void EmulatedQueue::ObserveHead(const Task& task, std::uint64_t number) {
  if (head_since_ns_ == 0) head_since_ns_ = observe::NowNs();
  observe::BeginExecution({label(), number, observe::TypeOf(task)});
}

bool EmulatedQueue::TryLeave() {
  const std::lock_guard lock(submit_lock_);
  SAMPAN_ASSERT(state_.load() == kScheduled && done_ <= ring_.tail());
  if (ring_.tail() != done_) return false;
  state_.store(kIdle, std::memory_order_release);
  return true;
}

bool EmulatedQueue::TakeFromBlocked() noexcept {
  std::uint64_t state = state_.load(std::memory_order_seq_cst);
  while (state >= kFirstTicket || state == kInspected) {
    const std::uint64_t next = state == kInspected ? kInspectedOver : kScheduled;
    if (state_.compare_exchange_weak(state, next)) return next == kScheduled;
  }
  return false;
}

bool EmulatedQueue::Inspect(const std::function<void(std::uint64_t, const Task&)>& look) {
  std::uint64_t ticket = state_.load(std::memory_order_seq_cst);
  if (ticket < kFirstTicket || !state_.compare_exchange_strong(ticket, kInspected)) return false;
  // This thread has the turn, and with it the tasks.
  const std::uint64_t last = ring_.submitted();
  for (std::uint64_t number = done_ + 1; number <= last; ++number)
    look(number, ring_.At(number));
  std::uint64_t state = kInspected;
  if (state_.compare_exchange_strong(state, ticket)) return true;
  state_.store(kScheduled, std::memory_order_seq_cst);
  scheduler_.MakeReady(shared_from_this());
  return true;
}

void EmulatedQueue::Unblock() noexcept {
  if (TakeFromBlocked()) scheduler_.MakeReady(shared_from_this());
}

void EmulatedQueue::GoOnAtGate() {
  if (!short_tasks_at_once_) return Unblock();
  if (TakeFromBlocked()) GoOnHere();
}

void EmulatedQueue::GoOnHere() {
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

bool EmulatedQueue::ExecuteHead(Task& task, std::uint64_t number) {
  if (auto* wait = std::get_if<WaitTask>(&task)) return ExecuteWait(*wait, number);
  if (auto* host = std::get_if<HostTask>(&task)) return ExecuteHost(*host, number);
  if (auto* gate = std::get_if<GateTask>(&task)) return ExecuteGate(*gate, number);
  std::optional<races::Fiber::Scope> as_queue;
  if (RaceWatch* const races = timeline_->races()) [[unlikely]] {
    as_queue.emplace(races->fiber());
    races->Tell(number, task);
  }
  const RunningTask running{&task, label(), number};
  const TaskRuns runs(&running);
  if (Status status = Execute(task, scheduler_); !status.ok()) Fail(number, std::move(status));
  return true;
}

template <typename Over>
bool EmulatedQueue::BlockUnless(Over over) {
  SAMPAN_ASSERT(state_.load() == kScheduled && next_ticket_ >= kFirstTicket);
  const std::uint64_t ticket = next_ticket_++;
  state_.store(ticket, std::memory_order_seq_cst);
  // From here on another thread may have the turn.
  if (!over()) return false;
  for (std::uint64_t state = ticket; !state_.compare_exchange_weak(state, kScheduled);) {
    if (state == kInspected && state_.compare_exchange_strong(state, kInspectedOver)) return false;
    if (state != ticket && state != kInspected) return false;
    state = ticket;
  }
  return true;
}

bool EmulatedQueue::ExecuteWait(WaitTask& task, std::uint64_t number) {
  // Copies: once the queue is blocked, another thread may complete the task.
  const auto awaited = std::dynamic_pointer_cast<EmulatedTimeline>(task.point.timeline);
  const std::uint64_t awaited_number = task.point.number;
  if (awaited == nullptr) return true;
  standing_.Begin(number, task.limit);
  const Deadline deadline = standing_.deadline();
  while (awaited->done() < awaited_number && !Discarded(number)) {
    if (Clock::now() >= deadline) {
      Fail(number, task.TimedOut());
      return true;
    }
    if (deadline != kNever && blocked_on_ == nullptr) scheduler_.WakeAt(deadline, weak_from_this());
    blocked_on_ = awaited;
    const bool taken_back = BlockUnless([&] {
      return !awaited->AddWaiter(awaited_number, weak_from_this()) || Discarded(number) ||
             Clock::now() >= deadline;
    });
    if (!taken_back) return false;
  }
  if (Discarded(number)) return true;
  if (RaceWatch* const races = timeline_->races()) [[unlikely]]
    task.mark != nullptr ? races->Acquire(task.mark.get()) : races->Follow(*awaited->races(), awaited_number);
  FinishWait(number, task.Outcome());
  return true;
}

void EmulatedQueue::FinishWait(std::uint64_t number, Status outcome, SubmitLock lock) {
  if (outcome.ok()) [[likely]]
    return;
  dropped_input_.Begin(number, outcome.code());
  // A Discard at the same time either sees that, or is seen here: what is queued behind it is new work.
  if (Discarded(number)) dropped_input_.EndBehind(discarded_.last(), number);
  Fail(number, std::move(outcome), lock);
}

std::optional<Status> EmulatedQueue::TryPass(Gate& gate, std::chrono::nanoseconds limit) {
  std::optional<races::Fiber::Scope> as_queue;  // what the gate acquires is the queue's
  if (timeline_->races() != nullptr) [[unlikely]]
    as_queue.emplace(timeline_->races()->fiber());
  return standing_.TryPass(gate, limit);
}

void EmulatedQueue::SpinAt(const Gate& gate, std::uint64_t number) const {
  const std::chrono::nanoseconds max_spin = gate.max_spin();
  // The watch has other gates to look at, and a chosen schedule has one thread for all queues.
  if (max_spin.count() == 0 || !short_tasks_at_once_ || gates_.IsWatch()) return;
  SpinFor<1>(max_spin, [&] { return gate.Open() || Discarded(number); });
}

bool EmulatedQueue::ExecuteGate(GateTask& task, std::uint64_t number) {
  SAMPAN_ASSERT(task.gate.get() != nullptr);
  // Copies: once the queue is blocked, another thread may complete the task.
  const std::shared_ptr<Gate> gate = task.gate.get();
  const std::chrono::nanoseconds limit = task.limit;
  standing_.Begin(number, limit);
  const Deadline deadline = standing_.deadline();
  SpinAt(*gate, number);
  while (!Discarded(number)) {
    if (auto outcome = TryPass(*gate, limit)) {
      outcome->ok() ? FinishWait(number, gate->Outcome()) : Fail(number, std::move(*outcome));
      return true;
    }
    const bool taken_back = BlockUnless([&] {
      gates_.Add({gate, deadline, weak_from_this(), number});
      return gate->Open() || Discarded(number);
    });
    if (!taken_back) return false;
  }
  return true;
}

bool EmulatedQueue::IsUnderWay(const Task& task, std::uint64_t number) const {
  if (host_started_ != number) return false;
  const auto* const host = std::get_if<HostTask>(&task);
  return host != nullptr && host->work->accesses_memory();
}

bool EmulatedQueue::ExecuteHost(HostTask& task, std::uint64_t number) {
  SAMPAN_ASSERT(host_started_ <= number && task.work != nullptr);
  const bool must_end = task.work->accesses_memory();
  while (!host_outcome_.Known(number) && !(Discarded(number) && !IsUnderWay(task, number))) {
    const std::shared_ptr<HostWork> to_start = host_started_ == number ? nullptr : task.work;
    host_started_ = number;
    if (to_start != nullptr && to_start->order != nullptr) [[unlikely]]
      timeline_->races()->Release(to_start->order.get());
    const bool helped = to_start != nullptr && to_start->takes_help();
    if (helped) OfferHelp(to_start);
    const bool taken_back = BlockUnless([&] {
      if (to_start != nullptr) {
        if (observe::On() && task.work->runs_program()) observe::TellHostCode(label(), number);
        to_start->Start([self = shared_from_this(), number, helped](Status status) {
          if (!self->host_outcome_.Deliver(number, std::move(status))) return;
          helped ? self->GoOnAtGate() : self->Unblock();
        });
      }
      return host_outcome_.Known(number) || (Discarded(number) && !must_end);
    });
    if (!taken_back) return false;
  }
  if (task.work->order != nullptr) [[unlikely]]
    timeline_->races()->Acquire(task.work->order.get());
  OfferHelp(nullptr);
  if (auto outcome = host_outcome_.Take(number);
      outcome && !outcome->ok() && !(must_end && Discarded(number)))
    Fail(number, std::move(*outcome));
  return true;
}

void EmulatedQueue::Fail(std::uint64_t number, Status failure, SubmitLock lock) {
  const NoCancellation no_cancellation;
  SAMPAN_ASSERT(!failure.ok());
  observe::NoteFailure(static_cast<std::int32_t>(failure.code()));
  const Code code = failure.code();
  if (!listener_.OnTaskFailed(number, std::move(failure))) return;
  {
    std::unique_lock<SpinLock> held(submit_lock_, std::defer_lock);
    if (lock == SubmitLock::kFree) held.lock();
    SAMPAN_ASSERT(submit_lock_.is_held());
    discarded_.Raise(submitted(), code);
  }
  discarded_.Release();
}

std::uint64_t EmulatedQueue::Discard(Code reason) {
  const std::lock_guard lock(submit_lock_);
  const std::uint64_t last = submitted();
  discarded_.Raise(last, reason);
  dropped_input_.EndBehind(last, last);
  return last;
}

void EmulatedQueue::PassDiscarded() {
  discarded_.Release();
  Unblock();
}

void EmulatedQueue::Close() {
  {
    const std::lock_guard lock(submit_lock_);
    closed_ = true;
  }
  const std::uint64_t last = Discard(Code::kStreamAbort);
  PassDiscarded();
  timeline_->Wait(last, kNever);
}

}  // namespace sampan::emulated
