// What a queue remembers of the task that holds it back.
#include "backend/api/queue_waits.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <variant>
#include <vector>

namespace sampan::queue_waits_test {
namespace {

using namespace std::chrono_literals;

/// Opens and breaks as the test says.
class TestGate final : public Gate {
 public:
  bool Open() const noexcept override { return open; }
  bool TryPass() noexcept override { return std::exchange(open, false); }
  Status Check() const override {
    ++checks;
    return broken ? Status(Code::kLostHeartbeat, "it never opens") : Status();
  }
  SleepWord* word() const noexcept override { return nullptr; }
  std::string Describe() const override { return "a wait for the test"; }

  bool open = false, broken = false;
  mutable int checks = 0;
};

TEST(StandingWait, CountsFromWhenTheQueueFirstStandsThere) {
  StandingWait wait;
  const Deadline before = Clock::now();
  wait.Begin(3, 100h);
  const Deadline since = wait.since();
  EXPECT_GE(since, before);
  EXPECT_LE(since, Clock::now());
  EXPECT_EQ(wait.deadline(), since + 100h);
  EXPECT_FALSE(wait.IsOverdue());
  wait.Begin(3, 1ns);
  EXPECT_EQ(wait.since(), since) << "asked again for the same task, nothing changes";
  EXPECT_EQ(wait.deadline(), since + 100h);
  wait.Begin(4, 1ns);
  EXPECT_GE(wait.since(), since);
  EXPECT_EQ(wait.deadline(), wait.since() + 1ns);
  while (Clock::now() <= wait.deadline()) {
  }
  EXPECT_TRUE(wait.IsOverdue());
}

TEST(StandingWait, HasNoDeadlineWithoutALimit) {
  StandingWait wait;
  wait.Begin(1, 0ns);
  EXPECT_EQ(wait.deadline(), kNever);
  EXPECT_FALSE(wait.IsOverdue());
}

TEST(StandingWait, PassesAnOpenGateOnce) {
  StandingWait wait;
  TestGate gate;
  wait.Begin(1, 0ns);
  EXPECT_FALSE(wait.TryPass(gate, 0ns).has_value());
  gate.open = true;
  const auto passed = wait.TryPass(gate, 0ns);
  ASSERT_TRUE(passed.has_value());
  EXPECT_TRUE(passed->ok());
  EXPECT_FALSE(wait.TryPass(gate, 0ns).has_value());
}

TEST(StandingWait, AsksAGateThatCannotOpenOnlyIfItShould) {
  StandingWait wait;
  TestGate gate;
  gate.broken = true;
  wait.Begin(1, 0ns);
  EXPECT_FALSE(wait.TryPass(gate, 0ns, false).has_value());
  EXPECT_EQ(gate.checks, 0);
  const auto failed = wait.TryPass(gate, 0ns, true);
  ASSERT_TRUE(failed.has_value());
  EXPECT_EQ(failed->code(), Code::kLostHeartbeat);
}

TEST(StandingWait, FailsWhenItsTimeIsOverButPassesIfTheGateIsOpen) {
  StandingWait wait;
  TestGate gate;
  wait.Begin(1, 1ns);
  while (!wait.IsOverdue()) {
  }
  const auto failed = wait.TryPass(gate, 2s);
  ASSERT_TRUE(failed.has_value());
  EXPECT_EQ(failed->code(), Code::kTaskTimeout);
  EXPECT_EQ(failed->error().message, "a wait for the test ran past its time limit of 2 s");
  gate.open = true;
  const auto passed = wait.TryPass(gate, 2s);
  ASSERT_TRUE(passed.has_value());
  EXPECT_TRUE(passed->ok());
}

TEST(HostOutcome, IsKnownOnceItIsDeliveredAndTakenOnce) {
  HostOutcome outcome;
  EXPECT_FALSE(outcome.Known(5));
  EXPECT_FALSE(outcome.Take(5).has_value());
  EXPECT_TRUE(outcome.Deliver(5, {Code::kInternalError, "it failed"}));
  EXPECT_TRUE(outcome.Known(5));
  EXPECT_FALSE(outcome.Known(4));
  EXPECT_FALSE(outcome.Known(6));
  EXPECT_FALSE(outcome.Take(6).has_value());
  const auto taken = outcome.Take(5);
  ASSERT_TRUE(taken.has_value());
  EXPECT_EQ(taken->code(), Code::kInternalError);
  const auto again = outcome.Take(5);
  ASSERT_TRUE(again.has_value());
  EXPECT_TRUE(again->ok()) << "the failure was reported twice";
}

TEST(DroppedInput, CoversWhatIsQueuedUntilTheProgramIsTold) {
  DroppedInput input;
  EXPECT_FALSE(input.Covers(1));
  input.Begin(4, Code::kStreamAbort);
  EXPECT_TRUE(input.Covers(5));
  EXPECT_TRUE(input.Covers(100'000));
  input.EndBehind(9, 4);
  EXPECT_TRUE(input.Covers(9));
  EXPECT_FALSE(input.Covers(10));
  input.EndBehind(20, 20);
  EXPECT_FALSE(input.Covers(10)) << "what was let go is covered again";
}

TEST(DroppedInput, StaysForAFailureThatTheProgramWasNotToldOf) {
  DroppedInput input;
  input.Begin(4, Code::kStreamAbort);
  input.Begin(7, Code::kDeviceTaskAbort);
  input.EndBehind(9, 4);
  EXPECT_TRUE(input.Covers(10)) << "the failure of task 7 was not told";
  input.EndBehind(12, 7);
  EXPECT_FALSE(input.Covers(13));
}

TEST(DroppedInput, TellsRecordingsAlone) {
  DroppedInput input;
  Task mark(MarkTask{std::make_shared<Mark>()});
  const std::shared_ptr<Mark> result = std::get<MarkTask>(mark).mark;
  input.Tell(5, mark);
  EXPECT_TRUE(result->Outcome(1).ok());
  input.Begin(4, Code::kDeviceTaskAbort);
  Task none;
  input.Tell(5, none);
  input.Tell(5, mark);
  EXPECT_EQ(result->Outcome(1).code(), Code::kDeviceTaskAbort);
}

TEST(HostOutcome, OfADiscardedTaskIsRefused) {
  HostOutcome outcome;
  EXPECT_TRUE(outcome.Deliver(5, {}));
  EXPECT_FALSE(outcome.Deliver(5, {Code::kInternalError, "twice"}));
  EXPECT_FALSE(outcome.Deliver(4, {Code::kInternalError, "late"}));
  const auto taken = outcome.Take(5);
  ASSERT_TRUE(taken.has_value());
  EXPECT_TRUE(taken->ok());
}

TEST(HostOutcome, OfSeveralThreadsOneIsTaken) {
  for (std::uint64_t task = 1; task <= 200; ++task) {
    HostOutcome outcome;
    std::atomic<int> taken{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&] {
        if (outcome.Deliver(task, {})) taken.fetch_add(1);
      });
    }
    for (std::thread& thread : threads)
      thread.join();
    ASSERT_EQ(taken.load(), 1);
    ASSERT_TRUE(outcome.Known(task));
  }
}

}  // namespace
}  // namespace sampan::queue_waits_test
