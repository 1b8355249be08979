// Handles of physical memory.
#pragma once

#include <memory>

#include "acl/acl_rt.h"
#include "core/memory/mapped/physical_memory.h"

namespace sampan::acl {

/// The physical memory of a handle. Fails with 107000 if the handle is destroyed or invalid.
Result<std::shared_ptr<core::PhysicalMemory>> FindPhysical(aclrtDrvMemHandle handle);

}  // namespace sampan::acl
