// Which types and operations reductions know, and what they are called below.
#pragma once

#include <optional>

#include "base/reduce_kernels.h"
#include "hccl/hccl_types.h"

namespace sampan::hccl {

/// Empty for types and operations that nothing here can reduce.
std::optional<ReduceElement> ElementOf(HcclDataType type);
std::optional<ReduceOperation> OperationOf(HcclReduceOp operation);

/// Whether copy engines can do it: fewer types than the vector unit, and no products.
bool CanBeInlined(HcclDataType type, HcclReduceOp operation);

}  // namespace sampan::hccl
