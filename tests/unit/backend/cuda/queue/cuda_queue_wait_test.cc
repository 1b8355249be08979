// Waits for a queue on a GPU, with a driver of the test's own in place of the GPU's. They look at the words
// that a stream writes, with a time limit and without. Where no word comes, they ask the driver.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "backend/cuda/memory/reserved_memory.h"
#include "backend/cuda/paths/copy_path.h"
#include "backend/cuda/queue/cuda_queue.h"
#include "tests/unit/backend/cuda/driver_of_tests.h"

namespace sampan::cuda::cuda_queue_wait_test {
namespace {

using std::chrono::milliseconds;
constexpr std::size_t kUnit = ReservedMemory::kUnitBytes;

/// Copies nothing: it is at work on what it was given until it is told to be done.
struct Gpu0 {
  std::atomic<bool> done = false;
  std::atomic<bool> writes_words = false;  ///< at once
  std::atomic<int> words = 0, stream_waits = 0, copies = 0;
};
Gpu0* gpu0 = nullptr;

CuResult State() {
  return gpu0->done ? cu::kSuccess : cu::kNotReady;
}
CuResult UntilDone() {
  while (!gpu0->done)
    std::this_thread::sleep_for(milliseconds(1));
  return cu::kSuccess;
}

Driver DriverOfGpu0() {
  Driver driver = DriverOfTests();
  driver.StreamSynchronize = [](CuStream) { return ++gpu0->stream_waits, UntilDone(); };
  driver.StreamQuery = [](CuStream) { return State(); };
  driver.StreamWriteWord = [](CuStream, CuAddress word, unsigned long long value, unsigned) {
    ++gpu0->words;
    if (gpu0->writes_words)
      std::atomic_ref(*reinterpret_cast<std::uint64_t*>(word)).store(value, std::memory_order_release);
    return cu::kSuccess;
  };
  driver.EventCreate = [](CuEvent*, unsigned) { return cu::kSuccess; };
  driver.EventDestroy = [](CuEvent) { return cu::kSuccess; };
  driver.EventRecord = [](CuEvent, CuStream) { return cu::kSuccess; };
  driver.EventQuery = [](CuEvent) { return State(); };
  driver.EventSynchronize = [](CuEvent) { return UntilDone(); };
  driver.CopyAny = [](CuAddress, CuAddress, std::size_t, CuStream) { return ++gpu0->copies, cu::kSuccess; };
  driver.MemAlloc = [](CuAddress*, std::size_t) { return cu::kSuccess; };
  driver.MemFree = [](CuAddress) { return cu::kSuccess; };
  driver.CopyHostToDevice = [](CuAddress, const void*, std::size_t, CuStream) { return cu::kSuccess; };
  driver.LaunchKernel = [](CuFunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                           CuStream, void** arguments, void**) {
    const auto* const argument = static_cast<IndirectArgument*>(arguments[0]);
    reinterpret_cast<IndirectRecord*>(argument->record)->failed = 1;
    return cu::kSuccess;
  };
  return driver;
}

/// Real memory, so that words can be written there.
class MappedBacking final : public Backing {
 public:
  Status Commit(std::uintptr_t address, std::size_t bytes) override {
    EXPECT_EQ(::mprotect(reinterpret_cast<void*>(address), bytes, PROT_READ | PROT_WRITE), 0);
    return {};
  }
  void Decommit(std::uintptr_t, std::size_t) noexcept override {}
};

class Listener final : public QueueListener {
 public:
  bool OnTaskFailed(std::uint64_t number, Status) noexcept override {
    failed.push_back(number);
    return stops;
  }
  bool stops_on_failure() const noexcept override { return stops; }

  std::vector<std::uint64_t> failed;
  bool stops = false;
};

/// Knows no memory.
class NoMemory final : public AddressResolver, public AllocationOwner {
 public:
  Result<Resolved> ResolveDevice(std::uintptr_t, std::size_t, std::int32_t, Access) override {
    return Error{Code::kSdmaCopyError, "no memory"};
  }
  void Reclaim(Allocation&) noexcept override {}
};

class CudaQueueWaitTest : public ::testing::Test {
 protected:
  CudaQueueWaitTest() : mapping_(::mmap(nullptr, 3 * kUnit, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    gpu0 = &gpu0_;
    descriptor_.Begin(no_memory_);
    auto opened = Gpu::Open(driver_, 0);
    EXPECT_TRUE(opened.ok());
    gpu_ = std::move(*opened);
    const auto base = (reinterpret_cast<std::uintptr_t>(mapping_) + kUnit - 1) / kUnit * kUnit;
    pinned_.emplace(ReservedMemoryOptions{.name = "pinned memory",
                                          .base = base,
                                          .reserved_bytes = 2 * kUnit,
                                          .capacity_bytes = 2 * kUnit,
                                          .host_visible = true,
                                          .faults = &faults_},
                    std::make_unique<MappedBacking>());
    watch_.Start();
    auto made = CudaQueue::Create({*gpu_, *pinned_, *pinned_, paths_},
                                  {.listener = listener_, .depth = 1792, .label = {}}, watch_, faults_);
    EXPECT_TRUE(made.ok());
    queue_ = *made;
  }
  ~CudaQueueWaitTest() override {
    gpu0_.done = true;
    queue_->Close();
    queue_.reset();
    EXPECT_EQ(listener_.failed, expected_failures_);
    pinned_.reset();
    ::munmap(mapping_, 3 * kUnit);
  }

  std::uint64_t Copy() {
    Task copy = CopyTask{{nullptr, nullptr, 64}, {}, {}, Direction::kHostToHost};
    auto number = queue_->Submit(copy, 0);
    EXPECT_TRUE(number.ok());
    return number.ok() ? *number : 0;
  }
  /// A copy whose operands are wrong, which the GPU finds out.
  void WrongIndirectCopy() {
    IndirectTask indirect{std::make_unique<IndirectTask::Content>()};
    ASSERT_TRUE(descriptor_.TryUse());
    indirect.content->operands_memory[0] = AllocationUse(&descriptor_);
    indirect.content->resolver = &no_memory_;
    Task task = std::move(indirect);
    EXPECT_TRUE(queue_->Submit(task, 0).ok());
    expected_failures_.push_back(queue_->submitted());
  }
  bool WaitFor(std::uint64_t number, milliseconds limit) {
    return queue_->timeline()->Wait(number, Clock::now() + limit);
  }

  Gpu0 gpu0_;
  const Driver driver_ = DriverOfGpu0();
  void* const mapping_;
  std::unique_ptr<Gpu> gpu_;
  std::optional<ReservedMemory> pinned_;
  const CopyPaths paths_{"", 1, {}};
  NoMemory no_memory_;
  Allocation descriptor_;
  Listener listener_;
  std::vector<std::uint64_t> expected_failures_;
  HoldWatch watch_;
  FaultPlan faults_;
  std::shared_ptr<CudaQueue> queue_;
};

TEST_F(CudaQueueWaitTest, TakesNoTaskBehindOneThatWasDropped) {
  const std::uint64_t dropped = Copy();
  queue_->Discard(Code::kStreamAbort);
  queue_->PassDiscarded();
  Task copy = CopyTask{{nullptr, nullptr, 64}, {}, {}, Direction::kHostToHost};
  auto refused = queue_->Submit(copy, dropped);
  ASSERT_TRUE(refused.ok());
  EXPECT_EQ(*refused, 0U);
  const std::uint64_t later = Copy();
  EXPECT_EQ(later, dropped + 1);
  auto taken = queue_->Submit(copy, later);
  ASSERT_TRUE(taken.ok());
  EXPECT_EQ(*taken, later + 1);
}

TEST_F(CudaQueueWaitTest, AWordIsEnoughForEitherWait) {
  gpu0_.writes_words = true;  // the driver never notices that its stream is empty
  EXPECT_TRUE(WaitFor(Copy(), milliseconds(20000)));
  EXPECT_TRUE(queue_->timeline()->Wait(Copy(), kNever));
  EXPECT_EQ(gpu0_.words, 2);
  EXPECT_EQ(gpu0_.stream_waits, 0);
}

TEST_F(CudaQueueWaitTest, WithoutAWordALimitEndsTheWait) {
  const std::uint64_t number = Copy();
  EXPECT_FALSE(WaitFor(number, milliseconds(20)));
  EXPECT_FALSE(WaitFor(number, milliseconds(0)));
  gpu0_.done = true;
  EXPECT_TRUE(WaitFor(number, milliseconds(20000)));
  EXPECT_EQ(gpu0_.stream_waits, 0) << "that could not have been ended";
}

TEST_F(CudaQueueWaitTest, NoThreadLooksForAWordBeyondALimit) {
  std::vector<Clock::duration> times;
  for (int i = 0; i < 501; ++i) {
    const std::uint64_t number = Copy();
    const Deadline begin = Clock::now();
    EXPECT_FALSE(WaitFor(number, milliseconds(0)));
    times.push_back(Clock::now() - begin);
  }
  std::nth_element(times.begin(), times.begin() + 250, times.end());
  EXPECT_LT(times[250], std::chrono::microseconds(100));
}

TEST_F(CudaQueueWaitTest, WithoutAWordTheDriverIsAskedForAsLongAsItTakes) {
  const std::uint64_t number = Copy();
  std::thread later([&] {
    std::this_thread::sleep_for(milliseconds(20));
    gpu0_.done = true;
  });
  EXPECT_TRUE(WaitFor(number, milliseconds(20000)));
  later.join();
}

TEST_F(CudaQueueWaitTest, WithoutALimitTheDriverWaits) {
  const std::uint64_t number = Copy();
  std::thread later([&] {
    std::this_thread::sleep_for(milliseconds(20));
    gpu0_.done = true;
  });
  EXPECT_TRUE(queue_->timeline()->Wait(number, kNever));
  EXPECT_EQ(gpu0_.words, 1);
  EXPECT_EQ(gpu0_.stream_waits, 1);
  later.join();
}

/// A task that the GPU has cannot be dropped. So it does not get one that a failure would drop (rule
/// cuda-14).
TEST_F(CudaQueueWaitTest, BehindACopyThatCanFailAStreamThatStopsWaitsForTheOutcome) {
  listener_.stops = true;
  WrongIndirectCopy();
  const std::uint64_t behind = Copy();
  EXPECT_FALSE(WaitFor(behind, milliseconds(20)));
  EXPECT_EQ(gpu0_.copies, 0);
  gpu0_.done = true;
  EXPECT_TRUE(WaitFor(behind, milliseconds(20000)));
  EXPECT_EQ(gpu0_.copies, 0) << "dropped";
  EXPECT_TRUE(WaitFor(Copy(), milliseconds(20000)));
  EXPECT_EQ(gpu0_.copies, 1) << "the stream goes on";
}

TEST_F(CudaQueueWaitTest, BehindACopyThatCanFailAStreamThatGoesOnDoesNotWait) {
  WrongIndirectCopy();
  Copy();
  EXPECT_EQ(gpu0_.copies, 1);
}

TEST_F(CudaQueueWaitTest, ManyThreadsWaitEachInItsWay) {
  constexpr int kCopies = 50, kThreads = 4;
  gpu0_.writes_words = true;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([this, thread] {
      for (int copy = 0; copy < kCopies; ++copy) {
        const Deadline deadline = (copy + thread) % 2 == 0 ? kNever : Clock::now() + milliseconds(20000);
        EXPECT_TRUE(queue_->timeline()->Wait(Copy(), deadline));
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(queue_->submitted(), kCopies * kThreads);
}

}  // namespace
}  // namespace sampan::cuda::cuda_queue_wait_test
