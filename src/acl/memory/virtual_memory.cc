// Reserved addresses, physical memory, and its mappings.
#include <cstdint>

#include "acl/acl_rt.h"
#include "acl/caller.h"
#include "acl/guard.h"
#include "acl/memory/physical_handle.h"
#include "acl/sharing/shared_key.h"

namespace sampan::acl {
namespace {

bool OnHost(aclrtMemLocationType type) {
  return type == ACL_MEM_LOCATION_TYPE_HOST || type == ACL_MEM_LOCATION_TYPE_HOST_NUMA;
}

/// The attributes that physical memory can have.
bool InTable(aclrtMemAttr attribute) {
  switch (attribute) {
    case ACL_DDR_MEM_HUGE:
    case ACL_DDR_MEM_NORMAL:
    case ACL_DDR_MEM_P2P_HUGE:
    case ACL_DDR_MEM_P2P_NORMAL:
    case ACL_HBM_MEM_HUGE:
    case ACL_HBM_MEM_NORMAL:
    case ACL_HBM_MEM_HUGE1G:
    case ACL_MEM_NORMAL:
    case ACL_MEM_HUGE:
    case ACL_MEM_HUGE1G:
    case ACL_MEM_P2P_NORMAL:
    case ACL_MEM_P2P_HUGE:
    case ACL_MEM_P2P_HUGE1G:
      return true;
    default:
      return false;
  }
}

bool IsDdr(aclrtMemAttr attribute) {
  return attribute == ACL_DDR_MEM || attribute == ACL_DDR_MEM_HUGE || attribute == ACL_DDR_MEM_NORMAL ||
         attribute == ACL_DDR_MEM_P2P_HUGE || attribute == ACL_DDR_MEM_P2P_NORMAL;
}

bool IsGigabytePages(aclrtMemAttr attribute) {
  return attribute == ACL_HBM_MEM_HUGE1G || attribute == ACL_MEM_HUGE1G || attribute == ACL_MEM_P2P_HUGE1G;
}

Status CheckKind(const aclrtPhysicalMemProp& prop) {
  if (IsDdr(prop.memAttr) && prop.location.type == ACL_MEM_LOCATION_TYPE_DEVICE) {
    return InvalidArgument(Text("prop->memAttr ", static_cast<int>(prop.memAttr),
                                " is DDR, and the memory is to be a device's"));
  }
  if (!InTable(prop.memAttr)) {
    return InvalidArgument(
        Text("prop->memAttr ", static_cast<int>(prop.memAttr), " is no kind that physical memory can have"));
  }
  return {};
}

Status CheckProperties(const aclrtPhysicalMemProp& prop) {
  if (prop.handleType != ACL_MEM_HANDLE_TYPE_NONE)
    return InvalidArgument(Text("prop->handleType is ", static_cast<int>(prop.handleType), ", it must be 0"));
  if (prop.allocationType != ACL_MEM_ALLOCATION_TYPE_PINNED) {
    return InvalidArgument(
        Text("prop->allocationType is ", static_cast<int>(prop.allocationType), ", it must be 0"));
  }
  if (prop.location.type != ACL_MEM_LOCATION_TYPE_DEVICE && !OnHost(prop.location.type)) {
    return InvalidArgument(Text("prop->location.type is ", static_cast<int>(prop.location.type),
                                ", it must be HOST, DEVICE or HOST_NUMA"));
  }
  return CheckKind(prop);
}

Status Reserve(void** out, std::size_t bytes, std::size_t alignment, void* wish, std::uint64_t flags) {
  if (Status present = RequireNonNull("virPtr", out); !present.ok()) return present;
  if (bytes == 0) return InvalidArgument("size is 0");
  if (flags > 1) return InvalidArgument(Text("flags is ", flags, ", it must be 0 or 1"));
  if (alignment != 0) return {Code::kParamInvalid, Text("alignment is ", alignment, ", it must be 0")};
  auto caller = ThisCaller();
  if (!caller.ok()) return caller.TakeStatus();
  if (Status may = RequireSharing(caller->runtime.profile()); !may.ok()) return may;
  auto address = caller->runtime.addresses().Reserve(bytes, wish);
  if (!address.ok()) return address.TakeStatus();
  *out = *address;
  return {};
}

struct MapCall {
  void* address;
  std::size_t bytes, offset;
  aclrtDrvMemHandle handle;
  std::uint64_t flags;
};

Status Map(const MapCall& call, MapAccess access, const char* function) {
  if (Status present = RequireNonNull("virPtr", call.address, "handle", call.handle); !present.ok())
    return present;
  if (call.bytes == 0) return InvalidArgument("size is 0");
  if (call.flags != 0) return InvalidArgument(Text("flags is ", call.flags, ", it must be 0"));
  if (call.offset != 0) return {Code::kParamInvalid, Text("offset is ", call.offset, ", it must be 0")};
  auto physical = FindPhysical(call.handle);
  if (!physical.ok()) return physical.TakeStatus();
  auto caller = ThisCaller();
  if (!caller.ok()) return caller.TakeStatus();
  return caller->runtime.addresses().Map(call.address, call.bytes, std::move(*physical), access, function);
}

/// The device that gets rights. -1 for the host, which has all rights on its own memory.
Result<std::int32_t> DeviceOf(const aclrtMemLocation& location, std::string_view name,
                              core::Runtime& runtime) {
  if (OnHost(location.type)) return -1;
  if (location.type != ACL_MEM_LOCATION_TYPE_DEVICE) {
    return Error{Code::kParamInvalid, Text(name, ".type is ", static_cast<int>(location.type),
                                           ", it must be HOST, DEVICE or HOST_NUMA")};
  }
  auto device = runtime.FindDevice(location.id);
  if (!device.ok()) return device.TakeStatus();
  return (*device)->id();
}

Result<MapAccess> AccessOf(aclrtMemAccessFlags flags, std::size_t entry) {
  switch (flags) {
    case ACL_RT_MEM_ACCESS_FLAGS_NONE:
      return MapAccess::kNone;
    case ACL_RT_MEM_ACCESS_FLAGS_READ:
      return MapAccess::kRead;
    case ACL_RT_MEM_ACCESS_FLAGS_READWRITE:
      return MapAccess::kReadWrite;
  }
  return Error{Code::kParamInvalid,
               Text("desc[", entry, "].flags is ", static_cast<int>(flags), ", it must be 0, 1 or 3")};
}

}  // namespace

Result<std::shared_ptr<core::PhysicalMemory>> FindPhysical(aclrtDrvMemHandle handle) {
  auto caller = ThisCaller();
  if (!caller.ok()) return caller.TakeStatus();
  auto physical = caller->runtime.FindPhysical(handle);
  if (physical != nullptr) return physical;
  return Error{Code::kParamInvalid,
               Text("handle ", Hex(handle), " is no physical memory: freed, or never made")};
}

}  // namespace sampan::acl

using namespace sampan;
using namespace sampan::acl;

aclError aclrtReserveMemAddress(void** virPtr, size_t size, size_t alignment, void* expectPtr,
                                uint64_t flags) {
  return Guard("aclrtReserveMemAddress", [&] { return Reserve(virPtr, size, alignment, expectPtr, flags); });
}

aclError aclrtReserveMemAddressNoUCMemory(void** virPtr, size_t size, size_t alignment, void* expectPtr,
                                          uint64_t flags) {
  return Guard("aclrtReserveMemAddressNoUCMemory",
               [&] { return Reserve(virPtr, size, alignment, expectPtr, flags); });
}

aclError aclrtReleaseMemAddress(void* virPtr) {
  return Guard("aclrtReleaseMemAddress", [&]() -> Status {
    if (Status present = RequireNonNull("virPtr", virPtr); !present.ok()) return present;
    auto caller = ThisCaller();
    if (!caller.ok()) return caller.TakeStatus();
    return caller->runtime.addresses().Release(virPtr);
  });
}

aclError aclrtMallocPhysical(aclrtDrvMemHandle* handle, size_t size, const aclrtPhysicalMemProp* prop,
                             uint64_t flags) {
  return Guard("aclrtMallocPhysical", [&]() -> Status {
    if (Status present = RequireNonNull("handle", handle, "prop", prop); !present.ok()) return present;
    if (size == 0) return InvalidArgument("size is 0");
    if (flags != 0) return InvalidArgument(Text("flags is ", flags, ", it must be 0"));
    if (Status checked = CheckProperties(*prop); !checked.ok()) return checked;
    auto caller = ThisCaller();
    if (!caller.ok()) return caller.TakeStatus();
    core::Runtime& runtime = caller->runtime;
    if (Status may = RequireSharing(runtime.profile()); !may.ok()) return may;
    core::Device* device = nullptr;
    if (prop->location.type == ACL_MEM_LOCATION_TYPE_DEVICE) {
      auto found = runtime.FindDevice(prop->location.id);
      if (!found.ok()) return found.TakeStatus();
      device = *found;
    }
    if (IsGigabytePages(prop->memAttr)) {
      return {Code::kFeatureNotSupport,
              Text("prop->memAttr ", static_cast<int>(prop->memAttr), ": the chip has no 1 GiB pages")};
    }
    if (size % VirtualMemory::kGranularity != 0) {
      return {Code::kParamInvalid, Text("size ", size, " is no multiple of the granularity, which is ",
                                        VirtualMemory::kGranularity)};
    }
    const core::PhysicalProperties properties{static_cast<std::uint32_t>(prop->memAttr), prop->location.id,
                                              static_cast<std::uint32_t>(prop->location.type)};
    auto made = runtime.CreatePhysical(device, size, properties);
    if (!made.ok() && made.code() == Code::kMemoryAllocation && runtime.has_pools()) {
      runtime.TrimPools(core::Runtime::Trim::kAll);
      made = runtime.CreatePhysical(device, size, properties);
    }
    if (!made.ok()) return made.TakeStatus();
    *handle = *made;
    return {};
  });
}

aclError aclrtFreePhysical(aclrtDrvMemHandle handle) {
  return Guard("aclrtFreePhysical", [&]() -> Status {
    if (Status present = RequireNonNull("handle", handle); !present.ok()) return present;
    auto caller = ThisCaller();
    if (!caller.ok()) return caller.TakeStatus();
    if (caller->runtime.RemovePhysical(handle) != nullptr) return {};
    return FindPhysical(handle).TakeStatus();
  });
}

aclError aclrtMapMem(void* virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle, uint64_t flags) {
  return Guard("aclrtMapMem", [&] {
    return Map({virPtr, size, offset, handle, flags}, MapAccess::kReadWrite, "aclrtMapMem");
  });
}

aclError aclrtMemMapNoAccess(void* virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle,
                             uint64_t flags) {
  return Guard("aclrtMemMapNoAccess", [&] {
    return Map({virPtr, size, offset, handle, flags}, MapAccess::kNone, "aclrtMemMapNoAccess");
  });
}

aclError aclrtUnmapMem(void* virPtr) {
  return Guard("aclrtUnmapMem", [&]() -> Status {
    if (Status present = RequireNonNull("virPtr", virPtr); !present.ok()) return present;
    auto caller = ThisCaller();
    if (!caller.ok()) return caller.TakeStatus();
    return caller->runtime.addresses().Unmap(virPtr);
  });
}

aclError aclrtMemSetAccess(void* virPtr, size_t size, aclrtMemAccessDesc* desc, size_t count) {
  return Guard("aclrtMemSetAccess", [&]() -> Status {
    if (Status present = RequireNonNull("virPtr", virPtr, "desc", desc); !present.ok()) return present;
    if (size == 0) return InvalidArgument("size is 0");
    if (count == 0) return InvalidArgument("count is 0");
    auto caller = ThisCaller();
    if (!caller.ok()) return caller.TakeStatus();
    for (const bool applies : {false, true}) {  // checks all before setting the first
      for (size_t i = 0; i < count; ++i) {
        auto access = AccessOf(desc[i].flags, i);
        if (!access.ok()) return access.TakeStatus();
        auto device = DeviceOf(desc[i].location, Text("desc[", i, "].location"), caller->runtime);
        if (!device.ok()) return device.TakeStatus();
        if (*device < 0 && *access != MapAccess::kReadWrite) {
          return {Code::kFeatureNotSupport, Text("desc[", i, "]: the host's rights cannot be taken away")};
        }
        if (!applies || *device < 0) continue;
        Status set = caller->runtime.addresses().SetAccess(virPtr, size, *device, *access);
        if (!set.ok()) return set;
      }
    }
    return {};
  });
}

aclError aclrtMemGetAccess(void* virPtr, aclrtMemLocation* location, uint64_t* flag) {
  return Guard("aclrtMemGetAccess", [&]() -> Status {
    if (Status present = RequireNonNull("virPtr", virPtr, "location", location, "flag", flag); !present.ok())
      return present;
    auto caller = ThisCaller();
    if (!caller.ok()) return caller.TakeStatus();
    auto device = DeviceOf(*location, "location", caller->runtime);
    if (!device.ok()) return device.TakeStatus();
    if (*device < 0) {
      auto physical = caller->runtime.addresses().PhysicalAt(virPtr);
      if (!physical.ok()) return physical.TakeStatus();
      *flag =
          (*physical)->place().on_device() ? ACL_RT_MEM_ACCESS_FLAGS_NONE : ACL_RT_MEM_ACCESS_FLAGS_READWRITE;
      return {};
    }
    auto access = caller->runtime.addresses().Access(virPtr, *device);
    if (!access.ok()) return access.TakeStatus();
    *flag = *access == MapAccess::kNone   ? ACL_RT_MEM_ACCESS_FLAGS_NONE
            : *access == MapAccess::kRead ? ACL_RT_MEM_ACCESS_FLAGS_READ
                                          : ACL_RT_MEM_ACCESS_FLAGS_READWRITE;
    return {};
  });
}

aclError aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp* prop, aclrtMemGranularityOptions option,
                                          size_t* granularity) {
  static_cast<void>(option);  // both options give the same result
  return Guard("aclrtMemGetAllocationGranularity", [&]() -> Status {
    if (Status present = RequireNonNull("prop", prop, "granularity", granularity); !present.ok())
      return present;
    if (Status checked = CheckKind(*prop); !checked.ok()) return checked;
    *granularity = VirtualMemory::kGranularity;
    return {};
  });
}

aclError aclrtMemRetainAllocationHandle(void* virPtr, aclrtDrvMemHandle* handle) {
  return Guard("aclrtMemRetainAllocationHandle", [&]() -> Status {
    if (Status present = RequireNonNull("virPtr", virPtr, "handle", handle); !present.ok()) return present;
    auto caller = ThisCaller();
    if (!caller.ok()) return caller.TakeStatus();
    auto physical = caller->runtime.addresses().PhysicalAt(virPtr);
    if (!physical.ok()) return physical.TakeStatus();
    auto retained = caller->runtime.HandleFor(*physical);
    if (!retained.ok()) return retained.TakeStatus();
    *handle = *retained;
    return {};
  });
}

aclError aclrtMemGetAllocationPropertiesFromHandle(aclrtDrvMemHandle handle, aclrtPhysicalMemProp* prop) {
  return Guard("aclrtMemGetAllocationPropertiesFromHandle", [&]() -> Status {
    if (Status present = RequireNonNull("handle", handle, "prop", prop); !present.ok()) return present;
    auto physical = FindPhysical(handle);
    if (!physical.ok()) return physical.TakeStatus();
    const core::PhysicalProperties& known = (*physical)->properties();
    *prop = {};
    prop->handleType = ACL_MEM_HANDLE_TYPE_NONE;
    prop->allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED;
    prop->memAttr = static_cast<aclrtMemAttr>(known.attribute);
    prop->location.id = known.location_id;
    prop->location.type = static_cast<aclrtMemLocationType>(known.location_type);
    return {};
  });
}

aclError aclrtMemGetAddressRange(void* ptr, void** pbase, size_t* psize) {
  return Guard("aclrtMemGetAddressRange", [&]() -> Status {
    if (Status present = RequireNonNull("ptr", ptr); !present.ok()) return present;
    if (pbase == nullptr && psize == nullptr) return InvalidArgument("pbase and psize are NULL");
    auto caller = ThisCaller();
    if (!caller.ok()) return caller.TakeStatus();
    const AllocationUse use = caller->runtime.memory().Find(reinterpret_cast<std::uintptr_t>(ptr));
    if (!use) return {Code::kParamInvalid, Text("ptr ", Hex(ptr), " is not memory that the runtime knows")};
    if (pbase != nullptr) *pbase = reinterpret_cast<void*>(use->facts.address);
    if (psize != nullptr) *psize = use->facts.asked_bytes;
    return {};
  });
}
