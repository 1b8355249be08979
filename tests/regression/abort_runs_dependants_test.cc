// Aborts dropped one stream after the other: copies of streams that were still to be dropped ran, though
// what they waited for had just been dropped.
// Rule of docs/BEHAVIOUR.md: stream-10.
#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/device_fixture.h"
#include "tests/support/memory_buffer.h"
#include "tests/support/random_bytes.h"
#include "tests/support/stream.h"

namespace sampan::test::abort_runs_dependants_test {
namespace {

constexpr std::size_t kBytes = 256;
constexpr std::size_t kLongBytes = std::size_t{1} << 20;
constexpr int kConsumers = 12;
constexpr int kRounds = 20;

/// One stream produces bytes, others wait for it and copy them. All of it belongs to the current context.
/// Its streams, events and device memory end in different ways.
class Pipeline {
 public:
  enum class Producer { kHeld, kRunning };

  explicit Pipeline(Random& random) : good_(random.Fill(kBytes)) {
    source_.Write(0, random.Fill(kLongBytes));
    source_.Write(kLongBytes - kBytes, good_);
    EXPECT_ACL(ACL_SUCCESS, aclrtMalloc(&between_, kLongBytes, ACL_MEM_MALLOC_HUGE_FIRST));
    WriteDevice(between_, random.Fill(kLongBytes));
    for (int i = 0; i < kConsumers; ++i) {
      untouched_.push_back(random.Fill(kBytes));
      targets_.emplace_back(kBytes).Write(0, untouched_.back());
    }
  }

  void Queue(Producer producer) {
    aclrtStream stream = Create();
    if (producer == Producer::kHeld) gate_.emplace(stream);
    // The last copy makes the bytes that the others need.
    for (int i = 0; i < 4; ++i)
      ToDevice(0, kLongBytes - kBytes, stream);
    ToDevice(kLongBytes - kBytes, kBytes, stream);
    aclrtEvent event = nullptr;
    EXPECT_ACL(ACL_SUCCESS, aclrtCreateEvent(&event));
    events_.push_back(event);
    EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, stream));
    for (int i = 0; i < kConsumers; ++i) {
      stream = Create();
      EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(stream, event));
      EXPECT_ACL(ACL_SUCCESS,
                 aclrtMemcpyAsync(targets_[static_cast<std::size_t>(i)].data(), kBytes,
                                  At(kLongBytes - kBytes), kBytes, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    }
  }
  void FreeMemory() const { EXPECT_ACL(ACL_SUCCESS, aclrtFree(between_)); }
  void DestroyStreamsAndEvents() const {
    for (const aclrtStream stream : streams_)
      EXPECT_ACL(ACL_SUCCESS, aclrtDestroyStream(stream));
    for (const aclrtEvent event : events_)
      EXPECT_ACL(ACL_SUCCESS, aclrtDestroyEvent(event));
  }

  /// How many copies ran whose input had not been made.
  int StaleCopies() const {
    int stale = 0;
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      const Bytes found = targets_[i].Read(0, kBytes);
      if (found != untouched_[i] && found != good_) ++stale;
    }
    return stale;
  }

 private:
  void* At(std::size_t offset) const { return static_cast<std::byte*>(between_) + offset; }
  void ToDevice(std::size_t offset, std::size_t bytes, aclrtStream stream) {
    EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(At(offset), bytes, source_.at(offset), bytes,
                                             ACL_MEMCPY_HOST_TO_DEVICE, stream));
  }
  aclrtStream Create() {
    aclrtStream stream = nullptr;
    EXPECT_ACL(ACL_SUCCESS, aclrtCreateStream(&stream));
    streams_.push_back(stream);
    return stream;
  }

  const Bytes good_;
  std::vector<Bytes> untouched_;
  PinnedBuffer source_{kLongBytes};
  void* between_ = nullptr;
  std::deque<PinnedBuffer> targets_;
  std::vector<aclrtStream> streams_;
  std::vector<aclrtEvent> events_;
  std::optional<Gate> gate_;
};

class AbortRunsDependants : public DeviceTest, public ::testing::WithParamInterface<Pipeline::Producer> {
 protected:
  void TearDown() override {
    EXPECT_EQ(stale_, 0) << "of " << kRounds * kConsumers << " copies";
    DeviceTest::TearDown();
  }

  Random random_;
  int stale_ = 0;
};

INSTANTIATE_TEST_SUITE_P(, AbortRunsDependants,
                         ::testing::Values(Pipeline::Producer::kHeld, Pipeline::Producer::kRunning),
                         [](const auto& instance) {
                           return instance.param == Pipeline::Producer::kHeld ? "OfAHeldStream"
                                                                              : "OfARunningStream";
                         });

TEST_P(AbortRunsDependants, WhenADeviceIsAborted) {
  for (int round = 0; round < kRounds; ++round) {
    Pipeline pipeline(random_);
    pipeline.Queue(GetParam());
    EXPECT_ACL(ACL_SUCCESS, aclrtDeviceTaskAbort(0, 0));
    stale_ += pipeline.StaleCopies();
    pipeline.DestroyStreamsAndEvents();
    pipeline.FreeMemory();
  }
}

TEST_P(AbortRunsDependants, WhenADeviceIsResetByForce) {
  for (int round = 0; round < kRounds; ++round) {
    Pipeline pipeline(random_);
    pipeline.Queue(GetParam());
    EXPECT_ACL(ACL_SUCCESS, aclrtResetDeviceForce(0));
    stale_ += pipeline.StaleCopies();
    ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  }
}

TEST_P(AbortRunsDependants, WhenAContextIsDestroyed) {
  aclrtContext own = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtGetCurrentContext(&own));
  for (int round = 0; round < kRounds; ++round) {
    aclrtContext context = nullptr;
    ASSERT_ACL(ACL_SUCCESS, aclrtCreateContext(&context, 0));
    Pipeline pipeline(random_);
    pipeline.Queue(GetParam());
    EXPECT_ACL(ACL_SUCCESS, aclrtDestroyContext(context));
    stale_ += pipeline.StaleCopies();
    EXPECT_ACL(ACL_SUCCESS, aclrtSetCurrentContext(own));
    pipeline.FreeMemory();
  }
}

}  // namespace
}  // namespace sampan::test::abort_runs_dependants_test
