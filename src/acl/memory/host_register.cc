// Registers host memory of the program, and returns the attributes of pointers.
#include <cstdint>

#include "acl/acl_rt.h"
#include "acl/caller.h"
#include "acl/guard.h"
#include "core/copy/memory_location.h"
#include "process/process.h"

namespace sampan::acl {
namespace {

struct Registration {
  void* address;
  std::uint64_t bytes;
  bool read_only;
};

Status CheckRange(const Registration& registration) {
  if (Status present = RequireNonNull("ptr", registration.address); !present.ok()) return present;
  return registration.bytes != 0 ? Status() : InvalidArgument("size is 0");
}

Status Register(const Registration& registration, const char* function) {
  auto caller = CallerWithContext();
  if (!caller.ok()) return caller.TakeStatus();
  if (reinterpret_cast<std::uintptr_t>(registration.address) % core::PageMap::kPageBytes != 0) {
    const bool as_hardware = caller->runtime.profile().real_limits;
    return {
        as_hardware ? Code::kDriverInternalError : Code::kParamInvalid,
        Text("ptr ", Hex(registration.address), " must be aligned to ", core::PageMap::kPageBytes, " bytes")};
  }
  core::MemoryRegistry& memory = caller->runtime.memory();
  const auto address = reinterpret_cast<std::uintptr_t>(registration.address);
  if (memory.InSource(address)) {
    return {Code::kHostMemoryAlreadyRegistered,
            Text("ptr ", Hex(address), " is memory of the runtime's own")};
  }
  const core::HostAccess access = registration.read_only ? core::HostAccess::kRead : core::HostAccess::kWrite;
  if (Status probed = ProbeHostMemory({"ptr", registration.address, registration.bytes}, access);
      !probed.ok()) {
    return probed;
  }
  return memory.Register({caller->runtime.backend().host_registrar(), registration.address,
                          registration.bytes, registration.read_only, function});
}

}  // namespace
}  // namespace sampan::acl

using namespace sampan;
using namespace sampan::acl;

aclError aclrtHostRegister(void* ptr, uint64_t size, aclrtHostRegisterType type, void** devPtr) {
  return Guard("aclrtHostRegister", [&]() -> Status {
    const auto bits = static_cast<unsigned>(type);
    const Registration registration{ptr, size, (bits & ACL_HOST_REGISTER_READONLY) != 0};
    if (Status checked = CheckRange(registration); !checked.ok()) return checked;
    if (Status present = RequireNonNull("devPtr", devPtr); !present.ok()) return present;
    if ((bits & ~static_cast<unsigned>(ACL_HOST_REGISTER_IOMEMORY | ACL_HOST_REGISTER_READONLY)) != 0) {
      return {Code::kFeatureNotSupport, Text("type ", bits, " has bits outside IOMEMORY and READONLY")};
    }
    if (Status registered = Register(registration, "aclrtHostRegister"); !registered.ok()) return registered;
    *devPtr = ptr;  // devices access registered memory at the host's address
    return {};
  });
}

aclError aclrtHostRegisterV2(void* ptr, uint64_t size, uint32_t flag) {
  return Guard("aclrtHostRegisterV2", [&]() -> Status {
    const Registration registration{ptr, size, (flag & ACL_HOST_REG_READONLY) != 0};
    if (Status checked = CheckRange(registration); !checked.ok()) return checked;
    constexpr std::uint64_t kKnown =
        ACL_HOST_REG_MAPPED | ACL_HOST_REG_IOMEMORY | ACL_HOST_REG_READONLY | ACL_HOST_REG_PINNED;
    if (flag == 0 || (flag & ~kKnown) != 0) {
      return {Code::kParamInvalid,
              Text("flag ", flag, " is no combination of MAPPED, IOMEMORY, READONLY and PINNED")};
    }
    return Register(registration, "aclrtHostRegisterV2");
  });
}

aclError aclrtHostUnregister(void* ptr) {
  return Guard("aclrtHostUnregister", [&]() -> Status {
    if (Status present = RequireNonNull("ptr", ptr); !present.ok()) return present;
    auto runtime = process::TheRuntime();
    if (!runtime.ok()) return runtime.TakeStatus();
    return (*runtime)->memory().End("ptr", ptr, core::MemoryOrigin::kRegistered,
                                    Code::kHostMemoryNotRegistered);
  });
}

aclError aclrtHostGetDevicePointer(void* pHost, void** pDevice, uint32_t flag) {
  return Guard("aclrtHostGetDevicePointer", [&]() -> Status {
    if (Status present = RequireNonNull("pHost", pHost, "pDevice", pDevice); !present.ok()) return present;
    if (flag != 0) return InvalidArgument(Text("flag is ", flag, ", it must be 0"));
    auto runtime = process::TheRuntime();
    if (!runtime.ok()) return runtime.TakeStatus();
    const AllocationUse use = (*runtime)->memory().Find(reinterpret_cast<std::uintptr_t>(pHost));
    if (!use || use->facts.place.kind != PlaceKind::kPinned) {
      return {Code::kParamInvalid, Text("pHost ", Hex(pHost), " is not registered host memory")};
    }
    *pDevice = pHost;
    return {};
  });
}

aclError aclrtPointerGetAttributes(const void* ptr, aclrtPtrAttributes* attributes) {
  return Guard("aclrtPointerGetAttributes", [&]() -> Status {
    if (Status present = RequireNonNull("ptr", ptr, "attributes", attributes); !present.ok()) return present;
    auto runtime = process::TheRuntime();
    if (!runtime.ok()) return runtime.TakeStatus();
    *attributes = {};
    const AllocationUse use = (*runtime)->memory().Find(reinterpret_cast<std::uintptr_t>(ptr));
    const core::Profile& profile = (*runtime)->profile();
    if (!use && profile.real_limits && !profile.describes_foreign_memory) {
      return {Code::kDriverInternalError,
              Text("ptr ", Hex(ptr), " is no memory of the runtime, with real-limits ", profile.release,
                   " says nothing about it")};
    }
    if (!use) {
      attributes->location.type = ACL_MEM_LOCATION_TYPE_UNREGISTERED;
      return {};
    }
    const AllocationFacts& facts = use->facts;
    const bool on_device = facts.place.on_device();
    attributes->location.type = on_device ? ACL_MEM_LOCATION_TYPE_DEVICE : ACL_MEM_LOCATION_TYPE_HOST;
    attributes->location.id = on_device ? static_cast<uint32_t>(facts.place.device) : 0;
    attributes->pageSize = facts.page_bytes;
    return {};
  });
}
