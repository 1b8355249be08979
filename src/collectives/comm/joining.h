// How a rank gets its communicator.
#pragma once

#include <string>

#include "collectives/comm/comm_options.h"
#include "collectives/comm/registry.h"

namespace sampan::collectives {

/// The calling thread's device; HCCL_E_RUNTIME if it has none.
HcclResult CurrentDevice(const char* function, s32& device);

struct JoinRequest {
  std::string meeting;  ///< where the ranks meet; the communicator's name if the options have none
  std::string token;
  u32 rank = 0, size = 0;
  s32 device = 0;
  CommOptions options;
};
/// Waits for the other ranks and registers the communicator.
HcclResult JoinCommunicator(const char* function, const JoinRequest& request, HcclComm* comm);

}  // namespace sampan::collectives
