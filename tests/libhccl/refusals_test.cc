// What the operators refuse, in the documented order.
#include <gtest/gtest.h>

#include <functional>

#include "tests/support/acl_expect.h"
#include "world.h"

namespace sampan::test {

using namespace ::collectives;

namespace {

constexpr HcclDataType kInt = HCCL_DATA_TYPE_INT32;
constexpr HcclReduceOp kSum = HCCL_REDUCE_SUM;
constexpr uint64_t kTooMany = 0x800000000;

/// A communicator of one rank, and memory.
class Refusals : public testing::Test {
 protected:
  void SetUp() override {
    Check(aclrtSetDevice(0));
    Check(aclrtCreateStream(&stream_));
    HcclRootInfo info;
    Check(HcclGetRootInfo(&info));
    Check(HcclCommInitRootInfo(1, &info, 0, &comm_));
    Check(aclrtMalloc(&memory_, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
    other_ = static_cast<char*>(memory_) + kBytes / 2;
  }
  void TearDown() override {
    Check(aclrtSynchronizeStream(stream_));
    Check(HcclCommDestroy(comm_));
    Check(aclrtFree(memory_));
    Check(aclrtDestroyStream(stream_));
  }
  void Expect(HcclResult expected, const std::string& message, HcclResult answer) {
    EXPECT_EQ(expected, answer) << RecentMessage();
    if (expected != HCCL_SUCCESS) {
      EXPECT_NE(RecentMessage().find(message), std::string::npos) << RecentMessage();
    }
  }

  static constexpr std::size_t kBytes = 8192;
  HcclComm comm_ = nullptr;
  aclrtStream stream_ = nullptr;
  void* memory_ = nullptr;
  void* other_ = nullptr;
  const uint64_t one_[1] = {1}, zero_[1] = {0}, many_[1] = {kTooMany};
};

TEST_F(Refusals, OfAllReduceAndReduceAreInOrder) {
  const auto all_reduce = [&](void* send, void* receive, uint64_t count, int type, int op, HcclComm comm,
                              aclrtStream stream) {
    return HcclAllReduce(send, receive, count, static_cast<HcclDataType>(type), static_cast<HcclReduceOp>(op),
                         comm, stream);
  };
  Expect(HCCL_SUCCESS, "", all_reduce(nullptr, nullptr, 0, 99, 99, nullptr, nullptr));
  Expect(HCCL_E_PTR, "comm is NULL", all_reduce(nullptr, nullptr, kTooMany, 99, 99, nullptr, nullptr));
  Expect(HCCL_E_PTR, "sendBuf is NULL", all_reduce(nullptr, nullptr, kTooMany, 99, 99, comm_, nullptr));
  Expect(HCCL_E_PTR, "recvBuf is NULL", all_reduce(memory_, nullptr, kTooMany, 99, 99, comm_, nullptr));
  Expect(HCCL_E_PTR, "stream is NULL", all_reduce(memory_, other_, kTooMany, 99, 99, comm_, nullptr));
  Expect(HCCL_E_PARA, "no communicator", all_reduce(memory_, other_, kTooMany, 99, 99, memory_, stream_));
  Expect(HCCL_E_PARA, "count is 34359738368", all_reduce(memory_, other_, kTooMany, 99, 99, comm_, stream_));
  Expect(HCCL_E_NOT_SUPPORT, "type 99", all_reduce(memory_, other_, 1, 99, 99, comm_, stream_));
  Expect(HCCL_E_NOT_SUPPORT, "type is uint8",
         all_reduce(memory_, other_, 1, HCCL_DATA_TYPE_UINT8, 99, comm_, stream_));
  Expect(HCCL_E_NOT_SUPPORT, "op is 4", all_reduce(memory_, other_, 1, kInt, 4, comm_, stream_));
  for (const HcclDataType type : {HCCL_DATA_TYPE_INT16, HCCL_DATA_TYPE_BFP16})
    Expect(HCCL_E_NOT_SUPPORT, "no products of",
           all_reduce(memory_, other_, 1, type, HCCL_REDUCE_PROD, comm_, stream_));
  Expect(HCCL_E_PARA, "sendBuf", all_reduce(memory_, other_, kBytes, kInt, kSum, comm_, stream_));
  Expect(HCCL_E_PARA, "recvBuf", all_reduce(memory_, other_, kBytes / 4, kInt, kSum, comm_, stream_));
  int host = 0;
  Expect(HCCL_E_PARA, "it must be device memory", all_reduce(&host, other_, 1, kInt, kSum, comm_, stream_));
  Expect(HCCL_E_RUNTIME, "stream", all_reduce(memory_, other_, 1, kInt, kSum, comm_, memory_));
  Expect(HCCL_SUCCESS, "", all_reduce(memory_, other_, 1, kInt, kSum, comm_, stream_));

  Expect(HCCL_SUCCESS, "", HcclReduce(nullptr, nullptr, 0, kInt, kSum, 9, nullptr, nullptr));
  Expect(HCCL_E_PTR, "recvBuf is NULL", HcclReduce(memory_, nullptr, 1, kInt, kSum, 9, comm_, nullptr));
  Expect(HCCL_E_NOT_SUPPORT, "op is",
         HcclReduce(memory_, other_, 1, kInt, HCCL_REDUCE_RESERVED, 9, comm_, stream_));
  Expect(HCCL_E_PARA, "root is 1", HcclReduce(memory_, other_, 1, kInt, kSum, 1, comm_, stream_));
}

/// collective-18
TEST_F(Refusals, OfAThreadWithAnotherDevice) {
  void* elsewhere = nullptr;
  aclrtStream stream = nullptr;
  Check(aclrtSetDevice(1));
  Check(aclrtMalloc(&elsewhere, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  Check(aclrtCreateStream(&stream));
  Expect(HCCL_E_PARA, "belongs to device 0, the current device is 1",
         HcclAllReduce(elsewhere, elsewhere, 1, kInt, kSum, comm_, stream));
  Expect(HCCL_E_RUNTIME, "stream", HcclBarrier(comm_, stream_));
  Check(aclrtDestroyStream(stream));
  Check(aclrtFree(elsewhere));
  Check(aclrtSetDevice(0));
}

TEST_F(Refusals, OfBlocksAreInOrder) {
  Expect(HCCL_SUCCESS, "", HcclBroadcast(nullptr, 0, kInt, 9, nullptr, nullptr));
  Expect(HCCL_E_PTR, "stream is NULL", HcclBroadcast(nullptr, 1, kInt, 9, nullptr, nullptr));
  Expect(HCCL_E_PTR, "comm is NULL", HcclBroadcast(nullptr, 1, kInt, 9, nullptr, stream_));
  Expect(HCCL_E_PTR, "buf is NULL", HcclBroadcast(nullptr, 1, kInt, 9, comm_, stream_));
  Expect(HCCL_E_PARA, "count is", HcclBroadcast(memory_, kTooMany, HCCL_DATA_TYPE_HIF8, 9, comm_, stream_));
  Expect(HCCL_E_NOT_SUPPORT, "type 14", HcclBroadcast(memory_, 1, HCCL_DATA_TYPE_HIF8, 9, comm_, stream_));
  Expect(HCCL_E_PARA, "root is 9", HcclBroadcast(memory_, 1, kInt, 9, comm_, stream_));

  Expect(HCCL_SUCCESS, "", HcclReduceScatter(nullptr, nullptr, 0, kInt, kSum, nullptr, nullptr));
  Expect(HCCL_E_PTR, "stream is NULL", HcclReduceScatter(nullptr, nullptr, 1, kInt, kSum, nullptr, nullptr));
  Expect(HCCL_E_PTR, "sendBuf is NULL", HcclReduceScatter(nullptr, nullptr, 1, kInt, kSum, comm_, stream_));

  Expect(HCCL_SUCCESS, "", HcclAllGather(nullptr, nullptr, 0, kInt, nullptr, nullptr));
  Expect(HCCL_E_PTR, "comm is NULL", HcclAllGather(nullptr, nullptr, 1, kInt, nullptr, nullptr));
  Expect(HCCL_E_PTR, "recvBuf is NULL", HcclAllGather(memory_, nullptr, 1, kInt, comm_, nullptr));

  Expect(HCCL_SUCCESS, "", HcclScatter(nullptr, nullptr, 0, kInt, 9, nullptr, nullptr));
  Expect(HCCL_E_PTR, "recvBuf is NULL", HcclScatter(nullptr, nullptr, 1, kInt, 0, comm_, nullptr));
  Expect(HCCL_E_PTR, "stream is NULL", HcclScatter(nullptr, other_, 1, kInt, 0, comm_, nullptr));
  Expect(HCCL_E_PTR, "sendBuf is NULL", HcclScatter(nullptr, other_, 1, kInt, 0, comm_, stream_));
  Expect(HCCL_E_PARA, "root is 2", HcclScatter(nullptr, other_, 1, kInt, 2, comm_, stream_));

  Expect(HCCL_E_PTR, "comm is NULL", HcclBarrier(nullptr, nullptr));
  Expect(HCCL_E_PTR, "stream is NULL", HcclBarrier(comm_, nullptr));
}

TEST_F(Refusals, OfBlocksOfDifferentSizesAreInOrder) {
  Expect(HCCL_E_PTR, "sendCounts is NULL",
         HcclReduceScatterV(nullptr, nullptr, nullptr, nullptr, 1, kInt, kSum, nullptr, nullptr));
  Expect(HCCL_E_PTR, "sendDispls is NULL",
         HcclReduceScatterV(nullptr, one_, nullptr, nullptr, 1, kInt, kSum, nullptr, nullptr));
  Expect(HCCL_E_PTR, "recvBuf is NULL",
         HcclReduceScatterV(nullptr, one_, zero_, nullptr, 1, kInt, kSum, comm_, stream_));
  Expect(HCCL_E_PARA, "sendCounts[0] is",
         HcclReduceScatterV(nullptr, many_, zero_, other_, 1, kInt, kSum, comm_, stream_));
  Expect(HCCL_SUCCESS, "", HcclReduceScatterV(nullptr, zero_, zero_, nullptr, 0, kInt, kSum, comm_, stream_));
  Expect(HCCL_E_PTR, "sendBuf is NULL",
         HcclReduceScatterV(nullptr, one_, zero_, other_, 1, kInt, kSum, comm_, stream_));
  Expect(HCCL_E_PARA, "recvCount is 2",
         HcclReduceScatterV(memory_, one_, zero_, other_, 2, kInt, kSum, comm_, stream_));
  Expect(HCCL_E_PARA, "sendBuf is recvBuf",
         HcclReduceScatterV(memory_, one_, zero_, memory_, 1, kInt, kSum, comm_, stream_));
  Expect(HCCL_E_NOT_SUPPORT, "no products",
         HcclReduceScatterV(memory_, one_, zero_, other_, 1, kInt, HCCL_REDUCE_PROD, comm_, stream_));
  Expect(HCCL_E_NOT_SUPPORT, "type is int64",
         HcclReduceScatterV(memory_, one_, zero_, other_, 1, HCCL_DATA_TYPE_INT64, kSum, comm_, stream_));

  Expect(HCCL_E_PTR, "recvCounts is NULL",
         HcclAllGatherV(nullptr, 1, nullptr, nullptr, nullptr, kInt, nullptr, nullptr));
  Expect(HCCL_E_PTR, "sendBuf is NULL",
         HcclAllGatherV(nullptr, 1, nullptr, one_, zero_, kInt, comm_, stream_));
  Expect(HCCL_E_PARA, "recvCounts[0] is",
         HcclAllGatherV(memory_, 1, nullptr, many_, zero_, kInt, comm_, stream_));
  Expect(HCCL_SUCCESS, "", HcclAllGatherV(nullptr, 0, nullptr, zero_, zero_, kInt, comm_, stream_));
  Expect(HCCL_E_PTR, "recvBuf is NULL",
         HcclAllGatherV(memory_, 1, nullptr, one_, zero_, kInt, comm_, stream_));
  Expect(HCCL_E_PARA, "sendCount is 2",
         HcclAllGatherV(memory_, 2, other_, one_, zero_, kInt, comm_, stream_));
  Expect(HCCL_E_PARA, "sendBuf is recvBuf",
         HcclAllGatherV(memory_, 1, memory_, one_, zero_, kInt, comm_, stream_));
  Expect(HCCL_E_PARA, "the displacement of rank 0",
         HcclAllGatherV(memory_, 1, other_, one_, many_, kInt, comm_, stream_));
}

TEST_F(Refusals, OfAllToAllAreInOrder) {
  const auto fp = HCCL_DATA_TYPE_FP32;
  Expect(HCCL_SUCCESS, "", HcclAlltoAll(nullptr, 0, kInt, nullptr, 0, fp, nullptr, nullptr));
  Expect(HCCL_E_PTR, "sendBuf is NULL", HcclAlltoAll(nullptr, 1, kInt, nullptr, 2, fp, nullptr, nullptr));
  Expect(HCCL_E_PARA, "sendCount is 1, recvCount is 2",
         HcclAlltoAll(memory_, 1, kInt, other_, 2, kInt, nullptr, nullptr));
  Expect(HCCL_E_PARA, "sendType is 2", HcclAlltoAll(memory_, 1, kInt, other_, 1, fp, nullptr, nullptr));
  Expect(HCCL_E_PTR, "stream is NULL", HcclAlltoAll(memory_, 1, kInt, other_, 1, kInt, nullptr, nullptr));
  Expect(HCCL_E_PARA, "sendBuf is recvBuf", HcclAlltoAll(memory_, 1, kInt, memory_, 1, kInt, comm_, stream_));
  Expect(HCCL_E_PARA, "sendCount is 34359738368",
         HcclAlltoAll(memory_, kTooMany, kInt, other_, kTooMany, kInt, comm_, stream_));

  Expect(HCCL_E_PTR, "sdispls is NULL",
         HcclAlltoAllV(nullptr, one_, nullptr, kInt, nullptr, one_, zero_, kInt, nullptr, nullptr));
  Expect(HCCL_E_PTR, "comm is NULL",
         HcclAlltoAllV(nullptr, one_, zero_, kInt, nullptr, one_, zero_, kInt, nullptr, stream_));
  Expect(HCCL_E_PARA, "recvCounts[0] is",
         HcclAlltoAllV(nullptr, one_, zero_, kInt, nullptr, many_, zero_, kInt, comm_, stream_));
  Expect(HCCL_E_PTR, "sendBuf is NULL",
         HcclAlltoAllV(nullptr, one_, zero_, kInt, nullptr, one_, zero_, kInt, comm_, stream_));
  Expect(HCCL_E_PTR, "recvBuf is NULL",
         HcclAlltoAllV(memory_, zero_, zero_, kInt, nullptr, one_, zero_, kInt, comm_, stream_));
  Expect(HCCL_E_PARA, "sendBuf is recvBuf",
         HcclAlltoAllV(memory_, one_, zero_, kInt, memory_, one_, zero_, kInt, comm_, stream_));

  Expect(HCCL_E_PTR, "sendCountMatrix is NULL",
         HcclAlltoAllVC(nullptr, nullptr, kInt, nullptr, kInt, nullptr, nullptr));
  Expect(HCCL_E_PARA, "sendType is 2", HcclAlltoAllVC(memory_, one_, kInt, other_, fp, comm_, stream_));
  Expect(HCCL_E_PARA, "sendCountMatrix[0] is",
         HcclAlltoAllVC(memory_, many_, kInt, other_, kInt, comm_, stream_));
  Expect(HCCL_E_PARA, "sendBuf is recvBuf",
         HcclAlltoAllVC(memory_, one_, kInt, memory_, kInt, comm_, stream_));
}

TEST_F(Refusals, OfABatchAreInOrder) {
  const auto batch = [&](std::vector<HcclSendRecvItem> items) {
    return HcclBatchSendRecv(items.data(), static_cast<uint32_t>(items.size()), comm_, stream_);
  };
  HcclSendRecvItem item{HCCL_SEND, memory_, 1, kInt, 0};
  Expect(HCCL_E_PTR, "comm is NULL", HcclBatchSendRecv(nullptr, 0, nullptr, nullptr));
  Expect(HCCL_E_PTR, "stream is NULL", HcclBatchSendRecv(nullptr, 0, comm_, nullptr));
  Expect(HCCL_E_PTR, "sendRecvInfo is NULL", HcclBatchSendRecv(nullptr, 0, comm_, stream_));
  Expect(HCCL_SUCCESS, "", HcclBatchSendRecv(&item, 0, comm_, stream_));
  Expect(HCCL_E_PARA, "sendRecvInfo[1].sendRecvType is 2",
         batch({{HCCL_RECV, other_, 1, kInt, 0}, {HCCL_SEND_RECV_RESERVED, memory_, 1, kInt, 0}}));
  Expect(HCCL_E_NOT_SUPPORT, "type 12", batch({{HCCL_SEND, memory_, kTooMany, HCCL_DATA_TYPE_INT128, 9}}));
  Expect(HCCL_E_PARA, "sendRecvInfo[0].count is", batch({{HCCL_SEND, memory_, kTooMany, kInt, 9}}));
  Expect(HCCL_E_PARA, "sendRecvInfo[0].remoteRank is 9", batch({{HCCL_SEND, memory_, 1, kInt, 9}}));
  Expect(HCCL_E_PTR, "sendRecvInfo[0].buf is NULL", batch({{HCCL_SEND, nullptr, 1, kInt, 0}}));
  Expect(HCCL_E_PARA, "sends itself 1 items and receives 0", batch({item}));
  Expect(HCCL_E_PARA, "sends itself 1 int32 and receives 2 int32",
         batch({item, {HCCL_RECV, other_, 2, kInt, 0}}));
  Expect(HCCL_SUCCESS, "", batch({item, {HCCL_RECV, other_, 1, kInt, 0}}));
  Expect(HCCL_SUCCESS, "", HcclSend(nullptr, 0, kInt, 9, nullptr, nullptr));
  Expect(HCCL_E_PTR, "recvBuf is NULL", HcclRecv(nullptr, 1, kInt, 9, comm_, nullptr));
}

TEST(RefusalsOfMessages, ToItselfAndToNoRank) {
  const auto failed = RunWorlds(2, Form::kThreads, [](World& world) {
    const DeviceBlock block(64);
    if (HcclSend(block.at(), 1, kInt, world.rank, world.comm, world.stream) != HCCL_E_NOT_SUPPORT ||
        HcclRecv(block.at(), 1, kInt, 2, world.comm, world.stream) != HCCL_E_PARA ||
        HcclSend(block.at(), 17, kInt, 1 - world.rank, world.comm, world.stream) != HCCL_E_PARA)
      throw Failure(aclGetRecentErrMsg());
    // Nothing was queued: the ranks still agree.
    Check(HcclBarrier(world.comm, world.stream));
    world.Synchronize();
  });
  EXPECT_TRUE(failed.empty()) << failed.front().failure;
}

}  // namespace
}  // namespace sampan::test
