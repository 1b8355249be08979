/* A link between two ranks: memory of the peer, and the signals that say when it may be accessed. */
#ifndef SAMPAN_HCCL_PLATFORM_TRANSPORT_PUB_H
#define SAMPAN_HCCL_PLATFORM_TRANSPORT_PUB_H

#include <memory>
#include <vector>

#include "dispatcher.h"
#include "task_logic_info_pub.h"

namespace hccl {

/* Bits of MachinePara::linkAttribute. Where both are set, reading wins. */
constexpr u32 LINK_ATTRIBUTE_WRITE = 0x1; /* the source writes into the destination's memory */
constexpr u32 LINK_ATTRIBUTE_READ = 0x2;  /* the destination reads from the source's memory */

/* This side's part of a link. */
struct MachinePara {
  DeviceMem inputMem{nullptr, 0};
  DeviceMem outputMem{nullptr, 0};
  u32 linkAttribute = LINK_ATTRIBUTE_WRITE | LINK_ATTRIBUTE_READ;
  u32 notifyNum = 0; /* numbered notifies, for Post and Wait; the same on both sides */
  u32 localUserrank = INVALID_VALUE_RANKID;
  u32 remoteUserrank = INVALID_VALUE_RANKID;
  u32 localWorldRank = INVALID_VALUE_RANKID;
  u32 remoteWorldRank = INVALID_VALUE_RANKID;
  std::vector<u8> exchangeInfo; /* sent to the peer, at most 2 MiB */
};

class RankGroup;

/** A link between two ranks: memory of the peer, and the signals that say when it may be accessed. RankGroup
 * creates it; each side has its own. Calls submit work to streams and return. If the group is broken, they
 * fail with HCCL_E_REMOTE or HCCL_E_TIMEOUT. If the runtime refuses a task, they fail with HCCL_E_RUNTIME.
 * @async Calls with a stream queue tasks and return. The others are synchronous.
 * @threads Any number of threads.
 */
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

  /** Signals in the order of stream. There are two pairs, one for each direction: "done" (the peer may
   * continue) and "ready" (data is there). TxAck, TxPrepare and PostFin post "done"; RxAck, RxPrepare and
   * WaitFin wait for it. TxDataSignal, RxDone and PostReady post "ready"; RxDataSignal, TxDone and WaitReady
   * wait for it. DataReceivedAck is TxAck, RxAck, TxDataSignal and RxDataSignal. TxWaitDone and RxWaitDone
   * are no-ops.
   * @error HCCL_E_PTR stream is empty.
   * @error HCCL_E_REMOTE A rank of the group has exited.
   * @error HCCL_E_TIMEOUT A wait of the group ran past its limit.
   * @error HCCL_E_RUNTIME The runtime refused the task.
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

  /** Data with its signal, in the order of stream. In write mode TxAsync writes len bytes of src to
   * dstOffset of the peer's memory dstMemType; in read mode RxAsync reads len bytes at srcOffset of
   * srcMemType into dst. txMems and rxMems hold several such pieces. TxData and RxData move data without a
   * signal.
   * @error HCCL_E_NOT_SUPPORT dstMemType or srcMemType is neither INPUT_MEM nor OUTPUT_MEM.
   * @error HCCL_E_PARA The range is not inside the peer's memory.
   * @error HCCL_E_PTR stream is empty.
   * @error HCCL_E_REMOTE A rank of the group has exited.
   * @error HCCL_E_TIMEOUT A wait of the group ran past its limit.
   * @error HCCL_E_RUNTIME The runtime refused the task.
   */
  HcclResult TxAsync(UserMemType dstMemType, u64 dstOffset, const void* src, u64 len, Stream& stream);
  HcclResult TxAsync(std::vector<TxMemoryInfo>& txMems, Stream& stream);
  HcclResult RxAsync(UserMemType srcMemType, u64 srcOffset, void* dst, u64 len, Stream& stream);
  HcclResult RxAsync(std::vector<RxMemoryInfo>& rxMems, Stream& stream);
  HcclResult TxData(UserMemType dstMemType, u64 dstOffset, const void* src, u64 len, Stream& stream);
  HcclResult RxData(UserMemType srcMemType, u64 srcOffset, void* dst, u64 len, Stream& stream);

  /* ---- numbered notifies */

  /** Posts or waits for the numbered notify notifyIdx, from 0, in the order of stream. timeOut is in seconds;
   * by default the mode of the dispatcher applies. GetNotifyNum gives how many there are.
   * @error HCCL_E_INTERNAL notifyIdx is too large.
   * @error HCCL_E_PTR stream is empty.
   * @error HCCL_E_REMOTE A rank of the group has exited.
   * @error HCCL_E_TIMEOUT A wait of the group ran past its limit.
   * @error HCCL_E_RUNTIME The runtime refused the task.
   */
  HcclResult Post(u32 notifyIdx, Stream& stream);
  HcclResult Wait(u32 notifyIdx, Stream& stream, const u32 timeOut = NOTIFY_INVALID_WAIT_TIME);
  u32 GetNotifyNum() const;

  /* ---- the peer's memory, one-sided; the names with Sync do not wait either */

  /** Address (remotePtr) and size in bytes of the peer's memory memType here.
   * @error HCCL_E_PTR remotePtr is NULL.
   * @error HCCL_E_NOT_SUPPORT memType is neither INPUT_MEM nor OUTPUT_MEM.
   */
  HcclResult GetRemoteMem(UserMemType memType, void** remotePtr);
  HcclResult GetRemoteMemSize(UserMemType memType, u64& size);

  /** Copies localBuf to remoteBuf, or the other way round, in the order of stream. The names with Sync do
   * not wait either.
   * @error HCCL_E_PARA remoteBuf is not inside the peer's memory.
   * @error HCCL_E_PTR stream is empty.
   * @error HCCL_E_REMOTE A rank of the group has exited.
   * @error HCCL_E_TIMEOUT A wait of the group ran past its limit.
   * @error HCCL_E_RUNTIME The runtime refused the task.
   */
  HcclResult WriteAsync(Buffer& remoteBuf, Buffer& localBuf, Stream& stream);
  HcclResult WriteSync(Buffer& remoteBuf, Buffer& localBuf, Stream& stream);
  HcclResult ReadAsync(Buffer& localBuf, Buffer& remoteBuf, Stream& stream);
  HcclResult ReadSync(Buffer& localBuf, Buffer& remoteBuf, Stream& stream);

  /** Combines localBuf into remoteBuf, or remoteBuf into localBuf, by redOp on elements of datatype, in the
   * order of stream.
   * @error HCCL_E_PARA remoteBuf is not inside the peer's memory, or datatype is unknown.
   * @error HCCL_E_PTR stream is empty.
   * @error HCCL_E_REMOTE A rank of the group has exited.
   * @error HCCL_E_TIMEOUT A wait of the group ran past its limit.
   * @error HCCL_E_RUNTIME The runtime refused the task.
   */
  HcclResult WriteReduceAsync(Buffer& remoteBuf, Buffer& localBuf, const HcclDataType datatype,
                              HcclReduceOp redOp, Stream& stream);
  HcclResult ReadReduceSync(Buffer& localBuf, Buffer& remoteBuf, const HcclDataType datatype,
                            HcclReduceOp redOp, Stream& stream);

  /* ---- reductions with their signal: links of this kind have none, HCCL_E_NOT_SUPPORT */

  /** Reductions with their signal: links of this kind have none, HCCL_E_NOT_SUPPORT. */
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

  /** Whether the link has reductions with their signal: false. */
  bool IsSupportTransportWithReduce() const;

  /* ---- facts */

  /** World rank of the peer. */
  u32 GetRemoteRank() const;

  /** Type of the link: ONCHIP if two ranks share a device. Type of the transport: P2P. IsSpInlineReduce says
   * whether reductions may be inlined. IsTransportRoce is false.
   */
  LinkType GetLinkType() const;
  TransportType GetTransportType() const;
  bool IsSpInlineReduce() const;
  bool IsTransportRoce() const;

  /** The exchangeInfo of the peer. */
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
