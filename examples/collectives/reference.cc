// A scalar model of the collectives.
#include "reference.h"

#include <algorithm>
#include <cstring>

#include "check.h"
#include "hccl/dtype_common.h"
#include "random.h"

namespace collectives {
namespace {

/// The largest number, in magnitude, that a rank contributes.
s64 LargestValue(HcclDataType type, u32 ranks) {
  const auto exact_sums_to = [&](s64 most) { return std::max<s64>(1, most / ranks); };
  switch (type) {
    case HCCL_DATA_TYPE_INT8:
      return 0x7F;
    case HCCL_DATA_TYPE_INT16:
      return 0x7FFF;
    case HCCL_DATA_TYPE_INT32:
      return 0x7FFFFFFF;
    case HCCL_DATA_TYPE_FP16:
      return exact_sums_to(1 << 11);
    case HCCL_DATA_TYPE_BFP16:
      return exact_sums_to(1 << 8);
    case HCCL_DATA_TYPE_FP32:
      return exact_sums_to(1 << 24);
    default:
      throw Failure("there are no reductions of type " + std::to_string(type));
  }
}

s64 ValueOf(const Case& what, u32 rank, u32 ranks, u64 index) {
  const s64 largest = LargestValue(what.reduction.type, ranks);
  return static_cast<s64>(Mixed(what.seed, rank, index) % static_cast<u64>(2 * largest + 1)) - largest;
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

template <typename T>
void Append(std::vector<u8>& to, T value) {
  const auto* const bytes = reinterpret_cast<const u8*>(&value);
  to.insert(to.end(), bytes, bytes + sizeof(T));
}

void AppendValue(std::vector<u8>& to, HcclDataType type, s64 value) {
  const auto single = static_cast<float>(value);
  u32 single_bits = 0;
  std::memcpy(&single_bits, &single, sizeof(single_bits));
  switch (type) {
    case HCCL_DATA_TYPE_INT8:
      return Append(to, static_cast<s8>(value));
    case HCCL_DATA_TYPE_INT16:
      return Append(to, static_cast<s16>(value));
    case HCCL_DATA_TYPE_INT32:
      return Append(to, static_cast<s32>(value));
    case HCCL_DATA_TYPE_FP16:
      return Append(to, HalfBits(value));
    case HCCL_DATA_TYPE_BFP16:
      return Append(to, static_cast<u16>(single_bits >> 16));
    default:
      return Append(to, single);
  }
}

s64 Combined(s64 left, s64 right, HcclReduceOp operation) {
  if (operation == HCCL_REDUCE_SUM) return left + right;
  return operation == HCCL_REDUCE_MAX ? std::max(left, right) : std::min(left, right);
}

/// The combination of elements [first, first + count) of all inputs.
std::vector<u8> Reduced(const Case& what, u32 ranks, u64 first) {
  std::vector<u8> result;
  for (u64 index = first; index < first + what.count; ++index) {
    s64 value = ValueOf(what, 0, ranks, index);
    for (u32 rank = 1; rank < ranks; ++rank)
      value = Combined(value, ValueOf(what, rank, ranks, index), what.reduction.operation);
    AppendValue(result, what.reduction.type, value);
  }
  return result;
}

/// Bytes [first, first + count) of a rank's input, in elements.
std::vector<u8> PartOf(const Case& what, u32 rank, u32 ranks, u64 first, u64 count) {
  const std::vector<u8> input = InputOf(what, rank, ranks);
  const u64 unit = HcclDataTypeBytes(what.reduction.type);
  const auto begin = input.begin() + static_cast<std::ptrdiff_t>(first * unit);
  return {begin, begin + static_cast<std::ptrdiff_t>(count * unit)};
}

}  // namespace

std::vector<u8> InputOf(const Case& what, u32 rank, u32 ranks) {
  const u64 bytes = RoomFor(what, ranks).input_bytes;
  std::vector<u8> input;
  input.reserve(bytes + sizeof(u64));
  if (Reduces(what.collective)) {
    for (u64 index = 0; input.size() < bytes; ++index)
      AppendValue(input, what.reduction.type, ValueOf(what, rank, ranks, index));
  } else {
    for (u64 index = 0; input.size() < bytes; ++index)
      Append(input, Mixed(what.seed, rank, index));
  }
  input.resize(bytes);
  return input;
}

std::vector<ExpectedPart> ResultOf(const Case& what, u32 rank, u32 ranks) {
  const u64 unit = HcclDataTypeBytes(what.reduction.type);
  std::vector<ExpectedPart> parts;
  switch (what.collective) {
    case Collective::kRingAllGather:
    case Collective::kMeshAllGather:
      for (u32 from = 0; from < ranks; ++from)
        parts.push_back({from * what.count * unit, InputOf(what, from, ranks)});
      return parts;
    case Collective::kRingAllReduce:
      return {{0, Reduced(what, ranks, 0)}};
    case Collective::kRingReduceScatter:
    case Collective::kMeshReduceScatter:
      return {{0, Reduced(what, ranks, rank * what.count)}};
    case Collective::kBroadcast:
      return {{0, InputOf(what, what.root, ranks)}};
    case Collective::kScatter:
      return {{0, PartOf(what, what.root, ranks, rank * what.count, what.count)}};
    case Collective::kAllToAll:
      for (u32 from = 0; from < ranks; ++from)
        parts.push_back({from * what.count * unit, PartOf(what, from, ranks, rank * what.count, what.count)});
      return parts;
    case Collective::kAllToAllV: {
      const Exchange mine = ExchangeOf(what, rank, ranks);
      for (u32 from = 0; from < ranks; ++from) {
        const Exchange theirs = ExchangeOf(what, from, ranks);
        parts.push_back({mine.receive_offsets[from] * unit,
                         PartOf(what, from, ranks, theirs.send_offsets[rank], theirs.send_counts[rank])});
      }
      return parts;
    }
  }
  return parts;
}

}  // namespace collectives
