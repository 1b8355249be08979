// Expectations about the codes that AscendCL calls answer with.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <string>

#include "acl/acl.h"

namespace sampan::test {

/// The newest message of this thread, without the older ones behind it; empty when there never was one.
inline std::string RecentMessage() {
  const char* text = aclGetRecentErrMsg();
  if (text == nullptr) return {};
  const std::string all(text);
  const std::size_t older = all.find("[PID:", 1);
  return all.substr(0, older);
}

/// An address as messages write it, without prefix.
inline std::string Hex(const void* address) {
  char text[32];
  std::snprintf(text, sizeof(text), "%llx",
                static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(address)));
  return text;
}

inline ::testing::AssertionResult IsAclCode(const char*, const char* call, aclError expected,
                                            aclError answer) {
  if (expected == answer) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << call << "\n  answered " << answer << ", expected " << expected
                                       << "\n  newest message: " << RecentMessage();
}

inline ::testing::AssertionResult MessageHas(const std::string& part) {
  const std::string message = RecentMessage();
  if (message.find(part) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "\"" << part << "\" is not in the newest message: " << message;
}

}  // namespace sampan::test

/// The call answers with the code; if not, the runtime's message is shown.
#define EXPECT_ACL(code, call) EXPECT_PRED_FORMAT2(::sampan::test::IsAclCode, code, call)
#define ASSERT_ACL(code, call) ASSERT_PRED_FORMAT2(::sampan::test::IsAclCode, code, call)
