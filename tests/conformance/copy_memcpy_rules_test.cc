// The argument checks of aclrtMemcpy, in their order.
// Rules of docs/BEHAVIOUR.md: copy-1, copy-5, copy-13.
#include <gtest/gtest.h>

#include <cstdint>
#include <sstream>
#include <tuple>

#include "acl/acl.h"
#include "tests/support/copy_fixture.h"

namespace sampan::test::copy_memcpy_rules_test {
namespace {

constexpr std::size_t kBytes = 256;

class MemcpyRules : public CopyTest {};

TEST_F(MemcpyRules, NothingIsLookedAtWhenCountIsZero) {
  EXPECT_ACL(ACL_SUCCESS, aclrtMemcpy(nullptr, 0, nullptr, 0, Kind(99)));
  OnNewThread([] { EXPECT_ACL(ACL_SUCCESS, aclrtMemcpy(nullptr, 0, nullptr, 0, Kind(-1))); });
  GuardedBuffer dst(Place::kDevice, kBytes);
  PinnedBuffer src(kBytes);
  EXPECT_ACL(ACL_SUCCESS, aclrtMemcpy(dst.data(), kBytes, src.data(), 0, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_TRUE(dst.Untouched());
}

TEST_F(MemcpyRules, NullPointersAreRefused) {
  PinnedBuffer host(kBytes);
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemcpy(nullptr, kBytes, host.data(), kBytes, ACL_MEMCPY_DEFAULT));
  EXPECT_TRUE(MessageHas("dst"));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemcpy(host.data(), kBytes, nullptr, kBytes, ACL_MEMCPY_DEFAULT));
  EXPECT_TRUE(MessageHas("src"));
}

TEST_F(MemcpyRules, DstIsTestedBeforeSrcBeforeKind) {
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemcpy(nullptr, kBytes, nullptr, kBytes, Kind(99)));
  EXPECT_TRUE(MessageHas("dst"));
  PinnedBuffer host(kBytes);
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemcpy(host.data(), kBytes, nullptr, kBytes, Kind(99)));
  EXPECT_TRUE(MessageHas("src"));
}

TEST_F(MemcpyRules, NullWinsOverLength) {
  PinnedBuffer host(kBytes);
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemcpy(nullptr, 0, host.data(), kBytes, ACL_MEMCPY_DEFAULT));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemcpy(host.data(), 1, nullptr, kBytes, ACL_MEMCPY_DEFAULT));
}

TEST_F(MemcpyRules, KindsBeyondFiveAreRefused) {
  DeviceBuffer device(kBytes);
  PinnedBuffer host(kBytes);
  for (const int kind : {-1, 6, 7, 8, 99, INT32_MAX}) {
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemcpy(device.data(), kBytes, host.data(), kBytes, Kind(kind)))
        << "kind " << kind;
    EXPECT_TRUE(MessageHas("kind"));
  }
}

TEST_F(MemcpyRules, KindWinsOverLength) {
  DeviceBuffer device(kBytes);
  PinnedBuffer host(kBytes);
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemcpy(device.data(), 0, host.data(), kBytes, Kind(6)));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemcpy(device.data(), 1, host.data(), kBytes, Kind(7)));
}

TEST_F(MemcpyRules, LengthsAreRefused) {
  GuardedBuffer dst(Place::kDevice, kBytes);
  PinnedBuffer src(kBytes);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtMemcpy(dst.data(), 0, src.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_TRUE(MessageHas("destMax"));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtMemcpy(dst.data(), kBytes - 1, src.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_TRUE(MessageHas("count"));
  EXPECT_TRUE(MessageHas("256"));
  EXPECT_TRUE(MessageHas("255"));
  EXPECT_TRUE(dst.Untouched());
}

TEST_F(MemcpyRules, LengthWinsOverEqualPointersAndContext) {
  PinnedBuffer host(kBytes);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtMemcpy(host.data(), kBytes - 1, host.data(), kBytes, ACL_MEMCPY_HOST_TO_HOST));
  DeviceBuffer device(kBytes);
  OnNewThread([&] {
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
               aclrtMemcpy(device.data(), kBytes - 1, host.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
               aclrtMemcpy(device.data(), 0, host.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
  });
}

TEST_F(MemcpyRules, EqualPointersSucceedBeforeTheContextIsNeeded) {
  GuardedBuffer device(Place::kDevice, kBytes);
  GuardedBuffer host(Place::kPageable, kBytes);
  OnNewThread([&] {
    EXPECT_ACL(ACL_SUCCESS,
               aclrtMemcpy(device.data(), kBytes, device.data(), kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE));
    EXPECT_ACL(ACL_SUCCESS, aclrtMemcpy(host.data(), kBytes, host.data(), kBytes, ACL_MEMCPY_HOST_TO_HOST));
    // Nothing is copied, so an address that leads nowhere does not matter either.
    void* const nowhere = reinterpret_cast<void*>(0x10);
    EXPECT_ACL(ACL_SUCCESS, aclrtMemcpy(nowhere, kBytes, nowhere, kBytes, ACL_MEMCPY_DEFAULT));
  });
  EXPECT_TRUE(device.Untouched());
  EXPECT_TRUE(host.Untouched());
}

TEST_F(MemcpyRules, NeedsAContext) {
  GuardedBuffer dst(Place::kDevice, kBytes);
  PinnedBuffer src(kBytes);
  GuardedBuffer host(Place::kPageable, kBytes);
  OnNewThread([&] {
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL,
               aclrtMemcpy(dst.data(), kBytes, src.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL,
               aclrtMemcpy(host.data(), kBytes, src.data(), kBytes, ACL_MEMCPY_HOST_TO_HOST));
    // It is missed before the addresses are looked at.
    void* const nowhere = reinterpret_cast<void*>(0x10);
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL,
               aclrtMemcpy(dst.data(), kBytes, nowhere, kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
  });
  EXPECT_TRUE(dst.Untouched());
  EXPECT_TRUE(host.Untouched());
}

TEST_F(MemcpyRules, DestMaxMayBeLargerThanTheCopyAndTheMemory) {
  GuardedBuffer dst(Place::kDevice, kBytes);
  PinnedBuffer src(kBytes);
  const Bytes contents = random().Fill(kBytes);
  src.Write(0, contents);
  EXPECT_ACL(ACL_SUCCESS, aclrtMemcpy(dst.data(), SIZE_MAX, src.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_TRUE(dst.Holds(contents));
}

/// The direction comes from the addresses: every kind from 0 to 5 copies between every two places.
class MemcpyDirections : public CopyTest, public ::testing::WithParamInterface<std::tuple<Place, Place>> {};

TEST_P(MemcpyDirections, KindIsNotUsed) {
  const auto [from, to] = GetParam();
  for (int kind = 0; kind <= 5; ++kind) {
    SCOPED_TRACE(::testing::Message() << from << " to " << to << ", kind " << kind);
    GuardedBuffer src(from, kBytes), dst(to, kBytes);
    const Bytes contents = random().Fill(kBytes);
    src.Write(contents);
    EXPECT_ACL(ACL_SUCCESS, aclrtMemcpy(dst.data(), kBytes, src.data(), kBytes, Kind(kind)));
    EXPECT_TRUE(dst.Holds(contents));
    EXPECT_TRUE(src.Holds(contents));
  }
}

constexpr Place kPlaces[] = {Place::kPageable, Place::kPinned, Place::kRegistered, Place::kDevice};
INSTANTIATE_TEST_SUITE_P(AllPlaces, MemcpyDirections,
                         ::testing::Combine(::testing::ValuesIn(kPlaces), ::testing::ValuesIn(kPlaces)),
                         [](const auto& given) {
                           std::ostringstream name;
                           name << std::get<0>(given.param) << "_to_" << std::get<1>(given.param);
                           return name.str();
                         });

TEST_F(MemcpyRules, DoesNotWaitForStreams) {
  DeviceBuffer device(kBytes);
  GuardedBuffer back(Place::kPinned, kBytes);
  const Bytes first = random().Fill(kBytes), second = random().Fill(kBytes);
  device.Write(0, first);
  PinnedBuffer src(kBytes);
  src.Write(0, second);
  Gate gate(stream());
  EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(device.data(), kBytes, src.data(), kBytes,
                                           ACL_MEMCPY_HOST_TO_DEVICE, stream()));
  EXPECT_ACL(ACL_SUCCESS, aclrtMemcpy(back.data(), kBytes, device.data(), kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT_TRUE(back.Holds(first));
  gate.Open();
  Synchronize();
  EXPECT_TRUE(SameBytes(second, device.Read(0, kBytes)));
}

}  // namespace
}  // namespace sampan::test::copy_memcpy_rules_test
