// The rules of a chip in RC form that differ; runs with SAMPAN_PROFILE=ascend310-rc.
// Rules of docs/BEHAVIOUR.md: profile-4.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

#include "acl/acl.h"
#include "tests/support/batch_request.h"
#include "tests/support/copy_fixture.h"

namespace sampan::test::copy_rc_test {
namespace {

constexpr std::size_t kBytes = 3000;

class RcCopies : public CopyTest {};

TEST_F(RcCopies, RunOnTheDevice) {
  aclrtRunMode mode = ACL_HOST;
  EXPECT_ACL(ACL_SUCCESS, aclrtGetRunMode(&mode));
  EXPECT_EQ(mode, ACL_DEVICE);
}

TEST_F(RcCopies, ProgramsUseDeviceMemoryLikeTheirOwn) {
  DeviceBuffer device(kBytes);
  PinnedBuffer host(kBytes);
  const Bytes contents = random().Fill(kBytes);
  std::memcpy(device.data(), contents.data(), kBytes);
  EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(host.data(), kBytes, device.data(), kBytes,
                                           ACL_MEMCPY_DEVICE_TO_HOST, stream()));
  Synchronize();
  EXPECT_EQ(std::memcmp(host.data(), contents.data(), kBytes), 0);
  EXPECT_ACL(ACL_SUCCESS, aclrtMemsetAsync(device.data(), kBytes, 0x3C, kBytes, stream()));
  Synchronize();
  EXPECT_EQ(Bytes(device.at(0), device.at(kBytes)), Bytes(kBytes, std::byte{0x3C}));
}

TEST_F(RcCopies, RowsAreNotSupported) {
  GuardedBuffer device(Place::kDevice, kBytes);
  PinnedBuffer host(kBytes);
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
             aclrtMemcpy2d(device.data(), 100, host.data(), 100, 100, 10, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtMemcpy2dAsync(device.data(), 100, host.data(), 100, 100,
                                                                  10, ACL_MEMCPY_HOST_TO_DEVICE, stream()));
  EXPECT_FALSE(RecentMessage().empty());
  // The first checks know nothing of chips.
  EXPECT_ACL(ACL_SUCCESS, aclrtMemcpy2d(nullptr, 0, nullptr, 0, 0, 10, Kind(99)));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM,
             aclrtMemcpy2d(device.data(), 99, host.data(), 100, 100, 10, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_TRUE(device.Untouched());
}

TEST_F(RcCopies, BatchIsNotSupported) {
  GuardedBuffer device(Place::kDevice, kBytes);
  PinnedBuffer host(kBytes);
  BatchRequest request;
  request.Add(device.data(), host.data(), kBytes);
  request.UseAttr(HostToDevice());
  for (const BatchForm form :
       {BatchForm::kSync, BatchForm::kSyncV2, BatchForm::kAsync, BatchForm::kAsyncV2}) {
    SCOPED_TRACE(form);
    EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, request.Submit(form, stream()));
    EXPECT_EQ(request.fail_index, BatchRequest::kUnwritten);
    EXPECT_ACL(ACL_SUCCESS, LastError());
    // Before that come the checks that know nothing of chips; behind it those of the attributes.
    BatchRequest empty = request;
    empty.sizes[0] = 0;
    EXPECT_ACL(ACL_SUCCESS, empty.Submit(form, stream()));
    BatchRequest short_of_room = request;
    short_of_room.dest_maxs[0] = 1;
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, short_of_room.Submit(form, stream()));
    BatchRequest without_attributes = request;
    without_attributes.num_attrs = 0;
    EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, without_attributes.Submit(form, stream()));
    EXPECT_EQ(without_attributes.fail_index, BatchRequest::kUnwritten);
  }
  EXPECT_TRUE(device.Untouched());
}

TEST_F(RcCopies, DescriptorsAreNotSupported) {
  DeviceBuffer desc(64), src(kBytes), dst(kBytes);
  std::size_t bytes = 7;
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
             aclrtGetMemcpyDescSize(ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, &bytes));
  EXPECT_EQ(bytes, 7U);
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetMemcpyDescSize(Kind(8), &bytes));
  TakeLastError();
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
             aclrtSetMemcpyDesc(desc.data(), ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, src.data(), dst.data(),
                                kBytes, nullptr));
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
             aclrtMemcpyAsyncWithDesc(desc.data(), ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, stream()));
  EXPECT_ACL(ACL_SUCCESS, LastError());
}

TEST_F(RcCopies, OffsetsAreNotSupported) {
  DeviceBuffer cells(64);
  auto** const dst = reinterpret_cast<void**>(cells.at(0));
  const auto** const src = reinterpret_cast<const void**>(cells.at(32));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtMemcpyAsyncWithOffset(dst, 1, 0, src, 1, 0, ACL_MEMCPY_DEVICE_TO_DEVICE, stream()));
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
             aclrtMemcpyAsyncWithOffset(dst, 1, 0, src, 1, 0, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, stream()));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, LastError())
      << "of the first call: the second refusal is a quiet one";
}

TEST_F(RcCopies, HostToHostRunsAsynchronously) {
  PinnedBuffer src(kBytes);
  GuardedBuffer dst(Place::kPinned, kBytes);
  const Bytes contents = random().Fill(kBytes);
  src.Write(0, contents);
  for (const int kind : {0, 1, 2, 3}) {
    SCOPED_TRACE(kind);
    Gate gate(stream());
    EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(dst.data(), kBytes, src.data(), kBytes, Kind(kind), stream()));
    gate.Open();
    Synchronize();
    EXPECT_TRUE(dst.Holds(contents));
    dst.Write(Bytes(kBytes, GuardedBuffer::kBackground));
  }
}

}  // namespace
}  // namespace sampan::test::copy_rc_test
