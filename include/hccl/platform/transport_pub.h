/* A link between two ranks: the peer's memory, and the signals that order accesses to it. */
#ifndef SAMPAN_HCCL_PLATFORM_TRANSPORT_PUB_H
#define SAMPAN_HCCL_PLATFORM_TRANSPORT_PUB_H

#include <memory>
#include <vector>

#include "dispatcher.h"
#include "task_logic_info_pub.h"

namespace hccl {

/* Bits of MachinePara::linkAttribute. If both are set, the destination reads. */
constexpr u32 LINK_ATTRIBUTE_WRITE = 0x1; /* the source writes into the destination's memory */
constexpr u32 LINK_ATTRIBUTE_READ = 0x2;  /* the destination reads from the source's memory */

/* What this side gives for a link. */
struct MachinePara {
  DeviceMem inputMem{nullptr, 0};
  DeviceMem outputMem{nullptr, 0};
  u32 linkAttribute = LINK_ATTRIBUTE_WRITE | LINK_ATTRIBUTE_READ;
  u32 notifyNum = 0; /* numbered notifies, for Post and Wait; the same on both sides */
  u32 localUserrank = INVALID_VALUE_RANKID;
  u32 remoteUserrank = INVALID_VALUE_RANKID;
  u32 localWorldRank = INVALID_VALUE_RANKID;
  u32 remoteWorldRank = INVALID_VALUE_RANKID;
  std::vector<u8> exchangeInfo; /* handed to the peer, at most 2 MiB */
};

class RankGroup;

/* Made by RankGroup, one on each side. Calls submit work to streams and return. Thread-safe. */
class HCCL_PLF_VISIBILITY Transport {
 public:
  struct Buffer {
    Buffer() = default;
    Buffer(const void* address, u64 bytes) : addr(address), size(bytes) {}
    const void* addr = nullptr;
    u64 size = 0;
  };

  struct Link; /* opaque */

  ~Transport();
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  /* ---- two pairs of signals, one in each direction: "done" (the peer may go on) and "ready" (data is there)
   */

  HcclResult TxAck(Stream& stream);
  HcclResult RxAck(Stream& stream);
  HcclResult TxDataSignal(Stream& stream);
  HcclResult RxDataSignal(Stream& stream);
  HcclResult TxPrepare(Stream& stream);
  HcclResult RxPrepare(Stream& stream);
  HcclResult TxDone(Stream& stream);
  HcclResult RxDone(Stream& stream);
  HcclResult PostReady(Stream& stream);
  HcclResult WaitReady(Stream& stream);
  HcclResult PostFin(Stream& stream);
  HcclResult WaitFin(Stream& stream);
  HcclResult DataReceivedAck(Stream& stream);
  HcclResult TxWaitDone(Stream& stream);
  HcclResult RxWaitDone(Stream& stream);

  /* ---- data with its signal */

  HcclResult TxAsync(UserMemType dstMemType, u64 dstOffset, const void* src, u64 len, Stream& stream);
  HcclResult TxAsync(std::vector<TxMemoryInfo>& txMems, Stream& stream);
  HcclResult RxAsync(UserMemType srcMemType, u64 srcOffset, void* dst, u64 len, Stream& stream);
  HcclResult RxAsync(std::vector<RxMemoryInfo>& rxMems, Stream& stream);
  HcclResult TxData(UserMemType dstMemType, u64 dstOffset, const void* src, u64 len, Stream& stream);
  HcclResult RxData(UserMemType srcMemType, u64 srcOffset, void* dst, u64 len, Stream& stream);

  /* ---- numbered notifies */

  HcclResult Post(u32 notifyIdx, Stream& stream);
  HcclResult Wait(u32 notifyIdx, Stream& stream, const u32 timeOut = NOTIFY_INVALID_WAIT_TIME);
  u32 GetNotifyNum() const;

  /* ---- the peer's memory, one-sided; the names with Sync do not wait either */

  HcclResult GetRemoteMem(UserMemType memType, void** remotePtr);
  HcclResult GetRemoteMemSize(UserMemType memType, u64& size);
  HcclResult WriteAsync(Buffer& remoteBuf, Buffer& localBuf, Stream& stream);
  HcclResult WriteSync(Buffer& remoteBuf, Buffer& localBuf, Stream& stream);
  HcclResult ReadAsync(Buffer& localBuf, Buffer& remoteBuf, Stream& stream);
  HcclResult ReadSync(Buffer& localBuf, Buffer& remoteBuf, Stream& stream);
  HcclResult WriteReduceAsync(Buffer& remoteBuf, Buffer& localBuf, const HcclDataType datatype,
                              HcclReduceOp redOp, Stream& stream);
  HcclResult ReadReduceSync(Buffer& localBuf, Buffer& remoteBuf, const HcclDataType datatype,
                            HcclReduceOp redOp, Stream& stream);

  /* ---- reductions with their signal: links of this kind have none, HCCL_E_NOT_SUPPORT */

  HcclResult TxWithReduce(UserMemType dstMemType, u64 dstOffset, const void* src, u64 len,
                          const HcclDataType datatype, HcclReduceOp redOp, Stream& stream);
  HcclResult TxWithReduce(const std::vector<TxMemoryInfo>& txWithReduceMems, const HcclDataType datatype,
                          HcclReduceOp redOp, Stream& stream);
  HcclResult RxWithReduce(UserMemType recvSrcMemType, u64 recvSrcOffset, void* recvDst, u64 recvLen,
                          void* reduceSrc, void* reduceDst, u64 reduceDataCount, HcclDataType reduceDatatype,
                          HcclReduceOp reduceOp, Stream& stream, const u64 reduceAttr);
  HcclResult RxWithReduce(const std::vector<RxWithReduceMemoryInfo>& rxWithReduceMems,
                          HcclDataType reduceDatatype, HcclReduceOp reduceOp, Stream& stream,
                          const u64 reduceAttr);
  bool IsSupportTransportWithReduce() const;

  /* ---- facts */

  /* The peer's world rank. */
  u32 GetRemoteRank() const;
  LinkType GetLinkType() const;
  TransportType GetTransportType() const;
  bool IsSpInlineReduce() const;
  bool IsTransportRoce() const;
  /* The peer's exchangeInfo. */
  const std::vector<u8>& GetExchangeInfo() const;

 private:
  friend class RankGroup;
  struct Call;
  explicit Transport(std::shared_ptr<Link> link);

  std::shared_ptr<Link> link_;
};

}  // namespace hccl

using LINK = std::shared_ptr<hccl::Transport>;

namespace hccl {
using ::LINK;
}  // namespace hccl

#endif /* SAMPAN_HCCL_PLATFORM_TRANSPORT_PUB_H */
