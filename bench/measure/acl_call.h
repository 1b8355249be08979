// Calls of the runtime that must succeed.
#pragma once

#include <acl/acl.h>

#include <string>

namespace bench {

/// The runtime's message for the last failed call of this thread, in one line.
std::string RecentMessage();

/// Throws a Failure with the runtime's message if the call failed.
void Require(aclError code, const char* what);
#define BENCH_ACL(call) ::bench::Require((call), #call)

}  // namespace bench
