// Logs followed symbolic links that others had put where the files go.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "acl/acl.h"
#include "tests/support/child_process.h"
#include "tests/support/temporary_folder.h"

namespace sampan::test::log_links_test {
namespace {

namespace fs = std::filesystem;

ChildResult LogALine(const std::string& root) {
  return RunInChild({{"ASCEND_PROCESS_LOG_PATH", root}, {"ASCEND_GLOBAL_LOG_LEVEL", "0"}});
}
bool LoggedInChild() {
  if (InChild()) aclAppLog(ACL_ERROR, "Function", "file.cc", 1, "a line");
  return InChild();
}

void ExpectNotFollowed(const std::string& link) {
  const TemporaryFolder root, victim;
  fs::create_directories((fs::path(root.path()) / link).parent_path());
  fs::create_directory_symlink(victim.path(), fs::path(root.path()) / link);
  const ChildResult child = LogALine(root.path());
  EXPECT_TRUE(child.Passed()) << child;
  EXPECT_TRUE(fs::is_empty(victim.path())) << "the log went through the link " << link;
  EXPECT_NE(child.errors.find("a line"), std::string::npos) << "lines go to standard error instead\n"
                                                            << child;
}

TEST(LogLinks, OfTheFirstFolderAreNotFollowed) {
  if (LoggedInChild()) return;
  ExpectNotFollowed("debug");
}

TEST(LogLinks, OfTheSecondFolderAreNotFollowed) {
  if (LoggedInChild()) return;
  ExpectNotFollowed("debug/plog");
}

TEST(LogLinks, OfTheRootAreTheUsersOwn) {
  if (LoggedInChild()) return;
  const TemporaryFolder real, other;
  const std::string root = other.path() + "/root";
  fs::create_directory_symlink(real.path(), root);
  const ChildResult child = LogALine(root);
  EXPECT_TRUE(child.Passed()) << child;
  EXPECT_TRUE(fs::exists(real.path() + "/debug/plog"));
}

}  // namespace
}  // namespace sampan::test::log_links_test
