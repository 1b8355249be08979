// Staged copies with a driver of the test's own, which copies as late as a GPU may.
#include "backend/cuda/staging/staged_copy.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "backend/cuda/paths/copy_ends.h"
#include "backend/cuda/staging/staging_plan.h"
#include "tests/support/random_bytes.h"
#include "tests/unit/backend/cuda/driver_of_tests.h"

namespace sampan::cuda::staged_copy_test {
namespace {

constexpr CuResult kRefused = 1;

/// One stream that executes nothing before its host waits: for an event, or for all of it.
struct LateStream {
  std::mutex mutex;
  std::vector<std::function<void()>> work;
  std::size_t done = 0, copies = 0, refused_from = SIZE_MAX;
  std::map<CuEvent, std::size_t> recorded;
  std::uintptr_t events = 0;

  CuResult Copy(void* dst, const void* src, std::size_t bytes) {
    const std::lock_guard lock(mutex);
    if (copies >= refused_from) return kRefused;
    ++copies;
    work.push_back([=] { std::memcpy(dst, src, bytes); });
    return cu::kSuccess;
  }
  CuResult RunTo(std::size_t end) {
    for (; done < end; ++done)
      work[done]();
    return cu::kSuccess;
  }
};
LateStream* late = nullptr;

Driver LateDriver() {
  Driver driver = DriverOfTests();
  driver.EventCreate = [](CuEvent* event, unsigned) {
    return *event = reinterpret_cast<CuEvent>(++late->events), cu::kSuccess;
  };
  driver.EventDestroy = [](CuEvent) { return cu::kSuccess; };
  driver.EventRecord = [](CuEvent event, CuStream) {
    const std::lock_guard lock(late->mutex);
    return late->recorded[event] = late->work.size(), cu::kSuccess;
  };
  driver.EventSynchronize = [](CuEvent event) {
    const std::lock_guard lock(late->mutex);
    return late->RunTo(late->recorded.at(event));
  };
  driver.StreamSynchronize = [](CuStream) {
    const std::lock_guard lock(late->mutex);
    return late->RunTo(late->work.size());
  };
  driver.StreamWriteWord = [](CuStream, CuAddress word, unsigned long long value, unsigned) {
    const std::lock_guard lock(late->mutex);
    late->work.push_back([=] {
      std::atomic_ref(*reinterpret_cast<std::uint64_t*>(word)).store(value, std::memory_order_release);
    });
    return cu::kSuccess;
  };
  driver.CopyHostToDevice = [](CuAddress dst, const void* src, std::size_t bytes, CuStream) {
    return late->Copy(reinterpret_cast<void*>(dst), src, bytes);
  };
  driver.CopyDeviceToHost = [](void* dst, CuAddress src, std::size_t bytes, CuStream) {
    return late->Copy(dst, reinterpret_cast<const void*>(src), bytes);
  };
  return driver;
}

/// Nothing to do: the whole range is memory of the test.
class NoBacking final : public Backing {
 public:
  Status Commit(std::uintptr_t, std::size_t) override { return {}; }
  void Decommit(std::uintptr_t, std::size_t) noexcept override {}
};

class StagedCopyTest : public ::testing::TestWithParam<std::size_t> {
 protected:
  static constexpr std::size_t kPinnedBytes = 16 * ReservedMemory::kUnitBytes, kCanary = 64;

  StagedCopyTest() {
    late = &stream_;
    auto opened = Gpu::Open(driver_, 0);
    EXPECT_TRUE(opened.ok());
    gpu_ = std::move(*opened);
  }

  /// Copies so many parts and a half. Returns the outcome; the bytes are as they should be after a success.
  Status Copy(Direction direction, std::size_t parts) {
    const std::size_t bytes = parts * kSinglePartBytes + kSinglePartBytes / 2;
    const auto source = random_.Fill(bytes);
    auto expected = random_.Fill(bytes + 2 * kCanary);
    auto target = expected;
    std::memcpy(expected.data() + kCanary, source.data(), bytes);
    const Segment segment{reinterpret_cast<std::byte*>(target.data()) + kCanary,
                          reinterpret_cast<const std::byte*>(source.data()), bytes};
    StagedCopy staged({*gpu_, pinned_, pinned_, paths_}, direction);
    Status status = staged.Run(LinearParts(segment, direction, kSinglePartBytes), GetParam());
    EXPECT_EQ(target == expected, status.ok());
    EXPECT_EQ(stream_.done, stream_.work.size()) << "the buffers are still in use";
    return status;
  }

  LateStream stream_;
  const Driver driver_ = LateDriver();
  FaultPlan faults_;
  const std::unique_ptr<std::byte, decltype(&std::free)> host_ = {
      static_cast<std::byte*>(std::aligned_alloc(ReservedMemory::kUnitBytes, kPinnedBytes)), &std::free};
  ReservedMemory pinned_{{.name = "pinned memory",
                          .base = reinterpret_cast<std::uintptr_t>(host_.get()),
                          .reserved_bytes = kPinnedBytes,
                          .capacity_bytes = kPinnedBytes,
                          .host_visible = true,
                          .faults = &faults_},
                         std::make_unique<NoBacking>()};
  const CopyPaths paths_{"", 100, {}};
  std::unique_ptr<Gpu> gpu_;
  test::Random random_;
};

TEST_P(StagedCopyTest, NoBufferIsReusedBeforeItsPartIsOver) {
  for (const std::size_t parts : {0, 1, 2, 3, 4, 11}) {
    EXPECT_TRUE(Copy(Direction::kHostToDevice, parts).ok()) << parts;
    EXPECT_TRUE(Copy(Direction::kDeviceToHost, parts).ok()) << parts;
  }
}

TEST_P(StagedCopyTest, AFailureEndsTheCopyAndWaitsForItsOtherParts) {
  for (const Direction direction : {Direction::kHostToDevice, Direction::kDeviceToHost}) {
    stream_.refused_from = stream_.copies + 5;
    EXPECT_FALSE(Copy(direction, 11).ok());
    EXPECT_EQ(stream_.copies, stream_.refused_from);
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, StagedCopyTest, ::testing::Values(1, 3));

}  // namespace
}  // namespace sampan::cuda::staged_copy_test
