// A limit on file sizes ended the process with SIGXFSZ at the first call, without a message.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/child_process.h"
#include "tests/support/temporary_folder.h"

namespace sampan::test::file_size_limit_test {
namespace {

/// Before the first call: memory files are made there.
void LimitFiles(std::uint64_t bytes) {
  const rlimit limit = {bytes, bytes};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
}

void ExpectRefusalWithReason() {
  ASSERT_ACL(ACL_ERROR_RT_DEV_SETUP_ERROR, aclrtSetDevice(0));
  const char* const message = aclGetRecentErrMsg();
  ASSERT_NE(message, nullptr);
  EXPECT_NE(std::string(message).find("ulimit -f"), std::string::npos) << message;
}

TEST(FileSizeLimit, BelowTheMemoryOfADeviceIsRefused) {
  if (DoneInChild({{"SAMPAN_DEVICE_MEMORY", "1G"}})) return;
  LimitFiles(std::uint64_t{64} << 20);
  ExpectRefusalWithReason();
}

TEST(FileSizeLimit, OfNothingIsRefused) {
  if (DoneInChild()) return;
  LimitFiles(0);
  ExpectRefusalWithReason();
}

TEST(FileSizeLimit, IsRefusedWithATraceToo) {
  const TemporaryFolder folder;
  if (DoneInChild({{"SAMPAN_TRACE", folder.path() + "/trace.json"}})) return;
  LimitFiles(16);
  EXPECT_ACL(ACL_ERROR_RT_DEV_SETUP_ERROR, aclrtSetDevice(0));
}

TEST(FileSizeLimit, OfFindingsLosesThemOnly) {
  const TemporaryFolder folder;
  if (DoneInChild({{"SAMPAN_CHECK_FINDINGS", folder.path() + "/findings"}})) return;
  LimitFiles(16);
  EXPECT_ACL(ACL_ERROR_RT_DEV_SETUP_ERROR, aclrtSetDevice(0));
}

// The checker moves registered memory into a file of memory, if it can.
TEST(FileSizeLimit, LeavesRegistrationsUnderCheckAlone) {
  if (DoneInChild({{"SAMPAN_CHECK", "1"}})) return;
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  constexpr std::size_t kBytes = 65'536;
  void* const memory = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  LimitFiles(4'096);
  void* device = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtHostRegister(memory, kBytes, ACL_HOST_REGISTER_MAPPED, &device));
  EXPECT_ACL(ACL_SUCCESS, aclrtHostUnregister(memory));
}

TEST(FileSizeLimit, OfLogFilesLosesLinesOnly) {
  const TemporaryFolder folder;
  if (DoneInChild({{"ASCEND_PROCESS_LOG_PATH", folder.path()}, {"ASCEND_GLOBAL_LOG_LEVEL", "0"}})) return;
  LimitFiles(100);
  for (int i = 0; i < 10; ++i)
    aclAppLog(ACL_ERROR, "Function", "file.cc", 1, "a line that does not fit into the file %d", i);
}

}  // namespace
}  // namespace sampan::test::file_size_limit_test
