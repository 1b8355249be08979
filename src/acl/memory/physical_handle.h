// Handles of physical memory.
#pragma once

#include <memory>

#include "acl/acl_rt.h"
#include "core/memory/physical_memory.h"

namespace sampan::acl {

/// The physical memory that a handle names; a dead or forged one: 107000.
Result<std::shared_ptr<PhysicalMemory>> FindPhysical(aclrtDrvMemHandle handle);

}  // namespace sampan::acl
