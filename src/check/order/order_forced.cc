// Executes in the model what is really over, although the order alone does not let it pass yet.
#include <algorithm>
#include <utility>
#include <vector>

#include "check/order/order.h"

namespace sampan::check {

void Order::ForcePass(QueueState& queue, const OrderedTask& task, bool discarded) {
  using Kind = OrderStep::Kind;
  const OrderStep& step = task.step;
  if (step.kind == Kind::kWait && !discarded) {
    const auto awaited = timelines_.find(step.awaited);
    QueueState* const other = awaited == timelines_.end() ? nullptr : Find(awaited->second);
    if (other == nullptr) return;
    if (other->executed < step.awaited_task) Force(*other, step.awaited_task, false);
    if (queue.clock.Join(Before(awaited->second, step.awaited_task))) NoteClock(queue);
    return;
  }
  if (step.kind == Kind::kHost && !discarded) JoinHost(queue, host_, host_version_);
  if (step.kind == Kind::kRanks && !discarded) JoinRanks(queue);
  if (step.kind != Kind::kGate && step.kind != Kind::kWaitForWord) return;
  // Whatever gave the signal was behind work that is really over.
  const bool was_forcing = std::exchange(queue.forcing, true);  // the others may come back to this queue
  const std::vector<std::uint64_t> blocked(blocked_.begin(), blocked_.end());
  for (const std::uint64_t number : blocked) {
    QueueState* const other = Find(number);
    if (other != &queue && other->really > other->executed) Force(*other, other->really, false);
  }
  queue.forcing = was_forcing;
  if (step.kind == Kind::kGate) {
    Signal& signal = signals_[step.target];
    if (discarded) {
      signal.unreliable = true;
    } else if (signal.set) {
      TakeSignal(signal, queue, task);
    } else {
      ++signal.owed;
    }
  }
  JoinEverything(queue);
}

Order::Giver Order::ToldGiver(const OrderedTask& head) {
  using Kind = OrderStep::Kind;
  const OrderStep& step = head.step;
  if (step.kind == Kind::kWait) {
    const auto awaited = timelines_.find(step.awaited);
    return {awaited == timelines_.end() ? nullptr : Find(awaited->second), step.awaited_task};
  }
  if (step.kind != Kind::kGate && step.kind != Kind::kWaitForWord) return {};
  for (const std::uint64_t number : blocked_) {
    QueueState* const queue = Find(number);
    for (const auto& [task, told] : queue->waiting) {
      if (task > queue->really) break;
      const bool gives = told.step.kind == Kind::kSignal || told.step.kind == Kind::kWord;
      if (gives && told.step.target == step.target) return {queue, task};
    }
  }
  return {};
}

bool Order::PassesAfterGiver(QueueState& queue, const OrderedTask& head, bool* stands) {
  if (Passes(queue, head)) return true;
  const Giver giver = ToldGiver(head);
  if (giver.queue == nullptr) return false;
  Force(*giver.queue, giver.task, false);
  if (Passes(queue, head)) return true;
  *stands = true;
  return false;
}

void Order::Force(QueueState& queue, std::uint64_t task, bool discarded) {
  if (std::exchange(queue.forcing, true)) return;  // streams that wait for one another
  const bool is_nested = std::exchange(is_forcing_, true);
  while (!queue.waiting.empty() && queue.waiting.begin()->first <= task) {
    const std::uint64_t number = queue.waiting.begin()->first;
    const OrderedTask& head = queue.waiting.begin()->second;
    if (discarded && head.step.kind == OrderStep::Kind::kSignal) signals_[head.step.target].unreliable = true;
    const std::uint64_t before = queue.executed;
    queue.executed = std::max(before, number - 1);
    bool stands = false;
    const bool passes = !discarded && PassesAfterGiver(queue, head, &stands);
    if (stands && is_nested) {  // its giver is a queue that is forced now: it passes with that
      queue.executed = before;
      break;
    }
    if (!passes) ForcePass(queue, head, discarded);
    Execute(queue, number, discarded);
  }
  queue.forcing = false;
  is_forcing_ = is_nested;
}

void Order::Executed(std::uint64_t number, std::uint64_t task, bool discarded) {
  QueueState* const queue = Find(number);
  if (queue == nullptr) return;
  queue->really = std::max(queue->really, task);
  queue->drops = discarded;
  if (!discarded) queue->kept = std::max(queue->kept, task);
  if (queue->executed >= task || queue->waiting.empty()) return;
  if (discarded) {
    Force(*queue, queue->kept, false);
    Force(*queue, task, true);
  }
  Run();
}

void Order::Learned(const Timeline* timeline, std::uint64_t task) {
  const auto found = timelines_.find(timeline);
  if (found != timelines_.end()) Learned(found->second, task);
}

void Order::Learned(std::uint64_t number, std::uint64_t task) {
  QueueState* const queue = Find(number);
  if (queue == nullptr || task == 0 || host_.At(number) >= task) return;
  queue->really = std::max(queue->really, task);
  queue->drops = false;
  if (queue->executed < task) {
    Run();
    Force(*queue, task, false);
  }
  host_.Join(Before(number, task));
  ++host_version_;
  host_copy_ = nullptr;
  Run();
}

}  // namespace sampan::check
