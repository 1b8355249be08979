// Rank tables that are no regular files.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "hccl/hccl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/child_process.h"
#include "tests/support/temporary_folder.h"

namespace sampan::test::table_file_test {
namespace {

void ExpectRefused(const std::string& path, const std::string& why) {
  HcclComm comm = nullptr;
  EXPECT_EQ(HcclCommInitClusterInfo(path.c_str(), 0, &comm), HCCL_E_PARA);
  const std::string message = RecentMessage();
  for (const std::string& part : {std::string("EI0004"), path, why})
    EXPECT_NE(message.find(part), std::string::npos) << part << " is not in: " << message;
}

/// collective-20
TEST(TableFile, OfOtherDevicesMakesAWorldBesideIt) {
  const TemporaryFolder folder;
  HcclComm comms[2] = {};
  for (int device = 0; device < 2; ++device) {
    const std::string path = folder.path() + "/" + std::to_string(device);
    std::ofstream(path) << R"({"version":"1.0","status":"completed","server_count":"1","server_list":[)"
                        << R"({"server_id":"a","device":[{"rank_id":"0","device_id":")" << device
                        << R"("}]}]})";
    ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(device));
    EXPECT_EQ(HcclCommInitClusterInfo(path.c_str(), 0, &comms[device]), HCCL_SUCCESS) << RecentMessage();
  }
  for (const HcclComm comm : comms)
    EXPECT_EQ(HcclCommDestroy(comm), HCCL_SUCCESS);
}

/// In a process of its own, which an alarm ends if opening a FIFO waits for a writer.
TEST(TableFile, ThatIsNoRegularFileIsRefused) {
  if (DoneInChild()) return;
  ::alarm(20);
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  const TemporaryFolder folder;
  const std::string fifo = folder.path() + "/fifo", empty = folder.path() + "/empty";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  std::ofstream(empty).close();
  ExpectRefused(fifo, "a FIFO or the like");
  ExpectRefused(folder.path(), "a folder");
  ExpectRefused("/dev/zero", "it is no regular file");
  ExpectRefused(empty, "it has 0 bytes");
  ExpectRefused(folder.path() + "/missing", "No such file");
}

}  // namespace
}  // namespace sampan::test::table_file_test
