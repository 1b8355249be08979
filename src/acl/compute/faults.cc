// Faults of devices and their repair: there are none to report.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>

#include "acl/acl_rt.h"
#include "acl/caller.h"
#include "acl/guard.h"

namespace sampan::acl {
namespace {

/// Checks the chip, then the device.
Result<core::Device*> FindReportingDevice(std::int32_t device_id) {
  auto runtime = process::TheRuntime();
  if (!runtime.ok()) return runtime.TakeStatus();
  const core::Profile& profile = (*runtime)->profile();
  if (!profile.modern_compute) {
    return Error{Code::kFeatureNotSupport, Text(profile.chip, " gives no details of faults")};
  }
  return (*runtime)->FindDevice(device_id);
}

Status RequireSetDevice(std::int32_t device_id) {
  auto device = FindReportingDevice(device_id);
  if (!device.ok()) return device.TakeStatus();
  if ((*device)->IsSet()) return {};
  return {Code::kContextNull, Text("device ", device_id, " has no context: call aclrtSetDevice first")};
}

Status CheckRanges(std::span<const aclrtMemUceInfo> ranges) {
  for (const aclrtMemUceInfo& range : ranges) {
    if (std::any_of(std::begin(range.reserved), std::end(range.reserved),
                    [](std::size_t word) { return word != 0; })) {
      return InvalidArgument(
          Text("entry ", &range - ranges.data(), " of memUceInfoArray: its reserved words must be 0"));
    }
  }
  return {};
}

}  // namespace
}  // namespace sampan::acl

using namespace sampan;
using namespace sampan::acl;

aclError aclrtGetErrorVerbose(int32_t deviceId, aclrtErrorInfo* errorInfo) {
  return Guard("aclrtGetErrorVerbose", [&]() -> Status {
    if (Status present = RequireNonNull("errorInfo", errorInfo); !present.ok()) return present;
    if (auto device = FindReportingDevice(deviceId); !device.ok()) return device.TakeStatus();
    *errorInfo = aclrtErrorInfo{};
    errorInfo->errorType = ACL_RT_NO_ERROR;
    return {};
  });
}

// Compatibility: partly: there is no fault to repair: ACL_RT_ERROR_MEMORY answers 207000
aclError aclrtRepairError(int32_t deviceId, const aclrtErrorInfo* errorInfo) {
  return Guard("aclrtRepairError", [&]() -> Status {
    if (Status present = RequireNonNull("errorInfo", errorInfo); !present.ok()) return present;
    // The chip is checked before the fault, the device after it.
    auto device = FindReportingDevice(deviceId);
    if (!device.ok() && device.code() == Code::kFeatureNotSupport) return device.TakeStatus();
    if (errorInfo->tryRepair == 0) {
      return {Code::kParamInvalid, "tryRepair of the fault is 0: it cannot be repaired"};
    }
    if (!device.ok()) return device.TakeStatus();
    switch (errorInfo->errorType) {
      case ACL_RT_NO_ERROR:
        return {};
      case ACL_RT_ERROR_MEMORY:
        return {Code::kFeatureNotSupport, Text("device ", deviceId, " has had no fault of its memory")};
      default:
        return {Code::kParamInvalid, Text("errorType is ", static_cast<int>(errorInfo->errorType),
                                          ": only faults of memory (1) can be repaired")};
    }
  });
}

aclError aclrtGetMemUceInfo(int32_t deviceId, aclrtMemUceInfo* memUceInfoArray, size_t arraySize,
                            size_t* retSize) {
  return Guard("aclrtGetMemUceInfo", [&]() -> Status {
    static_cast<void>(arraySize);  // there is room for no range in every array
    if (Status present = RequireNonNull("memUceInfoArray", memUceInfoArray, "retSize", retSize);
        !present.ok()) {
      return present;
    }
    if (Status set = RequireSetDevice(deviceId); !set.ok()) return set;
    *retSize = 0;
    return {};
  });
}

// Compatibility: partly: there is nothing to repair: a call with a range answers 207000
aclError aclrtMemUceRepair(int32_t deviceId, aclrtMemUceInfo* memUceInfoArray, size_t arraySize) {
  return Guard("aclrtMemUceRepair", [&]() -> Status {
    if (Status present = RequireNonNull("memUceInfoArray", memUceInfoArray); !present.ok()) return present;
    if (arraySize > ACL_RT_MEM_UCE_INFO_MAX_NUM) {
      return InvalidArgument(
          Text("arraySize is ", arraySize, ", at most ", ACL_RT_MEM_UCE_INFO_MAX_NUM, " are accepted"));
    }
    if (Status checked = CheckRanges({memUceInfoArray, arraySize}); !checked.ok()) return checked;
    if (Status set = RequireSetDevice(deviceId); !set.ok()) return set;
    if (arraySize == 0) return {};
    return {Code::kFeatureNotSupport,
            Text("device ", deviceId, " has reported no uncorrectable error of its memory")};
  });
}
