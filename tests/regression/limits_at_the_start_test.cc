// Files and limits that a process met at its start hung or ended it: a FIFO as a table, a device memory that
// overflows, little memory with a trace.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <string>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/child_process.h"
#include "tests/support/temporary_folder.h"

namespace sampan::test::limits_at_the_start_test {
namespace {

std::string RecentMessage() {
  const char* const message = aclGetRecentErrMsg();
  return message != nullptr ? message : "";
}

TEST(LimitsAtTheStart, ACopyTableThatIsAFifoIsRefused) {
  const TemporaryFolder folder;
  const std::string fifo = folder.path() + "/table";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  if (DoneInChild({{"SAMPAN_COPY_TABLE", fifo}})) return;
  ::alarm(20);
  EXPECT_ACL(ACL_ERROR_RT_DEV_SETUP_ERROR, aclrtSetDevice(0));
  EXPECT_NE(RecentMessage().find("SAMPAN_COPY_TABLE"), std::string::npos) << RecentMessage();
}

void ExpectDeviceMemoryRefused() {
  EXPECT_ACL(ACL_ERROR_RT_DEV_SETUP_ERROR, aclrtSetDevice(0));
  EXPECT_NE(RecentMessage().find("SAMPAN_DEVICE_MEMORY"), std::string::npos) << RecentMessage();
}

TEST(LimitsAtTheStart, ADeviceMemoryThatOverflowsIsRefused) {
  if (DoneInChild({{"SAMPAN_DEVICE_MEMORY", "4611686018427387905"}})) return;
  ExpectDeviceMemoryRefused();
}

TEST(LimitsAtTheStart, ADeviceMemoryThatOverflowsWithItsUnitIsRefused) {
  if (DoneInChild({{"SAMPAN_DEVICE_MEMORY", "17179869183G"}})) return;
  ExpectDeviceMemoryRefused();
}

/// The addresses that this process has, in bytes.
std::uint64_t AddressBytes() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

TEST(LimitsAtTheStart, LittleMemoryWithATraceIsACode) {
  const TemporaryFolder folder;
  if (DoneInChild({{"SAMPAN_TRACE", folder.path() + "/trace-%p.json"}})) return;
  // Each size lets another allocation be the first that fails.
  for (std::uint64_t kib = 0; kib <= 32768; kib += 256) {
    const pid_t child = ::fork();  // it has not used the runtime
    if (child == 0) {
      const std::uint64_t bytes = AddressBytes() + (kib << 10);
      const rlimit limit = {bytes, bytes};
      if (::setrlimit(RLIMIT_AS, &limit) != 0) ::_exit(2);
      ::_exit(aclrtSetDevice(0) != ACL_SUCCESS ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status)) << kib << " KiB left: signal " << WTERMSIG(status);
    EXPECT_EQ(WEXITSTATUS(status), 0) << kib << " KiB left";
  }
}

}  // namespace
}  // namespace sampan::test::limits_at_the_start_test
