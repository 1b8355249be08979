// Handovers, copies and reductions, each a few calls of the platform.
#include "transfer.h"

#include "check.h"
#include "hccl/dtype_common.h"

namespace collectives {
namespace {

hccl::DeviceMem ViewOf(Rank& rank, const Remote& part, u64 bytes) {
  void* base = nullptr;
  Check(rank.link(part.peer).GetRemoteMem(part.memory, &base));
  return hccl::DeviceMem::create(static_cast<char*>(base) + part.offset, bytes);
}

}  // namespace

void Give(hccl::Transport& link, hccl::Stream& stream) {
  Check(link.RxAck(stream));
  Check(link.TxDataSignal(stream));
}

void Take(hccl::Transport& link, hccl::Stream& stream) {
  Check(link.TxAck(stream));
  Check(link.RxDataSignal(stream));
}

void Copy(Rank& rank, hccl::DeviceMem dst, const hccl::DeviceMem& src) {
  Check(HcclD2DMemcpyAsync(rank.dispatcher(), dst, src, rank.stream()));
}

void Read(Rank& rank, const Remote& from, hccl::DeviceMem dst, hccl::Stream& stream) {
  hccl::Transport& link = rank.link(from.peer);
  Check(HcclD2DMemcpyAsync(rank.dispatcher(), dst, ViewOf(rank, from, dst.size()), stream,
                           link.GetRemoteRank(), link.GetLinkType()));
}

void ReadReduce(Rank& rank, const Remote& from, const hccl::DeviceMem& dst, const Reduction& reduction) {
  hccl::Transport& link = rank.link(from.peer);
  Check(HcclReduceAsync(rank.dispatcher(), ViewOf(rank, from, dst.size()).ptr(),
                        dst.size() / HcclDataTypeBytes(reduction.type), reduction.type, reduction.operation,
                        rank.stream(), dst.ptr(), link.GetRemoteRank(), link.GetLinkType(),
                        INLINE_REDUCE_BITMASK));
}

}  // namespace collectives
