// The rows of the reduction table by HCCL's values.
#pragma once

#include "base/reduce/reduce_types.h"
#include "hccl/hccl_types.h"

namespace sampan::hccl {

/// Null for types and operations that cannot be reduced.
constexpr const ReduceTypeRow* TypeRowOf(HcclDataType type) {
  return FindReduceRow(kReduceTypeRows, &ReduceTypeRow::hccl, type);
}
constexpr const ReduceOperationRow* OperationRowOf(HcclReduceOp operation) {
  return FindReduceRow(kReduceOperationRows, &ReduceOperationRow::hccl, operation);
}

static_assert(TypeRowOf(HCCL_DATA_TYPE_INT8)->element == ReduceElement::kInt8 &&
              TypeRowOf(HCCL_DATA_TYPE_INT16)->element == ReduceElement::kInt16 &&
              TypeRowOf(HCCL_DATA_TYPE_INT32)->element == ReduceElement::kInt32 &&
              TypeRowOf(HCCL_DATA_TYPE_INT64)->element == ReduceElement::kInt64 &&
              TypeRowOf(HCCL_DATA_TYPE_UINT8)->element == ReduceElement::kUint8 &&
              TypeRowOf(HCCL_DATA_TYPE_UINT16)->element == ReduceElement::kUint16 &&
              TypeRowOf(HCCL_DATA_TYPE_UINT32)->element == ReduceElement::kUint32 &&
              TypeRowOf(HCCL_DATA_TYPE_UINT64)->element == ReduceElement::kUint64 &&
              TypeRowOf(HCCL_DATA_TYPE_FP16)->element == ReduceElement::kHalf &&
              TypeRowOf(HCCL_DATA_TYPE_BFP16)->element == ReduceElement::kBrainFloat &&
              TypeRowOf(HCCL_DATA_TYPE_FP32)->element == ReduceElement::kFloat &&
              TypeRowOf(HCCL_DATA_TYPE_FP64)->element == ReduceElement::kDouble);
static_assert(OperationRowOf(HCCL_REDUCE_SUM)->operation == ReduceOperation::kSum &&
              OperationRowOf(HCCL_REDUCE_PROD)->operation == ReduceOperation::kProduct &&
              OperationRowOf(HCCL_REDUCE_MAX)->operation == ReduceOperation::kMax &&
              OperationRowOf(HCCL_REDUCE_MIN)->operation == ReduceOperation::kMin);

}  // namespace sampan::hccl
