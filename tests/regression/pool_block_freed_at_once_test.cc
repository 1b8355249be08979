// aclrtFree of a pool's block forgot the work of the block's earlier owner: its queued copy failed with
// 507013, or it wrote the memory of a later owner. Rules of docs/BEHAVIOUR.md: pool-6.
#include <gtest/gtest.h>

#include <optional>

#include "acl/acl.h"
#include "tests/support/pool_fixture.h"

namespace sampan::test::pool_block_freed_at_once_test {
namespace {

constexpr std::size_t kBytes = 65'536;

class PoolBlockFreedAtOnce : public PoolTest {
 protected:
  void SetUp() override {
    PoolTest::SetUp();
    source_.emplace(kBytes);
    descriptor_.emplace(64);
    contents_ = random().Fill(kBytes);
    source_->Write(0, contents_);
  }
  void TearDown() override {
    EndPool();
    source_.reset();
    descriptor_.reset();
    PoolTest::TearDown();
  }

  void* Take(aclrtStream on) const { return PoolTest::Take(on, kBytes); }
  void QueueCopy(void* memory, aclrtStream on) const {
    EXPECT_ACL(ACL_SUCCESS,
               aclrtMemcpyAsync(memory, kBytes, source_->data(), kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE, on));
  }
  /// The same, with operands that are looked up when it runs.
  void QueueDescriptorCopy(void* memory, aclrtStream on) {
    EXPECT_ACL(ACL_SUCCESS, aclrtSetMemcpyDesc(descriptor_->data(), ACL_MEMCPY_INNER_DEVICE_TO_DEVICE,
                                               source_->data(), memory, kBytes, nullptr));
    EXPECT_ACL(ACL_SUCCESS,
               aclrtMemcpyAsyncWithDesc(descriptor_->data(), ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, on));
  }
  static void QueueRead(PinnedBuffer& target, const void* memory, aclrtStream on) {
    EXPECT_ACL(ACL_SUCCESS,
               aclrtMemcpyAsync(target.data(), kBytes, memory, kBytes, ACL_MEMCPY_DEVICE_TO_HOST, on));
  }
  /// The bytes of the pool that belong to the program.
  std::uint64_t Used() const {
    std::uint64_t used = 0;
    EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolGetAttr(pool(), ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT, &used));
    return used;
  }
  const Bytes& contents() const { return contents_; }

 private:
  std::optional<DeviceBuffer> source_, descriptor_;
  Bytes contents_;
};

TEST_F(PoolBlockFreedAtOnce, LeavesTheEarlierOwnersCopyAlone) {
  PinnedBuffer target(kBytes);
  void* const memory = Take(stream());
  Gate gate(stream());
  QueueCopy(memory, stream());
  QueueRead(target, memory, stream());
  EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolFreeAsync(memory, stream()));
  ASSERT_EQ(Take(stream()), memory) << "the block is not used again";
  EXPECT_ACL(ACL_SUCCESS, aclrtFree(memory));
  gate.Open();
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream()));
  EXPECT_TRUE(target.Read(0, kBytes) == contents());
}

// What the later owner itself has queued fails, as with other memory that is freed too early.
TEST_F(PoolBlockFreedAtOnce, EndsTheLaterOwnersCopy) {
  void* const memory = Take(stream());
  Gate gate(stream());
  QueueCopy(memory, stream());
  EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolFreeAsync(memory, stream()));
  const Stream later;
  ASSERT_EQ(Take(later), memory) << "the block is not used again";
  QueueCopy(memory, later);
  EXPECT_ACL(ACL_SUCCESS, aclrtFree(memory));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(memory)) << "it is freed already";
  gate.Open();
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream()));
  EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStream(later));
}

// The copy has no use of the memory while it is queued: the block itself has to wait for it.
TEST_F(PoolBlockFreedAtOnce, LeavesTheNextOwnersDataAlone) {
  PinnedBuffer data(kBytes), found(kBytes);
  const Bytes next = random().Fill(kBytes);
  data.Write(0, next);
  void* const memory = Take(stream());
  const std::uint64_t used = Used();
  Gate gate(stream());
  QueueDescriptorCopy(memory, stream());
  EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolFreeAsync(memory, stream()));
  const Stream b, c;
  ASSERT_EQ(Take(b), memory) << "the block is not used again";
  EXPECT_ACL(ACL_SUCCESS, aclrtFree(memory));
  void* const of_c = Take(c);
  EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(of_c, kBytes, data.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE, c));
  static_cast<void>(aclrtSynchronizeStreamWithTimeout(c, kShortWaitMs));
  gate.Open();
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(c));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream())) << "the copy did not find its memory";
  EXPECT_ACL(ACL_SUCCESS, aclrtMemcpy(found.data(), kBytes, of_c, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT_TRUE(found.Read(0, kBytes) == next) << "a copy of an earlier owner wrote the block";
  EXPECT_EQ(Used(), used);
  EXPECT_ACL(ACL_SUCCESS, aclrtFree(of_c));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(b));
  EXPECT_EQ(Used(), 0U);
  std::uint64_t reserved = 1;
  EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolTrimTo(pool(), 0));
  EXPECT_ACL(ACL_SUCCESS, aclrtMemPoolGetAttr(pool(), ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT, &reserved));
  EXPECT_EQ(reserved, 0U) << "the block is not given back when the work before its free is over";
}

}  // namespace
}  // namespace sampan::test::pool_block_freed_at_once_test
