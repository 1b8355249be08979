// The order of the tasks of all queues, from what the API promises alone.
#include "check/order/order.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

namespace sampan::check {
namespace {

/// How many clocks of a queue are kept. An older task counts as having the oldest of them: a mistake may be
/// missed, none is invented.
constexpr std::size_t kMaxSnapshots = 256;
/// The same for the writes of a word.
constexpr std::size_t kMaxWordWrites = 64;

/// The conditions of aclrtValueWait, by their numbers.
bool Fits(std::uint64_t word, std::uint64_t value, std::uint64_t condition) {
  switch (condition) {
    case 0:
      return static_cast<std::int64_t>(word - value) >= 0;
    case 1:
      return word == value;
    case 2:
      return (word & value) != 0;
    default:
      return ~(word | value) != 0;
  }
}

}  // namespace

const Order::WordWrite* Order::Word::Satisfies(std::uint64_t value, std::uint64_t condition) const {
  const WordWrite* first = nullptr;
  for (auto write = writes.rbegin(); write != writes.rend() && Fits(write->value, value, condition); ++write)
    first = &*write;
  return first;
}

OrderStep StepOf(const Task& task, const observe::Submission& submission) {
  using Kind = OrderStep::Kind;
  OrderStep step;
  if (submission.subject != nullptr) {
    step.object = submission.subject->object;
    step.shared = submission.subject->shared;
  }
  if (const auto* wait = std::get_if<WaitTask>(&task)) {
    step.kind = Kind::kWait;
    step.awaited = wait->point.timeline.get();
    step.awaited_task = wait->point.number;
    if (wait->mark != nullptr) step.object = wait->event;
  } else if (const auto* gate = std::get_if<GateTask>(&task)) {
    const bool word =
        submission.subject != nullptr && submission.subject->type == observe::TaskType::kValueWait;
    step.target = gate->gate.get()->target();
    const bool ranks = step.target == nullptr && !step.shared;
    step.kind = word ? Kind::kWaitForWord : ranks ? Kind::kRanks : Kind::kGate;
    step.value = submission.word.value;
    step.condition = submission.word.condition;
  } else if (const auto* effect = std::get_if<EffectTask>(&task)) {
    step.target = effect->effect->target();
    if (step.target != nullptr) step.kind = Kind::kSignal;
  } else if (const auto* word = std::get_if<WordTask>(&task)) {
    step.kind = Kind::kWord;
    step.target = word->word;
    step.value = word->value;
  } else if (const auto* host = std::get_if<HostTask>(&task)) {
    if (host->work->runs_program()) step.kind = Kind::kHost;
  }
  return step;
}

Order::QueueState* Order::Find(std::uint64_t queue) {
  const auto found = queues_.find(queue);
  return found != queues_.end() ? &found->second : nullptr;
}

const Order::QueueState* Order::Find(std::uint64_t queue) const {
  const auto found = queues_.find(queue);
  return found != queues_.end() ? &found->second : nullptr;
}

void Order::AddQueue(const QueueLabel& label, const Timeline* timeline) {
  queues_[label.number].label = label;
  timelines_[timeline] = label.number;
}

void Order::RemoveQueue(const QueueLabel& label) {
  blocked_.erase(label.number);
  queues_.erase(label.number);
  std::erase_if(timelines_, [&](const auto& each) { return each.second == label.number; });
  host_.Forget(label.number);
  host_copy_ = nullptr;
  for (auto& [target, signal] : signals_) {
    if (signal.taker == label.number) signal.taker = 0;
    signal.clock.Forget(label.number);
  }
  for (auto& [number, queue] : queues_)
    queue.clock.Forget(label.number);
}

void Order::JoinHost(QueueState& queue, const OrderClock& host, std::uint64_t version) {
  if (queue.host_seen >= version) return;
  queue.host_seen = version;
  if (queue.clock.Join(host)) NoteClock(queue);
}

/// The ranks have come: what was before their own waits is over. The host knew what it knew when the last one
/// was submitted.
void Order::JoinRanks(QueueState& queue) {
  if (ranks_host_ != nullptr) JoinHost(queue, *ranks_host_, ranks_host_version_);
  bool changed = false;
  for (const auto& [number, other] : queues_) {
    if (number == queue.label.number || other.last_ranks == 0) continue;
    changed |= queue.clock.Join(Before(number, std::min(other.executed, other.last_ranks)));
  }
  if (changed) NoteClock(queue);
}

const OrderClock& Order::settled() const {
  const OrderedTask* oldest = nullptr;
  for (const std::uint64_t number : blocked_) {
    const OrderedTask* const head = Head(number);
    if (head != nullptr && (oldest == nullptr || head->host_version < oldest->host_version)) oldest = head;
  }
  return oldest == nullptr ? host_ : *oldest->host;
}

void Order::JoinEverything(QueueState& queue) {
  bool changed = false;
  for (const auto& [number, other] : queues_)
    changed |= number != queue.label.number && queue.clock.Raise(number, other.executed);
  if (changed) NoteClock(queue);
}

void Order::NoteClock(QueueState& queue) {
  const std::uint64_t from = queue.executed + 1;
  if (!queue.history.empty() && queue.history.back().from == from) {
    queue.history.back().clock = queue.clock;
    return;
  }
  queue.history.push_back({from, queue.clock});
  if (queue.history.size() > kMaxSnapshots) queue.history.pop_front();
}

OrderClock Order::Before(std::uint64_t number, std::uint64_t task) const {
  const QueueState* const queue = Find(number);
  OrderClock clock;
  if (queue == nullptr) return clock;
  const auto behind =
      std::upper_bound(queue->history.begin(), queue->history.end(), task,
                       [](std::uint64_t wanted, const Snapshot& snapshot) { return wanted < snapshot.from; });
  if (behind != queue->history.begin()) {
    clock = std::prev(behind)->clock;
  } else if (queue->history.size() == kMaxSnapshots) {
    clock = queue->history.front().clock;
  }
  clock.Raise(number, task);
  return clock;
}

const OrderedTask* Order::Head(std::uint64_t number) const {
  const QueueState* const queue = Find(number);
  return queue == nullptr || queue->waiting.empty() ? nullptr : &queue->waiting.begin()->second;
}

const OrderedTask* Order::WaitingForWordIn(std::uint64_t allocation) const {
  for (const std::uint64_t number : blocked_) {
    for (const auto& [task, waiting] : Find(number)->waiting) {
      if (waiting.step.kind != OrderStep::Kind::kWaitForWord) continue;
      if (!waiting.accesses.empty() && waiting.accesses.front().allocation == allocation) return &waiting;
    }
  }
  return nullptr;
}

void Order::Submitted(OrderedTask task) {
  QueueState* const queue = Find(task.site->queue.number);
  if (queue == nullptr) return;
  const std::uint64_t number = task.site->number;
  if (host_copy_ == nullptr) host_copy_ = std::make_shared<const OrderClock>(host_);
  task.host = host_copy_;
  task.host_version = host_version_;
  if (task.step.kind == OrderStep::Kind::kRanks) {
    queue->last_ranks = std::max(queue->last_ranks, number);
    ranks_host_ = task.host;
    ranks_host_version_ = task.host_version;
  }
  if (number <= queue->executed) return PassLate(*queue, task);
  queue->waiting.emplace(number, std::move(task));
  blocked_.insert(queue->label.number);
  Run();
}

void Order::PassLate(QueueState& queue, const OrderedTask& task) {
  if (task.step.kind == OrderStep::Kind::kSignal) GiveSignal(queue, task);
  if (task.step.kind == OrderStep::Kind::kGate) {
    Signal& signal = signals_[task.step.target];
    if (!std::exchange(signal.set, false)) ++signal.owed;
  }
  Run();
}

void Order::Run() {
  for (bool any = true; any;) {
    any = false;
    for (auto at = blocked_.begin(); at != blocked_.end();) {
      QueueState& queue = queues_.at(*at);
      any |= RunQueue(queue);
      at = queue.waiting.empty() ? blocked_.erase(at) : std::next(at);
    }
  }
}

bool Order::RunQueue(QueueState& queue) {
  bool any = false;
  while (!queue.waiting.empty() && !queue.drops) {
    const auto& [number, task] = *queue.waiting.begin();
    // A gap: the thread that submitted the task in between has not told it yet.
    if (number != queue.executed + 1) break;
    if (!Passes(queue, task)) {
      if (host_.At(queue.label.number) < number) break;
      const std::uint64_t before = queue.executed;
      Force(queue, number, false);
      if (queue.executed == before) break;
    } else {
      Execute(queue, number, false);
    }
    any = true;
  }
  return any;
}

bool Order::Passes(QueueState& queue, const OrderedTask& task) {
  using Kind = OrderStep::Kind;
  const OrderStep& step = task.step;
  switch (step.kind) {
    case Kind::kWait: {
      const auto awaited = timelines_.find(step.awaited);
      const QueueState* const other = awaited == timelines_.end() ? nullptr : Find(awaited->second);
      if (other == nullptr) return true;  // destroyed: the host knows of its end
      if (other->executed < step.awaited_task) return false;
      if (queue.clock.Join(Before(awaited->second, step.awaited_task))) NoteClock(queue);
      return true;
    }
    case Kind::kGate: {
      Signal& signal = signals_[step.target];
      if (signal.set) {
        TakeSignal(signal, queue, task);
        return true;
      }
      if (!step.shared || queue.really < task.site->number) return false;
      ForcePass(queue, task, false);
      return true;
    }
    case Kind::kWaitForWord: {
      const auto word = words_.find(step.target);
      const WordWrite* const write =
          word == words_.end() ? nullptr : word->second.Satisfies(step.value, step.condition);
      if (write != nullptr) {
        if (queue.clock.Join(write->clock)) NoteClock(queue);
        return true;
      }
      if (queue.really < task.site->number) return false;
      ForcePass(queue, task, false);
      return true;
    }
    case Kind::kHost:
      if (queue.really < task.site->number) return false;
      JoinHost(queue, host_, host_version_);
      return true;
    case Kind::kRanks:
      if (queue.really < task.site->number) return false;
      JoinRanks(queue);
      return true;
    case Kind::kWork:
    case Kind::kSignal:
    case Kind::kWord:
      return true;
  }
  return true;
}

void Order::TakeSignal(Signal& signal, QueueState& queue, const OrderedTask& task) {
  signal.set = false;
  signal.taker = queue.label.number;
  signal.taken_by = task.site->number;
  if (queue.clock.Join(signal.clock)) NoteClock(queue);
}

void Order::GiveSignal(const QueueState& queue, const OrderedTask& task) {
  Signal& signal = signals_[task.step.target];
  if (signal.owed > 0) {
    --signal.owed;
    return;
  }
  if (signal.set && signal.giver != nullptr && !task.step.shared && !signal.unreliable)
    listener_.OnLostSignal({signal.giver, task.site, task.step.object});
  signal.set = true;
  signal.giver = task.site;
  signal.clock = queue.clock;
  signal.clock.Raise(queue.label.number, task.site->number);
}

void Order::Execute(QueueState& queue, std::uint64_t number, bool discarded) {
  const auto found = queue.waiting.find(number);
  OrderedTask task = std::move(found->second);
  queue.waiting.erase(found);
  if (discarded) task.accesses.clear();  // it never ran, and what it waited for is not before it
  JoinHost(queue, *task.host, task.host_version);
  if (task.step.kind == OrderStep::Kind::kSignal) GiveSignal(queue, task);
  if (task.step.kind == OrderStep::Kind::kWord && !discarded) {
    OrderClock clock = queue.clock;
    clock.Raise(queue.label.number, number);
    auto& writes = words_[task.step.target].writes;
    writes.push_back({task.step.value, std::move(clock)});
    if (writes.size() > kMaxWordWrites) writes.pop_front();
  }
  listener_.OnStep(task, queue.clock);
  queue.executed = number;
}

void Order::SignalCleared(const void* target) {
  const auto found = signals_.find(target);
  if (found != signals_.end()) found->second = Signal{};
}

void Order::WordOverwritten(const std::byte* begin, std::uint64_t bytes) {
  const auto first = words_.lower_bound(begin);
  words_.erase(first, words_.lower_bound(begin + bytes));
}

}  // namespace sampan::check
