// The operators that copy elements as they are, and the barrier.
#include "collectives/calls/operator_call.h"
#include "hccl/hccl.h"

using namespace sampan::collectives;

HcclResult HcclBroadcast(void* buf, uint64_t count, HcclDataType dataType, uint32_t root, HcclComm comm,
                         aclrtStream stream) {
  OperatorCall call(OperatorKind::kBroadcast);
  return Guard(call.function(), [&]() -> HcclResult {
    if (count == 0) return HCCL_SUCCESS;
    call.Need({{"stream", stream}, {"comm", comm}, {"buf", buf}});
    call.Find(comm);
    call.Count("count", count);
    call.Type(dataType);
    if (!call.ok()) return call.result();
    call.Root(root);
    call.Receive("buf", buf, count);
    return call.Queue(stream);
  });
}

HcclResult HcclScatter(void* sendBuf, void* recvBuf, uint64_t recvCount, HcclDataType dataType, uint32_t root,
                       HcclComm comm, aclrtStream stream) {
  OperatorCall call(OperatorKind::kScatter);
  return Guard(call.function(), [&]() -> HcclResult {
    if (recvCount == 0) return HCCL_SUCCESS;
    call.Need({{"comm", comm}, {"recvBuf", recvBuf}, {"stream", stream}});
    call.Find(comm);
    if (call.ok() && call.rank() == root) call.Need({{"sendBuf", sendBuf}});
    call.Count("recvCount", recvCount);
    call.Type(dataType);
    if (!call.ok()) return call.result();
    call.Root(root);
    if (call.rank() == root) call.Send("sendBuf", sendBuf, recvCount * call.size());
    call.Receive("recvBuf", recvBuf, recvCount);
    return call.Queue(stream);
  });
}

HcclResult HcclAllGather(void* sendBuf, void* recvBuf, uint64_t sendCount, HcclDataType dataType,
                         HcclComm comm, aclrtStream stream) {
  OperatorCall call(OperatorKind::kAllGather);
  return Guard(call.function(), [&]() -> HcclResult {
    if (sendCount == 0) return HCCL_SUCCESS;
    call.Need({{"comm", comm}, {"sendBuf", sendBuf}, {"recvBuf", recvBuf}, {"stream", stream}});
    call.Find(comm);
    call.Count("sendCount", sendCount);
    call.Type(dataType);
    if (!call.ok()) return call.result();
    call.Send("sendBuf", sendBuf, sendCount);
    call.Receive("recvBuf", recvBuf, sendCount * call.size());
    return call.Queue(stream);
  });
}

HcclResult HcclAllGatherV(void* sendBuf, uint64_t sendCount, void* recvBuf, const void* recvCounts,
                          const void* recvDispls, HcclDataType dataType, HcclComm comm, aclrtStream stream) {
  OperatorCall call(OperatorKind::kAllGatherV);
  return Guard(call.function(), [&]() -> HcclResult {
    call.Need({{"recvCounts", recvCounts}, {"recvDispls", recvDispls}, {"comm", comm}, {"stream", stream}});
    if (sendCount != 0) call.Need({{"sendBuf", sendBuf}});
    call.Find(comm);
    if (!call.ok()) return call.result();
    const auto* const counts = static_cast<const std::uint64_t*>(recvCounts);
    const auto* const displacements = static_cast<const std::uint64_t*>(recvDispls);
    const auto extent = call.Extent("recvCounts", counts, displacements, call.size());
    call.Step([&] { return CheckCount(call.function(), "sendCount", sendCount); });
    if (call.ok() && AllZero(counts, call.size()) && sendCount == 0) return HCCL_SUCCESS;
    call.Need({{"recvBuf", recvBuf}});
    if (call.ok() && counts[call.rank()] != sendCount)
      call.Refuse(sampan::Text("sendCount is ", sendCount, ", recvCounts has ", counts[call.rank()],
                               " for this rank"));
    if (sendBuf == recvBuf) call.Refuse("sendBuf is recvBuf");
    call.Type(dataType);
    if (!call.ok()) return call.result();
    call.Digest(counts, call.size());
    call.call().published = PiecesOf(counts, displacements, call.size());
    call.call().expected.assign(call.size(), {0, sendCount});
    call.Send("sendBuf", sendBuf, sendCount);
    call.Receive("recvBuf", recvBuf, extent);
    return call.Queue(stream);
  });
}

HcclResult HcclBarrier(HcclComm comm, aclrtStream stream) {
  OperatorCall call(OperatorKind::kBarrier);
  return Guard(call.function(), [&]() -> HcclResult {
    call.Need({{"comm", comm}, {"stream", stream}});
    call.Find(comm);
    return call.Queue(stream);
  });
}
