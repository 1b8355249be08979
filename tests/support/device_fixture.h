// The fixture of tests that need a device.
#pragma once

#include <gtest/gtest.h>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"

namespace sampan::test {

/// Device 0 is current, the last error is clear, and both end with the test. Buffers and streams belong into
/// the test's body: they must be gone before TearDown.
class DeviceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
    aclrtGetLastError(ACL_RT_THREAD_LEVEL);
  }
  void TearDown() override { EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(0)); }
};

}  // namespace sampan::test
