// The result of public functions that the library exports but does not implement.
#include "acl/not_supported.h"

#include "acl/guard.h"

namespace sampan::acl {

Status Unsupported(const char* function) {
  return {Code::kFeatureNotSupport, Text(std::string_view(function), " is not supported by this runtime")};
}

aclError NotSupported(const char* function) noexcept {
  return Guard(function, [&] { return Unsupported(function); });
}

}  // namespace sampan::acl
