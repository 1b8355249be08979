// What all algorithms here are made of: handing data over between two ranks, and moving it.
//
// A handover goes one way over a link. The receiver says that it is there (TxAck), and the giver waits for
// that (RxAck). The giver says that its data is there (TxDataSignal), and the receiver waits for that
// (RxDataSignal). Notifies are binary. This order never records one whose last record was not waited for. So
// any number of handovers may follow one another. Data is read between two of them. The receiver arrives at
// the second one only when it has read: then the giver may change its data.
#pragma once

#include "rank.h"

namespace collectives {

/// This side gives: afterwards the peer may read what was written before, and has read what was given before.
void Give(hccl::Transport& link, hccl::Stream& stream);
/// This side receives: afterwards it may read what the peer wrote before.
void Take(hccl::Transport& link, hccl::Stream& stream);

/// A part of a peer's memory.
struct Remote {
  u32 peer;
  hccl::UserMemType memory;
  u64 offset;
};

/// Copies within the rank.
void Copy(Rank& rank, hccl::DeviceMem dst, const hccl::DeviceMem& src);
/// Fills `dst` from a peer's memory.
void Read(Rank& rank, const Remote& from, hccl::DeviceMem dst, hccl::Stream& stream);

/// How two elements become one.
struct Reduction {
  HcclDataType type;
  HcclReduceOp operation;
};
/// Combines a peer's memory into `dst`.
void ReadReduce(Rank& rank, const Remote& from, const hccl::DeviceMem& dst, const Reduction& reduction);

}  // namespace collectives
