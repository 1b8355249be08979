// Allocates and frees device memory and pinned host memory.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "acl/acl_rt.h"
#include "acl/caller.h"
#include "acl/guard.h"
#include "base/containers/round.h"

namespace sampan::acl {
namespace {

/// Sizes are rounded up to this. Copies may use all of it.
constexpr std::size_t kRounding = 32;
/// The device adds this to an allocation. Larger sizes are refused if the sum overflows.
constexpr std::size_t kPadding = 64;

Status CheckSize(const void* out, std::string_view name, std::size_t bytes) {
  if (Status present = RequireNonNull(name, out); !present.ok()) return present;
  if (bytes == 0) return InvalidArgument("size is 0");
  if (bytes > std::numeric_limits<std::size_t>::max() - kPadding)
    return InvalidArgument(Text("size ", bytes, " is too large"));
  return {};
}

/// Bits that only aclrtMallocWithCfg accepts besides a policy.
constexpr unsigned kPolicyBits =
    ACL_MEM_TYPE_LOW_BAND_WIDTH | ACL_MEM_TYPE_HIGH_BAND_WIDTH | ACL_MEM_ACCESS_USER_SPACE_READONLY;

/// Cached memory has no peer policies: they mean the default.
aclrtMemMallocPolicy CachedPolicy(aclrtMemMallocPolicy policy) {
  switch (policy) {
    case ACL_MEM_MALLOC_HUGE_ONLY_P2P:
    case ACL_MEM_MALLOC_NORMAL_ONLY_P2P:
    case ACL_MEM_MALLOC_HUGE1G_ONLY_P2P:
      return ACL_MEM_MALLOC_HUGE_FIRST;
    default:
      return policy;
  }
}

/// No profile has 1 GiB pages. Unknown values mean the default.
Result<Pages> PagesOf(aclrtMemMallocPolicy policy) {
  switch (policy) {
    case ACL_MEM_MALLOC_HUGE1G_ONLY:
    case ACL_MEM_MALLOC_HUGE1G_ONLY_P2P:
      return Error{Code::kFeatureNotSupport,
                   Text("policy ", static_cast<unsigned>(policy), ": the chip has no 1 GiB pages")};
    case ACL_MEM_MALLOC_HUGE_ONLY:
    case ACL_MEM_MALLOC_HUGE_ONLY_P2P:
      return Pages::kHuge;
    case ACL_MEM_MALLOC_NORMAL_ONLY:
    case ACL_MEM_MALLOC_NORMAL_ONLY_P2P:
      return Pages::kNormal;
    default:
      return Pages::kBySize;
  }
}

Status AllocateDevice(void** out, std::size_t bytes, aclrtMemMallocPolicy policy, const char* function) {
  auto pages = PagesOf(policy);
  if (!pages.ok()) return pages.TakeStatus();
  auto caller = CallerWithContext();
  if (!caller.ok()) return caller.TakeStatus();
  auto device = caller->device().Open();
  if (!device.ok()) return device.TakeStatus();
  const Place place{PlaceKind::kDevice, caller->device().id()};
  const core::MemoryRegistry::AllocationRequest request{(*device)->memory(),       place,    bytes,
                                                        RoundUp(bytes, kRounding), function, *pages};
  auto address = caller->runtime.memory().Allocate(request);
  if (!address.ok() && address.code() == Code::kMemoryAllocation && caller->runtime.has_pools()) {
    caller->runtime.TrimPools(core::Runtime::Trim::kAll);
    address = caller->runtime.memory().Allocate(request);
  }
  if (!address.ok()) return address.TakeStatus();
  *out = *address;
  return {};
}

aclError Malloc(const char* function, void** out, std::size_t bytes, aclrtMemMallocPolicy policy) {
  return Guard(function, [&]() -> Status {
    if (Status checked = CheckSize(out, "devPtr", bytes); !checked.ok()) return checked;
    return AllocateDevice(out, bytes, policy, function);
  });
}

/// What the driver of the hardware pins at most.
constexpr std::size_t kMaxRealPinnedBytes = std::size_t{200} << 30;

Status AllocatePinned(void** out, std::size_t bytes, const char* function) {
  auto caller = CallerWithContext();
  if (!caller.ok()) return caller.TakeStatus();
  if (caller->runtime.profile().real_limits && bytes > kMaxRealPinnedBytes) {
    return {Code::kMemoryAllocation, Text("size is ", bytes, ", with real-limits pinned memory ends at ",
                                          kMaxRealPinnedBytes, " bytes")};
  }
  const Place place{PlaceKind::kPinned, 0};
  auto address = caller->runtime.memory().Allocate(
      {caller->runtime.backend().pinned_memory(), place, bytes, RoundUp(bytes, kRounding), function});
  if (!address.ok()) return address.TakeStatus();
  *out = *address;
  return {};
}

Status CheckConfigArray(const aclrtMallocConfig* config) {
  if (config != nullptr && config->numAttrs != 0 && config->attrs == nullptr) {
    return InvalidArgument(Text("cfg->attrs is NULL, cfg->numAttrs is ", config->numAttrs));
  }
  return {};
}

Status CheckDeviceConfig(const aclrtMallocConfig* config, std::int32_t current_device) {
  if (config == nullptr) return {};
  if (config->attrs == nullptr) return {Code::kParamInvalid, "cfg->attrs is NULL"};
  for (std::size_t i = 0; i < config->numAttrs; ++i) {
    const aclrtMallocAttribute& attribute = config->attrs[i];
    if (const auto id = static_cast<unsigned>(attribute.attr); id > ACL_RT_MEM_ATTR_DEVICE_ID)
      return {Code::kParamInvalid, Text("cfg->attrs[", i, "].attr is ", id, ", it must be 0 to 2")};
    if (attribute.attr == ACL_RT_MEM_ATTR_DEVICE_ID &&
        attribute.value.deviceId != static_cast<std::uint32_t>(current_device)) {
      return {Code::kParamInvalid, Text("cfg->attrs[", i, "] names device ", attribute.value.deviceId,
                                        ", the calling thread's is ", current_device)};
    }
  }
  return {};
}

Status CheckHostConfig(const aclrtMallocConfig* config) {
  if (config == nullptr) return {};
  for (std::size_t i = 0; i < config->numAttrs; ++i) {
    switch (config->attrs[i].attr) {
      case ACL_RT_MEM_ATTR_MODULE_ID:
        break;
      case ACL_RT_MEM_ATTR_VA_FLAG:
        return {Code::kFeatureNotSupport, Text("cfg->attrs[", i, "]: the chip has no flat host addresses")};
      default:
        return {Code::kParamInvalid,
                Text("cfg->attrs[", i, "].attr is ", static_cast<int>(config->attrs[i].attr),
                     ", host memory takes MODULE_ID and VA_FLAG")};
    }
  }
  return {};
}

Status Free(void* address, std::string_view name, core::MemoryOrigin origin) {
  if (Status present = RequireNonNull(name, address); !present.ok()) return present;
  auto caller = ThisCaller();
  if (!caller.ok()) return caller.TakeStatus();
  return caller->runtime.memory().End(name, address, origin, Code::kParamInvalid);
}

Status FreeAfterSync(void* address, std::string_view name, core::MemoryOrigin origin) {
  if (Status present = RequireNonNull(name, address); !present.ok()) return present;
  auto caller = CallerWithContext();
  if (!caller.ok()) return caller.TakeStatus();
  if (Status synced = caller->context->Synchronize(kNever); !synced.ok()) return synced;
  return Free(address, name, origin);
}

}  // namespace
}  // namespace sampan::acl

using namespace sampan;
using namespace sampan::acl;

aclError aclrtMalloc(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  return Malloc("aclrtMalloc", devPtr, size, policy);
}

aclError aclrtMallocAlign32(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  return Malloc("aclrtMallocAlign32", devPtr, size, policy);
}

aclError aclrtMallocCached(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  return Malloc("aclrtMallocCached", devPtr, size, CachedPolicy(policy));
}

aclError aclrtMallocWithCfg(void** devPtr, size_t size, aclrtMemMallocPolicy policy, aclrtMallocConfig* cfg) {
  return Guard("aclrtMallocWithCfg", [&]() -> Status {
    if (Status present = RequireNonNull("devPtr", devPtr); !present.ok()) return present;
    if (Status checked = CheckConfigArray(cfg); !checked.ok()) return checked;
    if (Status checked = CheckSize(devPtr, "devPtr", size); !checked.ok()) return checked;
    auto caller = CallerWithContext();
    if (!caller.ok()) return caller.TakeStatus();
    if (Status checked = CheckDeviceConfig(cfg, caller->device().id()); !checked.ok()) return checked;
    const auto base = static_cast<aclrtMemMallocPolicy>(static_cast<unsigned>(policy) & ~kPolicyBits);
    return AllocateDevice(devPtr, size, base, "aclrtMallocWithCfg");
  });
}

aclError aclrtMallocHost(void** hostPtr, size_t size) {
  return Guard("aclrtMallocHost", [&]() -> Status {
    if (Status checked = CheckSize(hostPtr, "hostPtr", size); !checked.ok()) return checked;
    return AllocatePinned(hostPtr, size, "aclrtMallocHost");
  });
}

aclError aclrtMallocHostWithCfg(void** ptr, uint64_t size, aclrtMallocConfig* cfg) {
  return Guard("aclrtMallocHostWithCfg", [&]() -> Status {
    if (Status checked = CheckSize(ptr, "ptr", size); !checked.ok()) return checked;
    if (Status checked = CheckConfigArray(cfg); !checked.ok()) return checked;
    if (Status checked = CheckHostConfig(cfg); !checked.ok()) return checked;
    return AllocatePinned(ptr, size, "aclrtMallocHostWithCfg");
  });
}

aclError aclrtFree(void* devPtr) {
  return Guard("aclrtFree", [&] { return Free(devPtr, "devPtr", core::MemoryOrigin::kDevice); });
}

aclError aclrtFreeHost(void* hostPtr) {
  return Guard("aclrtFreeHost", [&] { return Free(hostPtr, "hostPtr", core::MemoryOrigin::kPinned); });
}

aclError aclrtFreeWithDevSync(void* devPtr) {
  return Guard("aclrtFreeWithDevSync",
               [&] { return FreeAfterSync(devPtr, "devPtr", core::MemoryOrigin::kDevice); });
}

aclError aclrtFreeHostWithDevSync(void* hostPtr) {
  return Guard("aclrtFreeHostWithDevSync",
               [&] { return FreeAfterSync(hostPtr, "hostPtr", core::MemoryOrigin::kPinned); });
}

aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t* free, size_t* total) {
  return Guard("aclrtGetMemInfo", [&]() -> Status {
    if (Status present = RequireNonNull("free", free, "total", total); !present.ok()) return present;
    const auto value = static_cast<unsigned>(attr);
    if (value > ACL_MEM_P2P_HUGE1G)
      return {Code::kInvalidMemoryType, Text("attr is ", value, ", it must be 0 to 17")};
    auto caller = CallerWithContext();
    if (!caller.ok()) return caller.TakeStatus();
    auto device = caller->device().Open();
    if (!device.ok()) return device.TakeStatus();
    const bool asks_ddr = attr == ACL_DDR_MEM || attr == ACL_DDR_MEM_HUGE || attr == ACL_DDR_MEM_NORMAL ||
                          attr == ACL_DDR_MEM_P2P_HUGE || attr == ACL_DDR_MEM_P2P_NORMAL;
    const bool asks_either = attr >= ACL_MEM_NORMAL;
    const bool has = asks_either || asks_ddr != caller->runtime.profile().hbm;
    caller->runtime.sharing().FreeReleased(core::MemorySharing::Effort::kAll);
    const MemoryInfo info = has ? (*device)->memory().Info() : MemoryInfo{};
    *free = info.free_bytes;
    *total = info.total_bytes;
    return {};
  });
}
