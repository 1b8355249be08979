// The operators: one row each, with their names.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "base/error/text.h"
#include "base/reduce/reduce_types.h"
#include "collectives/board/region.h"

namespace sampan::collectives {

enum class OperatorKind : u32 {
  kAllReduce = 1,
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
  kBarrier,
  kSend,
  kRecv,
  kBatchSendRecv,
  kGroup
};

/// How the bytes travel: into every rank's output by the owner of a chunk, or fetched by the rank that needs
/// them.
struct OperatorRow {
  OperatorKind kind;
  const char* function;
  const char* algorithm;
  bool has_count, has_root, reduces;
};

inline constexpr std::array<OperatorRow, 16> kOperatorRows = {{
    {OperatorKind::kAllReduce, "HcclAllReduce", "one pass, a chunk a rank", true, false, true},
    {OperatorKind::kBroadcast, "HcclBroadcast", "push, a slice a rank", true, true, false},
    {OperatorKind::kAllGather, "HcclAllGather", "push", true, false, false},
    {OperatorKind::kAllGatherV, "HcclAllGatherV", "push", false, false, false},
    {OperatorKind::kReduceScatter, "HcclReduceScatter", "one pass, own block", true, false, true},
    {OperatorKind::kReduceScatterV, "HcclReduceScatterV", "one pass, own block", false, false, true},
    {OperatorKind::kReduce, "HcclReduce", "one pass, a slice a rank", true, true, true},
    {OperatorKind::kScatter, "HcclScatter", "fetch", true, true, false},
    {OperatorKind::kAllToAll, "HcclAlltoAll", "fetch", true, false, false},
    {OperatorKind::kAllToAllV, "HcclAlltoAllV", "fetch", false, false, false},
    {OperatorKind::kAllToAllVC, "HcclAlltoAllVC", "fetch", false, false, false},
    {OperatorKind::kBarrier, "HcclBarrier", "signals", false, false, false},
    {OperatorKind::kSend, "HcclSend", "fetch", true, false, false},
    {OperatorKind::kRecv, "HcclRecv", "fetch", true, false, false},
    {OperatorKind::kBatchSendRecv, "HcclBatchSendRecv", "fetch", false, false, false},
    {OperatorKind::kGroup, "a group of HcclSend and HcclRecv", "fetch", false, false, false},
}};

inline const OperatorRow& RowOf(OperatorKind kind) {
  return kOperatorRows[static_cast<u32>(kind) - 1];
}
/// Of a number that another rank wrote.
inline const char* FunctionName(u32 kind) {
  return kind >= 1 && kind <= kOperatorRows.size() ? kOperatorRows[kind - 1].function : "no operator";
}

inline std::string TypeName(u32 type) {
  for (const ReduceTypeRow& row : kReduceTypeRows) {
    if (row.hccl == static_cast<int>(type)) return std::string(row.name);
  }
  return Text("type ", type);
}
inline std::string OperationName(u32 operation) {
  const auto* const row =
      FindReduceRow(kReduceOperationRows, &ReduceOperationRow::hccl, static_cast<int>(operation));
  return row != nullptr ? std::string(row->name) : Text("operation ", operation);
}

/// A call in words, such as "HcclAllReduce of 12 fp32 (sum)".
inline std::string Describe(const CallFacts& facts) {
  std::string text = FunctionName(facts.kind);
  if (facts.kind < 1 || facts.kind > kOperatorRows.size()) return text;
  const OperatorRow& row = kOperatorRows[facts.kind - 1];
  if (row.kind == OperatorKind::kBarrier || row.kind == OperatorKind::kBatchSendRecv ||
      row.kind == OperatorKind::kGroup)
    return text;
  text += row.has_count ? Text(" of ", facts.count, " ") : std::string(" of ");
  text += TypeName(facts.type);
  if (row.reduces) text += Text(" (", OperationName(facts.operation), ")");
  if (row.has_root) text += Text(" with root ", facts.root);
  return text;
}

/// The most important facts of a call in one word, which others may read at any time.
inline u64 PackedCall(const CallFacts& facts) {
  constexpr u64 kMaxCount = (u64{1} << 48) - 1;
  const u64 count = facts.count < kMaxCount ? facts.count : kMaxCount;
  return u64{facts.kind & 0xFF} << 56 | u64{facts.type & 0xFF} << 48 | count;
}
inline std::string DescribePacked(u64 packed) {
  if (packed == 0) return "none";
  const u32 kind = static_cast<u32>(packed >> 56);
  const std::string count = Text(" of ", packed & ((u64{1} << 48) - 1), " ", TypeName(packed >> 48 & 0xFF));
  const bool has_count = kind >= 1 && kind <= kOperatorRows.size() && kOperatorRows[kind - 1].has_count;
  return FunctionName(kind) + (has_count ? count : std::string());
}

}  // namespace sampan::collectives
