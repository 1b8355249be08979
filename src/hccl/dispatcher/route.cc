// The type of link between two addresses.
#include "hccl/dispatcher/route.h"

#include "acl/acl_rt.h"
#include "base/platform_bridge.h"

namespace sampan::hccl {
namespace {

std::optional<s32> DeviceOf(const void* address) {
  aclrtPtrAttributes attributes = {};
  if (aclrtPointerGetAttributes(address, &attributes) != ACL_SUCCESS) return std::nullopt;
  if (attributes.location.type != ACL_MEM_LOCATION_TYPE_DEVICE) return std::nullopt;
  return static_cast<s32>(attributes.location.id);
}

}  // namespace

::hccl::LinkType LinkBetween(s32 device, s32 other) {
  using ::hccl::LinkType;
  if (device == other) return LinkType::LINK_ONCHIP;
  uint64_t topology = 0;
  if (aclrtGetDevicesTopo(static_cast<uint32_t>(device), static_cast<uint32_t>(other), &topology) !=
      ACL_SUCCESS)
    return LinkType::LINK_RESERVED;
  if ((topology & ACL_RT_DEVS_TOPOLOGY_SIO) != 0) return LinkType::LINK_SIO;
  if ((topology & ACL_RT_DEVS_TOPOLOGY_HCCS_SW) != 0) return LinkType::LINK_HCCS_SW;
  if ((topology & ACL_RT_DEVS_TOPOLOGY_HCCS) != 0) return LinkType::LINK_HCCS;
  return LinkType::LINK_PCIE;
}

std::optional<::hccl::LinkType> LinkBetween(const void* dst, const void* src) {
  const auto to = DeviceOf(dst);
  const auto from = to ? DeviceOf(src) : std::nullopt;
  if (!from) return std::nullopt;
  // As the original for ranks of other servers of the super pod.
  if (sampanIsOnOtherHost(dst) || sampanIsOnOtherHost(src)) return ::hccl::LinkType::LINK_HCCS_SW;
  return LinkBetween(*to, *from);
}

const char* Name(::hccl::LinkType link) {
  switch (link) {
    case ::hccl::LinkType::LINK_ONCHIP:
      return "ONCHIP";
    case ::hccl::LinkType::LINK_HCCS:
      return "HCCS";
    case ::hccl::LinkType::LINK_PCIE:
      return "PCIE";
    case ::hccl::LinkType::LINK_ROCE:
      return "ROCE";
    case ::hccl::LinkType::LINK_SIO:
      return "SIO";
    case ::hccl::LinkType::LINK_HCCS_SW:
      return "HCCS_SW";
    case ::hccl::LinkType::LINK_STANDARD_ROCE:
      return "STANDARD_ROCE";
    case ::hccl::LinkType::LINK_UB:
      return "UB";
    case ::hccl::LinkType::LINK_RESERVED:
      return "RESERVED";
  }
  return "unknown";
}

}  // namespace sampan::hccl
