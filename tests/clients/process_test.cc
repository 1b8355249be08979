// What programs rely on around copies: initialisation, threads, refusals that are logged.
// Rules of docs/BEHAVIOUR.md: client-1, client-2, client-3, client-10, client-11, client-12.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "acl/acl.h"
#include "tests/support/child_process.h"
#include "tests/support/copy_fixture.h"

namespace sampan::test::client_process_test {
namespace {

constexpr std::size_t kBytes = 4096;

void RoundTrip(Random& random) {
  const Bytes contents = random.Fill(kBytes);
  DeviceBuffer device(kBytes);
  PinnedBuffer src(kBytes);
  GuardedBuffer back(Place::kPinned, kBytes);
  Stream stream;
  src.Write(0, contents);
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpyAsync(device.data(), kBytes, src.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpyAsync(back.data(), kBytes, device.data(), kBytes, ACL_MEMCPY_DEVICE_TO_HOST, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_TRUE(back.Holds(contents));
}

TEST(ClientProcess, CopiesWorkWithoutInitialisation) {
  if (DoneInChild()) return;
  Random random;
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  RoundTrip(random);
  EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(0));
}

TEST(ClientProcess, SecondInitialisationIsToldApart) {
  if (DoneInChild()) return;
  Random random;
  EXPECT_ACL(ACL_SUCCESS, aclInit(nullptr));
  EXPECT_ACL(ACL_ERROR_REPEAT_INITIALIZE, aclInit(nullptr));
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  RoundTrip(random);
  EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(0));
  EXPECT_ACL(ACL_SUCCESS, aclFinalize());
}

TEST(ClientProcess, MemoryMayOutliveTheDeviceAtExit) {
  if (DoneInChild()) return;
  // Programs end with everything still allocated, streams with work in them, and no call to tidy up.
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  void* device = nullptr;
  void* host = nullptr;
  aclrtStream stream = nullptr;
  ASSERT_ACL(ACL_SUCCESS, aclrtMalloc(&device, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  ASSERT_ACL(ACL_SUCCESS, aclrtMallocHost(&host, kBytes));
  ASSERT_ACL(ACL_SUCCESS, aclrtCreateStream(&stream));
  for (int i = 0; i < 100; ++i) {
    EXPECT_ACL(ACL_SUCCESS,
               aclrtMemcpyAsync(device, kBytes, host, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  }
}

class ClientThreads : public CopyTest {};

TEST_F(ClientThreads, StartWithoutAContext) {
  Random& shared = random();
  OnNewThread([&] {
    std::int32_t device = -1;
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetDevice(&device));
    int marker = 0;
    aclrtContext context = &marker;
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetCurrentContext(&context));
    EXPECT_EQ(context, nullptr) << "callers read it all the same";
    EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_ACL(ACL_SUCCESS, aclrtGetDevice(&device));
    EXPECT_EQ(device, 0);
    RoundTrip(shared);
    EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(0));
  });
}

TEST_F(ClientThreads, ShareStreamsAndMemoryOfThePrimaryContext) {
  DeviceBuffer device(kBytes);
  PinnedBuffer src(kBytes);
  const Bytes contents = random().Fill(kBytes);
  src.Write(0, contents);
  OnNewThread([&] {
    EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
    EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(device.data(), kBytes, src.data(), kBytes,
                                             ACL_MEMCPY_HOST_TO_DEVICE, stream()));
    EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(0));
  });
  Synchronize();
  EXPECT_TRUE(SameBytes(contents, device.Read(0, kBytes)));
}

TEST(ClientLog, AttachedRefusedRowsAreLoggedAsErrors) {
  if (!InChild()) {
    const ChildResult child = RunInChild({{"ASCEND_GLOBAL_LOG_LEVEL", "3"}});
    EXPECT_TRUE(child.Passed()) << child;
    EXPECT_NE(child.errors.find("[ERROR]"), std::string::npos) << child;
    EXPECT_NE(child.errors.find("5242881"), std::string::npos) << child;
    return;
  }
  // Some callers ignore what a 2D copy answers: the log is all they have.
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  {
    DeviceBuffer device(kBytes);
    PinnedBuffer host(kBytes);
    static_cast<void>(aclrtMemcpy2dAsync(device.data(), 1, host.data(), 1, 1, 5'242'881,
                                         ACL_MEMCPY_HOST_TO_DEVICE, nullptr));
  }
  EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(0));
}

}  // namespace
}  // namespace sampan::test::client_process_test
