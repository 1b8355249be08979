// A program with more rights than its caller (setuid, setgid) followed the caller's environment variables: it
// wrote files anywhere, and printed lines of files.
#include <gtest/gtest.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/child_process.h"
#include "tests/support/temporary_folder.h"

namespace sampan::test::privileged_environment_test {
namespace {

constexpr const char* kPrivileged = "TEST_RUNS_WITH_MORE_RIGHTS";
constexpr int kNoRights = 77;

/// In the program with more rights, started by the child of the test.
void CallAndCheck() {
  if (::getauxval(AT_SECURE) == 0) std::_Exit(kNoRights);  // the system did not give it any
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0)) << "a setting of the caller was read";
  aclAppLog(ACL_ERROR, "Function", "file.cc", 1, "a line");
}

TEST(PrivilegedEnvironment, IsIgnored) {
  if (std::getenv(kPrivileged) != nullptr) return CallAndCheck();
  // A program of another group: only root may make one that is sure to differ.
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make a program of another group";
  const TemporaryFolder folder;
  const std::string program = folder.path() + "/program", secret = folder.Write("secret", "the first line\n");
  std::filesystem::copy_file(ProgramPath(), program);
  ASSERT_EQ(::chmod(folder.path().c_str(), 0755), 0);
  ASSERT_EQ(::chown(program.c_str(), 0, 1), 0);
  ASSERT_EQ(::chmod(program.c_str(), 02755), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv(kPrivileged, "1", 1);
    ::setenv("SAMPAN_COPY_TABLE", secret.c_str(), 1);
    ::setenv("SAMPAN_TRACE", (folder.path() + "/trace.json").c_str(), 1);
    ::setenv("ASCEND_PROCESS_LOG_PATH", (folder.path() + "/log").c_str(), 1);
    ::execl(program.c_str(), program.c_str(), "--gtest_filter=PrivilegedEnvironment.IsIgnored", nullptr);
    ::_exit(kNoRights);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kNoRights) GTEST_SKIP() << "this file system gives programs no rights";
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/trace.json"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/log"));
}

}  // namespace
}  // namespace sampan::test::privileged_environment_test
