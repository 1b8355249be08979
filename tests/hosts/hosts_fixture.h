// Tests of processes on two hosts: over a cable between network namespaces, and over loopback.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "acl/acl.h"
#include "tests/hosts/two_hosts.h"
#include "tests/support/acl_expect.h"

namespace sampan::test {

/// How owners are reached.
enum class Way {
  kCable,     ///< they live on the other host
  kLoopback,  ///< they live on this host, and their handles and keys name another one
};

/// The test lives on host b, and owners on host a. A program has one suite of it, because a process listens
/// at one address.
class HostsFixture : public ::testing::TestWithParam<Way> {
 protected:
  static void SetUpTestSuite() {
    two_hosts = new TwoHosts;
    ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  }
  static void TearDownTestSuite() {
    EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(0));
    delete std::exchange(two_hosts, nullptr);
  }
  void SetUp() override {
    if (GetParam() == Way::kCable && !two_hosts->made())
      GTEST_SKIP() << "network namespaces cannot be made here: root and the command ip are needed";
  }
  /// Where host a is. Empty: owners are reached over loopback.
  static std::string PathOfA() { return GetParam() == Way::kCable ? two_hosts->path_of_a() : ""; }

  inline static TwoHosts* two_hosts = nullptr;
};

inline const char* NameOf(Way way) {
  return way == Way::kCable ? "Cable" : "Loopback";
}

}  // namespace sampan::test
