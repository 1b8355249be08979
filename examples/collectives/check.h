// Failures of calls as exceptions, with what the library says about them.
#pragma once

#include <stdexcept>
#include <string>

#include "acl/acl.h"
#include "hccl/hccl_types.h"

namespace collectives {

/// A call was refused, or work in a stream failed. what() has the code and the library's own message.
class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A collective ran, and its result is wrong.
class Mismatch : public Failure {
 public:
  using Failure::Failure;
};

[[noreturn]] void Fail(const char* what, int code);

inline void Check(HcclResult result) {
  if (result != HCCL_SUCCESS) Fail("HcclResult", result);
}
inline void Check(aclError code) {
  if (code != ACL_SUCCESS) Fail("aclError", code);
}

}  // namespace collectives
