// An operator of HCCL's public API with its arguments, as data: its buffers, contents and result.
#include "bench/ranks/operator_case.h"

#include <algorithm>
#include <cstring>

#include "base/error/text.h"
#include "base/reduce/reduce_types.h"
#include "base/reduce/sixteen_bit_floats.h"
#include "hccl/dtype_common.h"

namespace bench {
namespace {

struct OperatorRow {
  Operator what;
  const char* name;
  bool reduces, has_root;
};
constexpr OperatorRow kRows[] = {
    {Operator::kAllReduce, "all_reduce", true, false},
    {Operator::kAllGather, "all_gather", false, false},
    {Operator::kReduceScatter, "reduce_scatter", true, false},
    {Operator::kBroadcast, "broadcast", false, true},
    {Operator::kReduce, "reduce", true, true},
    {Operator::kScatter, "scatter", false, true},
    {Operator::kAllToAll, "alltoall", false, false},
    {Operator::kAllToAllV, "alltoallv", false, false},
};
const OperatorRow& RowOf(Operator what) {
  return kRows[static_cast<std::size_t>(what)];
}

u64 Mixed(u64 word) {
  word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9;
  word = (word ^ (word >> 27)) * 0x94D049BB133111EB;
  return word ^ (word >> 31);
}

/// An element of a rank's input. Sums of all ranks stay below 128. Of the factors of a product all but one
/// are 1.
u32 ValueAt(const OperatorCase& what, u32 rank, u64 index, u32 ranks) {
  const u64 random = Mixed(what.seed ^ index * 0x9E3779B97F4A7C15 ^ u64{rank} << 56);
  if (Reduces(what.what) && what.operation == HCCL_REDUCE_PROD)
    return (index + rank) % ranks == 0 ? 1 + static_cast<u32>(random % 100) : 1;
  if (Reduces(what.what) && what.operation == HCCL_REDUCE_SUM)
    return static_cast<u32>(random % (127 / std::min(ranks, 127U) + 1));
  return static_cast<u32>(random % 128);
}

u32 CombinedAt(const OperatorCase& what, u64 index, u32 ranks) {
  u32 value = ValueAt(what, 0, index, ranks);
  for (u32 rank = 1; rank < ranks; ++rank) {
    const u32 other = ValueAt(what, rank, index, ranks);
    switch (what.operation) {
      case HCCL_REDUCE_SUM:
        value += other;
        break;
      case HCCL_REDUCE_PROD:
        value *= other;
        break;
      case HCCL_REDUCE_MAX:
        value = std::max(value, other);
        break;
      default:
        value = std::min(value, other);
    }
  }
  return value;
}

template <typename T>
void Put(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof(value));
}

/// Writes a small number as an element.
void Encode(HcclDataType type, u32 value, std::byte* to) {
  switch (type) {
    case HCCL_DATA_TYPE_FP32:
      return Put(to, static_cast<float>(value));
    case HCCL_DATA_TYPE_FP64:
      return Put(to, static_cast<double>(value));
    case HCCL_DATA_TYPE_FP16:
      return Put(to, sampan::ToHalf(static_cast<float>(value)));
    case HCCL_DATA_TYPE_BFP16:
      return Put(to, sampan::ToBrainFloat(static_cast<float>(value)));
    default:  // an integer, little-endian
      const u64 wide = value;
      std::memcpy(to, &wide, HcclDataTypeBytes(type));
  }
}

template <typename Value>
std::vector<std::byte> Elements(const OperatorCase& what, u64 count, Value value) {
  const u64 unit = HcclDataTypeBytes(what.type);
  std::vector<std::byte> bytes(count * unit);
  for (u64 i = 0; i < count; ++i)
    Encode(what.type, value(i), bytes.data() + i * unit);
  return bytes;
}

}  // namespace

const std::vector<Operator>& AllOperators() {
  static const std::vector<Operator> all = [] {
    std::vector<Operator> operators;
    for (const OperatorRow& row : kRows)
      operators.push_back(row.what);
    return operators;
  }();
  return all;
}

std::string NameOf(Operator what) {
  return RowOf(what).name;
}
bool Reduces(Operator what) {
  return RowOf(what).reduces;
}
bool HasRoot(Operator what) {
  return RowOf(what).has_root;
}

std::string Describe(const OperatorCase& what, u32 ranks) {
  using namespace sampan;
  std::string text = Text(NameOf(what.what), " of ", what.count, " ",
                          FindReduceRow(kReduceTypeRows, &ReduceTypeRow::hccl, what.type)->name);
  if (Reduces(what.what)) {
    text +=
        Text(" (", FindReduceRow(kReduceOperationRows, &ReduceOperationRow::hccl, what.operation)->name, ")");
  }
  if (HasRoot(what.what)) text += Text(" with root ", what.root);
  return text + Text(" on ", ranks, " ranks");
}

Room RoomFor(const OperatorCase& what, u32 ranks) {
  const u64 one = what.count * HcclDataTypeBytes(what.type), all = one * ranks;
  switch (what.what) {
    case Operator::kAllReduce:
    case Operator::kReduce:
      return {one, one};
    case Operator::kAllGather:
      return {one, all};
    case Operator::kReduceScatter:
    case Operator::kScatter:
      return {all, one};
    case Operator::kBroadcast:
      return {0, one};
    default:
      return {all, all};
  }
}

u64 DataSize(const OperatorCase& what, u32 ranks) {
  const Room room = RoomFor(what, ranks);
  return std::max(room.input_bytes, room.output_bytes);
}

OperatorCase SizedCase(OperatorCase what, u64 size, u32 ranks) {
  what.count = 1;
  what.seed = size;
  what.count = std::max<u64>(1, size / DataSize(what, ranks));
  return what;
}

std::vector<std::byte> InputOf(const OperatorCase& what, u32 rank, u32 ranks) {
  const Room room = RoomFor(what, ranks);
  const bool brings = !HasRoot(what.what) || Reduces(what.what) || rank == what.root;
  const u64 bytes = what.what == Operator::kBroadcast ? room.output_bytes : room.input_bytes;
  return Elements(what, brings ? bytes / HcclDataTypeBytes(what.type) : 0,
                  [&](u64 i) { return ValueAt(what, rank, i, ranks); });
}

std::vector<std::byte> ExpectedOf(const OperatorCase& what, u32 rank, u32 ranks) {
  const u64 count = what.count;
  switch (what.what) {
    case Operator::kAllReduce:
      return Elements(what, count, [&](u64 i) { return CombinedAt(what, i, ranks); });
    case Operator::kReduce:
      return Elements(what, rank == what.root ? count : 0, [&](u64 i) { return CombinedAt(what, i, ranks); });
    case Operator::kReduceScatter:
      return Elements(what, count, [&](u64 i) { return CombinedAt(what, rank * count + i, ranks); });
    case Operator::kBroadcast:
      return Elements(what, count, [&](u64 i) { return ValueAt(what, what.root, i, ranks); });
    case Operator::kScatter:
      return Elements(what, count, [&](u64 i) { return ValueAt(what, what.root, rank * count + i, ranks); });
    case Operator::kAllGather:
      return Elements(what, count * ranks,
                      [&](u64 i) { return ValueAt(what, static_cast<u32>(i / count), i % count, ranks); });
    default:
      return Elements(what, count * ranks, [&](u64 i) {
        return ValueAt(what, static_cast<u32>(i / count), rank * count + i % count, ranks);
      });
  }
}

}  // namespace bench
