// The types and operations of reductions.
#include "hccl/reduction.h"

namespace sampan::hccl {

std::optional<ReduceElement> ElementOf(HcclDataType type) {
  switch (type) {
    case HCCL_DATA_TYPE_INT8:
      return ReduceElement::kInt8;
    case HCCL_DATA_TYPE_INT16:
      return ReduceElement::kInt16;
    case HCCL_DATA_TYPE_INT32:
      return ReduceElement::kInt32;
    case HCCL_DATA_TYPE_INT64:
      return ReduceElement::kInt64;
    case HCCL_DATA_TYPE_UINT8:
      return ReduceElement::kUint8;
    case HCCL_DATA_TYPE_UINT16:
      return ReduceElement::kUint16;
    case HCCL_DATA_TYPE_UINT32:
      return ReduceElement::kUint32;
    case HCCL_DATA_TYPE_UINT64:
      return ReduceElement::kUint64;
    case HCCL_DATA_TYPE_FP16:
      return ReduceElement::kHalf;
    case HCCL_DATA_TYPE_BFP16:
      return ReduceElement::kBrainFloat;
    case HCCL_DATA_TYPE_FP32:
      return ReduceElement::kFloat;
    case HCCL_DATA_TYPE_FP64:
      return ReduceElement::kDouble;
    default:
      return std::nullopt;
  }
}

std::optional<ReduceOperation> OperationOf(HcclReduceOp operation) {
  switch (operation) {
    case HCCL_REDUCE_SUM:
      return ReduceOperation::kSum;
    case HCCL_REDUCE_PROD:
      return ReduceOperation::kProduct;
    case HCCL_REDUCE_MAX:
      return ReduceOperation::kMax;
    case HCCL_REDUCE_MIN:
      return ReduceOperation::kMin;
    default:
      return std::nullopt;
  }
}

bool CanBeInlined(HcclDataType type, HcclReduceOp operation) {
  if (operation == HCCL_REDUCE_PROD || !OperationOf(operation)) return false;
  switch (type) {
    case HCCL_DATA_TYPE_INT8:
    case HCCL_DATA_TYPE_INT16:
    case HCCL_DATA_TYPE_INT32:
    case HCCL_DATA_TYPE_FP16:
    case HCCL_DATA_TYPE_FP32:
    case HCCL_DATA_TYPE_BFP16:
      return true;
    default:
      return false;
  }
}

}  // namespace sampan::hccl
