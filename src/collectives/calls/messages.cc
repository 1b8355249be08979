// Send, receive, and batches of both.
#include <algorithm>

#include "collectives/calls/call_group.h"
#include "collectives/calls/operator_call.h"
#include "hccl/dtype_common.h"
#include "hccl/hccl.h"

using namespace sampan::collectives;

namespace {

/// One argument of Send and Recv.
struct Single {
  const char* buffer_name;
  const char* rank_name;
  void* buffer;
  uint64_t count;
  HcclDataType type;
  uint32_t peer;
  const void* place;  ///< where the program calls
};

HcclResult QueueSingle(OperatorKind kind, const Single& single, HcclComm comm, aclrtStream stream) {
  OperatorCall call(kind, single.place);
  return Guard(call.function(), [&]() -> HcclResult {
    if (single.count == 0) return HCCL_SUCCESS;
    call.Need({{"comm", comm}, {single.buffer_name, single.buffer}, {"stream", stream}});
    call.Find(comm);
    call.Count("count", single.count);
    call.Type(single.type);
    if (!call.ok() || call.size() == 1) return call.result();
    if (single.peer == call.rank()) {
      return Fail(call.function(), HCCL_E_NOT_SUPPORT,
                  sampan::Text("EI0003: ", single.rank_name, " is this rank, ", single.peer));
    }
    call.Step([&] { return CheckRank(call.function(), single.rank_name, single.peer, call.size()); });
    Parcel parcel{.is_send = kind == OperatorKind::kSend,
                  .peer = single.peer,
                  .number = 0,
                  .count = single.count,
                  .type = static_cast<u32>(single.type),
                  .bytes = single.count * HcclDataTypeBytes(single.type),
                  .range = {}};
    call.Step([&] {
      return FindBuffer(call.function(), call.communicator(), single.buffer_name, single.buffer, parcel.bytes,
                        parcel.range);
    });
    if (!call.ok()) return call.result();
    CallGroup& group = CallGroup::OfThread();
    const CallFacts& facts = call.call().facts;
    if (group.is_open()) return group.Queue(call.function(), call.shared(), facts, std::move(parcel), stream);
    return Submit(call.function(), call.shared(), facts, {std::move(parcel)}, {}, stream);
  });
}

/// The items of a batch, checked and sorted.
class Batch {
 public:
  explicit Batch(OperatorCall& call) : call_(call), sends_(call.size()) {}

  void Add(const HcclSendRecvItem& item, u32 index) {
    const auto name = [&](const char* field) { return sampan::Text("sendRecvInfo[", index, "].", field); };
    if (item.sendRecvType != HCCL_SEND && item.sendRecvType != HCCL_RECV)
      return call_.Refuse(sampan::Text(name("sendRecvType"), " is ", static_cast<int>(item.sendRecvType)));
    call_.Step([&] { return CheckType(call_.function(), OperatorKind::kBatchSendRecv, item.dataType); });
    call_.Step([&] { return CheckCount(call_.function(), name("count").c_str(), item.count); });
    call_.Step([&] {
      return CheckRank(call_.function(), name("remoteRank").c_str(), item.remoteRank, call_.size());
    });
    if (!call_.ok() || item.count == 0) return;
    call_.Need({{name("buf").c_str(), item.buf}});
    Parcel parcel{.is_send = item.sendRecvType == HCCL_SEND,
                  .peer = item.remoteRank,
                  .number = 0,
                  .count = item.count,
                  .type = static_cast<u32>(item.dataType),
                  .bytes = item.count * HcclDataTypeBytes(item.dataType),
                  .range = {}};
    call_.Step([&] {
      return FindBuffer(call_.function(), call_.communicator(), name("buf").c_str(), item.buf, parcel.bytes,
                        parcel.range);
    });
    if (!call_.ok()) return;
    if (item.remoteRank == call_.rank()) {
      (parcel.is_send ? own_sends_ : own_receives_).push_back(std::move(parcel));
      return;
    }
    if (parcel.is_send && ++sends_[parcel.peer] > kChannelSlots) {
      call_.Step([&] {
        return Fail(call_.function(), HCCL_E_NOT_SUPPORT,
                    sampan::Text("more than ", kChannelSlots, " items of a batch go to rank ", parcel.peer));
      });
    }
    parcels_.push_back(std::move(parcel));
  }

  HcclResult Queue(aclrtStream stream) {
    std::vector<OwnParcel> own;
    if (own_sends_.size() != own_receives_.size()) {
      call_.Refuse(sampan::Text("this rank sends itself ", own_sends_.size(), " items and receives ",
                                own_receives_.size()));
    }
    for (std::size_t i = 0; call_.ok() && i < own_sends_.size(); ++i) {
      const Parcel &send = own_sends_[i], &receive = own_receives_[i];
      if (send.count != receive.count || send.type != receive.type) {
        call_.Refuse(sampan::Text("this rank sends itself ", send.count, " ", TypeName(send.type),
                                  " and receives ", receive.count, " ", TypeName(receive.type)));
      }
      own.push_back({send.range, receive.range, send.bytes});
    }
    if (!call_.ok() || (own.empty() && parcels_.empty())) return call_.result();
    return Submit(call_.function(), call_.shared(), call_.call().facts, std::move(parcels_), std::move(own),
                  stream);
  }

 private:
  OperatorCall& call_;
  std::vector<Parcel> parcels_, own_sends_, own_receives_;
  std::vector<u64> sends_;  // by peer
};

}  // namespace

HcclResult HcclSend(void* sendBuf, uint64_t count, HcclDataType dataType, uint32_t destRank, HcclComm comm,
                    aclrtStream stream) {
  return QueueSingle(OperatorKind::kSend,
                     {"sendBuf", "destRank", sendBuf, count, dataType, destRank, __builtin_return_address(0)},
                     comm, stream);
}

HcclResult HcclRecv(void* recvBuf, uint64_t count, HcclDataType dataType, uint32_t srcRank, HcclComm comm,
                    aclrtStream stream) {
  return QueueSingle(OperatorKind::kRecv,
                     {"recvBuf", "srcRank", recvBuf, count, dataType, srcRank, __builtin_return_address(0)},
                     comm, stream);
}

HcclResult HcclBatchSendRecv(HcclSendRecvItem* sendRecvInfo, uint32_t itemNum, HcclComm comm,
                             aclrtStream stream) {
  OperatorCall call(OperatorKind::kBatchSendRecv);
  return Guard(call.function(), [&]() -> HcclResult {
    call.Need({{"comm", comm}, {"stream", stream}, {"sendRecvInfo", sendRecvInfo}});
    if (!call.ok() || itemNum == 0) return call.result();
    if (CallGroup::OfThread().is_open())
      return Fail(call.function(), HCCL_E_NOT_SUPPORT, "EI0003: a group cannot have a batch");
    call.Find(comm);
    if (!call.ok()) return call.result();
    Batch batch(call);
    for (uint32_t index = 0; call.ok() && index < itemNum; ++index)
      batch.Add(sendRecvInfo[index], index);
    return batch.Queue(stream);
  });
}
