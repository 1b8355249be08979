// A file for findings that is a FIFO kept the first call waiting for ever, and a link was followed.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/child_process.h"
#include "tests/support/temporary_folder.h"

namespace sampan::test::findings_file_test {
namespace {

/// In a child whose first call must not use the file.
void ExpectRefusal() {
  ::alarm(20);
  EXPECT_ACL(ACL_ERROR_RT_DEV_SETUP_ERROR, aclrtSetDevice(0));
  const char* const message = aclGetRecentErrMsg();
  ASSERT_NE(message, nullptr);
  EXPECT_NE(std::string(message).find(std::getenv("SAMPAN_CHECK_FINDINGS")), std::string::npos) << message;
}

TEST(FindingsFile, ThatIsAFifoIsRefused) {
  if (InChild()) return ExpectRefusal();
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/findings";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const ChildResult child = RunInChild({{"SAMPAN_CHECK_FINDINGS", path}});
  EXPECT_TRUE(child.Passed()) << child;
}

TEST(FindingsFile, ThatIsALinkIsNotFollowed) {
  if (InChild()) return ExpectRefusal();
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/findings", target = folder.path() + "/target";
  std::filesystem::create_symlink(target, path);
  const ChildResult child = RunInChild({{"SAMPAN_CHECK_FINDINGS", path}});
  EXPECT_TRUE(child.Passed()) << child;
  EXPECT_FALSE(std::filesystem::exists(target));
}

}  // namespace
}  // namespace sampan::test::findings_file_test
