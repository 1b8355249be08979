// Calls of the runtime that have to succeed.
#pragma once

#include <acl/acl.h>

#include <string>

namespace bench {

/// What the runtime said about the last call of this thread that failed, in one line.
std::string RecentMessage();

/// Throws a Failure with the runtime's own words when the call did not succeed.
void Require(aclError code, const char* what);
#define BENCH_ACL(call) ::bench::Require((call), #call)

}  // namespace bench
