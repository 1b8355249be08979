// Copies that reach another device: which need peer access, where the bytes go.
// Rules of docs/BEHAVIOUR.md: copy-7, copy-8, process-1.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

#include "acl/acl.h"
#include "tests/support/batch_request.h"
#include "tests/support/copy_fixture.h"

namespace sampan::test::copy_peer_test {
namespace {

constexpr std::size_t kBytes = 5000;

/// Memory on devices 0 and 1; device 0 is current. Peer access is off until a test enables it.
class AttachedPeerCopies : public CopyTest {
 protected:
  void SetUp() override {
    CopyTest::SetUp();
    if (HasFatalFailure()) return;
    std::uint32_t devices = 0;
    ASSERT_ACL(ACL_SUCCESS, aclrtGetDeviceCount(&devices));
    if (devices < 2) GTEST_SKIP() << "needs two devices, there is " << devices;
    aclrtContext current = nullptr;
    ASSERT_ACL(ACL_SUCCESS, aclrtGetCurrentContext(&current));
    ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(1));
    far_.emplace(Place::kDevice, kBytes);
    ASSERT_ACL(ACL_SUCCESS, aclrtSetCurrentContext(current));
    near_.emplace(Place::kDevice, kBytes);
  }
  void TearDown() override {
    if (far_) {
      if (peer_access_) {
        EXPECT_ACL(ACL_SUCCESS, aclrtDeviceDisablePeerAccess(1));
      }
      far_.reset();
      near_.reset();
      EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(1));
    }
    CopyTest::TearDown();
  }

  void EnablePeerAccess() {
    peer_access_ = true;
    ASSERT_ACL(ACL_SUCCESS, aclrtDeviceEnablePeerAccess(1, 0));
  }

  std::optional<GuardedBuffer> near_, far_;
  bool peer_access_ = false;
};

TEST_F(AttachedPeerCopies, DeviceToDeviceNeedsPeerAccess) {
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtMemcpy(far_->data(), kBytes, near_->data(), kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE));
  EXPECT_TRUE(MessageHas("aclrtDeviceEnablePeerAccess"));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpyAsync(near_->data(), kBytes, far_->data(), kBytes,
                                                          ACL_MEMCPY_DEVICE_TO_DEVICE, stream()));
  EXPECT_TRUE(MessageHas("aclrtDeviceEnablePeerAccess"));
  Synchronize();
  EXPECT_TRUE(near_->Untouched());
  EXPECT_TRUE(far_->Untouched());
}

TEST_F(AttachedPeerCopies, BlockingCopiesWithinAnotherDeviceNeedNone) {
  const std::size_t half = kBytes / 2;
  const Bytes contents = random().Fill(half);
  far_->Write(random().Fill(kBytes));
  EXPECT_ACL(ACL_SUCCESS, aclrtMemcpy(far_->data(), half, contents.data(), half, ACL_MEMCPY_HOST_TO_DEVICE));
  std::byte* const behind = static_cast<std::byte*>(far_->data()) + half;
  EXPECT_ACL(ACL_SUCCESS, aclrtMemcpy(behind, half, far_->data(), half, ACL_MEMCPY_DEVICE_TO_DEVICE));
  EXPECT_EQ(ReadDevice(behind, half), contents);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtMemcpyAsync(behind, half, far_->data(), half, ACL_MEMCPY_DEVICE_TO_DEVICE, stream()))
      << "a stream of device 0";
}

TEST_F(AttachedPeerCopies, DeviceToDeviceWithPeerAccess) {
  EnablePeerAccess();
  const Bytes contents = random().Fill(kBytes);
  near_->Write(contents);
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpy(far_->data(), kBytes, near_->data(), kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE));
  EXPECT_TRUE(far_->Holds(contents));
  const Bytes others = random().Fill(kBytes);
  far_->Write(others);
  EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(near_->data(), kBytes, far_->data(), kBytes,
                                           ACL_MEMCPY_DEVICE_TO_DEVICE, stream()));
  Synchronize();
  EXPECT_TRUE(near_->Holds(others));
}

TEST_F(AttachedPeerCopies, PeerAccessEndsWhenItIsDisabled) {
  EnablePeerAccess();
  EXPECT_ACL(ACL_SUCCESS, aclrtDeviceDisablePeerAccess(1));
  peer_access_ = false;
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtMemcpy(far_->data(), kBytes, near_->data(), kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE));
}

TEST_F(AttachedPeerCopies, PeerAccessHasADirection) {
  EnablePeerAccess();
  OnNewThread([&] {
    EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(1));
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
               aclrtMemcpy(far_->data(), kBytes, near_->data(), kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE));
    EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(1));
  });
  EXPECT_TRUE(far_->Untouched());
}

TEST_F(AttachedPeerCopies, HostMemoryReachesEveryDevice) {
  PinnedBuffer src(kBytes);
  GuardedBuffer back(Place::kPinned, kBytes), pageable(Place::kPageable, kBytes);
  const Bytes contents = random().Fill(kBytes);
  src.Write(0, contents);
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpyAsync(far_->data(), kBytes, src.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream()));
  EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(back.data(), kBytes, far_->data(), kBytes,
                                           ACL_MEMCPY_DEVICE_TO_HOST, stream()));
  Synchronize();
  EXPECT_TRUE(far_->Holds(contents));
  EXPECT_TRUE(back.Holds(contents));
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpy(pageable.data(), kBytes, far_->data(), kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT_TRUE(pageable.Holds(contents));
}

TEST_F(AttachedPeerCopies, BatchAttributesNameTheDevice) {
  PinnedBuffer src(kBytes);
  BatchRequest request;
  request.Add(near_->data(), src.data(), kBytes);
  request.Add(far_->data(), src.data(), kBytes);
  request.UseAttr(HostToDevice(0));
  for (const BatchForm form : {BatchForm::kSync, BatchForm::kAsync}) {
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, request.Submit(form, stream()));
    EXPECT_EQ(request.fail_index, 1U);
  }
  Synchronize();
  EXPECT_TRUE(near_->Untouched());
  request.UseAttr(HostToDevice(1), 1);
  for (const BatchForm form : {BatchForm::kSync, BatchForm::kAsync}) {
    SCOPED_TRACE(form);
    const Bytes contents = random().Fill(kBytes);
    src.Write(0, contents);
    EXPECT_ACL(ACL_SUCCESS, request.Submit(form, stream()));
    Synchronize();
    EXPECT_TRUE(near_->Holds(contents));
    EXPECT_TRUE(far_->Holds(contents));
  }
}

TEST_F(AttachedPeerCopies, MemoryEndsWithItsDevice) {
  std::uint32_t devices = 0;
  ASSERT_ACL(ACL_SUCCESS, aclrtGetDeviceCount(&devices));
  if (devices < 3) GTEST_SKIP() << "needs three devices, there are " << devices;
  void* device = nullptr;
  void* pinned = nullptr;
  aclrtStream stream = nullptr;
  OnNewThread([&] {
    EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(2));
    EXPECT_ACL(ACL_SUCCESS, aclrtMalloc(&device, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT_ACL(ACL_SUCCESS, aclrtMallocHost(&pinned, kBytes));
    EXPECT_ACL(ACL_SUCCESS, aclrtCreateStream(&stream));
    EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(2));
  });
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE,
             aclrtMemcpyAsync(near_->data(), kBytes, pinned, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtMemcpy(device, kBytes, pinned, kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
  // Pinned memory is the process's.
  const Bytes contents = random().Fill(kBytes);
  std::copy(contents.begin(), contents.end(), static_cast<std::byte*>(pinned));
  EXPECT_ACL(ACL_SUCCESS, aclrtMemcpy(near_->data(), kBytes, pinned, kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_TRUE(near_->Holds(contents));
  EXPECT_ACL(ACL_SUCCESS, aclrtFreeHost(pinned));
}

TEST_F(AttachedPeerCopies, DescriptorsStayOnOneDevice) {
  DeviceBuffer desc(64);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtSetMemcpyDesc(desc.data(), ACL_MEMCPY_INNER_DEVICE_TO_DEVICE,
                                                            near_->data(), far_->data(), kBytes, nullptr));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtSetMemcpyDesc(desc.data(), ACL_MEMCPY_INNER_DEVICE_TO_DEVICE,
                                                            far_->data(), near_->data(), kBytes, nullptr));
  DeviceBuffer other(kBytes);
  ASSERT_ACL(ACL_SUCCESS, aclrtSetMemcpyDesc(desc.data(), ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, near_->data(),
                                             other.data(), kBytes, nullptr));
  constexpr std::size_t kDstAt = 24;
  const auto address = reinterpret_cast<std::uintptr_t>(far_->data());
  desc.Write(kDstAt, std::as_bytes(std::span(&address, 1)));
  EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsyncWithDesc(desc.data(), ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, stream()));
  EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStream(stream()));
  EXPECT_TRUE(far_->Untouched());
}

TEST_F(AttachedPeerCopies, OperandsOfAnotherDeviceNeedPeerAccess) {
  DeviceBuffer src(64), dst(64);
  void* descriptor = nullptr;
  OnNewThread([&] {
    ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(1));
    ASSERT_ACL(ACL_SUCCESS, aclrtMalloc(&descriptor, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    ASSERT_ACL(ACL_SUCCESS, aclrtResetDevice(1));
  });
  ASSERT_ACL(ACL_SUCCESS, aclrtSetMemcpyDesc(descriptor, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, src.data(),
                                             dst.data(), 64, nullptr));
  const auto by_descriptor = [&] {
    return aclrtMemcpyAsyncWithDesc(descriptor, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, stream());
  };
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, by_descriptor());
  EXPECT_TRUE(MessageHas("aclrtDeviceEnablePeerAccess(1, 0)"));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtMemcpyAsyncWithOffset(static_cast<void**>(descriptor), 64, 0,
                                        static_cast<const void**>(src.data()), 64, 0,
                                        ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, stream()));
  EnablePeerAccess();
  EXPECT_ACL(ACL_SUCCESS, by_descriptor());
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream()));
  EXPECT_ACL(ACL_SUCCESS, aclrtFree(descriptor));
}

}  // namespace
}  // namespace sampan::test::copy_peer_test
