// Settings for compute that one call sets and another reads: time limits, floating-point modes, and cache
// hints.
#include <algorithm>
#include <cstdint>
#include <memory>

#include "acl/acl_rt.h"
#include "acl/caller.h"
#include "acl/guard.h"

namespace sampan::acl {
namespace {

static_assert(ACL_RT_CMO_TYPE_PREFETCH == 0 && ACL_RT_CMO_TYPE_FLUSH == 3);

/// The limit in whole units; 0 stands for the maximum.
std::uint64_t RoundOperatorLimit(std::uint64_t microseconds) {
  if (microseconds == 0 || microseconds > core::kMaxOperatorLimitUs) return core::kMaxOperatorLimitUs;
  return (microseconds + core::kOperatorLimitUnitUs - 1) / core::kOperatorLimitUnitUs *
         core::kOperatorLimitUnitUs;
}

Status RequireModernCompute(const core::Runtime& runtime, std::string_view feature) {
  if (runtime.profile().modern_compute) return {};
  return {Code::kFeatureNotSupport, Text(runtime.profile().chip, " has no ", feature)};
}

/// The stream of a call about its overflow switch.
Result<StreamCall> FindOverflowCall(aclrtStream stream) {
  auto caller = ThisCaller();
  if (!caller.ok()) return caller.TakeStatus();
  if (Status has = RequireModernCompute(caller->runtime, "overflow switch"); !has.ok()) return has;
  return FindOwnStreamCall(*caller, stream);
}

Status QueueCacheHint(const void* src, std::size_t bytes, int type, aclrtStream stream) {
  if (Status present = RequireNonNull("src", src); !present.ok()) return present;
  if (bytes == 0) return InvalidArgument("size is 0");
  auto caller = ThisCaller();
  if (!caller.ok()) return caller.TakeStatus();
  if (Status has = RequireModernCompute(caller->runtime, "cache operations"); !has.ok()) return has;
  if (type < ACL_RT_CMO_TYPE_PREFETCH || type > ACL_RT_CMO_TYPE_FLUSH) {
    return {Code::kFeatureNotSupport, Text("cmoType is ", type, ", it must be 0 to 3")};
  }
  auto call = FindOwnStreamCall(*caller, stream);
  if (!call.ok()) return call.TakeStatus();
  return call->stream().Enqueue(MarkTask{std::make_shared<Mark>()});
}

/// Reads the settings of the process.
template <typename Out, typename Read>
Status ReadSetting(std::string_view name, Out* out, Read read) {
  if (Status present = RequireNonNull(name, out); !present.ok()) return present;
  auto runtime = process::TheRuntime();
  if (!runtime.ok()) return runtime.TakeStatus();
  *out = read(**runtime);
  return {};
}

/// Changes the settings of the process.
template <typename Write>
Status WriteSetting(Write write) {
  auto runtime = process::TheRuntime();
  if (!runtime.ok()) return runtime.TakeStatus();
  return write(**runtime);
}

}  // namespace
}  // namespace sampan::acl

using namespace sampan;
using namespace sampan::acl;

// Compatibility: no-op: device memory is coherent: the stream passes a task that does nothing
aclError aclrtCmoAsync(void* src, size_t size, aclrtCmoType cmoType, aclrtStream stream) {
  return Guard("aclrtCmoAsync", [&] { return QueueCacheHint(src, size, cmoType, stream); });
}

aclError aclrtSetOpWaitTimeout(uint32_t timeout) {
  return Guard("aclrtSetOpWaitTimeout", [&] {
    return WriteSetting([&](core::Runtime& runtime) -> Status {
      runtime.compute_settings().event_wait_limit_s = timeout;
      return {};
    });
  });
}

aclError aclrtSetOpExecuteTimeOut(uint32_t timeout) {
  return Guard("aclrtSetOpExecuteTimeOut", [&] {
    return WriteSetting([&](core::Runtime& runtime) -> Status {
      runtime.compute_settings().operator_limit_us = RoundOperatorLimit(std::uint64_t{timeout} * 1'000'000);
      return {};
    });
  });
}

// Compatibility: not supported: no chip has limits in milliseconds
aclError aclrtSetOpExecuteTimeOutWithMs(uint32_t timeout) {
  return Guard("aclrtSetOpExecuteTimeOutWithMs", [&]() -> Status {
    return {Code::kFeatureNotSupport,
            Text("timeout ", timeout, " ms: no chip supports limits in milliseconds")};
  });
}

aclError aclrtSetOpExecuteTimeOutV2(uint64_t timeout, uint64_t* actualTimeout) {
  return Guard("aclrtSetOpExecuteTimeOutV2", [&]() -> Status {
    if (Status present = RequireNonNull("actualTimeout", actualTimeout); !present.ok()) return present;
    auto caller = CallerWithContext();
    if (!caller.ok()) return caller.TakeStatus();
    *actualTimeout = RoundOperatorLimit(timeout);
    caller->runtime.compute_settings().operator_limit_us = *actualTimeout;
    return {};
  });
}

aclError aclrtGetOpTimeOutInterval(uint64_t* interval) {
  return Guard("aclrtGetOpTimeOutInterval", [&] {
    return ReadSetting("interval", interval, [](core::Runtime&) { return core::kOperatorLimitUnitUs; });
  });
}

aclError aclrtGetOpExecuteTimeout(uint32_t* timeout) {
  return Guard("aclrtGetOpExecuteTimeout", [&] {
    return ReadSetting("timeout", timeout, [](core::Runtime& runtime) {
      return static_cast<uint32_t>(runtime.compute_settings().operator_limit_us.load() / 1000);
    });
  });
}

aclError aclrtSetDeviceSatMode(aclrtFloatOverflowMode mode) {
  return Guard("aclrtSetDeviceSatMode", [&] {
    return WriteSetting([&](core::Runtime& runtime) -> Status {
      if (mode != ACL_RT_OVERFLOW_MODE_SATURATION && mode != ACL_RT_OVERFLOW_MODE_INFNAN) {
        return {Code::kParamInvalid, Text("mode is ", static_cast<int>(mode), ", it must be 0 or 1")};
      }
      if (mode == ACL_RT_OVERFLOW_MODE_INFNAN) {
        if (Status has = RequireModernCompute(runtime, "mode INFNAN"); !has.ok()) return has;
      }
      runtime.compute_settings().overflow_mode = mode;
      return {};
    });
  });
}

aclError aclrtGetDeviceSatMode(aclrtFloatOverflowMode* mode) {
  return Guard("aclrtGetDeviceSatMode", [&] {
    return ReadSetting("mode", mode, [](core::Runtime& runtime) {
      const std::int32_t set = runtime.compute_settings().overflow_mode;
      if (set != core::ComputeSettings::kNotSet) return static_cast<aclrtFloatOverflowMode>(set);
      return runtime.profile().modern_compute ? ACL_RT_OVERFLOW_MODE_INFNAN : ACL_RT_OVERFLOW_MODE_SATURATION;
    });
  });
}

aclError aclrtSetStreamOverflowSwitch(aclrtStream stream, uint32_t flag) {
  return Guard("aclrtSetStreamOverflowSwitch", [&]() -> Status {
    if (flag > 1) return InvalidArgument(Text("flag is ", flag, ", it must be 0 or 1"));
    auto call = FindOverflowCall(stream);
    if (!call.ok()) return call.TakeStatus();
    call->stream().overflow_check() = flag == 1;
    return {};
  });
}

aclError aclrtGetStreamOverflowSwitch(aclrtStream stream, uint32_t* flag) {
  return Guard("aclrtGetStreamOverflowSwitch", [&]() -> Status {
    if (Status present = RequireNonNull("flag", flag); !present.ok()) return present;
    auto call = FindOverflowCall(stream);
    if (!call.ok()) return call.TakeStatus();
    *flag = call->stream().overflow_check() ? 1 : 0;
    return {};
  });
}
