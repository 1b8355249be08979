// A collective used a pool's block before the queued work of the block's earlier owner. That happened after
// an abort of the stream that took the block. Rules of docs/BEHAVIOUR.md: pool-7.
#include <gtest/gtest.h>

#include "acl/acl.h"
#include "hccl/hccl.h"
#include "tests/support/pool_fixture.h"

namespace sampan::test::pool_block_in_collective_test {
namespace {

constexpr std::size_t kBytes = 65'536;

class PoolBlockInCollective : public PoolTest {};

TEST_F(PoolBlockInCollective, FailsBeforeItIsHandedOver) {
  const Bytes contents = random().Fill(kBytes);
  DeviceBuffer source(kBytes);
  PinnedBuffer read(kBytes);
  source.Write(0, random().Fill(kBytes));
  HcclRootInfo info;
  HcclComm comm = nullptr;
  ASSERT_EQ(HcclGetRootInfo(&info), HCCL_SUCCESS);
  ASSERT_EQ(HcclCommInitRootInfo(1, &info, 0, &comm), HCCL_SUCCESS);
  const Stream first, second;
  void* const memory = Take(first, kBytes);
  read.Write(0, contents);
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpyAsync(memory, kBytes, read.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE, first));
  Gate gate(first);
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpyAsync(read.data(), kBytes, memory, kBytes, ACL_MEMCPY_DEVICE_TO_HOST, first));
  Free(memory, first);
  ASSERT_EQ(Take(second, kBytes), memory) << "the pool's own wait is not tried";
  EXPECT_ACL(ACL_SUCCESS, aclrtStreamAbort(second));
  const auto sum = [&] {
    return HcclAllReduce(source.data(), memory, kBytes / 4, HCCL_DATA_TYPE_INT32, HCCL_REDUCE_SUM, comm,
                         stream());
  };
  EXPECT_EQ(sum(), HCCL_SUCCESS);
  EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStream(stream()));
  gate.Open();
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(first));
  EXPECT_TRUE(read.Read(0, kBytes) == contents) << "the next owner wrote the block too early";
  Free(memory, second);
  EXPECT_EQ(HcclCommDestroy(comm), HCCL_SUCCESS);
}

}  // namespace
}  // namespace sampan::test::pool_block_in_collective_test
