// How copy failures are reported: once for queued work, as last error by layer, in words that name what was
// wrong.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <thread>

#include "acl/acl.h"
#include "tests/support/batch_request.h"
#include "tests/support/copy_fixture.h"

namespace sampan::test::copy_errors_test {
namespace {

constexpr std::size_t kBytes = 4096;

class QueuedFailures : public CopyTest {};

TEST_F(QueuedFailures, SurfaceOnceAtSynchronize) {
  QueueFailure(stream());
  EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStream(stream()));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream()));
}

TEST_F(QueuedFailures, SurfaceOnceAtQuery) {
  QueueFailure(stream());
  aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
  aclError code = ACL_SUCCESS;
  while (code == ACL_SUCCESS && status == ACL_STREAM_STATUS_NOT_READY) {
    code = aclrtStreamQuery(stream(), &status);
    std::this_thread::yield();
  }
  EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, code);
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream()));
}

TEST_F(QueuedFailures, AttachedSurfaceFromAPageableCopy) {
  GuardedBuffer device(Place::kDevice, kBytes);
  PageableBuffer src(kBytes);
  QueueFailure(stream());
  EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtMemcpyAsync(device.data(), kBytes, src.data(), kBytes,
                                                    ACL_MEMCPY_HOST_TO_DEVICE, stream()));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream()));
}

TEST_F(QueuedFailures, OfSeveralTheFirstIsReported) {
  QueueFailure(stream());
  QueueFailure(stream());
  EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStream(stream()));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream()));
}

TEST_F(QueuedFailures, BelongToTheirStream) {
  Stream other;
  QueueFailure(other);
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream()));
  EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStream(other));
}

TEST_F(QueuedFailures, LaterCopiesStillRunByDefault) {
  GuardedBuffer device(Place::kDevice, kBytes);
  PinnedBuffer src(kBytes);
  const Bytes contents = random().Fill(kBytes);
  src.Write(0, contents);
  QueueFailure(stream());
  EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(device.data(), kBytes, src.data(), kBytes,
                                           ACL_MEMCPY_HOST_TO_DEVICE, stream()));
  EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStream(stream()));
  EXPECT_TRUE(device.Holds(contents));
}

TEST_F(QueuedFailures, NameTheFreedAllocation) {
  PinnedBuffer src(kBytes);
  DeviceBuffer device(kBytes);
  void* const address = device.data();
  {
    Gate gate(stream());
    EXPECT_ACL(ACL_SUCCESS,
               aclrtMemcpyAsync(device.at(128), 256, src.data(), 256, ACL_MEMCPY_HOST_TO_DEVICE, stream()));
    device.Free();
  }
  EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStream(stream()));
  EXPECT_TRUE(MessageHas(Hex(address)));
}

class LastErrors : public CopyTest {};

TEST_F(LastErrors, ArgumentChecksDoNotSetIt) {
  PinnedBuffer host(kBytes);
  DeviceBuffer device(kBytes);
  BatchRequest request;
  request.Add(device.data(), host.data(), kBytes);
  request.UseAttr(HostToDevice());
  request.dest_maxs[0] = 1;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemcpy(nullptr, kBytes, host.data(), kBytes, ACL_MEMCPY_DEFAULT));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM,
             aclrtMemcpyAsync(device.data(), kBytes, host.data(), kBytes, Kind(6), stream()));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM,
             aclrtMemcpy2d(device.data(), 1, host.data(), 1, 2, 1, ACL_MEMCPY_DEFAULT));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, request.Submit(BatchForm::kSync, nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, request.Submit(BatchForm::kAsync, stream()));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemset(nullptr, 1, 0, 1));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemcpyAsyncWithDesc(nullptr, Kind(6), stream()));
  EXPECT_ACL(ACL_SUCCESS, LastError());
}

TEST_F(LastErrors, RuntimeChecksSetIt) {
  PinnedBuffer host(kBytes);
  DeviceBuffer device(kBytes);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtMemcpy(device.data(), 1, host.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtGetLastError(ACL_RT_THREAD_LEVEL));
  EXPECT_ACL(ACL_SUCCESS, aclrtGetLastError(ACL_RT_THREAD_LEVEL));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtMemcpyAsync(device.data(), kBytes, host.data(), kBytes,
                                                           ACL_MEMCPY_HOST_TO_DEVICE, DeadStream()));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, TakeLastError());
  // A success does not clear it.
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtMemcpyAsync(device.data(), 1, host.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream()));
  EXPECT_ACL(ACL_SUCCESS, aclrtMemcpy(device.data(), kBytes, host.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, TakeLastError());
}

TEST_F(LastErrors, AnArgumentErrorDoesNotHideAnEarlierOne) {
  PinnedBuffer host(kBytes);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpy(host.data(), 1, host.data(), 2, ACL_MEMCPY_DEFAULT));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemcpy(nullptr, 1, host.data(), 1, ACL_MEMCPY_DEFAULT));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, TakeLastError());
}

TEST_F(LastErrors, AttachedQuietRefusalsDoNotSetIt) {
  PinnedBuffer first(kBytes), second(kBytes);
  DeviceBuffer device(kBytes), desc(64);
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtMemcpyAsync(first.data(), kBytes, second.data(), kBytes,
                                                                ACL_MEMCPY_HOST_TO_HOST, stream()));
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtSetMemcpyDesc(desc.data(), ACL_MEMCPY_DEVICE_TO_DEVICE,
                                                                  device.data(), device.data(), 1, nullptr));
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
             aclrtMemcpyAsyncWithDesc(desc.data(), ACL_MEMCPY_DEVICE_TO_DEVICE, stream()));
  EXPECT_ACL(ACL_SUCCESS, LastError());
}

TEST_F(LastErrors, AttachedCann8QuietRefusalOfRows) {
  DeviceBuffer first(kBytes), second(kBytes);
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtMemcpy2dAsync(first.data(), 64, second.data(), 64, 64, 1,
                                                                  ACL_MEMCPY_DEVICE_TO_DEVICE, stream()));
  EXPECT_ACL(ACL_SUCCESS, LastError());
  EXPECT_TRUE(MessageHas("device to device")) << "quiet as a last error, but said in words";
}

TEST_F(LastErrors, QueuedFailuresSetItWhereTheySurface) {
  QueueFailure(stream());
  EXPECT_ACL(ACL_SUCCESS, LastError());
  OnNewThread([&] {
    EXPECT_ACL(ACL_ERROR_RT_SYS_DMA,
               aclrtSetDevice(0) != ACL_SUCCESS ? -1 : aclrtSynchronizeStream(stream()));
    EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, TakeLastError());
    EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(0));
  });
  EXPECT_ACL(ACL_SUCCESS, LastError()) << "it belongs to the thread that was told";
}

TEST_F(LastErrors, BelongToTheThread) {
  PinnedBuffer host(kBytes);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpy(host.data(), 1, host.data(), 2, ACL_MEMCPY_DEFAULT));
  OnNewThread([] { EXPECT_ACL(ACL_SUCCESS, LastError()); });
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, TakeLastError());
}

class Messages : public CopyTest {};

/// `[PID: n] time title(CODE): text`
::testing::AssertionResult HasShape(const std::string& message, const std::string& code) {
  static const std::string kBegin = "[PID: " + std::to_string(getpid()) + "] 2";
  const std::size_t at = message.find("(" + code + "): ");
  if (message.starts_with(kBegin) && at != std::string::npos && at < message.find('\n') &&
      at + code.size() + 4 < message.size()) {
    return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure() << "not the shape of a message with " << code << ": " << message;
}

TEST_F(Messages, HaveTheirShape) {
  PinnedBuffer host(kBytes);
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemcpy(nullptr, 1, host.data(), 1, ACL_MEMCPY_DEFAULT));
  EXPECT_TRUE(HasShape(RecentMessage(), "EH0002"));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemcpy(host.data(), 1, host.data(), 1, Kind(6)));
  EXPECT_TRUE(HasShape(RecentMessage(), "EH0001"));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpy(host.data(), 1, host.data(), 2, ACL_MEMCPY_DEFAULT));
  EXPECT_TRUE(HasShape(RecentMessage(), "EE1011"));
}

TEST_F(Messages, NewestComesFirst) {
  PinnedBuffer host(kBytes);
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemcpy(nullptr, 1, host.data(), 1, ACL_MEMCPY_DEFAULT));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtMemcpy(host.data(), 4321, host.data(), 8765, ACL_MEMCPY_DEFAULT));
  const char* const all = aclGetRecentErrMsg();
  ASSERT_NE(all, nullptr);
  const char* const newer = std::strstr(all, "8765");
  const char* const older = std::strstr(all, "dst");
  ASSERT_NE(newer, nullptr);
  ASSERT_NE(older, nullptr);
  EXPECT_LT(newer, std::strstr(newer, "[PID:")) << "the older message should follow: " << all;
}

TEST_F(Messages, NameTheArgumentItsValueWithTheLimit) {
  PinnedBuffer host(kBytes);
  DeviceBuffer device(kBytes);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtMemcpy(device.data(), 1234, host.data(), 2345, ACL_MEMCPY_HOST_TO_DEVICE));
  for (const char* part : {"destMax", "1234", "count", "2345"})
    EXPECT_TRUE(MessageHas(part));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemcpy(device.data(), 1, host.data(), 1, Kind(98765)));
  for (const char* part : {"kind", "98765"})
    EXPECT_TRUE(MessageHas(part));
}

TEST_F(Messages, AttachedNameWidthWithPitch) {
  PinnedBuffer host(kBytes);
  DeviceBuffer device(kBytes);
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM,
             aclrtMemcpy2d(device.data(), 4321, host.data(), 1234, 1235, 1, ACL_MEMCPY_HOST_TO_DEVICE));
  for (const char* part : {"width", "1235", "spitch", "1234"})
    EXPECT_TRUE(MessageHas(part));
}

TEST_F(Messages, NameTheAllocationAndItsSize) {
  PinnedBuffer host(100'000);
  DeviceBuffer device(12'345);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpyAsync(device.at(100), 54'321, host.data(), 54'321,
                                                          ACL_MEMCPY_HOST_TO_DEVICE, stream()));
  EXPECT_TRUE(MessageHas(Hex(device.data())));
  EXPECT_TRUE(MessageHas("12345"));
  EXPECT_TRUE(MessageHas("54321"));
}

TEST_F(Messages, AttachedNameTheEntryOfABatch) {
  PinnedBuffer host(100'000);
  DeviceBuffer device(12'345);
  BatchRequest request;
  for (std::size_t i = 0; i < 300; ++i)
    request.Add(device.at(i * 32), host.at(i * 32), 32);
  request.Add(device.at(0), host.data(), 54'321);
  request.UseAttr(HostToDevice());
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, request.Submit(BatchForm::kAsync, stream()));
  EXPECT_EQ(request.fail_index, 300U);
  EXPECT_TRUE(MessageHas("300"));
  EXPECT_TRUE(MessageHas(Hex(device.data())));
  EXPECT_TRUE(MessageHas("54321"));
}

void ExpectParts(std::initializer_list<std::string> parts) {
  for (const std::string& part : parts)
    EXPECT_TRUE(MessageHas(part));
}
/// An argument as messages give it: its name, its address, and of memory that the runtime knows the
/// allocation.
std::string Known(const std::string& name, const void* address) {
  return name + " 0x" + Hex(address) + " is allocation #";
}
std::string Plain(const std::string& name, const void* address) {
  return name + " 0x" + Hex(address) + " is pageable host memory";
}

TEST_F(Messages, AttachedNameBothEndsWhereTheirDirectionIsWrong) {
  PinnedBuffer pinned(kBytes), other(kBytes);
  PageableBuffer host(kBytes);
  DeviceBuffer device(kBytes);
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
             aclrtMemcpyAsync(pinned.at(64), 64, other.at(32), 64, ACL_MEMCPY_DEFAULT, stream()));
  ExpectParts({Known("dst", pinned.at(64)), Known("src", other.at(32)), Hex(pinned.data())});
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtMemcpyAsync(device.at(32), 64, host.data(), 64, ACL_MEMCPY_DEVICE_TO_HOST, stream()));
  ExpectParts({Known("dst", device.at(32)), Plain("src", host.data()), "DEVICE_TO_HOST"});
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpyAsync(host.data(), 64, device.at(32), 64,
                                                          ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, stream()));
  ExpectParts({Known("src", device.at(32)), Plain("dst", host.data()), "HOST_TO_BUF_TO_DEVICE"});
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtMemcpy2d(pinned.at(64), 8, other.at(32), 8, 8, 2, ACL_MEMCPY_DEFAULT));
  ExpectParts({Known("dst", pinned.at(64)), Known("src", other.at(32))});
}

TEST_F(Messages, AttachedNameBothEndsOfABatchEntry) {
  PinnedBuffer pinned(kBytes);
  PageableBuffer host(kBytes);
  DeviceBuffer device(kBytes);
  const auto submit = [&](void* dst, void* src, const aclrtMemcpyBatchAttr& attribute) {
    BatchRequest request;
    request.Add(device.data(), pinned.data(), 32);
    request.UseAttr(HostToDevice());
    request.Add(dst, src, 32);
    request.UseAttr(attribute, 1);
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, request.Submit(BatchForm::kAsync, stream()));
    EXPECT_EQ(request.fail_index, 1u);
    ExpectParts({"entry 1: "});
  };
  aclrtMemcpyBatchAttr both = HostToDevice();
  both.dstLoc = both.srcLoc;
  submit(pinned.at(64), host.at(32), both);
  ExpectParts({Known("dst", pinned.at(64)), Plain("src", host.at(32))});
  submit(pinned.at(64), host.at(32), HostToDevice());
  ExpectParts({Known("dst", pinned.at(64)), "its attribute says memory of device 0"});
  submit(pinned.at(64), device.at(32), DeviceToHost());
  ExpectParts({Known("dst", pinned.at(64)), Known("src", device.at(32)), "one direction"});
}

TEST_F(Messages, AttachedNameMemoryThatShouldBeADevices) {
  PinnedBuffer pinned(kBytes);
  PageableBuffer host(kBytes);
  DeviceBuffer device(kBytes);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpyAsyncWithDesc(pinned.data(), Kind(6), stream()));
  ExpectParts({Known("desc", pinned.data())});
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtSetMemcpyDesc(device.data(), Kind(6), device.at(64), host.data(), 8, nullptr));
  ExpectParts({Plain("dstAddr", host.data())});
}

}  // namespace
}  // namespace sampan::test::copy_errors_test
