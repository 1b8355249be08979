// The types and operations of reductions: one row each, with the values of the public headers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sampan {

enum class ReduceOperation : std::uint8_t { kSum, kProduct, kMax, kMin };

enum class ReduceElement : std::uint8_t {
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUint8,
  kUint16,
  kUint32,
  kUint64,
  kHalf,
  kBrainFloat,
  kFloat,
  kDouble
};

/// aclrtReduceAsync accepts only the types and operations of copy engines, fewer than the vector unit has.
struct ReduceTypeRow {
  ReduceElement element;
  std::string_view name;
  std::size_t bytes;
  int acl;   ///< aclDataType
  int hccl;  ///< HcclDataType
  bool by_copy_engine;
};

struct ReduceOperationRow {
  ReduceOperation operation;
  std::string_view name;
  int acl;   ///< aclrtReduceKind, or kNoValue
  int hccl;  ///< HcclReduceOp
  bool by_copy_engine;
};

inline constexpr int kNoValue = -1;

/// By ReduceElement. The layers that see the public headers check the values.
inline constexpr std::array<ReduceTypeRow, 12> kReduceTypeRows = {{
    {ReduceElement::kInt8, "int8", 1, 2, 0, true},
    {ReduceElement::kInt16, "int16", 2, 6, 1, true},
    {ReduceElement::kInt32, "int32", 4, 3, 2, true},
    {ReduceElement::kInt64, "int64", 8, 9, 5, false},
    {ReduceElement::kUint8, "uint8", 1, 4, 7, false},
    {ReduceElement::kUint16, "uint16", 2, 7, 8, false},
    {ReduceElement::kUint32, "uint32", 4, 8, 9, false},
    {ReduceElement::kUint64, "uint64", 8, 10, 6, false},
    {ReduceElement::kHalf, "fp16", 2, 1, 3, true},
    {ReduceElement::kBrainFloat, "bf16", 2, 27, 11, true},
    {ReduceElement::kFloat, "fp32", 4, 0, 4, true},
    {ReduceElement::kDouble, "fp64", 8, 11, 10, false},
}};

/// By ReduceOperation.
inline constexpr std::array<ReduceOperationRow, 4> kReduceOperationRows = {{
    {ReduceOperation::kSum, "sum", 10, 0, true},
    {ReduceOperation::kProduct, "product", kNoValue, 1, false},
    {ReduceOperation::kMax, "max", 11, 2, true},
    {ReduceOperation::kMin, "min", 12, 3, true},
}};

inline constexpr std::size_t kReduceElements = kReduceTypeRows.size();
inline constexpr std::size_t kReduceOperations = kReduceOperationRows.size();

constexpr const ReduceTypeRow& RowOf(ReduceElement element) {
  return kReduceTypeRows[static_cast<std::size_t>(element)];
}
constexpr const ReduceOperationRow& RowOf(ReduceOperation operation) {
  return kReduceOperationRows[static_cast<std::size_t>(operation)];
}
constexpr std::size_t ElementBytes(ReduceElement element) {
  return RowOf(element).bytes;
}

/// Returns the row with this value in `column` (acl or hccl), or null.
template <typename Table, typename Row = typename Table::value_type>
constexpr const Row* FindReduceRow(const Table& table, int Row::*column, int value) {
  for (const Row& row : table) {
    if (row.*column == value && value != kNoValue) return &row;
  }
  return nullptr;
}

/// The names of a table's rows, in their order.
template <typename Row, std::size_t kRows>
constexpr std::array<std::string_view, kRows> NamesOfRows(const std::array<Row, kRows>& rows) {
  std::array<std::string_view, kRows> names;
  for (std::size_t i = 0; i < kRows; ++i)
    names[i] = rows[i].name;
  return names;
}

/// Lists the names of a table's rows for messages: "sum, max and min".
template <typename Table>
std::string NamesInWords(const Table& table, bool only_by_copy_engine) {
  std::string names;
  std::string_view last;
  for (const auto& row : table) {
    if (only_by_copy_engine && !row.by_copy_engine) continue;
    if (!last.empty()) names.append(names.empty() ? "" : ", ").append(last);
    last = row.name;
  }
  return names.append(" and ").append(last);
}

}  // namespace sampan
