// Which direction aclrtMemcpyAsync makes of a kind, for every pair of places.
// Rules of docs/BEHAVIOUR.md: copy-2.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "acl/acl.h"
#include "tests/support/copy_fixture.h"

namespace sampan::test::copy_async_kinds_test {
namespace {

constexpr std::size_t kBytes = 512;

enum class Outcome {
  kQueued,    ///< arrives after the stream's earlier work, the call does not wait
  kDrained,   ///< has arrived on return
  kTaken,     ///< accepted as given: device to device, though one side is pageable
  kConflict,  ///< 107000
  kHostPair,  ///< 207000
};

/// Registered memory counts as pinned.
Place Class(Place place) {
  return place == Place::kRegistered ? Place::kPinned : place;
}

/// The resolution table, row by row.
Outcome Expected(Place src, Place dst, aclrtMemcpyKind kind) {
  const Place from = Class(src), to = Class(dst);
  if (kind == ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE) {
    return from != Place::kDevice && to == Place::kDevice ? Outcome::kQueued : Outcome::kConflict;
  }
  if (from == Place::kDevice && to == Place::kDevice) return Outcome::kQueued;
  if (from == Place::kPinned && to == Place::kPinned) return Outcome::kHostPair;
  if (from != Place::kPageable && to != Place::kPageable) return Outcome::kQueued;
  if (from == Place::kDevice || to == Place::kDevice) {
    const aclrtMemcpyKind real = to == Place::kDevice ? ACL_MEMCPY_HOST_TO_DEVICE : ACL_MEMCPY_DEVICE_TO_HOST;
    if (kind == real || kind == ACL_MEMCPY_DEFAULT) return Outcome::kDrained;
    return kind == ACL_MEMCPY_DEVICE_TO_DEVICE ? Outcome::kTaken : Outcome::kConflict;
  }
  // Neither is a device and at least one side is pageable: such copies are made at once, by their addresses.
  if (kind == ACL_MEMCPY_HOST_TO_HOST || kind == ACL_MEMCPY_DEFAULT) return Outcome::kHostPair;
  if (kind == ACL_MEMCPY_HOST_TO_DEVICE)
    return to == Place::kPageable ? Outcome::kDrained : Outcome::kConflict;
  if (kind == ACL_MEMCPY_DEVICE_TO_HOST)
    return from == Place::kPageable ? Outcome::kDrained : Outcome::kConflict;
  return from == to ? Outcome::kTaken : Outcome::kConflict;
}

constexpr Place kPlaces[] = {Place::kPageable, Place::kPinned, Place::kRegistered, Place::kDevice};

class AttachedAsyncKinds : public CopyTest,
                           public ::testing::WithParamInterface<std::tuple<Place, Place, int>> {
 protected:
  Place from() const { return std::get<0>(GetParam()); }
  Place to() const { return std::get<1>(GetParam()); }
  aclrtMemcpyKind kind() const { return Kind(std::get<2>(GetParam())); }
};

TEST_P(AttachedAsyncKinds, ResolveAsTheTableSays) {
  GuardedBuffer src(from(), kBytes, 1), dst(to(), kBytes, 3);
  const Bytes contents = random().Fill(kBytes);
  src.Write(contents);
  TakeLastError();
  const auto copy = [&] {
    return aclrtMemcpyAsync(dst.data(), kBytes, src.data(), kBytes, kind(), stream());
  };
  switch (Expected(from(), to(), kind())) {
    case Outcome::kQueued: {
      Gate gate(stream());
      EXPECT_ACL(ACL_SUCCESS, copy());
      EXPECT_TRUE(dst.Untouched());
      gate.Open();
      Synchronize();
      EXPECT_TRUE(dst.Holds(contents));
      break;
    }
    case Outcome::kDrained:
      EXPECT_ACL(ACL_SUCCESS, copy());
      EXPECT_TRUE(dst.Holds(contents));
      break;
    case Outcome::kTaken:
      // The documents do not say what such a copy does on a chip; ours must not claim what it did not do.
      EXPECT_ACL(ACL_SUCCESS, copy());
      if (aclrtSynchronizeStream(stream()) == ACL_SUCCESS) {
        EXPECT_TRUE(dst.Holds(contents));
      } else {
        EXPECT_TRUE(dst.Untouched());
      }
      break;
    case Outcome::kConflict:
      EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, copy());
      EXPECT_TRUE(MessageHas("kind"));
      EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, LastError());
      Synchronize();
      EXPECT_TRUE(dst.Untouched());
      break;
    case Outcome::kHostPair:
      EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, copy());
      EXPECT_ACL(ACL_SUCCESS, LastError()) << "this refusal is a quiet one";
      Synchronize();
      EXPECT_TRUE(dst.Untouched());
      break;
  }
  EXPECT_TRUE(src.Holds(contents));
}

std::string Name(const ::testing::TestParamInfo<std::tuple<Place, Place, int>>& given) {
  std::ostringstream name;
  name << std::get<0>(given.param) << "_to_" << std::get<1>(given.param) << "_kind"
       << std::get<2>(given.param);
  return name.str();
}

INSTANTIATE_TEST_SUITE_P(Table, AttachedAsyncKinds,
                         ::testing::Combine(::testing::ValuesIn(kPlaces), ::testing::ValuesIn(kPlaces),
                                            ::testing::Range(0, 6)),
                         Name);

class AttachedKindExamples : public CopyTest {};

TEST_F(AttachedKindExamples, HostToHostIsCorrectedForPinnedToDevice) {
  GuardedBuffer device(Place::kDevice, kBytes);
  PinnedBuffer pinned(kBytes);
  PageableBuffer pageable(kBytes);
  const Bytes contents = random().Fill(kBytes);
  pinned.Write(0, contents);
  EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(device.data(), kBytes, pinned.data(), kBytes,
                                           ACL_MEMCPY_HOST_TO_HOST, stream()));
  Synchronize();
  EXPECT_TRUE(device.Holds(contents));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpyAsync(device.data(), kBytes, pageable.data(), kBytes,
                                                          ACL_MEMCPY_HOST_TO_HOST, stream()));
}

TEST_F(AttachedKindExamples, StackMemoryIsPageable) {
  GuardedBuffer device(Place::kDevice, kBytes);
  const Bytes contents = random().Fill(kBytes);
  std::byte local[kBytes];
  std::copy(contents.begin(), contents.end(), local);
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpyAsync(device.data(), kBytes, local, kBytes, ACL_MEMCPY_DEFAULT, stream()));
  EXPECT_TRUE(device.Holds(contents));
}

TEST_F(AttachedKindExamples, AddressSeenByTheDeviceServesCopies) {
  void* const memory = std::aligned_alloc(4096, 4096);
  void* seen_by_device = nullptr;
  ASSERT_ACL(ACL_SUCCESS, aclrtHostRegister(memory, 4096, ACL_HOST_REGISTER_MAPPED, &seen_by_device));
  const Bytes contents = random().Fill(kBytes);
  std::copy(contents.begin(), contents.end(), static_cast<std::byte*>(memory));
  GuardedBuffer device(Place::kDevice, kBytes);
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpyAsync(device.data(), kBytes, seen_by_device, kBytes, ACL_MEMCPY_DEFAULT, stream()));
  Synchronize();
  EXPECT_TRUE(device.Holds(contents));
  EXPECT_ACL(ACL_SUCCESS, aclrtHostUnregister(memory));
  std::free(memory);
}

TEST_F(AttachedKindExamples, UnregisteredMemoryIsPageableAgain) {
  GuardedBuffer device(Place::kDevice, kBytes);
  void* const memory = std::aligned_alloc(4096, 4096);
  void* seen_by_device = nullptr;
  ASSERT_ACL(ACL_SUCCESS, aclrtHostRegister(memory, 4096, ACL_HOST_REGISTER_MAPPED, &seen_by_device));
  // As pinned memory, any kind is corrected.
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpyAsync(device.data(), kBytes, memory, kBytes, ACL_MEMCPY_DEVICE_TO_HOST, stream()));
  Synchronize();
  ASSERT_ACL(ACL_SUCCESS, aclrtHostUnregister(memory));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtMemcpyAsync(device.data(), kBytes, memory, kBytes, ACL_MEMCPY_DEVICE_TO_HOST, stream()));
  std::free(memory);
}

}  // namespace
}  // namespace sampan::test::copy_async_kinds_test
