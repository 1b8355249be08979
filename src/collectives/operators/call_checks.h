// What every call of an operator checks, in the documented order.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>

#include "base/platform_bridge.h"
#include "collectives/comm/communicator.h"
#include "collectives/operators/kinds.h"
#include "hccl/hccl_types.h"

namespace sampan::collectives {

/// Whether the profile's chip has collectives.
bool ChipHasCollectives();

inline constexpr u64 kMaxCount = 0x7FFFFFFFF;

struct NamedPointer {
  const char* name;
  const void* pointer;
};
/// HCCL_E_PTR for the first pointer that is NULL.
HcclResult CheckPointers(const char* function, std::initializer_list<NamedPointer> pointers);
/// HCCL_E_PARA for an unknown communicator.
HcclResult FindCommunicator(const char* function, HcclComm handle, std::shared_ptr<Communicator>& found);
/// The same, and the codes of a suspended or broken one.
HcclResult FindForOperator(const char* function, HcclComm handle, std::shared_ptr<Communicator>& found);
HcclResult CheckCount(const char* function, const char* name, u64 count);
HcclResult CheckRank(const char* function, const char* name, u32 rank, u32 size);
/// Whether the chip has the type for this operator.
HcclResult CheckType(const char* function, OperatorKind kind, HcclDataType type);
HcclResult CheckOperation(const char* function, OperatorKind kind, HcclDataType type, HcclReduceOp operation);
/// Finds the memory of a buffer. Nothing if it has no bytes. The communicator's device must be current.
HcclResult FindBuffer(const char* function, const Communicator& communicator, const char* name,
                      const void* address, u64 bytes, DeviceRange& range);

}  // namespace sampan::collectives
