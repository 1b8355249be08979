// A call of an operator as data, with a scalar model of what it has to do.
#pragma once

#include <string>
#include <vector>

#include "hccl/base.h"
#include "world.h"

namespace collectives {

enum class Op {
  kAllReduce,
  kBroadcast,
  kAllGather,
  kAllGatherV,
  kReduceScatter,
  kReduceScatterV,
  kReduce,
  kScatter,
  kAllToAll,
  kAllToAllV,
  kAllToAllVC,
  kBatchSendRecv,
  kSendRecv
};
inline constexpr int kOps = 13;
const char* NameOf(Op op);
bool Reduces(Op op);

/// Where the output lies: apart from the input, at the usual place in it, or at its beginning.
enum class Placing { kApart, kInPlace, kAtBeginning };

struct OperatorCase {
  Op op;
  HcclDataType type = HCCL_DATA_TYPE_INT32;
  HcclReduceOp operation = HCCL_REDUCE_SUM;
  u64 count = 1;  ///< of the V operators: the maximum of a block
  u32 root = 0;
  Placing placing = Placing::kApart;
  u64 seed = 0;
};
std::string Describe(const OperatorCase& what);
/// Whether the operator can be placed like that.
bool Allows(Op op, Placing placing);

/// The memory of a rank before and after the operator: guards, input, output. Every byte is compared.
struct CaseMemory {
  std::vector<u8> before, after;
  std::size_t send_at = 0, receive_at = 0;
};
CaseMemory MemoryOf(const OperatorCase& what, u32 rank, u32 ranks);

/// One rank of a communicator.
struct Member {
  u32 rank, ranks;
  HcclComm comm;
};
/// Queues the operator.
void Queue(const OperatorCase& what, const Member& member, aclrtStream stream, const DeviceBlock& block,
           const CaseMemory& memory);

/// Throws a Mismatch that names the first wrong byte.
void Compare(const OperatorCase& what, u32 rank, u32 ranks, const CaseMemory& memory,
             const DeviceBlock& block);

/// Queues, waits and compares.
void RunVerified(const OperatorCase& what, World& world);

}  // namespace collectives
