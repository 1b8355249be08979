// The answer of public functions that the library has only a name for.
#pragma once

#include "acl/acl_rt.h"

namespace sampan::acl {

aclError NotSupported(const char* function) noexcept;

}  // namespace sampan::acl
