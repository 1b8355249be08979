// The operators in which every rank has elements for every rank.
#include "collectives/calls/operator_call.h"
#include "hccl/hccl.h"

using namespace sampan::collectives;

namespace {

using Number = std::uint64_t;

/// The blocks of one side of the call.
struct Side {
  const char* buffer_name;
  const char* counts_name;
  const void* buffer;
  const Number* counts;
  const Number* displacements;
};

void CheckSameTypes(OperatorCall& call, HcclDataType sendType, HcclDataType recvType) {
  if (sendType != recvType)
    call.Refuse(sampan::Text("sendType is ", static_cast<int>(sendType), ", recvType is ",
                             static_cast<int>(recvType)));
}

/// What is the same for counts of this rank alone and for a matrix of them.
HcclResult QueueBlocks(OperatorCall& call, const Side& send, const Side& receive, HcclDataType type,
                       void* stream) {
  const u32 size = call.size();
  const Number sent = call.Extent(send.counts_name, send.counts, send.displacements, size);
  const Number received = call.Extent(receive.counts_name, receive.counts, receive.displacements, size);
  if (sent != 0) call.Need({{send.buffer_name, send.buffer}});
  if (received != 0) call.Need({{receive.buffer_name, receive.buffer}});
  if (send.buffer != nullptr && send.buffer == receive.buffer) call.Refuse("sendBuf is recvBuf");
  call.Type(type);
  if (!call.ok()) return call.result();
  call.call().published = PiecesOf(send.counts, send.displacements, size);
  call.call().expected = PiecesOf(receive.counts, receive.displacements, size);
  call.Send(send.buffer_name, send.buffer, sent);
  call.Receive(receive.buffer_name, receive.buffer, received);
  return call.Queue(stream);
}

}  // namespace

HcclResult HcclAlltoAll(const void* sendBuf, uint64_t sendCount, HcclDataType sendType, const void* recvBuf,
                        uint64_t recvCount, HcclDataType recvType, HcclComm comm, aclrtStream stream) {
  OperatorCall call(OperatorKind::kAllToAll);
  return Guard(call.function(), [&]() -> HcclResult {
    if (sendCount == 0 && recvCount == 0) return HCCL_SUCCESS;
    call.Need({{"sendBuf", sendBuf}, {"recvBuf", recvBuf}});
    if (sendCount != recvCount)
      call.Refuse(sampan::Text("sendCount is ", sendCount, ", recvCount is ", recvCount));
    CheckSameTypes(call, sendType, recvType);
    call.Need({{"stream", stream}, {"comm", comm}});
    if (sendBuf == recvBuf) call.Refuse("sendBuf is recvBuf");
    call.Find(comm);
    call.Count("sendCount", sendCount);
    call.Type(sendType);
    if (!call.ok()) return call.result();
    call.Send("sendBuf", sendBuf, sendCount * call.size());
    call.Receive("recvBuf", recvBuf, recvCount * call.size());
    return call.Queue(stream);
  });
}

HcclResult HcclAlltoAllV(const void* sendBuf, const void* sendCounts, const void* sdispls,
                         HcclDataType sendType, const void* recvBuf, const void* recvCounts,
                         const void* rdispls, HcclDataType recvType, HcclComm comm, aclrtStream stream) {
  OperatorCall call(OperatorKind::kAllToAllV);
  return Guard(call.function(), [&]() -> HcclResult {
    call.Need({{"sendCounts", sendCounts},
               {"sdispls", sdispls},
               {"recvCounts", recvCounts},
               {"rdispls", rdispls},
               {"stream", stream},
               {"comm", comm}});
    CheckSameTypes(call, sendType, recvType);
    call.Find(comm);
    if (!call.ok()) return call.result();
    return QueueBlocks(call,
                       {"sendBuf", "sendCounts", sendBuf, static_cast<const Number*>(sendCounts),
                        static_cast<const Number*>(sdispls)},
                       {"recvBuf", "recvCounts", recvBuf, static_cast<const Number*>(recvCounts),
                        static_cast<const Number*>(rdispls)},
                       sendType, stream);
  });
}

HcclResult HcclAlltoAllVC(const void* sendBuf, const void* sendCountMatrix, HcclDataType sendType,
                          const void* recvBuf, HcclDataType recvType, HcclComm comm, aclrtStream stream) {
  OperatorCall call(OperatorKind::kAllToAllVC);
  return Guard(call.function(), [&]() -> HcclResult {
    call.Need({{"sendCountMatrix", sendCountMatrix}, {"stream", stream}, {"comm", comm}});
    CheckSameTypes(call, sendType, recvType);
    call.Find(comm);
    if (!call.ok()) return call.result();
    const std::size_t size = call.size();
    const auto* const matrix = static_cast<const Number*>(sendCountMatrix);
    std::vector<Number> column(size);
    for (std::size_t from = 0; from < size; ++from)
      column[from] = matrix[from * size + call.rank()];
    call.Digest(matrix, size * size);
    return QueueBlocks(call, {"sendBuf", "sendCountMatrix", sendBuf, matrix + call.rank() * size, nullptr},
                       {"recvBuf", "sendCountMatrix", recvBuf, column.data(), nullptr}, sendType, stream);
  });
}
