// A stream was aborted that had taken a pool's block while work of the block's earlier owner was queued: what
// used the block next came before that work, with every code 0. Rules of docs/BEHAVIOUR.md: pool-7.
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <optional>
#include <thread>

#include "acl/acl.h"
#include "tests/support/pool_fixture.h"

namespace sampan::test::pool_use_behind_abort_test {
namespace {

constexpr std::size_t kBytes = 65'536;

class PoolUseBehindAbort : public PoolTest {
 protected:
  void SetUp() override {
    PoolTest::SetUp();
    scene_.emplace(random());
    void* const memory = Take(first(), kBytes);
    EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(memory, kBytes, scene_->own.data(), kBytes,
                                             ACL_MEMCPY_HOST_TO_DEVICE, first()));
    scene_->gate.emplace(first());
    EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(scene_->read.data(), kBytes, memory, kBytes,
                                             ACL_MEMCPY_DEVICE_TO_HOST, first()));
    Free(memory, first());
    block_ = Take(second(), kBytes);
    EXPECT_EQ(block_, memory) << "the pool's own wait is not tried";
  }
  void TearDown() override {
    scene_->gate->Open();
    EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(first()));
    EXPECT_TRUE(scene_->read.Read(0, kBytes) == scene_->contents)
        << "the next owner wrote the block too early";
    Free(block_, second());
    scene_.reset();
    PoolTest::TearDown();
  }

  aclrtStream first() const { return scene_->first; }
  aclrtStream second() const { return scene_->second; }
  void* block() const { return block_; }
  const Bytes& scene_contents() const { return scene_->contents; }
  const void* other_contents() const { return scene_->other.data(); }
  void AbortTheOwner() const { EXPECT_ACL(ACL_SUCCESS, aclrtStreamAbort(second())); }
  /// Lets the first owner's copy run, after what does not wait for it.
  void LetGo(aclrtStream waits) {
    static_cast<void>(aclrtSynchronizeStreamWithTimeout(waits, kShortWaitMs));
    scene_->gate->Open();
    EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(first()));
  }
  void QueueWrite(aclrtStream on) const {
    EXPECT_ACL(ACL_SUCCESS,
               aclrtMemcpyAsync(block_, kBytes, other_contents(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE, on));
  }

 private:
  struct Scene {
    explicit Scene(Random& random) : contents(random.Fill(kBytes)) {
      own.Write(0, contents);
      other.Write(0, random.Fill(kBytes));
    }
    const Bytes contents;  // of the first owner
    PinnedBuffer own{kBytes}, other{kBytes}, read{kBytes};
    Stream first, second;
    std::optional<Gate> gate;
  };
  std::optional<Scene> scene_;  // while the device is set
  void* block_ = nullptr;
};

TEST_F(PoolUseBehindAbort, InTheAbortedStream) {
  AbortTheOwner();
  QueueWrite(second());
  LetGo(second());
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(second()));
}

TEST_F(PoolUseBehindAbort, InTheStreamAfterASecondAbort) {
  AbortTheOwner();
  QueueWrite(second());
  AbortTheOwner();
  QueueWrite(second());
  LetGo(second());
}

TEST_F(PoolUseBehindAbort, InAStreamWhoseWaitFails) {
  const Event event;
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordEvent(event, second()));
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamWaitEvent(stream(), event));
  QueueWrite(stream());
  AbortTheOwner();
  LetGo(stream());
  static_cast<void>(aclrtSynchronizeStream(stream()));  // 107023, unless it was told before
}

TEST_F(PoolUseBehindAbort, OfAFillAndABatch) {
  AbortTheOwner();
  EXPECT_ACL(ACL_SUCCESS, aclrtMemsetAsync(block(), kBytes, 0x5A, kBytes, second()));
  void* dst = static_cast<std::byte*>(block()) + 64;
  void* src = const_cast<void*>(other_contents());
  std::size_t bytes = kBytes / 2, first_entry = 0, fail = 0;
  aclrtMemcpyBatchAttr attribute = {};
  attribute.dstLoc = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
  attribute.srcLoc = {0, ACL_MEM_LOCATION_TYPE_HOST};
  EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyBatchAsync(&dst, &bytes, &src, &bytes, 1, &attribute, &first_entry, 1,
                                                &fail, stream()));
  LetGo(second());
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream()));
}

TEST_F(PoolUseBehindAbort, OfAValueWait) {
  std::uint64_t word = 0;
  std::memcpy(&word, scene_contents().data(), sizeof(word));
  AbortTheOwner();
  EXPECT_ACL(ACL_SUCCESS, aclrtValueWait(block(), word, ACL_STREAM_WAIT_VALUE_EQ, second()));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(second(), 20))
      << "it passed on the first owner's bytes";
  LetGo(second());
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(second()));
}

// The call waits for room, behind the stream's wait for the first owner. The abort drops that wait, and the
// copy was queued without it.
TEST_F(PoolUseBehindAbort, OfACallThatWaitsForRoom) {
  constexpr int kQueueDepth = 1792;  // of which the pool's wait takes one
  PinnedBuffer small(64);
  DeviceBuffer other(64);
  for (int i = 1; i < kQueueDepth; ++i)
    EXPECT_ACL(ACL_SUCCESS,
               aclrtMemcpyAsync(other.data(), 64, small.data(), 64, ACL_MEMCPY_HOST_TO_DEVICE, second()));
  aclrtContext context = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtGetCurrentContext(&context));
  std::thread submitter([&] {
    EXPECT_ACL(ACL_SUCCESS, aclrtSetCurrentContext(context));
    QueueWrite(second());
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  AbortTheOwner();
  submitter.join();
  LetGo(second());
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(second()));
}

TEST_F(PoolUseBehindAbort, OfABlockingCopyIsRefused) {
  AbortTheOwner();
  EXPECT_ACL(ACL_ERROR_RT_SYS_DMA,
             aclrtMemcpy(block(), kBytes, other_contents(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
}

TEST_F(PoolUseBehindAbort, OfADescriptorIsRefused) {
  const DeviceBuffer from(64), to(64);
  AbortTheOwner();
  EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtSetMemcpyDesc(block(), ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, from.data(),
                                                      to.data(), 64, nullptr));
}

}  // namespace
}  // namespace sampan::test::pool_use_behind_abort_test
