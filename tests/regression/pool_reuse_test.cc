// A pool handed out a block that a queued copy of an earlier owner still wrote: the later owner's wait for
// that copy was dropped, and its own point counted for both.
#include <gtest/gtest.h>

#include <optional>

#include "acl/acl.h"
#include "tests/support/pool_fixture.h"

namespace sampan::test::pool_reuse_test {
namespace {

constexpr std::size_t kBytes = 65'536;

class PoolReuse : public PoolTest {
 protected:
  void SetUp() override {
    PoolTest::SetUp();
    a_.emplace();
  }
  void TearDown() override {
    a_.reset();
    PoolTest::TearDown();
  }

  /// Stream a frees a block while its copy into it is held back.
  void FreeWithACopyHeldBack() {
    a_->late.Write(0, random().Fill(kBytes));
    a_->gate.emplace(a_->stream);
    block_ = Take(a_->stream, kBytes);
    EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(block_, kBytes, a_->late.data(), kBytes,
                                             ACL_MEMCPY_HOST_TO_DEVICE, a_->stream));
    Free(block_, a_->stream);
  }
  /// Stream b takes the block, behind a wait of the pool's, and frees it.
  void TakeAndFree(aclrtStream b) {
    void* const memory = Take(b, kBytes);
    EXPECT_EQ(memory, block_) << "the pool's own wait is not tried";
    Free(memory, b);
  }
  /// What a stream writes to the memory that it gets now must stay there.
  void ExpectNextOwnerKeepsItsData(aclrtStream c) {
    PinnedBuffer data(kBytes), found(kBytes);
    const Bytes contents = random().Fill(kBytes);
    data.Write(0, contents);
    void* const memory = Take(c, kBytes);
    EXPECT_ACL(ACL_SUCCESS,
               aclrtMemcpyAsync(memory, kBytes, data.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE, c));
    // Either the memory is another block, or c waits for the copy of a.
    static_cast<void>(aclrtSynchronizeStreamWithTimeout(c, kShortWaitMs));
    a_->gate->Open();
    EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(c));
    EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(a_->stream));
    EXPECT_ACL(ACL_SUCCESS, aclrtMemcpy(found.data(), kBytes, memory, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
    EXPECT_TRUE(found.Read(0, kBytes) == contents) << "a copy of an earlier owner wrote the block";
    Free(memory, c);
  }

 private:
  struct OwnerA {
    PinnedBuffer late{kBytes};
    Stream stream;
    std::optional<Gate> gate;
  };
  std::optional<OwnerA> a_;  // while the device is set
  void* block_ = nullptr;
};

TEST_F(PoolReuse, AfterAnAbort) {
  FreeWithACopyHeldBack();
  const Stream b, c;
  TakeAndFree(b);
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamAbort(b));
  ExpectNextOwnerKeepsItsData(c);
}

TEST_F(PoolReuse, OnTheAbortedStreamItself) {
  FreeWithACopyHeldBack();
  const Stream b;
  TakeAndFree(b);
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamAbort(b));
  ExpectNextOwnerKeepsItsData(b);
}

TEST_F(PoolReuse, AfterAForcedDestroy) {
  FreeWithACopyHeldBack();
  Stream b;
  const Stream c;
  TakeAndFree(b);
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyStreamForce(b.Release()));
  ExpectNextOwnerKeepsItsData(c);
}

TEST_F(PoolReuse, AfterAStopAtAFailure) {
  FreeWithACopyHeldBack();
  const Stream c;
  // In a context of its own, with which the failure stays.
  aclrtContext of_c = nullptr, of_b = nullptr;
  aclrtStream b = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtGetCurrentContext(&of_c));
  EXPECT_ACL(ACL_SUCCESS, aclrtCreateContext(&of_b, 0));
  EXPECT_ACL(ACL_SUCCESS, aclrtCreateStream(&b));
  EXPECT_ACL(ACL_SUCCESS, aclrtSetStreamFailureMode(b, ACL_STOP_ON_FAILURE));
  {
    DeviceBuffer dst(64), src(64);
    Gate gate(b);
    EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(dst.data(), 64, src.data(), 64, ACL_MEMCPY_DEVICE_TO_DEVICE, b));
    dst.Free();
    src.Free();
    TakeAndFree(b);
  }
  EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStream(b));
  EXPECT_ACL(ACL_SUCCESS, aclrtSetCurrentContext(of_c));
  ExpectNextOwnerKeepsItsData(c);
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyContext(of_b));
}

// Nothing is lost here: the waits that come with older points must not hold a stream back for ever.
TEST_F(PoolReuse, ThroughManyStreams) {
  FreeWithACopyHeldBack();
  const Stream b, c, d;
  for (int round = 0; round < 3; ++round) {
    for (const Stream* each : {&b, &c, &d})
      TakeAndFree(*each);
  }
  ExpectNextOwnerKeepsItsData(c);
}

}  // namespace
}  // namespace sampan::test::pool_reuse_test
