// An operator of HCCL's public API with its arguments, as data: its buffers, contents and result.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "hccl/base.h"
#include "hccl/hccl_types.h"

namespace bench {

enum class Operator {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kBroadcast,
  kReduce,
  kScatter,
  kAllToAll,
  kAllToAllV
};
const std::vector<Operator>& AllOperators();
/// As in hccl_test: "all_reduce".
std::string NameOf(Operator what);
bool Reduces(Operator what);
bool HasRoot(Operator what);

struct OperatorCase {
  Operator what = Operator::kAllReduce;
  u64 count = 1;  ///< as in the operator's call; the elements from each rank to each one of AllToAllV
  HcclDataType type = HCCL_DATA_TYPE_FP32;
  HcclReduceOp operation = HCCL_REDUCE_SUM;
  u32 root = 0;
  u64 seed = 0;  ///< of the contents
};
/// "all_reduce of 1024 fp32 (sum) on 2 ranks".
std::string Describe(const OperatorCase& what, u32 ranks);

/// The bytes of a rank's buffers. A broadcast has one buffer: the output.
struct Room {
  u64 input_bytes = 0;
  u64 output_bytes = 0;
};
Room RoomFor(const OperatorCase& what, u32 ranks);

/// The larger of a rank's input and output, which hccl_test calls data_size.
u64 DataSize(const OperatorCase& what, u32 ranks);
/// The case of about `size` bytes with the same number of whole elements for each rank. The other arguments
/// are those of `what`.
OperatorCase SizedCase(OperatorCase what, u64 size, u32 ranks);

/// What a rank brings: its input, or of a broadcast the root's buffer. Empty if it brings nothing.
std::vector<std::byte> InputOf(const OperatorCase& what, u32 rank, u32 ranks);
/// What a rank has to get. Empty if it gets nothing. The numbers are small, so that every type and order of
/// the ranks has the same result.
std::vector<std::byte> ExpectedOf(const OperatorCase& what, u32 rank, u32 ranks);

}  // namespace bench
