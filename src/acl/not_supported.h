// The result of public functions that the library exports but does not implement.
#pragma once

#include "acl/acl_rt.h"
#include "base/error/status.h"

namespace sampan::acl {

/// The refusal, for functions that check their arguments first.
Status Unsupported(const char* function);

/// The whole body of a function that refuses whatever its arguments are.
aclError NotSupported(const char* function) noexcept;

}  // namespace sampan::acl
