// A queue of tasks on an emulated device: a ring that programs fill and one engine at a time empties.
#include "backend/emulated/emulated_queue.h"

#include <new>
#include <utility>

#include "backend/emulated/task_execution.h"
#include "base/text.h"

namespace sampan::emulated {

std::shared_ptr<EmulatedQueue> EmulatedQueue::Create(QueueScheduler& scheduler, QueueListener& listener,
                                                     FaultPlan& faults) {
  std::shared_ptr<EmulatedQueue> queue(new EmulatedQueue(scheduler, listener, faults));
  queue->timeline_->set_queue(queue);
  return queue;
}

EmulatedQueue::EmulatedQueue(QueueScheduler& scheduler, QueueListener& listener, FaultPlan& faults)
    : scheduler_(scheduler),
      listener_(listener),
      faults_(faults),
      timeline_(std::make_shared<EmulatedTimeline>(scheduler)),
      public_timeline_(timeline_),
      slots_(static_cast<Task*>(::operator new(kSlots * sizeof(Task)))) {}

EmulatedQueue::~EmulatedQueue() {
  for (std::uint64_t value = done_ + 1; value <= tail_.load(); ++value)
    std::destroy_at(&SlotOf(value));
  ::operator delete(slots_);
}

Result<std::uint64_t> EmulatedQueue::Submit(Task task) {
  if (faults_.ShouldFail(FaultKind::kQueue)) {
    return Error{Code::kResourceAllocFail, "the task could not be queued: failure ordered by SAMPAN_FAULT"};
  }
  std::uint64_t value = 0;
  while (value == 0) {
    std::uint64_t wait_for = 0;
    {
      const std::lock_guard lock(submit_mutex_);
      const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
      if (tail - timeline_->value() < kDepth) {
        value = tail + 1;
        std::construct_at(&SlotOf(value), std::move(task));
        // Sequentially consistent against TryLeave, which stores the state first and loads the tail then.
        tail_.store(value, std::memory_order_seq_cst);
      } else {
        wait_for = tail + 1 - kDepth;
      }
    }
    if (wait_for != 0) timeline_->Wait(wait_for, kNever);
  }
  State idle = State::kIdle;
  if (state_.load(std::memory_order_seq_cst) == State::kIdle &&
      state_.compare_exchange_strong(idle, State::kScheduled)) {
    scheduler_.MakeReady(shared_from_this());
  }
  scheduler_.Submitted();
  return value;
}

EmulatedQueue::TurnEnd EmulatedQueue::TakeTurn(int most) {
  for (int i = 0; i < most; ++i) {
    if (!HasTasks()) return TurnEnd::kEmpty;
    const std::uint64_t value = done_ + 1;
    Task& task = SlotOf(value);
    if (!Discarded(value) && !ExecuteHead(task, value)) return TurnEnd::kBlocked;
    blocked_on_ = nullptr;
    std::destroy_at(&task);  // lets go of memory before anybody hears that the task is over
    done_ = value;
    timeline_->Advance(value);
  }
  return HasTasks() ? TurnEnd::kMore : TurnEnd::kEmpty;
}

bool EmulatedQueue::TryLeave() {
  const std::uint64_t done = done_;  // not ours to read once the state is idle
  state_.store(State::kIdle, std::memory_order_seq_cst);
  if (tail_.load(std::memory_order_seq_cst) == done) return true;
  State idle = State::kIdle;
  return !state_.compare_exchange_strong(idle, State::kScheduled);
}

void EmulatedQueue::Unblock() noexcept {
  State blocked = State::kBlocked;
  if (state_.compare_exchange_strong(blocked, State::kScheduled)) scheduler_.MakeReady(shared_from_this());
}

bool EmulatedQueue::ExecuteHead(Task& task, std::uint64_t value) {
  if (auto* wait = std::get_if<WaitTask>(&task)) return ExecuteWait(*wait, value);
  if (auto* host = std::get_if<HostTask>(&task)) return ExecuteHost(*host, value);
  if (Status status = ExecuteTask(task, scheduler_); !status.ok()) Fail(value, std::move(status));
  return true;
}

template <typename Over>
bool EmulatedQueue::BlockUnless(Over over) {
  state_.store(State::kBlocked, std::memory_order_seq_cst);
  if (!over()) return false;
  State blocked = State::kBlocked;
  return state_.compare_exchange_strong(blocked, State::kScheduled);
}

bool EmulatedQueue::ExecuteWait(WaitTask& task, std::uint64_t value) {
  // Copies: once blocked, another thread may end the task under our feet.
  const auto awaited = std::dynamic_pointer_cast<EmulatedTimeline>(task.point.timeline);
  const std::uint64_t awaited_value = task.point.value;
  const Deadline deadline = task.deadline;
  if (awaited == nullptr) return true;
  while (awaited->value() < awaited_value && !Discarded(value)) {
    if (Clock::now() >= deadline) {
      Fail(value, {Code::kTaskTimeout, "a wait for an event in the stream ran past its time limit"});
      return true;
    }
    if (deadline != kNever && blocked_on_ == nullptr) scheduler_.WakeAt(deadline, weak_from_this());
    blocked_on_ = awaited;
    const bool taken_back = BlockUnless([&] {
      return !awaited->AddWaiter(awaited_value, weak_from_this()) || Discarded(value) ||
             Clock::now() >= deadline;
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
  const std::lock_guard lock(host_mutex_);
  if (host_done_ == value && !host_status_.ok()) Fail(value, std::exchange(host_status_, Status()));
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
  if (listener_.OnTaskFailed(value, std::move(failure)))
    discard_to_.store(submitted(), std::memory_order_release);
}

void EmulatedQueue::Discard() {
  discard_to_.store(submitted(), std::memory_order_seq_cst);
  Unblock();
}

void EmulatedQueue::Close() {
  Discard();
  timeline_->Wait(submitted(), kNever);
}

}  // namespace sampan::emulated
