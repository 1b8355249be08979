// hccl::Transport: signals and data over a link.
#include "hccl/platform/transport_pub.h"

#include "hccl/dispatcher/dispatcher_call.h"
#include "hccl/dtype_common.h"
#include "hccl/link/link.h"

namespace hccl {

using sampan::Hex;
using sampan::Text;
using namespace sampan::hccl;

namespace {

std::string_view Name(UserMemType type) {
  switch (type) {
    case UserMemType::INPUT_MEM:
      return "INPUT_MEM";
    case UserMemType::OUTPUT_MEM:
      return "OUTPUT_MEM";
    default:
      return "MEM_RESERVED";
  }
}

bool IsKnown(UserMemType type) {
  return type == UserMemType::INPUT_MEM || type == UserMemType::OUTPUT_MEM;
}

}  // namespace

/// What the calls on a link share.
struct Transport::Call {
  Call(Link& over, const char* name)
      : link(over), function(name), traced(name, {over.remote_world, over.type}) {}

  Link& link;
  const char* function;
  mutable TracedCall traced;  ///< covers all steps; has the code of the last one

  HcclResult Refuse(HcclResult code, const std::string& text) const {
    return traced.Ends(Fail(function, code, text));
  }
  HcclResult CheckHealth() const {
    return CheckHealth([&] {
      return Text("the link of rank ", link.local_rank, " to rank ", link.remote_rank, ", with notify ",
                  NotifyOffset(link.signals[Link::kReady]->local.ptr()), " for its data,");
    });
  }
  template <typename What>
  HcclResult CheckHealth(What what) const {
    const auto& health = link.membership->health();
    if (!health->is_broken()) return HCCL_SUCCESS;
    return Refuse(health->code(), Text(what(), " is of no use any more: ", health->reason()));
  }
  HcclResult CheckHealth(const GroupSignal& signal, HcclRtNotify notify) const {
    return CheckHealth([&] { return Text("notify ", NotifyOffset(notify), ", ", signal.Describe(), ","); });
  }

  HcclResult Post(std::size_t index, Stream& stream) const {
    return traced.Ends(OnDispatcher(function, link.dispatcher, [&](Dispatcher& dispatcher) -> HcclResult {
      sampan::hccl::LinkSignal& signal = *link.signals[index];
      if (const HcclResult result = CheckHealth(*signal.posted, signal.remote.ptr()); result != HCCL_SUCCESS)
        return result;
      if (const HcclResult result = RequirePointer(function, "stream.ptr()", stream.ptr());
          result != HCCL_SUCCESS)
        return result;
      const SignalRecord record{link.remote_world, link.remote_world, INVALID_U64, INVALID_VALUE_STAGE,
                                link.type};
      const HcclResult result =
          dispatcher.Submit(PostCommand{signal.remote.ptr(), record, signal.posted}, stream);
      if (result != HCCL_E_RUNTIME) return result;
      // The runtime's message names only the handle. A rank of this process destroys its notify when it
      // leaves.
      return Refuse(result, Text("notify ", signal.posted->Describe(), " cannot be recorded: rank ",
                                 link.remote_rank, " has left, or the stream is of no use"));
    }));
  }

  HcclResult Wait(std::size_t index, Stream& stream, u32 seconds = NOTIFY_INVALID_WAIT_TIME) const {
    return traced.Ends(OnDispatcher(function, link.dispatcher, [&](Dispatcher& dispatcher) -> HcclResult {
      sampan::hccl::LinkSignal& signal = *link.signals[index];
      if (const HcclResult result = CheckHealth(*signal.waited, signal.local.ptr()); result != HCCL_SUCCESS)
        return result;
      if (const HcclResult result = RequirePointer(function, "stream.ptr()", stream.ptr());
          result != HCCL_SUCCESS)
        return result;
      const SignalRecord record{link.local_user, link.remote_world, INVALID_U64, INVALID_VALUE_STAGE,
                                link.type};
      return dispatcher.Submit(
          WaitCommand{signal.local.ptr(), dispatcher.WaitSeconds(seconds), record, signal.waited}, stream);
    }));
  }

  /// The address in this process of [offset, offset + bytes) of the peer's memory.
  HcclResult Locate(UserMemType type, u64 offset, u64 bytes, void*& address) const {
    if (!IsKnown(type)) {
      return Refuse(HCCL_E_NOT_SUPPORT, Text("memory type ", static_cast<int>(type),
                                             ": a link has INPUT_MEM (0) and OUTPUT_MEM (1)"));
    }
    const RemoteMemory& memory = link.memory[static_cast<std::size_t>(type)];
    if (!memory.Contains(offset, bytes)) {
      return Refuse(HCCL_E_PARA, Text("offset ", offset, " and length ", bytes, " are not inside the ",
                                      memory.bytes(), " bytes of ", Name(type), " of rank ", link.remote_rank,
                                      " at ", Hex(memory.address())));
    }
    address = static_cast<u8*>(memory.address()) + offset;
    return HCCL_SUCCESS;
  }

  /// Checks that a buffer is inside the peer's memory, by its address in this process.
  HcclResult CheckRemote(const Buffer& buffer) const {
    if (buffer.addr == nullptr) return Refuse(HCCL_E_PTR, "remoteBuf.addr is NULL");
    const auto address = reinterpret_cast<std::uintptr_t>(buffer.addr);
    for (const RemoteMemory& memory : link.memory) {
      const auto base = reinterpret_cast<std::uintptr_t>(memory.address());
      if (address >= base && memory.Contains(address - base, buffer.size)) return HCCL_SUCCESS;
    }
    return Refuse(HCCL_E_PARA,
                  Text("the ", buffer.size, " bytes at ", Hex(buffer.addr), " are not inside the ",
                       link.memory[0].bytes(), " bytes of INPUT_MEM at ", Hex(link.memory[0].address()),
                       " or the ", link.memory[1].bytes(), " of OUTPUT_MEM at ",
                       Hex(link.memory[1].address()), " of rank ", link.remote_rank));
  }

  HcclResult Copy(void* dst, const void* src, u64 bytes, Stream& stream) const {
    if (const HcclResult result = CheckHealth(); result != HCCL_SUCCESS) return result;
    DeviceMem to(dst, bytes);
    return traced.Ends(HcclD2DMemcpyAsync(link.dispatcher, to, DeviceMem(const_cast<void*>(src), bytes),
                                          stream, link.remote_world, link.type));
  }

  HcclResult CopyBuffers(const Buffer& dst, const Buffer& src, Stream& stream) const {
    if (const HcclResult result = CheckHealth(); result != HCCL_SUCCESS) return result;
    DeviceMem to(const_cast<void*>(dst.addr), dst.size);
    return traced.Ends(HcclD2DMemcpyAsync(link.dispatcher, to,
                                          DeviceMem(const_cast<void*>(src.addr), src.size), stream,
                                          link.remote_world, link.type));
  }

  HcclResult Reduce(const Buffer& dst, const Buffer& src, const Buffer& remote, HcclDataType type,
                    HcclReduceOp operation, Stream& stream) const {
    if (const HcclResult result = CheckHealth(); result != HCCL_SUCCESS) return result;
    const Buffer& local = &remote == &dst ? src : dst;
    const u64 element = HcclDataTypeBytes(type);
    if (element == 0) return Refuse(HCCL_E_PARA, Text("datatype is ", static_cast<int>(type)));
    if (local.size < remote.size) {
      return Refuse(HCCL_E_PARA, Text("the local buffer has ", local.size, " bytes, fewer than the ",
                                      remote.size, " of the remote one"));
    }
    const u64 attribute = IsInline(link.type) ? INLINE_REDUCE_BITMASK : 0;
    return traced.Ends(HcclReduceAsync(link.dispatcher, const_cast<void*>(src.addr), remote.size / element,
                                       type, operation, stream, const_cast<void*>(dst.addr),
                                       link.remote_world, link.type, attribute));
  }

  static bool IsInline(LinkType type) {
    return type == LinkType::LINK_HCCS || type == LinkType::LINK_PCIE || type == LinkType::LINK_SIO ||
           type == LinkType::LINK_HCCS_SW;
  }

  HcclResult NoReduction() const {
    return Refuse(HCCL_E_NOT_SUPPORT, "links between devices of a host have no reduction of their own");
  }
};

Transport::Transport(std::shared_ptr<Link> link) : link_(std::move(link)) {}

Transport::~Transport() = default;

HcclResult Transport::TxAck(Stream& stream) {
  return Call{*link_, "Transport::TxAck"}.Post(Link::kDone, stream);
}

HcclResult Transport::RxAck(Stream& stream) {
  return Call{*link_, "Transport::RxAck"}.Wait(Link::kDone, stream);
}

HcclResult Transport::TxDataSignal(Stream& stream) {
  return Call{*link_, "Transport::TxDataSignal"}.Post(Link::kReady, stream);
}

HcclResult Transport::RxDataSignal(Stream& stream) {
  return Call{*link_, "Transport::RxDataSignal"}.Wait(Link::kReady, stream);
}

HcclResult Transport::TxPrepare(Stream& stream) {
  return Call{*link_, "Transport::TxPrepare"}.Post(Link::kDone, stream);
}

HcclResult Transport::RxPrepare(Stream& stream) {
  return Call{*link_, "Transport::RxPrepare"}.Wait(Link::kDone, stream);
}

HcclResult Transport::TxDone(Stream& stream) {
  return Call{*link_, "Transport::TxDone"}.Wait(Link::kReady, stream);
}

HcclResult Transport::RxDone(Stream& stream) {
  return Call{*link_, "Transport::RxDone"}.Post(Link::kReady, stream);
}

HcclResult Transport::PostReady(Stream& stream) {
  return Call{*link_, "Transport::PostReady"}.Post(Link::kReady, stream);
}

HcclResult Transport::WaitReady(Stream& stream) {
  return Call{*link_, "Transport::WaitReady"}.Wait(Link::kReady, stream);
}

HcclResult Transport::PostFin(Stream& stream) {
  return Call{*link_, "Transport::PostFin"}.Post(Link::kDone, stream);
}

HcclResult Transport::WaitFin(Stream& stream) {
  return Call{*link_, "Transport::WaitFin"}.Wait(Link::kDone, stream);
}

HcclResult Transport::DataReceivedAck(Stream& stream) {
  if (const HcclResult result = TxAck(stream); result != HCCL_SUCCESS) return result;
  if (const HcclResult result = RxAck(stream); result != HCCL_SUCCESS) return result;
  if (const HcclResult result = TxDataSignal(stream); result != HCCL_SUCCESS) return result;
  return RxDataSignal(stream);
}

HcclResult Transport::TxWaitDone(Stream&) {
  return HCCL_SUCCESS;
}

HcclResult Transport::RxWaitDone(Stream&) {
  return HCCL_SUCCESS;
}

HcclResult Transport::TxAsync(UserMemType dstMemType, u64 dstOffset, const void* src, u64 len,
                              Stream& stream) {
  const Call call{*link_, "Transport::TxAsync"};
  if (!link_->reads && src != nullptr) {
    void* dst = nullptr;
    if (const HcclResult result = call.Locate(dstMemType, dstOffset, len, dst); result != HCCL_SUCCESS)
      return result;
    if (const HcclResult result = call.Copy(dst, src, len, stream); result != HCCL_SUCCESS) return result;
  }
  return call.Post(Link::kReady, stream);
}

HcclResult Transport::TxAsync(std::vector<TxMemoryInfo>& txMems, Stream& stream) {
  const Call call{*link_, "Transport::TxAsync"};
  if (link_->reads) return call.Post(Link::kReady, stream);
  std::vector<void*> dsts(txMems.size(), nullptr);
  for (std::size_t i = 0; i < txMems.size(); ++i) {
    const TxMemoryInfo& each = txMems[i];
    if (each.src == nullptr) return call.Refuse(HCCL_E_PTR, Text("src of entry ", i, " is NULL"));
    if (const HcclResult result = call.Locate(each.dstMemType, each.dstOffset, each.len, dsts[i]);
        result != HCCL_SUCCESS)
      return result;
  }
  for (std::size_t i = 0; i < txMems.size(); ++i) {
    if (const HcclResult result = call.Copy(dsts[i], txMems[i].src, txMems[i].len, stream);
        result != HCCL_SUCCESS)
      return result;
  }
  return call.Post(Link::kReady, stream);
}

HcclResult Transport::RxAsync(UserMemType srcMemType, u64 srcOffset, void* dst, u64 len, Stream& stream) {
  const Call call{*link_, "Transport::RxAsync"};
  const bool copies = link_->reads && dst != nullptr;
  void* src = nullptr;
  if (copies) {
    if (const HcclResult result = call.Locate(srcMemType, srcOffset, len, src); result != HCCL_SUCCESS)
      return result;
  }
  if (const HcclResult result = call.Wait(Link::kReady, stream); result != HCCL_SUCCESS) return result;
  return copies ? call.Copy(dst, src, len, stream) : HCCL_SUCCESS;
}

HcclResult Transport::RxAsync(std::vector<RxMemoryInfo>& rxMems, Stream& stream) {
  const Call call{*link_, "Transport::RxAsync"};
  if (!link_->reads) return call.Wait(Link::kReady, stream);
  std::vector<void*> srcs(rxMems.size(), nullptr);
  for (std::size_t i = 0; i < rxMems.size(); ++i) {
    const RxMemoryInfo& each = rxMems[i];
    if (each.dst == nullptr) return call.Refuse(HCCL_E_PTR, Text("dst of entry ", i, " is NULL"));
    if (const HcclResult result = call.Locate(each.srcMemType, each.srcOffset, each.len, srcs[i]);
        result != HCCL_SUCCESS)
      return result;
  }
  if (const HcclResult result = call.Wait(Link::kReady, stream); result != HCCL_SUCCESS) return result;
  for (std::size_t i = 0; i < rxMems.size(); ++i) {
    if (const HcclResult result = call.Copy(rxMems[i].dst, srcs[i], rxMems[i].len, stream);
        result != HCCL_SUCCESS)
      return result;
  }
  return HCCL_SUCCESS;
}

HcclResult Transport::TxData(UserMemType dstMemType, u64 dstOffset, const void* src, u64 len,
                             Stream& stream) {
  if (link_->reads || src == nullptr) return HCCL_SUCCESS;
  const Call call{*link_, "Transport::TxData"};
  void* dst = nullptr;
  const HcclResult result = call.Locate(dstMemType, dstOffset, len, dst);
  return result == HCCL_SUCCESS ? call.Copy(dst, src, len, stream) : result;
}

HcclResult Transport::RxData(UserMemType srcMemType, u64 srcOffset, void* dst, u64 len, Stream& stream) {
  if (!link_->reads || dst == nullptr) return HCCL_SUCCESS;
  const Call call{*link_, "Transport::RxData"};
  void* src = nullptr;
  const HcclResult result = call.Locate(srcMemType, srcOffset, len, src);
  return result == HCCL_SUCCESS ? call.Copy(dst, src, len, stream) : result;
}

HcclResult Transport::Post(u32 notifyIdx, Stream& stream) {
  const Call call{*link_, "Transport::Post"};
  if (notifyIdx >= GetNotifyNum()) {
    return call.Refuse(HCCL_E_INTERNAL, Text("notifyIdx is ", notifyIdx, ", the link has ", GetNotifyNum(),
                                             " numbered notifies"));
  }
  return call.Post(Link::kNumbered + notifyIdx, stream);
}

HcclResult Transport::Wait(u32 notifyIdx, Stream& stream, const u32 timeOut) {
  const Call call{*link_, "Transport::Wait"};
  if (notifyIdx >= GetNotifyNum()) {
    return call.Refuse(HCCL_E_INTERNAL, Text("notifyIdx is ", notifyIdx, ", the link has ", GetNotifyNum(),
                                             " numbered notifies"));
  }
  return call.Wait(Link::kNumbered + notifyIdx, stream, timeOut);
}

u32 Transport::GetNotifyNum() const {
  return static_cast<u32>(link_->signals.size() - Link::kNumbered);
}

HcclResult Transport::GetRemoteMem(UserMemType memType, void** remotePtr) {
  const Call call{*link_, "Transport::GetRemoteMem"};
  if (remotePtr == nullptr) return call.Refuse(HCCL_E_PTR, "remotePtr is NULL");
  return call.Locate(memType, 0, 0, *remotePtr);
}

HcclResult Transport::GetRemoteMemSize(UserMemType memType, u64& size) {
  const Call call{*link_, "Transport::GetRemoteMemSize"};
  void* address = nullptr;
  const HcclResult result = call.Locate(memType, 0, 0, address);
  if (result == HCCL_SUCCESS) size = link_->memory[static_cast<std::size_t>(memType)].bytes();
  return result;
}

HcclResult Transport::WriteAsync(Buffer& remoteBuf, Buffer& localBuf, Stream& stream) {
  const Call call{*link_, "Transport::WriteAsync"};
  const HcclResult result = call.CheckRemote(remoteBuf);
  return result == HCCL_SUCCESS ? call.CopyBuffers(remoteBuf, localBuf, stream) : result;
}

HcclResult Transport::WriteSync(Buffer& remoteBuf, Buffer& localBuf, Stream& stream) {
  return WriteAsync(remoteBuf, localBuf, stream);
}

HcclResult Transport::ReadAsync(Buffer& localBuf, Buffer& remoteBuf, Stream& stream) {
  const Call call{*link_, "Transport::ReadAsync"};
  const HcclResult result = call.CheckRemote(remoteBuf);
  return result == HCCL_SUCCESS ? call.CopyBuffers(localBuf, remoteBuf, stream) : result;
}

HcclResult Transport::ReadSync(Buffer& localBuf, Buffer& remoteBuf, Stream& stream) {
  return ReadAsync(localBuf, remoteBuf, stream);
}

HcclResult Transport::WriteReduceAsync(Buffer& remoteBuf, Buffer& localBuf, const HcclDataType datatype,
                                       HcclReduceOp redOp, Stream& stream) {
  const Call call{*link_, "Transport::WriteReduceAsync"};
  if (!link_->membership->IsOnThisHost(link_->remote_rank)) {
    return call.Refuse(
        HCCL_E_NOT_SUPPORT,
        Text(link_->membership->Describe(link_->remote_rank),
             " is on another host, where no reduction can be written: let it read (ReadReduceSync)"));
  }
  const HcclResult result = call.CheckRemote(remoteBuf);
  return result == HCCL_SUCCESS ? call.Reduce(remoteBuf, localBuf, remoteBuf, datatype, redOp, stream)
                                : result;
}

HcclResult Transport::ReadReduceSync(Buffer& localBuf, Buffer& remoteBuf, const HcclDataType datatype,
                                     HcclReduceOp redOp, Stream& stream) {
  const Call call{*link_, "Transport::ReadReduceSync"};
  const HcclResult result = call.CheckRemote(remoteBuf);
  return result == HCCL_SUCCESS ? call.Reduce(localBuf, remoteBuf, remoteBuf, datatype, redOp, stream)
                                : result;
}

HcclResult Transport::TxWithReduce(UserMemType, u64, const void*, u64, const HcclDataType, HcclReduceOp,
                                   Stream&) {
  return Call{*link_, "Transport::TxWithReduce"}.NoReduction();
}

HcclResult Transport::TxWithReduce(const std::vector<TxMemoryInfo>&, const HcclDataType, HcclReduceOp,
                                   Stream&) {
  return Call{*link_, "Transport::TxWithReduce"}.NoReduction();
}

HcclResult Transport::RxWithReduce(UserMemType, u64, void*, u64, void*, void*, u64, HcclDataType,
                                   HcclReduceOp, Stream&, const u64) {
  return Call{*link_, "Transport::RxWithReduce"}.NoReduction();
}

HcclResult Transport::RxWithReduce(const std::vector<RxWithReduceMemoryInfo>&, HcclDataType, HcclReduceOp,
                                   Stream&, const u64) {
  return Call{*link_, "Transport::RxWithReduce"}.NoReduction();
}

bool Transport::IsSupportTransportWithReduce() const {
  return false;
}

u32 Transport::GetRemoteRank() const {
  return link_->remote_world;
}

LinkType Transport::GetLinkType() const {
  return link_->type;
}

TransportType Transport::GetTransportType() const {
  return TransportType::TRANS_TYPE_P2P;
}

bool Transport::IsSpInlineReduce() const {
  return Call::IsInline(link_->type);
}

bool Transport::IsTransportRoce() const {
  return false;
}

const std::vector<u8>& Transport::GetExchangeInfo() const {
  return link_->exchange_info;
}

}  // namespace hccl
