// Versions of the interface and of installed packages.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <ostream>
#include <string>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/child_process.h"
#include "tests/support/temporary_folder.h"

// The deprecated calls are part of the interface and are tested like the others.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace sampan::test::version_test {
namespace {

/// As `DoneInChild`, with an installation whose package has this version.info.
bool DoneWithPackage(const std::string& package, const std::string& text) {
  if (InChild()) return false;
  const TemporaryFolder home;
  home.Write("share/info/" + package + "/version.info", text);
  return DoneInChild({{"ASCEND_HOME_PATH", home.path()}});
}

std::string VersionText(std::string package) {
  char text[ACL_PKG_VERSION_MAX_SIZE] = {};
  EXPECT_ACL(ACL_SUCCESS, aclsysGetVersionStr(package.data(), text));
  return text;
}

std::int32_t VersionNumber(std::string package) {
  std::int32_t number = -1;
  EXPECT_ACL(ACL_SUCCESS, aclsysGetVersionNum(package.data(), &number));
  return number;
}

TEST(InterfaceVersion, IsThatOfTheHeaders) {
  std::int32_t major = -1, minor = -1, patch = -1;
  EXPECT_ACL(ACL_SUCCESS, aclrtGetVersion(&major, &minor, &patch));
  EXPECT_EQ(major, 1);
  EXPECT_EQ(minor, 17);
  EXPECT_EQ(patch, 0);
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetVersion(nullptr, &minor, &patch));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetVersion(&major, nullptr, &patch));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetVersion(&major, &minor, nullptr));
}

TEST(PackageVersion, ArgumentsAreNeeded) {
  char name[] = "runtime";
  char text[ACL_PKG_VERSION_MAX_SIZE] = {};
  std::int32_t number = 0;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclsysGetVersionStr(nullptr, text));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclsysGetVersionStr(name, nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclsysGetVersionNum(nullptr, &number));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclsysGetVersionNum(name, nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclsysGetCANNVersion(ACL_PKG_NAME_RUNTIME, nullptr));
}

TEST(PackageVersion, ComesFromTheInstallation) {
  if (DoneWithPackage("runtime", "Package=x\nVersion=8.5.0\nother=1\n")) return;
  EXPECT_EQ(VersionText("runtime"), "8.5.0");
  EXPECT_EQ(VersionNumber("runtime"), 80500000);
}

TEST(PackageVersion, PartsAreWeighed) {
  if (DoneWithPackage("runtime", "Version=9.12.34\n")) return;
  EXPECT_EQ(VersionNumber("runtime"), 9 * 10000000 + 12 * 100000 + 34 * 1000);
}

struct Numbered {
  const char* name;
  const char* version;
  std::int32_t number;
};

std::ostream& operator<<(std::ostream& out, const Numbered& instance) {
  return out << instance.name;
}

class WellFormedVersion : public ::testing::TestWithParam<Numbered> {};

TEST_P(WellFormedVersion, HasANumber) {
  if (DoneWithPackage("runtime", std::string("Version=") + GetParam().version + "\n")) return;
  EXPECT_EQ(VersionText("runtime"), GetParam().version);
  EXPECT_EQ(VersionNumber("runtime"), GetParam().number);
}

INSTANTIATE_TEST_SUITE_P(Version, WellFormedVersion,
                         ::testing::Values(Numbered{"alpha", "8.5.0-alpha.1", 80500000 - 300 + 1},
                                           Numbered{"beta", "8.5.0-beta.2", 80500000 - 200 + 2},
                                           Numbered{"rc", "8.5.0-rc.3", 80500000 - 100 + 3},
                                           Numbered{"alpha_joined", "8.5.0.alpha001", 80500000 - 300 + 1},
                                           Numbered{"rc_without_patch", "8.2.RC1", 80200000 - 100 + 1},
                                           Numbered{"rc_without_number", "8.5.0-rc", 80500000 - 100},
                                           Numbered{"two_numbers", "8.5", 80500000},
                                           Numbered{"largest", "214.74.83", 2147483000}),
                         [](const auto& instance) { return instance.param.name; });

TEST(PackageVersion, NameIsTriedWithTheOtherDash) {
  if (DoneWithPackage("opp_kernel", "Version=8.5.0\n")) return;
  EXPECT_EQ(VersionText("opp-kernel"), "8.5.0");
  EXPECT_EQ(VersionText("opp_kernel"), "8.5.0");
}

TEST(PackageVersion, NameIsTriedWithTheOtherUnderscore) {
  if (DoneWithPackage("opp-kernel", "Version=8.5.0\n")) return;
  EXPECT_EQ(VersionText("opp_kernel"), "8.5.0");
}

TEST(PackageVersion, OfAMissingPackage) {
  if (DoneWithPackage("runtime", "Version=8.5.0\n")) return;
  char name[] = "compiler";
  char text[ACL_PKG_VERSION_MAX_SIZE] = {};
  std::int32_t number = 0;
  EXPECT_ACL(ACL_ERROR_INVALID_FILE, aclsysGetVersionStr(name, text));
  EXPECT_ACL(ACL_ERROR_INVALID_FILE, aclsysGetVersionNum(name, &number));
  EXPECT_TRUE(MessageHas("compiler"));
}

TEST(PackageVersion, WithoutAnInstallation) {
  if (DoneInChild({{"ASCEND_HOME_PATH", std::nullopt}})) return;
  char name[] = "runtime";
  char text[ACL_PKG_VERSION_MAX_SIZE] = {};
  EXPECT_ACL(ACL_ERROR_INVALID_FILE, aclsysGetVersionStr(name, text));
  EXPECT_TRUE(MessageHas("ASCEND_HOME_PATH is not set"));
}

class MalformedVersion : public ::testing::TestWithParam<const char*> {};

TEST_P(MalformedVersion, HasNoNumber) {
  if (DoneWithPackage("runtime", std::string("Version=") + GetParam() + "\n")) return;
  char name[] = "runtime";
  std::int32_t number = 4711;
  EXPECT_ACL(ACL_ERROR_INTERNAL_ERROR, aclsysGetVersionNum(name, &number));
  EXPECT_TRUE(MessageHas(std::string("'") + GetParam() + "'"));
  EXPECT_TRUE(MessageHas("'runtime'"));
  EXPECT_EQ(number, 4711);
}

INSTANTIATE_TEST_SUITE_P(Version, MalformedVersion,
                         ::testing::Values("latest", "8", "8.", "8.5.", ".5.0", "8.5.0junk", "8.5.0.gamma1",
                                           "8.5.0.1.2", "8.5.0.1", "8.5.20240101", "215.0.0",
                                           "8.5.99999999999", "8.5.0-", "8.5.0-rc.", "8.5.0-.rc1",
                                           "8.5.0-rc1.2", "8.5.0-1", "8.5.0..rc1", "8.5.0-rc1x"));

TEST(PackageVersion, FileWithoutOneIsNamed) {
  if (DoneWithPackage("runtime", "Package=x\n")) return;
  char name[] = "runtime";
  char text[ACL_PKG_VERSION_MAX_SIZE] = {};
  EXPECT_ACL(ACL_ERROR_INVALID_FILE, aclsysGetVersionStr(name, text));
  EXPECT_TRUE(MessageHas("share/info/runtime/version.info has no line Version="));
}

TEST(PackageVersion, DriverIsLookedForWhereItIsInstalled) {
  if (std::filesystem::exists("/etc/ascend_install.info")) GTEST_SKIP() << "a driver may be installed here";
  if (DoneWithPackage("driver", "Version=8.5.0\n")) return;
  char text[ACL_PKG_VERSION_MAX_SIZE] = {};
  for (std::string name : {"driver", "firmware"}) {
    EXPECT_ACL(ACL_ERROR_INVALID_FILE, aclsysGetVersionStr(name.data(), text));
    EXPECT_TRUE(MessageHas("/etc/ascend_install.info"));
    EXPECT_TRUE(MessageHas(name));
  }
}

TEST(PackageVersion, NeverOverrunsTheBuffer) {
  if (DoneWithPackage("runtime", "Version=8.5.0" + std::string(500, '1') + "\n")) return;
  char name[] = "runtime";
  char text[ACL_PKG_VERSION_MAX_SIZE + 1];
  std::memset(text, '#', sizeof(text));
  EXPECT_NE(aclsysGetVersionStr(name, text), ACL_SUCCESS);
  EXPECT_EQ(text[ACL_PKG_VERSION_MAX_SIZE], '#');
}

TEST(PackageVersion, InParts) {
  if (DoneWithPackage("runtime", "Version=8.5.1\n")) return;
  aclCANNPackageVersion version;
  std::memset(&version, '#', sizeof(version));
  EXPECT_ACL(ACL_SUCCESS, aclsysGetCANNVersion(ACL_PKG_NAME_RUNTIME, &version));
  EXPECT_STREQ(version.version, "8.5.1");
  EXPECT_STREQ(version.majorVersion, "8");
  EXPECT_STREQ(version.minorVersion, "5");
}

}  // namespace
}  // namespace sampan::test::version_test
