// Queries about devices: attributes, names, ids, status.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "acl/acl_rt.h"
#include "acl/caller.h"
#include "acl/guard.h"
#include "acl/sharing/shared_key.h"
#include "base/system/host_identity.h"
#include "process/process.h"

namespace sampan::acl {
namespace {

/// "0000:3D:00.0": the devices sit on consecutive buses of an imaginary host.
std::string BusIdOf(const core::Device& device) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "0000:%02X:00.0", static_cast<unsigned>(device.physical_id()) + 1);
  return text.data();
}

/// Finds the device and writes the result of `read`.
template <typename Out, typename Read>
Status ReadDevice(std::int64_t device_id, std::string_view name, Out* out, Read read) {
  if (Status present = RequireNonNull(name, out); !present.ok()) return present;
  auto runtime = process::TheRuntime();
  if (!runtime.ok()) return runtime.TakeStatus();
  auto device = (*runtime)->FindDevice(device_id);
  if (!device.ok()) return device.TakeStatus();
  return read(**runtime, **device, *out);
}

/// Where a device is in the super pod, of which all hosts are servers.
Status ReadPodAttribute(const core::Device& device, aclrtDevAttr attribute, std::int64_t& value) {
  auto host = ThisHost();
  if (!host.ok()) return host.TakeStatus();
  const std::int64_t server = ServerNumber(*host);
  value = attribute == ACL_DEV_ATTR_SUPER_POD_SERVER_ID   ? server
          : attribute == ACL_DEV_ATTR_SUPER_POD_DEVICE_ID ? server << kDeviceBits | device.physical_id()
                                                          : 0;
  return {};
}

Status ReadAttribute(const core::Profile& profile, core::Device& device, aclrtDevAttr attribute,
                     std::int64_t& value) {
  switch (attribute) {
    case ACL_DEV_ATTR_SUPER_POD_DEVICE_ID:
    case ACL_DEV_ATTR_SUPER_POD_SERVER_ID:
    case ACL_DEV_ATTR_SUPER_POD_ID:
      if (profile.fabric) return ReadPodAttribute(device, attribute, value);
      break;
    case ACL_DEV_ATTR_AICPU_CORE_NUM:
      value = profile.ai_cpus;
      return {};
    case ACL_DEV_ATTR_AICORE_CORE_NUM:
    case ACL_DEV_ATTR_CUBE_CORE_NUM:
      value = profile.ai_cores;
      return {};
    case ACL_DEV_ATTR_VECTOR_CORE_NUM:
      value = profile.vector_cores;
      return {};
    case ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE: {
      auto opened = device.Open();
      if (!opened.ok()) return opened.TakeStatus();
      value = static_cast<std::int64_t>((*opened)->memory().Info().total_bytes);
      return {};
    }
    case ACL_DEV_ATTR_L2_CACHE_SIZE:
      value = static_cast<std::int64_t>(profile.l2_bytes);
      return {};
    case ACL_DEV_ATTR_PHY_CHIP_ID:
      value = device.physical_id();
      return {};
    case ACL_DEV_ATTR_SMP_ID:
    case ACL_DEV_ATTR_CUST_OP_PRIVILEGE:
    case ACL_DEV_ATTR_MAINBOARD_ID:
      value = 0;
      return {};
    case ACL_DEV_ATTR_HD_CONNECT_TYPE:
      value = 0;
      return {};  // PCIe
    case ACL_DEV_ATTR_IS_VIRTUAL:
      value = 0;
      return {};
    case ACL_DEV_ATTR_NPU_ARCH:
      value = profile.npu_arch;
      return {};
    default:
      break;
  }
  return {Code::kFeatureNotSupport,
          Text("attr ", static_cast<int>(attribute), " says nothing about an emulated device")};
}

Status ReadFigure(const core::Profile& profile, int info, std::int64_t& value) {
  switch (info) {
    case ACL_DEVICE_INFO_AI_CORE_NUM:
      value = profile.ai_cores;
      return {};
    case ACL_DEVICE_INFO_VECTOR_CORE_NUM:
      value = profile.vector_cores;
      return {};
    case ACL_DEVICE_INFO_L2_SIZE:
      value = static_cast<std::int64_t>(profile.l2_bytes);
      return {};
    default:
      return InvalidArgument(Text("deviceInfo is ", info, ", it must be 0 to 2"));
  }
}

constexpr std::array kCannAttributes = {ACL_CANN_ATTR_INF_NAN, ACL_CANN_ATTR_BF16, ACL_CANN_ATTR_JIT_COMPILE};

/// Converts between ids of the program and of the machine. Logical and physical ids are equal here.
enum class IdSpace { kUser, kMachine };
Status ConvertId(std::int32_t id, IdSpace from, IdSpace to, std::string_view name, std::int32_t* out) {
  if (Status present = RequireNonNull(name, out); !present.ok()) return present;
  auto runtime = process::TheRuntime();
  if (!runtime.ok()) return runtime.TakeStatus();
  for (std::int32_t user_id = 0; user_id < (*runtime)->device_count(); ++user_id) {
    const std::int32_t machine_id = (**(*runtime)->FindDevice(user_id)).physical_id();
    if ((from == IdSpace::kUser ? user_id : machine_id) != id) continue;
    *out = to == IdSpace::kUser ? user_id : machine_id;
    return {};
  }
  return {Code::kInvalidDevice, Text("there is no visible device with the id ", id)};
}

}  // namespace
}  // namespace sampan::acl

using namespace sampan;
using namespace sampan::acl;

const char* aclrtGetSocName(void) {
  const char* name = nullptr;
  static_cast<void>(Guard("aclrtGetSocName", [&]() -> Status {
    auto runtime = process::TheRuntime();
    if (!runtime.ok()) return runtime.TakeStatus();
    name = (*runtime)->profile().soc_name.data();
    return {};
  }));
  return name;
}

// Compatibility: partly: attributes that mean nothing on an emulated device answer 207000: SIMT limits, and
// the super pod, which only ascend910c has
aclError aclrtGetDeviceInfo(uint32_t deviceId, aclrtDevAttr attr, int64_t* value) {
  return Guard("aclrtGetDeviceInfo", [&] {
    return ReadDevice(deviceId, "value", value,
                      [&](core::Runtime& runtime, core::Device& device, int64_t& out) {
                        return ReadAttribute(runtime.profile(), device, attr, out);
                      });
  });
}

aclError aclGetDeviceCapability(uint32_t deviceId, aclDeviceInfo deviceInfo, int64_t* value) {
  return Guard("aclGetDeviceCapability", [&]() -> Status {
    if (Status present = RequireNonNull("value", value); !present.ok()) return present;
    auto runtime = process::TheRuntime();
    if (!runtime.ok()) return runtime.TakeStatus();
    if (deviceId >= static_cast<uint32_t>((*runtime)->device_count())) {
      return InvalidArgument(
          Text("deviceId is ", deviceId, ", there are ", (*runtime)->device_count(), " devices"));
    }
    return ReadFigure((*runtime)->profile(), deviceInfo, *value);
  });
}

aclError aclGetCannAttribute(aclCannAttr cannAttr, int32_t* value) {
  return Guard("aclGetCannAttribute", [&]() -> Status {
    if (Status present = RequireNonNull("value", value); !present.ok()) return present;
    auto runtime = process::TheRuntime();
    if (!runtime.ok()) return runtime.TakeStatus();
    if (std::find(kCannAttributes.begin(), kCannAttributes.end(), cannAttr) == kCannAttributes.end()) {
      return InvalidArgument(Text("cannAttr is ", static_cast<int>(cannAttr), ", it must be 0 to 2"));
    }
    *value = cannAttr == ACL_CANN_ATTR_JIT_COMPILE || (*runtime)->profile().modern_compute ? 1 : 0;
    return {};
  });
}

aclError aclGetCannAttributeList(const aclCannAttr** cannAttrList, size_t* num) {
  return Guard("aclGetCannAttributeList", [&]() -> Status {
    if (Status present = RequireNonNull("cannAttrList", cannAttrList, "num", num); !present.ok())
      return present;
    *cannAttrList = kCannAttributes.data();
    *num = kCannAttributes.size();
    return {};
  });
}

aclError aclrtGetDeviceCapability(int32_t deviceId, aclrtDevFeatureType devFeatureType, int32_t* value) {
  return Guard("aclrtGetDeviceCapability", [&] {
    return ReadDevice(deviceId, "value", value, [&](core::Runtime&, core::Device&, int32_t& out) -> Status {
      if (devFeatureType != ACL_FEATURE_TSCPU_TASK_UPDATE_SUPPORT_AIC_AIV &&
          devFeatureType != ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV) {
        return {Code::kParamInvalid,
                Text("devFeatureType is ", static_cast<int>(devFeatureType), ", it must be 1 or 21")};
      }
      out = 0;  // neither is supported: there are no kernels and no queues between devices
      return {};
    });
  });
}

aclError aclrtDeviceGetUuid(int32_t deviceId, aclrtUuid* uuid) {
  return Guard("aclrtDeviceGetUuid", [&] {
    return ReadDevice(
        deviceId, "uuid", uuid, [](core::Runtime&, core::Device& device, aclrtUuid& out) -> Status {
          std::memset(out.bytes, 0, sizeof(out.bytes));
          std::snprintf(out.bytes, sizeof(out.bytes), "SAMPAN-%04d", static_cast<int>(device.physical_id()));
          return {};
        });
  });
}

aclError aclrtDeviceGetPCIBusId(int32_t deviceId, char* pciBusId, int32_t len) {
  return Guard("aclrtDeviceGetPCIBusId", [&] {
    return ReadDevice(
        deviceId, "pciBusId", pciBusId, [&](core::Runtime&, core::Device& device, char& out) -> Status {
          const std::string bus_id = BusIdOf(device);
          if (len < 0 || static_cast<std::size_t>(len) <= bus_id.size()) {
            return {Code::kParamInvalid, Text("len ", len, " is too short for '", bus_id, "' and its end")};
          }
          std::memcpy(&out, bus_id.c_str(), bus_id.size() + 1);
          return {};
        });
  });
}

aclError aclrtDeviceGetByPCIBusId(const char* pciBusId, int32_t* deviceId) {
  return Guard("aclrtDeviceGetByPCIBusId", [&]() -> Status {
    if (Status present = RequireNonNull("pciBusId", pciBusId, "deviceId", deviceId); !present.ok())
      return present;
    auto runtime = process::TheRuntime();
    if (!runtime.ok()) return runtime.TakeStatus();
    for (std::int32_t id = 0; id < (*runtime)->device_count(); ++id) {
      if (::strcasecmp(BusIdOf(**(*runtime)->FindDevice(id)).c_str(), pciBusId) != 0) continue;
      *deviceId = id;
      return {};
    }
    return {Code::kInvalidDevice, Text("there is no visible device at '", std::string_view(pciBusId), "'")};
  });
}

aclError aclrtGetDevicesTopo(uint32_t deviceId, uint32_t otherDeviceId, uint64_t* value) {
  return Guard("aclrtGetDevicesTopo", [&] {
    return ReadDevice(deviceId, "value", value,
                      [&](core::Runtime& runtime, core::Device&, uint64_t& out) -> Status {
                        if (auto other = runtime.FindDevice(otherDeviceId); !other.ok())
                          return other.TakeStatus();
                        out = ACL_RT_DEVS_TOPOLOGY_HCCS;
                        return {};
                      });
  });
}

aclError aclrtQueryDeviceStatus(int32_t deviceId, aclrtDeviceStatus* deviceStatus) {
  return Guard("aclrtQueryDeviceStatus", [&] {
    return ReadDevice(deviceId, "deviceStatus", deviceStatus,
                      [](core::Runtime&, core::Device&, aclrtDeviceStatus& out) -> Status {
                        out = ACL_RT_DEVICE_STATUS_NORMAL;  // an emulated device does not fail
                        return {};
                      });
  });
}

aclError aclrtGetDeviceUtilizationRate(int32_t deviceId, aclrtUtilizationInfo* utilizationInfo) {
  return Guard("aclrtGetDeviceUtilizationRate", [&] {
    return ReadDevice(deviceId, "utilizationInfo", utilizationInfo,
                      [](core::Runtime&, core::Device& device, aclrtUtilizationInfo& out) -> Status {
                        if (out.utilizationExtend != nullptr) {
                          return InvalidArgument("utilizationInfo->utilizationExtend must be NULL");
                        }
                        auto opened = device.Open();
                        if (!opened.ok()) return opened.TakeStatus();
                        const MemoryInfo info = (*opened)->memory().Info();
                        // Emulated devices have no cores, so only the memory is in use.
                        out.cubeUtilization = out.vectorUtilization = out.aicpuUtilization = 0;
                        out.memoryUtilization = static_cast<int32_t>((info.total_bytes - info.free_bytes) *
                                                                     100 / info.total_bytes);
                        return {};
                      });
  });
}

aclError aclrtDeviceGetStreamPriorityRange(int32_t* leastPriority, int32_t* greatestPriority) {
  if (leastPriority != nullptr) *leastPriority = 7;
  if (greatestPriority != nullptr) *greatestPriority = 0;
  return ACL_SUCCESS;
}

aclError aclrtDeviceGetBareTgid(int32_t* pid) {
  return Guard("aclrtDeviceGetBareTgid", [&]() -> Status {
    if (Status present = RequireNonNull("pid", pid); !present.ok()) return present;
    *pid = ::getpid();
    return {};
  });
}

aclError aclrtGetLogicDevIdByUserDevId(const int32_t userDevid, int32_t* const logicDevId) {
  return Guard("aclrtGetLogicDevIdByUserDevId", [&] {
    return ConvertId(userDevid, IdSpace::kUser, IdSpace::kMachine, "logicDevId", logicDevId);
  });
}

aclError aclrtGetUserDevIdByLogicDevId(const int32_t logicDevId, int32_t* const userDevid) {
  return Guard("aclrtGetUserDevIdByLogicDevId", [&] {
    return ConvertId(logicDevId, IdSpace::kMachine, IdSpace::kUser, "userDevid", userDevid);
  });
}

aclError aclrtGetLogicDevIdByPhyDevId(const int32_t phyDevId, int32_t* const logicDevId) {
  return Guard("aclrtGetLogicDevIdByPhyDevId", [&] {
    return ConvertId(phyDevId, IdSpace::kMachine, IdSpace::kMachine, "logicDevId", logicDevId);
  });
}

aclError aclrtGetPhyDevIdByLogicDevId(const int32_t logicDevId, int32_t* const phyDevId) {
  return Guard("aclrtGetPhyDevIdByLogicDevId", [&] {
    return ConvertId(logicDevId, IdSpace::kMachine, IdSpace::kMachine, "phyDevId", phyDevId);
  });
}

aclError aclrtGetUserDevIdByPhyDevId(const int32_t phyDevId, int32_t* const userDevId) {
  return Guard("aclrtGetUserDevIdByPhyDevId", [&] {
    return ConvertId(phyDevId, IdSpace::kMachine, IdSpace::kUser, "userDevId", userDevId);
  });
}

aclError aclrtGetPhyDevIdByUserDevId(const int32_t userDevId, int32_t* const phyDevId) {
  return Guard("aclrtGetPhyDevIdByUserDevId",
               [&] { return ConvertId(userDevId, IdSpace::kUser, IdSpace::kMachine, "phyDevId", phyDevId); });
}
