// A limit on file sizes ended the process with SIGXFSZ at the first call, without a message.
#include <gtest/gtest.h>
#include <sys/resource.h>

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

TEST(FileSizeLimit, OfLogFilesLosesLinesOnly) {
  const TemporaryFolder folder;
  if (DoneInChild({{"ASCEND_PROCESS_LOG_PATH", folder.path()}, {"ASCEND_GLOBAL_LOG_LEVEL", "0"}})) return;
  LimitFiles(100);
  for (int i = 0; i < 10; ++i)
    aclAppLog(ACL_ERROR, "Function", "file.cc", 1, "a line that does not fit into the file %d", i);
}

}  // namespace
}  // namespace sampan::test::file_size_limit_test
