// What a forked child wrote to pinned memory appeared in its parent.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "acl/acl.h"
#include "tests/support/copy_fixture.h"
#include "tests/support/mapped_memory.h"

namespace sampan::test::forked_pinned_memory_test {
namespace {

constexpr std::size_t kBytes = 8192;

class ForkedPinnedMemory : public CopyTest {
 protected:
  /// The child writes all of it. Returns how it ended.
  static int WriteInChild(void* memory, std::size_t bytes) {
    const pid_t child = ::fork();
    if (child == 0) {
      std::memset(memory, 0xc3, bytes);
      ::_exit(0);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return status;
  }
  static void ExpectKilled(int status) {
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV)
        << "the child has memory of its parent's; status " << status;
  }
};

TEST_F(ForkedPinnedMemory, IsNotTheChilds) {
  PinnedBuffer pinned(kBytes);
  const Bytes contents = random().Fill(kBytes);
  pinned.Write(0, contents);
  const int status = WriteInChild(pinned.data(), kBytes);
  EXPECT_TRUE(pinned.Read(0, kBytes) == contents) << "the child wrote it";
  ExpectKilled(status);
  // It is as good as before.
  DeviceBuffer device(kBytes);
  EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(device.data(), kBytes, pinned.data(), kBytes,
                                           ACL_MEMCPY_HOST_TO_DEVICE, stream()));
  Synchronize();
  EXPECT_TRUE(ReadDevice(device.data(), kBytes) == contents);
}

TEST_F(ForkedPinnedMemory, MappedByHandIsNotEither) {
  aclrtPhysicalMemProp properties = DeviceProperties();
  properties.memAttr = ACL_DDR_MEM_HUGE;
  properties.location.type = ACL_MEM_LOCATION_TYPE_HOST_NUMA;
  aclrtDrvMemHandle handle = nullptr;
  if (aclrtMallocPhysical(&handle, kPiece, &properties, 0) != ACL_SUCCESS) GTEST_SKIP() << "no such memory";
  {
    const Reserved addresses(kPiece);
    EXPECT_ACL(ACL_SUCCESS, aclrtMapMem(addresses.data(), kPiece, 0, handle, 0));
    const Bytes contents = random().Fill(kBytes);
    std::memcpy(addresses.data(), contents.data(), kBytes);
    const int status = WriteInChild(addresses.data(), kBytes);
    EXPECT_EQ(std::memcmp(addresses.data(), contents.data(), kBytes), 0) << "the child wrote it";
    ExpectKilled(status);
    EXPECT_ACL(ACL_SUCCESS, aclrtUnmapMem(addresses.data()));
  }
  EXPECT_ACL(ACL_SUCCESS, aclrtFreePhysical(handle));
}

TEST_F(ForkedPinnedMemory, IsRefusedCleanly) {
  PinnedBuffer pinned(kBytes);
  const Bytes contents = random().Fill(kBytes);
  pinned.Write(0, contents);
  const pid_t child = ::fork();
  if (child == 0) {
    // The runtime does not touch what is not there.
    const aclError copied =
        aclrtMemcpy(pinned.data(), kBytes, contents.data(), kBytes, ACL_MEMCPY_HOST_TO_HOST);
    const aclError freed = aclrtFreeHost(pinned.data());
    constexpr aclError kRefused = 507033;
    ::_exit(copied == kRefused && freed == kRefused ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
  EXPECT_TRUE(pinned.Read(0, kBytes) == contents);
}

}  // namespace
}  // namespace sampan::test::forked_pinned_memory_test
