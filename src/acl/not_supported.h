// The result of public functions that the library exports but does not implement.
#pragma once

#include "acl/acl_rt.h"

namespace sampan::acl {

aclError NotSupported(const char* function) noexcept;

}  // namespace sampan::acl
