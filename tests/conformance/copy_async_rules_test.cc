// The argument checks of aclrtMemcpyAsync, in their order; its deprecated twin obeys the same.
// Rules of docs/BEHAVIOUR.md: copy-1, copy-3, copy-13.
#include <gtest/gtest.h>

#include <cstdint>
#include <ostream>

#include "acl/acl.h"
#include "tests/support/copy_fixture.h"

namespace sampan::test::copy_async_rules_test {
namespace {

constexpr std::size_t kBytes = 256;

aclError WithCondition(void* dst, std::size_t dest_max, const void* src, std::size_t count,
                       aclrtMemcpyKind kind, aclrtStream stream) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  return aclrtMemcpyAsyncWithCondition(dst, dest_max, src, count, kind, stream);
#pragma GCC diagnostic pop
}

using AsyncCopy = aclError (*)(void*, std::size_t, const void*, std::size_t, aclrtMemcpyKind, aclrtStream);

struct AsyncCall {
  const char* name;
  AsyncCopy copy;
};

std::ostream& operator<<(std::ostream& out, const AsyncCall& call) {
  return out << call.name;
}

class MemcpyAsyncRules : public CopyTest, public ::testing::WithParamInterface<AsyncCall> {
 protected:
  static AsyncCopy copy() { return GetParam().copy; }
};

INSTANTIATE_TEST_SUITE_P(Calls, MemcpyAsyncRules,
                         ::testing::Values(AsyncCall{"Plain", &aclrtMemcpyAsync},
                                           AsyncCall{"WithCondition", &WithCondition}),
                         [](const auto& given) { return given.param.name; });

TEST_P(MemcpyAsyncRules, NothingIsLookedAtWhenCountIsZero) {
  const aclrtStream dead = DeadStream();
  EXPECT_ACL(ACL_SUCCESS, copy()(nullptr, 0, nullptr, 0, Kind(99), dead));
  OnNewThread([&] { EXPECT_ACL(ACL_SUCCESS, copy()(nullptr, 0, nullptr, 0, Kind(-1), nullptr)); });
}

TEST_P(MemcpyAsyncRules, NullPointersWinOverKindAndStream) {
  PinnedBuffer host(kBytes);
  const aclrtStream dead = DeadStream();
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, copy()(nullptr, kBytes, nullptr, kBytes, Kind(99), dead));
  EXPECT_TRUE(MessageHas("dst"));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, copy()(host.data(), kBytes, nullptr, kBytes, Kind(99), dead));
  EXPECT_TRUE(MessageHas("src"));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, copy()(nullptr, 0, host.data(), kBytes, ACL_MEMCPY_DEFAULT, stream()));
}

TEST_P(MemcpyAsyncRules, KindWinsOverStreamAndLength) {
  DeviceBuffer device(kBytes);
  PinnedBuffer host(kBytes);
  const aclrtStream dead = DeadStream();
  for (const int kind : {-1, 6, 7, 8, 99, INT32_MAX}) {
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, copy()(device.data(), 1, host.data(), kBytes, Kind(kind), dead));
    EXPECT_TRUE(MessageHas("kind"));
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM,
               copy()(device.data(), kBytes, host.data(), kBytes, Kind(kind), stream()));
  }
}

TEST_P(MemcpyAsyncRules, StreamHandleWinsOverLength) {
  DeviceBuffer device(kBytes);
  PinnedBuffer host(kBytes);
  const aclrtStream dead = DeadStream();
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE,
             copy()(device.data(), 1, host.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE, dead));
  OnNewThread([&] {
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE,
               copy()(device.data(), kBytes, host.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE, dead));
  });
}

TEST_P(MemcpyAsyncRules, OnlyStreamsAreStreams) {
  DeviceBuffer device(kBytes);
  PinnedBuffer host(kBytes);
  Event event;
  std::uint64_t forged[8] = {};
  for (void* const handle : {static_cast<void*>(event), static_cast<void*>(forged), host.data(),
                             device.data(), reinterpret_cast<void*>(0x10)}) {
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE,
               copy()(device.data(), kBytes, host.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE, handle))
        << handle;
  }
}

TEST_P(MemcpyAsyncRules, LengthWinsOverContextAndResolution) {
  GuardedBuffer device(Place::kDevice, kBytes);
  PinnedBuffer host(kBytes);
  PageableBuffer pageable(kBytes);
  OnNewThread([&] {
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
               copy()(device.data(), kBytes - 1, host.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE, nullptr));
    EXPECT_TRUE(MessageHas("destMax"));
  });
  // Host to host is not supported, but the length is looked at first.
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             copy()(pageable.data(), 0, host.data(), kBytes, ACL_MEMCPY_HOST_TO_HOST, stream()));
  EXPECT_TRUE(device.Untouched());
}

TEST_P(MemcpyAsyncRules, ContextWinsOverResolution) {
  GuardedBuffer device(Place::kDevice, kBytes);
  PageableBuffer pageable(kBytes);
  PinnedBuffer pinned(kBytes);
  OnNewThread([&] {
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL,
               copy()(device.data(), kBytes, pageable.data(), kBytes, ACL_MEMCPY_DEVICE_TO_HOST, nullptr));
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL,
               copy()(pinned.data(), kBytes, pinned.data(), kBytes, ACL_MEMCPY_HOST_TO_HOST, nullptr));
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL,
               copy()(device.data(), kBytes, pinned.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream()));
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL,
               copy()(device.data(), kBytes, device.data(), kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE, nullptr));
  });
  EXPECT_TRUE(device.Untouched());
}

TEST_P(MemcpyAsyncRules, AttachedResolutionWinsOverForeignStream) {
  ForeignStream foreign;
  GuardedBuffer device(Place::kDevice, kBytes);
  PageableBuffer pageable(kBytes);
  PinnedBuffer pinned(kBytes), other(kBytes);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             copy()(device.data(), kBytes, pageable.data(), kBytes, ACL_MEMCPY_DEVICE_TO_HOST, foreign));
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
             copy()(pinned.data(), kBytes, other.data(), kBytes, ACL_MEMCPY_DEFAULT, foreign));
  EXPECT_TRUE(device.Untouched());
}

TEST_P(MemcpyAsyncRules, AttachedHostToHostWinsOverEqualPointers) {
  PinnedBuffer pinned(kBytes);
  PageableBuffer pageable(kBytes);
  for (void* const host : {pinned.data(), pageable.data()}) {
    EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
               copy()(host, kBytes, host, kBytes, ACL_MEMCPY_HOST_TO_HOST, stream()));
    EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
               copy()(host, kBytes, host, kBytes, ACL_MEMCPY_DEFAULT, stream()));
  }
}

TEST_P(MemcpyAsyncRules, EqualPointersWinOverForeignStream) {
  ForeignStream foreign;
  GuardedBuffer device(Place::kDevice, kBytes);
  EXPECT_ACL(ACL_SUCCESS,
             copy()(device.data(), kBytes, device.data(), kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE, foreign));
  EXPECT_ACL(ACL_SUCCESS,
             copy()(device.data(), kBytes, device.data(), kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE, stream()));
  Synchronize();
  EXPECT_TRUE(device.Untouched());
}

TEST_P(MemcpyAsyncRules, ForeignStreamIsRefusedForQueuedCopies) {
  ForeignStream foreign;
  GuardedBuffer device(Place::kDevice, kBytes), other(Place::kDevice, kBytes), pinned(Place::kPinned, kBytes);
  EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT,
             copy()(device.data(), kBytes, pinned.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE, foreign));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT,
             copy()(pinned.data(), kBytes, device.data(), kBytes, ACL_MEMCPY_DEVICE_TO_HOST, foreign));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT,
             copy()(other.data(), kBytes, device.data(), kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE, foreign));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT,
             copy()(device.data(), kBytes, pinned.data(), kBytes, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, foreign));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(foreign));
  EXPECT_TRUE(device.Untouched());
  EXPECT_TRUE(other.Untouched());
  EXPECT_TRUE(pinned.Untouched());
}

TEST_P(MemcpyAsyncRules, AttachedForeignStreamIsTakenForPageableCopies) {
  ForeignStream foreign;
  GuardedBuffer device(Place::kDevice, kBytes), back(Place::kPageable, kBytes);
  PageableBuffer src(kBytes);
  const Bytes contents = random().Fill(kBytes);
  src.Write(0, contents);
  EXPECT_ACL(ACL_SUCCESS,
             copy()(device.data(), kBytes, src.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE, foreign));
  EXPECT_TRUE(device.Holds(contents));
  EXPECT_ACL(ACL_SUCCESS,
             copy()(back.data(), kBytes, device.data(), kBytes, ACL_MEMCPY_DEVICE_TO_HOST, foreign));
  EXPECT_TRUE(back.Holds(contents));
}

TEST_P(MemcpyAsyncRules, AStreamServesItsOwnContext) {
  ForeignStream foreign;
  GuardedBuffer device(Place::kDevice, kBytes);
  PinnedBuffer src(kBytes);
  const Bytes contents = random().Fill(kBytes);
  src.Write(0, contents);
  OnNewThread([&] {
    EXPECT_ACL(ACL_SUCCESS, aclrtSetCurrentContext(foreign.context()));
    EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT,
               copy()(device.data(), kBytes, src.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream()));
    EXPECT_ACL(ACL_SUCCESS,
               copy()(device.data(), kBytes, src.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE, foreign));
  });
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(foreign));
  EXPECT_TRUE(device.Holds(contents));
}

TEST_P(MemcpyAsyncRules, NullStreamIsTheDefaultStream) {
  GuardedBuffer device(Place::kDevice, kBytes);
  PinnedBuffer src(kBytes);
  const Bytes contents = random().Fill(kBytes);
  src.Write(0, contents);
  aclrtStream default_stream = nullptr;
  ASSERT_ACL(ACL_SUCCESS, aclrtCtxGetCurrentDefaultStream(&default_stream));
  Gate gate(default_stream);
  EXPECT_ACL(ACL_SUCCESS,
             copy()(device.data(), kBytes, src.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE, nullptr));
  EXPECT_TRUE(device.Untouched());
  gate.Open();
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(nullptr));
  EXPECT_TRUE(device.Holds(contents));
}

}  // namespace
}  // namespace sampan::test::copy_async_rules_test
