// How a rank gets its communicator.
#include "collectives/comm/joining.h"

#include <string_view>
#include <utility>

#include "acl/acl.h"
#include "base/platform_bridge.h"
#include "hccl/report.h"

namespace sampan::collectives {

using hccl::Fail;

HcclResult CurrentDevice(const char* function, s32& device) {
  if (aclrtGetDevice(&device) == ACL_SUCCESS) return HCCL_SUCCESS;
  return Fail(function, HCCL_E_RUNTIME,
              "the calling thread has no current device: call aclrtSetDevice first");
}

HcclResult JoinCommunicator(const char* function, const JoinRequest& request, HcclComm* comm) {
  if (request.size > kMaxRanks) {
    return Fail(function, HCCL_E_NOT_SUPPORT,
                Text("a communicator of ", request.size, " ranks: one host has at most ", kMaxRanks));
  }
  if (!sampanCopyHere(nullptr, nullptr, 0, false)) {
    return Fail(
        function, HCCL_E_NOT_SUPPORT,
        "collectives need emulated devices: the host cannot reach the memory of this backend's devices");
  }
  Communicator::Facts facts{.name = request.options.name.empty() ? request.meeting : request.options.name,
                            .rank = request.rank,
                            .size = request.size,
                            .device = request.device,
                            .options = request.options};
  NameReservation name(facts.name, facts.device, facts.rank);
  if (!name.is_held()) {
    return Fail(function, HCCL_E_PARA,
                Text("EI0003: device ", facts.device, " has a communicator '", facts.name, "' already"));
  }
  std::shared_ptr<Membership> membership;
  const Membership::Place place{request.meeting, request.token, request.rank, request.size};
  if (const HcclResult joined = Membership::Join(function, place, request.options, membership);
      joined != HCCL_SUCCESS)
    return joined;
  const Region whole = membership->board()->whole();
  *comm = TheRegistry().Add(std::make_shared<Communicator>(std::move(facts), std::move(membership), whole));
  name.Keep();
  return HCCL_SUCCESS;
}

}  // namespace sampan::collectives
