// Expectations about the codes that HCCL's calls answer with.
#pragma once

#include <gtest/gtest.h>

#include "hccl/hccl_types.h"
#include "tests/support/acl_expect.h"

namespace sampan::test {

inline ::testing::AssertionResult IsHcclCode(const char*, const char* call, HcclResult expected,
                                             HcclResult answer) {
  if (expected == answer) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << call << "\n  answered " << answer << ", expected " << expected
                                       << "\n  newest message: " << RecentMessage();
}

}  // namespace sampan::test

/// The call answers with the code; if not, the thread's message is shown.
#define EXPECT_HCCL(code, call) EXPECT_PRED_FORMAT2(::sampan::test::IsHcclCode, code, call)
#define ASSERT_HCCL(code, call) ASSERT_PRED_FORMAT2(::sampan::test::IsHcclCode, code, call)
