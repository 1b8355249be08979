// Tasks that are executed in the model, told by threads in any sequence.
#include "check/order/order.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

namespace sampan::check {
namespace {

using Kind = OrderStep::Kind;

/// Three queues, and what came before each of their tasks.
class OrderTest : public ::testing::Test, protected Order::Listener {
 protected:
  OrderTest() {
    for (std::uint64_t queue = 1; queue <= 3; ++queue)
      order_.AddQueue(Label(queue), nullptr);
  }
  static QueueLabel Label(std::uint64_t queue) { return {queue, 0, static_cast<std::uint32_t>(queue)}; }
  void Tell(std::uint64_t queue, std::uint64_t number, Kind kind, const void* target = nullptr) {
    OrderedTask task;
    task.site = std::make_shared<const TaskSite>(TaskSite{Label(queue), number});
    task.step.kind = kind;
    task.step.target = target;
    task.accesses = {{1, {{0, 8}}, Use::kWrite}};
    order_.Submitted(std::move(task));
  }
  bool Stepped(std::uint64_t queue, std::uint64_t number) const { return before_.contains({queue, number}); }

  void OnStep(const OrderedTask& task, const OrderClock& before) override {
    const std::pair key(task.site->queue.number, task.site->number);
    before_[key] = before;
    accesses_[key] = task.accesses.size();
  }
  void OnLostSignal(const LostSignal&) override { ADD_FAILURE() << "no signal is lost"; }

  Order order_{*this};
  std::map<std::pair<std::uint64_t, std::uint64_t>, OrderClock> before_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::size_t> accesses_;
  const int one_ = 0, other_ = 0;  // signals
};

TEST_F(OrderTest, AWaitComesAfterItsSignal) {
  Tell(2, 1, Kind::kGate, &one_);
  Tell(2, 2, Kind::kWork);
  EXPECT_FALSE(Stepped(2, 2));
  Tell(1, 1, Kind::kWork);
  Tell(1, 2, Kind::kSignal, &one_);
  ASSERT_TRUE(Stepped(2, 2));
  EXPECT_EQ((before_[{2, 2}].At(1)), 2u);
}

TEST_F(OrderTest, ToldSignalsComeBeforeTheirWaitsWhereOneIsNotTold) {
  // Queue 1 waits for a signal whose thread has not told it. It gives the signal for which queue 2 waits.
  Tell(2, 1, Kind::kGate, &other_);
  Tell(2, 2, Kind::kWork);
  Tell(1, 1, Kind::kGate, &one_);
  Tell(1, 2, Kind::kWork);
  Tell(1, 3, Kind::kSignal, &other_);
  for (std::uint64_t task = 1; task <= 3; ++task)
    order_.Executed(1, task, false);
  for (std::uint64_t task = 1; task <= 2; ++task)
    order_.Executed(2, task, false);
  order_.Learned(1, 3);
  ASSERT_TRUE(Stepped(1, 3) && Stepped(2, 2));
  EXPECT_EQ((before_[{2, 2}].At(1)), 3u);
  Tell(3, 1, Kind::kSignal, &one_);
}

TEST_F(OrderTest, DroppedTasksAccessNothing) {
  Tell(1, 1, Kind::kGate, &one_);
  Tell(1, 2, Kind::kWork);
  Tell(1, 3, Kind::kWork);
  order_.Executed(1, 1, true);
  EXPECT_FALSE(Stepped(1, 2)) << "it may be dropped, too";
  order_.Executed(1, 2, true);
  order_.Executed(1, 3, false);
  ASSERT_TRUE(Stepped(1, 3));
  EXPECT_EQ((accesses_[{1, 2}]), 0u);
  EXPECT_EQ((accesses_[{1, 3}]), 1u);
}

TEST_F(OrderTest, AWordThatWasOverwrittenSatisfiesNothing) {
  alignas(8) std::byte word[8] = {};
  Tell(1, 1, Kind::kWord, word);
  order_.WordOverwritten(word, sizeof word);
  Tell(2, 1, Kind::kWaitForWord, word);
  EXPECT_FALSE(Stepped(2, 1));
  Tell(1, 2, Kind::kWord, word);
  ASSERT_TRUE(Stepped(2, 1));
  EXPECT_EQ((before_[{2, 1}].At(1)), 2u);
}

}  // namespace
}  // namespace sampan::check
