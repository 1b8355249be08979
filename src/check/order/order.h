// The order of the tasks of all queues, from what the API promises alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "backend/api/task.h"
#include "check/order/access_history.h"
#include "check/order/order_clock.h"
#include "observe/observer.h"

namespace sampan::check {

/// What a task does to the order.
struct OrderStep {
  enum class Kind : std::uint8_t {
    kWork,    ///< nothing
    kWait,    ///< comes after a task of another queue
    kGate,    ///< waits for a signal
    kSignal,  ///< gives one
    kWord,    ///< writes a word that others may wait for
    kWaitForWord,
    kHost,   ///< a function of the program runs
    kRanks,  ///< waits for other ranks: the order among streams is not known
  } kind = Kind::kWork;
  const Timeline* awaited = nullptr;  ///< kWait
  std::uint64_t awaited_task = 0;
  const void* target = nullptr;  ///< of a signal or a word
  std::uint64_t value = 0, condition = 0;
  std::uint32_t object = 0;  ///< the number of the event or notify
  bool shared = false;       ///< other processes give or take the signal too
};
OrderStep StepOf(const Task& task, const observe::Submission& submission);

/// A task that was submitted.
struct OrderedTask {
  SharedSite site;
  OrderStep step;
  std::vector<TaskAccess> accesses;
  std::shared_ptr<const OrderClock> host = nullptr;  ///< what the host knew when it submitted the task
  std::uint64_t host_version = 0;
};

/// A signal that was given while the one before was not taken.
struct LostSignal {
  SharedSite first, second;
  std::uint32_t object = 0;
};

/// A model of the devices. It executes a task as soon as what the task waits for is executed in the model. So
/// the order that it finds is the same in every run, whatever the devices do. Only what comes from outside is
/// taken from the real execution: functions of the program, and signals of other processes. Not thread-safe.
class Order {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    /// The task is executed in the model; the clock is what comes before it.
    virtual void OnStep(const OrderedTask& task, const OrderClock& before) = 0;
    virtual void OnLostSignal(const LostSignal& lost) = 0;
  };
  explicit Order(Listener& listener) : listener_(listener) {}

  void AddQueue(const QueueLabel& label, const Timeline* timeline);
  void RemoveQueue(const QueueLabel& label);
  void Submitted(OrderedTask task);
  /// The queue really executed the task.
  void Executed(std::uint64_t queue, std::uint64_t task, bool discarded);
  /// The host was told that the task is over.
  void Learned(const Timeline* timeline, std::uint64_t task);
  void Learned(std::uint64_t queue, std::uint64_t task);
  void SignalCleared(const void* target);
  /// A copy wrote there, so the word's value is unknown.
  void WordOverwritten(const std::byte* begin, std::uint64_t bytes);

  const OrderClock& host() const { return host_; }
  /// What the host knew when it submitted the oldest task that is not executed in the model. Accesses of
  /// tasks behind this clock may still turn out to have no order.
  const OrderClock& settled() const;
  /// What was before a task that is executed in the model.
  OrderClock Before(std::uint64_t queue, std::uint64_t task) const;
  /// A task that uses a word of the allocation and is not executed in the model; null: there is none.
  const OrderedTask* WaitingForWordIn(std::uint64_t allocation) const;
  /// True if `test(access)` is, for an access of a task that is not executed in the model.
  template <typename Test>
  bool AnyWaiting(Test test) const {
    for (const std::uint64_t number : blocked_) {
      for (const auto& [task, waiting] : Find(number)->waiting) {
        if (std::any_of(waiting.accesses.begin(), waiting.accesses.end(), test)) return true;
      }
    }
    return false;
  }
  /// The first task of the queue that is not executed in the model; null: there is none.
  const OrderedTask* Head(std::uint64_t queue) const;
  /// True if the queue has really executed the task.
  bool IsOver(std::uint64_t queue, std::uint64_t task) const {
    const QueueState* const state = Find(queue);
    return state == nullptr || state->really >= task;
  }
  /// True if the task is executed in the model.
  bool IsExecuted(std::uint64_t queue, std::uint64_t task) const {
    const QueueState* const state = Find(queue);
    return state == nullptr || state->executed >= task;
  }
  bool tracks_words() const { return !words_.empty(); }

 private:
  struct Snapshot {
    std::uint64_t from;
    OrderClock clock;
  };
  struct QueueState {
    QueueLabel label;
    OrderClock clock;              // what comes before the next task
    std::uint64_t executed = 0;    // in the model
    std::uint64_t really = 0;      // the last one that the queue executed or dropped
    std::uint64_t kept = 0;        // the last one that it executed
    std::uint64_t host_seen = 0;   // the host's version that the clock includes
    std::uint64_t last_ranks = 0;  // the newest task that waits for ranks
    bool drops = false;            // the last task that it told was dropped, and so may be the next one
    bool forcing = false;
    std::deque<Snapshot> history;  // the clock as it was, by the first task that it counts for
    std::map<std::uint64_t, OrderedTask> waiting;
  };
  struct Signal {
    bool set = false;
    bool unreliable = false;                // a wait or a record was dropped
    std::uint32_t owed = 0;                 // waits that passed before their signal was told
    SharedSite giver;                       // of the signal that is set, or that was taken last
    OrderClock clock;                       // of the giver
    std::uint64_t taker = 0, taken_by = 0;  // queue and task that took the last signal
  };
  struct WordWrite {
    std::uint64_t value = 0;
    OrderClock clock;
  };
  /// The last writes of a word, the oldest first.
  struct Word {
    std::deque<WordWrite> writes;
    /// The first of the last writes that all satisfy the condition: a wait may have seen it already. Null if
    /// the last write does not satisfy it.
    const WordWrite* Satisfies(std::uint64_t value, std::uint64_t condition) const;
  };

  /// Executes in the model what can go on.
  void Run();
  bool RunQueue(QueueState& queue);
  /// The thread that submitted the task told it after the tasks behind it were known to be over.
  void PassLate(QueueState& queue, const OrderedTask& task);
  bool Passes(QueueState& queue, const OrderedTask& task);
  void Execute(QueueState& queue, std::uint64_t number, bool discarded);
  /// Executes the queue's tasks in the model up to this one, which is really over. Tasks that it waits for
  /// come first, as far as they were told.
  void Force(QueueState& queue, std::uint64_t task, bool discarded);
  /// The task that lets the head of a queue pass, and is really over; none: it was not told yet.
  struct Giver {
    QueueState* queue = nullptr;
    std::uint64_t task = 0;
  };
  Giver ToldGiver(const OrderedTask& head);
  /// `stands` becomes true if the giver was told and cannot go on itself.
  bool PassesAfterGiver(QueueState& queue, const OrderedTask& head, bool* stands);
  void ForcePass(QueueState& queue, const OrderedTask& task, bool discarded);
  void GiveSignal(const QueueState& queue, const OrderedTask& task);
  void TakeSignal(Signal& signal, QueueState& queue, const OrderedTask& task);
  void JoinHost(QueueState& queue, const OrderClock& host, std::uint64_t version);
  void JoinRanks(QueueState& queue);
  void JoinEverything(QueueState& queue);
  void NoteClock(QueueState& queue);
  QueueState* Find(std::uint64_t queue);
  const QueueState* Find(std::uint64_t queue) const;

  Listener& listener_;
  std::unordered_map<std::uint64_t, QueueState> queues_;
  std::unordered_map<const Timeline*, std::uint64_t> timelines_;
  std::set<std::uint64_t> blocked_;  // queues with waiting tasks
  bool is_forcing_ = false;
  std::unordered_map<const void*, Signal> signals_;
  std::map<const void*, Word> words_;
  OrderClock host_;
  std::uint64_t host_version_ = 1;
  std::shared_ptr<const OrderClock> host_copy_;   // of this version; null: not made yet
  std::shared_ptr<const OrderClock> ranks_host_;  // of the newest task that waits for ranks
  std::uint64_t ranks_host_version_ = 0;
};

}  // namespace sampan::check
