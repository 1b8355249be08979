// What the operators have to do, one element at a time.
#include <algorithm>
#include <cstring>

#include "case_layout.h"
#include "hccl/dtype_common.h"
#include "random.h"

namespace collectives {
namespace {

constexpr std::size_t kGuard = 128;
constexpr u8 kUntouched = 0xA5;

bool IsFloat(HcclDataType type) {
  return type == HCCL_DATA_TYPE_FP16 || type == HCCL_DATA_TYPE_FP32 || type == HCCL_DATA_TYPE_BFP16;
}

/// Small whole numbers where rounding would depend on the order; all bits of integers.
s64 ValueOf(const OperatorCase& what, u32 rank, u64 index) {
  const u64 random = Mixed(what.seed, rank, index);
  if (!IsFloat(what.type)) return static_cast<s64>(random);
  if (what.operation == HCCL_REDUCE_PROD) {
    const s64 magnitude = rank < 8 && random % 5 == 0 ? 2 : 1;
    return random % 3 == 0 ? -magnitude : magnitude;
  }
  return static_cast<s64>(random % 15) - 7;
}

/// The bits of a whole number that a half can hold exactly.
u16 HalfBits(s64 value) {
  if (value == 0) return 0;
  u32 magnitude = static_cast<u32>(value < 0 ? -value : value);
  u32 exponent = 15 + 10;
  for (; magnitude < 0x400; magnitude *= 2)
    --exponent;
  for (; magnitude >= 0x800; magnitude /= 2)
    ++exponent;
  return static_cast<u16>((value < 0 ? 0x8000 : 0) | (exponent << 10) | (magnitude & 0x3FF));
}

void Append(std::vector<u8>& to, HcclDataType type, s64 value) {
  u64 bits = static_cast<u64>(value);
  const auto single = static_cast<float>(value);
  u32 single_bits = 0;
  std::memcpy(&single_bits, &single, sizeof(single_bits));
  if (type == HCCL_DATA_TYPE_FP16) bits = HalfBits(value);
  if (type == HCCL_DATA_TYPE_FP32) bits = single_bits;
  if (type == HCCL_DATA_TYPE_BFP16) bits = single_bits >> 16;
  const auto* const bytes = reinterpret_cast<const u8*>(&bits);
  to.insert(to.end(), bytes, bytes + HcclDataTypeBytes(type));
}

/// The value as its type holds it.
s64 Narrow(HcclDataType type, s64 value) {
  switch (type) {
    case HCCL_DATA_TYPE_INT8:
      return static_cast<s8>(value);
    case HCCL_DATA_TYPE_INT16:
      return static_cast<s16>(value);
    case HCCL_DATA_TYPE_INT32:
      return static_cast<s32>(value);
    default:
      return value;
  }
}

s64 Combined(const OperatorCase& what, s64 left, s64 right) {
  left = Narrow(what.type, left);
  right = Narrow(what.type, right);
  switch (what.operation) {
    case HCCL_REDUCE_SUM:
      return static_cast<s64>(static_cast<u64>(left) + static_cast<u64>(right));
    case HCCL_REDUCE_PROD:
      return static_cast<s64>(static_cast<u64>(left) * static_cast<u64>(right));
    case HCCL_REDUCE_MAX:
      return std::max(left, right);
    default:
      return std::min(left, right);
  }
}

/// Elements [first, first + count) of a rank's input, or of all inputs combined.
std::vector<u8> Elements(const OperatorCase& what, u32 rank, u64 first, u64 count) {
  std::vector<u8> bytes;
  for (u64 i = first; i < first + count; ++i)
    Append(bytes, what.type, ValueOf(what, rank, i));
  return bytes;
}
std::vector<u8> CombinedElements(const OperatorCase& what, u32 ranks, u64 first, u64 count) {
  std::vector<u8> bytes;
  for (u64 i = first; i < first + count; ++i) {
    s64 value = ValueOf(what, 0, i);
    for (u32 rank = 1; rank < ranks; ++rank)
      value = Combined(what, value, ValueOf(what, rank, i));
    Append(bytes, what.type, value);
  }
  return bytes;
}

}  // namespace

const char* NameOf(Op op) {
  static const char* const names[kOps] = {
      "AllReduce", "Broadcast", "AllGather", "AllGatherV", "ReduceScatter", "ReduceScatterV", "Reduce",
      "Scatter",   "AllToAll",  "AllToAllV", "AllToAllVC", "BatchSendRecv", "SendRecv"};
  return names[static_cast<int>(op)];
}

bool Reduces(Op op) {
  return op == Op::kAllReduce || op == Op::kReduceScatter || op == Op::kReduceScatterV || op == Op::kReduce;
}

bool Allows(Op op, Placing placing) {
  if (placing == Placing::kApart) return true;
  if (op == Op::kAllReduce || op == Op::kReduce) return placing == Placing::kInPlace;
  return op == Op::kAllGather || op == Op::kReduceScatter || op == Op::kScatter;
}

std::string Describe(const OperatorCase& what) {
  return std::string(NameOf(what.op)) + " of " + std::to_string(what.count) + " elements of type " +
         std::to_string(what.type) + ", operation " + std::to_string(what.operation) + ", root " +
         std::to_string(what.root) + ", placing " + std::to_string(static_cast<int>(what.placing)) +
         ", seed " + std::to_string(what.seed);
}

CaseMemory MemoryOf(const OperatorCase& what, u32 rank, u32 ranks) {
  const u64 unit = HcclDataTypeBytes(what.type);
  const CaseLayout layout(what, rank, ranks);
  CaseMemory memory;
  memory.send_at = kGuard / unit * unit;
  memory.receive_at = memory.send_at + layout.send_elements() * unit + kGuard;
  memory.receive_at = memory.receive_at / unit * unit;
  if (what.placing != Placing::kApart) {
    const bool at_own = what.placing == Placing::kInPlace;
    memory.receive_at = memory.send_at;
    if (at_own && what.op == Op::kAllGather) memory.send_at += rank * what.count * unit;
    if (at_own && (what.op == Op::kReduceScatter || (what.op == Op::kScatter && rank == what.root)))
      memory.receive_at += rank * what.count * unit;
  }
  const std::size_t end = std::max(memory.send_at + layout.send_elements() * unit,
                                   memory.receive_at + layout.receive_elements() * unit);
  memory.before.assign(end + kGuard, kUntouched);
  const std::vector<u8> input = Elements(what, rank, 0, layout.send_elements());
  std::copy(input.begin(), input.end(), memory.before.begin() + static_cast<std::ptrdiff_t>(memory.send_at));
  memory.after = memory.before;
  for (const CaseLayout::Part& part : layout.result()) {
    const std::vector<u8> bytes = part.from == CaseLayout::kAllRanks
                                      ? CombinedElements(what, ranks, part.first, part.count)
                                      : Elements(what, part.from, part.first, part.count);
    std::copy(bytes.begin(), bytes.end(),
              memory.after.begin() + static_cast<std::ptrdiff_t>(memory.receive_at + part.at * unit));
  }
  return memory;
}

void Compare(const OperatorCase& what, u32 rank, u32 ranks, const CaseMemory& memory,
             const DeviceBlock& block) {
  const std::vector<u8> found = block.Read();
  for (std::size_t at = 0; at < memory.after.size(); ++at) {
    if (found[at] == memory.after[at]) continue;
    throw Mismatch(Describe(what) + ": byte " + std::to_string(at) + " of rank " + std::to_string(rank) +
                   " of " + std::to_string(ranks) + " is " + std::to_string(found[at]) + ", expected " +
                   std::to_string(memory.after[at]) + " (input at " + std::to_string(memory.send_at) +
                   ", output at " + std::to_string(memory.receive_at) + ")");
  }
}

}  // namespace collectives
