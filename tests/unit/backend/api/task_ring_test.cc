// The ring of a queue's tasks, and the mark up to which they are dropped.
#include "backend/api/task_ring.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace sampan::task_ring_test {
namespace {

/// A task that can be told from others, and whose destruction is seen.
Task Numbered(std::uint64_t number, const std::shared_ptr<Mark>& mark) {
  if (number % 2 == 0) return MarkTask{mark};
  FillTask fill{nullptr, number, static_cast<std::uint32_t>(number), {}};
  return fill;
}
bool IsNumbered(const Task& task, std::uint64_t number, const std::shared_ptr<Mark>& mark) {
  if (number % 2 == 0) {
    const auto* const marked = std::get_if<MarkTask>(&task);
    return marked != nullptr && marked->mark == mark;
  }
  const auto* const fill = std::get_if<FillTask>(&task);
  return fill != nullptr && fill->bytes == number;
}

TEST(TaskRing, NumbersTasksFromOneAndIsFullAtItsDepth) {
  const auto mark = std::make_shared<Mark>();
  for (const std::uint64_t depth :
       {std::uint64_t{1}, std::uint64_t{3}, std::uint64_t{1792}, TaskRing::kSlots}) {
    SCOPED_TRACE(depth);
    TaskRing ring(depth);
    EXPECT_EQ(ring.depth(), depth);
    EXPECT_EQ(ring.submitted(), 0U);
    for (std::uint64_t number = 1; number <= depth; ++number) {
      ASSERT_FALSE(ring.IsFull(0)) << number;
      ASSERT_EQ(ring.Put(Numbered(number, mark)), number);
    }
    EXPECT_TRUE(ring.IsFull(0));
    EXPECT_FALSE(ring.IsFull(1));
    EXPECT_EQ(ring.submitted(), depth);
    for (std::uint64_t number = 1; number <= depth; ++number) {
      ASSERT_TRUE(IsNumbered(ring.At(number), number, mark)) << number;
      ring.Destroy(number);
    }
  }
  EXPECT_EQ(mark.use_count(), 1) << "a task was not destroyed";
}

TEST(TaskRing, GoesRound) {
  const auto mark = std::make_shared<Mark>();
  constexpr std::uint64_t kDepth = 5;
  TaskRing ring(kDepth);
  std::uint64_t done = 0;
  for (std::uint64_t number = 1; number <= 3 * TaskRing::kSlots; ++number) {
    if (ring.IsFull(done)) {
      ++done;
      ASSERT_TRUE(IsNumbered(ring.At(done), done, mark)) << done;
      ring.Destroy(done);
    }
    ASSERT_FALSE(ring.IsFull(done));
    ASSERT_EQ(ring.Put(Numbered(number, mark)), number);
  }
  while (done < ring.submitted())
    ring.Destroy(++done);
  EXPECT_EQ(mark.use_count(), 1);
}

TEST(TaskRing, CountsTasksThatNeverLayInIt) {
  const auto mark = std::make_shared<Mark>();
  TaskRing ring(2);
  ring.Skip(1);
  ring.Skip(2);
  EXPECT_EQ(ring.submitted(), 2U);
  EXPECT_FALSE(ring.IsFull(2));
  EXPECT_EQ(ring.Put(Numbered(3, mark)), 3U);
  EXPECT_TRUE(IsNumbered(ring.At(3), 3, mark));
  ring.Destroy(3);
}

TEST(TaskRing, AnExecutorSeesWhatASubmitterPutIn) {
  constexpr std::uint64_t kTasks = 20'000, kDepth = 7;
  const auto mark = std::make_shared<Mark>();
  TaskRing ring(kDepth);
  std::atomic<std::uint64_t> done{0};
  std::thread executor([&] {
    for (std::uint64_t number = 1; number <= kTasks; ++number) {
      while (ring.submitted() < number)
        std::this_thread::yield();
      ASSERT_TRUE(IsNumbered(ring.At(number), number, mark)) << number;
      ring.Destroy(number);
      done.store(number, std::memory_order_release);
    }
  });
  for (std::uint64_t number = 1; number <= kTasks; ++number) {
    while (ring.IsFull(done.load(std::memory_order_acquire)))
      std::this_thread::yield();
    ring.Put(Numbered(number, mark));
  }
  executor.join();
  EXPECT_EQ(mark.use_count(), 1);
}

TEST(DiscardMark, OnlyGrows) {
  DiscardMark mark;
  EXPECT_TRUE(mark.Covers(0));
  EXPECT_FALSE(mark.Covers(1));
  mark.Raise(7, Code::kStreamAbort);
  EXPECT_TRUE(mark.Covers(7));
  EXPECT_FALSE(mark.Covers(8));
  mark.Raise(3, Code::kStreamAbort);
  EXPECT_TRUE(mark.Covers(7));
  mark.Raise(7, Code::kStreamAbort);
  EXPECT_FALSE(mark.Covers(8));
}

TEST(DiscardMark, IsTheHighestOfSeveralThreads) {
  constexpr std::uint64_t kRaises = 5'000;
  DiscardMark mark;
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 3; ++t) {
    threads.emplace_back([&mark, t] {
      for (std::uint64_t i = 0; i < kRaises; ++i) {
        mark.Raise(3 * i + t, Code::kStreamAbort);
        ASSERT_TRUE(mark.Covers(3 * i + t));
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_TRUE(mark.Covers(3 * kRaises - 1));
  EXPECT_FALSE(mark.Covers(3 * kRaises));
}

}  // namespace
}  // namespace sampan::task_ring_test
