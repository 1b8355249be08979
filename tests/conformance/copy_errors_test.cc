// How copy failures are reported: once for queued work, as last error by layer.
// Rules of docs/BEHAVIOUR.md: copy-9, stream-2.
#include <gtest/gtest.h>

#include <cstdint>
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

}  // namespace
}  // namespace sampan::test::copy_errors_test
