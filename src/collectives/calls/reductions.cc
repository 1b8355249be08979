// The operators that combine elements.
#include "collectives/calls/operator_call.h"
#include "hccl/hccl.h"

using namespace sampan::collectives;

HcclResult HcclAllReduce(void* sendBuf, void* recvBuf, uint64_t count, HcclDataType dataType, HcclReduceOp op,
                         HcclComm comm, aclrtStream stream) {
  OperatorCall call(OperatorKind::kAllReduce);
  return Guard(call.function(), [&]() -> HcclResult {
    if (count == 0) return HCCL_SUCCESS;
    call.Need({{"comm", comm}, {"sendBuf", sendBuf}, {"recvBuf", recvBuf}, {"stream", stream}});
    call.Find(comm);
    call.Count("count", count);
    call.Type(dataType);
    call.Operation(dataType, op);
    call.Send("sendBuf", sendBuf, count);
    call.Receive("recvBuf", recvBuf, count);
    return call.Queue(stream);
  });
}

HcclResult HcclReduce(void* sendBuf, void* recvBuf, uint64_t count, HcclDataType dataType, HcclReduceOp op,
                      uint32_t root, HcclComm comm, aclrtStream stream) {
  OperatorCall call(OperatorKind::kReduce);
  return Guard(call.function(), [&]() -> HcclResult {
    if (count == 0) return HCCL_SUCCESS;
    call.Need({{"comm", comm}, {"sendBuf", sendBuf}, {"recvBuf", recvBuf}, {"stream", stream}});
    call.Find(comm);
    call.Count("count", count);
    call.Type(dataType);
    call.Operation(dataType, op);
    if (!call.ok()) return call.result();
    call.Root(root);
    call.Send("sendBuf", sendBuf, count);
    if (call.ok() && call.rank() == root) call.Receive("recvBuf", recvBuf, count);
    return call.Queue(stream);
  });
}

HcclResult HcclReduceScatter(void* sendBuf, void* recvBuf, uint64_t recvCount, HcclDataType dataType,
                             HcclReduceOp op, HcclComm comm, aclrtStream stream) {
  OperatorCall call(OperatorKind::kReduceScatter);
  return Guard(call.function(), [&]() -> HcclResult {
    if (recvCount == 0) return HCCL_SUCCESS;
    call.Need({{"stream", stream}, {"comm", comm}, {"sendBuf", sendBuf}, {"recvBuf", recvBuf}});
    call.Find(comm);
    call.Count("recvCount", recvCount);
    call.Type(dataType);
    call.Operation(dataType, op);
    if (!call.ok()) return call.result();
    call.Send("sendBuf", sendBuf, recvCount * call.size());
    call.Receive("recvBuf", recvBuf, recvCount);
    return call.Queue(stream);
  });
}

HcclResult HcclReduceScatterV(void* sendBuf, const void* sendCounts, const void* sendDispls, void* recvBuf,
                              uint64_t recvCount, HcclDataType dataType, HcclReduceOp op, HcclComm comm,
                              aclrtStream stream) {
  OperatorCall call(OperatorKind::kReduceScatterV);
  return Guard(call.function(), [&]() -> HcclResult {
    call.Need({{"sendCounts", sendCounts}, {"sendDispls", sendDispls}, {"comm", comm}, {"stream", stream}});
    if (recvCount != 0) call.Need({{"recvBuf", recvBuf}});
    call.Find(comm);
    if (!call.ok()) return call.result();
    const auto* const counts = static_cast<const std::uint64_t*>(sendCounts);
    const auto* const displacements = static_cast<const std::uint64_t*>(sendDispls);
    const auto extent = call.Extent("sendCounts", counts, displacements, call.size());
    call.Step([&] { return CheckCount(call.function(), "recvCount", recvCount); });
    if (call.ok() && AllZero(counts, call.size()) && recvCount == 0) return HCCL_SUCCESS;
    call.Need({{"sendBuf", sendBuf}});
    if (call.ok() && counts[call.rank()] != recvCount)
      call.Refuse(sampan::Text("recvCount is ", recvCount, ", sendCounts has ", counts[call.rank()],
                               " for this rank"));
    if (sendBuf == recvBuf) call.Refuse("sendBuf is recvBuf");
    call.Type(dataType);
    call.Operation(dataType, op);
    if (!call.ok()) return call.result();
    call.Digest(counts, call.size());
    call.call().published = PiecesOf(counts, displacements, call.size());
    call.call().expected.assign(call.size(), {0, recvCount});
    call.Send("sendBuf", sendBuf, extent);
    call.Receive("recvBuf", recvBuf, recvCount);
    return call.Queue(stream);
  });
}
