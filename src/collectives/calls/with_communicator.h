// A call about a communicator that is no operator.
#pragma once

#include <initializer_list>
#include <memory>

#include "collectives/operators/call_checks.h"
#include "hccl/report.h"

namespace sampan::collectives {

/// Checks the pointers, comm first, and finds the communicator. Then calls `use` with it.
template <typename Use>
HcclResult WithCommunicator(const char* function, HcclComm comm, std::initializer_list<NamedPointer> pointers,
                            Use use) {
  return hccl::Guard(function, [&]() -> HcclResult {
    std::shared_ptr<Communicator> found;
    HcclResult result = CheckPointers(function, {{"comm", comm}});
    if (result == HCCL_SUCCESS) result = CheckPointers(function, pointers);
    if (result == HCCL_SUCCESS) result = FindCommunicator(function, comm, found);
    return result == HCCL_SUCCESS ? use(*found) : result;
  });
}

}  // namespace sampan::collectives
