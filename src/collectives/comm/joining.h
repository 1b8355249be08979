// How ranks get their communicators, and give them back.
#pragma once

#include <string>
#include <vector>

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
  HostPlan hosts{};
};
/// Waits for the other ranks and registers the communicator.
HcclResult JoinCommunicator(const char* function, const JoinRequest& request, HcclComm* comm);

/// One of several calls that join together.
struct GroupJoin {
  const char* function;
  JoinRequest request;
  HcclComm* comm;
};
/// Joins each on a thread of its own, so that the ranks of one communicator can meet. If one fails, none of
/// them has a communicator.
HcclResult JoinTogether(const char* function, const std::vector<GroupJoin>& joins);

/// HCCL_E_PARA if it is no communicator, HCCL_E_AGAIN if operators are not over.
HcclResult DestroyCommunicator(const char* function, HcclComm comm);

}  // namespace sampan::collectives
