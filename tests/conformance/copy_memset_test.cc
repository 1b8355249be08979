// Filling memory: the checks of the four calls, the bytes they set, the moment they set them.
// Rules of docs/BEHAVIOUR.md: fill-1, fill-2.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <ostream>
#include <sstream>
#include <string>

#include "acl/acl.h"
#include "tests/support/copy_fixture.h"

namespace sampan::test::copy_memset_test {
namespace {

constexpr std::size_t kBytes = 1003;

struct Call {
  bool async;
  Place place;
};

std::ostream& operator<<(std::ostream& out, const Call& call) {
  return out << (call.async ? "async_" : "sync_") << call.place;
}

std::string Name(const ::testing::TestParamInfo<Call>& given) {
  std::ostringstream name;
  name << given.param;
  return name.str();
}

class MemsetData : public CopyTest, public ::testing::WithParamInterface<Call> {
 protected:
  aclError Set(void* at, std::size_t dst_max, std::int32_t value, std::size_t count) const {
    return GetParam().async ? aclrtMemsetAsync(at, dst_max, value, count, stream())
                            : aclrtMemset(at, dst_max, value, count);
  }
};

TEST_P(MemsetData, SetsTheLowByteOfTheValue) {
  for (const std::int32_t value : {0, 1, 0x7F, 0xFF, 0x1234, -1, -256}) {
    GuardedBuffer memory(GetParam().place, kBytes, 5);
    EXPECT_ACL(ACL_SUCCESS, Set(memory.data(), kBytes, value, kBytes));
    if (GetParam().async) Synchronize();
    EXPECT_TRUE(memory.Holds(Bytes(kBytes, static_cast<std::byte>(value & 0xFF)))) << value;
  }
}

TEST_P(MemsetData, LeavesTheRestAlone) {
  for (const std::size_t count : {std::size_t{1}, std::size_t{2}, std::size_t{31}, kBytes - 1}) {
    GuardedBuffer memory(GetParam().place, kBytes, 3);
    EXPECT_ACL(ACL_SUCCESS, Set(memory.at(1), kBytes - 1, 0x42, count));
    if (GetParam().async) Synchronize();
    Bytes expected(kBytes, GuardedBuffer::kBackground);
    std::fill_n(expected.begin() + 1, count, std::byte{0x42});
    EXPECT_TRUE(memory.Holds(expected));
  }
}

TEST_P(MemsetData, Large) {
  constexpr std::size_t kLarge = (std::size_t{5} << 20) + 7;
  GuardedBuffer memory(GetParam().place, kLarge, 1);
  EXPECT_ACL(ACL_SUCCESS, Set(memory.data(), kLarge, 0xA1, kLarge));
  if (GetParam().async) Synchronize();
  EXPECT_TRUE(memory.Holds(Bytes(kLarge, std::byte{0xA1})));
}

INSTANTIATE_TEST_SUITE_P(Calls, MemsetData,
                         ::testing::Values(Call{false, Place::kDevice}, Call{false, Place::kPinned},
                                           Call{false, Place::kPageable}, Call{true, Place::kDevice},
                                           Call{true, Place::kPinned}, Call{true, Place::kPageable}),
                         Name);

class MemsetRules : public CopyTest {};

TEST_F(MemsetRules, NothingIsLookedAtWhenThereIsNothingToSet) {
  const aclrtStream dead = DeadStream();
  OnNewThread([&] {
    EXPECT_ACL(ACL_SUCCESS, aclrtMemset(nullptr, 0, 0, 0));
    EXPECT_ACL(ACL_SUCCESS, aclrtMemsetAsync(nullptr, 0, 0, 0, dead));
    EXPECT_ACL(ACL_SUCCESS, aclrtMemsetD32(nullptr, 0, 0, 0));
    EXPECT_ACL(ACL_SUCCESS, aclrtMemsetD32Async(nullptr, 0, 0, 0, dead));
  });
}

TEST_F(MemsetRules, SyncChecks) {
  GuardedBuffer device(Place::kDevice, kBytes);
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemset(nullptr, 0, 0, kBytes));
  EXPECT_TRUE(MessageHas("devPtr"));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemset(device.data(), kBytes - 1, 0, kBytes));
  EXPECT_TRUE(MessageHas("count"));
  OnNewThread([&] { EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtMemset(device.data(), kBytes, 0, kBytes)); });
  EXPECT_TRUE(device.Untouched());
}

TEST_F(MemsetRules, AsyncChecksInTheirOrder) {
  GuardedBuffer device(Place::kDevice, kBytes);
  const aclrtStream dead = DeadStream();
  ForeignStream foreign;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemsetAsync(nullptr, 0, 0, kBytes, dead));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtMemsetAsync(device.data(), 0, 0, kBytes, dead));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemsetAsync(device.data(), kBytes - 1, 0, kBytes, foreign));
  OnNewThread([&] {
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemsetAsync(device.data(), kBytes - 1, 0, kBytes, nullptr));
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtMemsetAsync(device.data(), kBytes, 0, kBytes, nullptr));
  });
  EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, aclrtMemsetAsync(device.data(), kBytes, 0, kBytes, foreign));
  EXPECT_TRUE(device.Untouched());
}

TEST_F(MemsetRules, BeyondTheAllocationIsRefused) {
  DeviceBuffer small(100), neighbour(100);
  EXPECT_ACL(ACL_SUCCESS, aclrtMemset(small.data(), 128, 1, 128));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemset(small.data(), 129, 1, 129));
  EXPECT_TRUE(MessageHas(Hex(small.data())));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemsetAsync(small.data(), 129, 1, 129, stream()));
  EXPECT_TRUE(MessageHas(Hex(small.data())));
}

TEST_F(MemsetRules, AsyncIsQueuedForDeviceMemory) {
  GuardedBuffer bytes(Place::kDevice, kBytes), words(Place::kDevice, 1000);
  Gate gate(stream());
  EXPECT_ACL(ACL_SUCCESS, aclrtMemsetAsync(bytes.data(), kBytes, 0x11, kBytes, stream()));
  EXPECT_ACL(ACL_SUCCESS, aclrtMemsetD32Async(words.data(), 1000, 0x22222222, 250, stream()));
  EXPECT_TRUE(bytes.Untouched());
  EXPECT_TRUE(words.Untouched());
  gate.Open();
  Synchronize();
  EXPECT_TRUE(bytes.Holds(Bytes(kBytes, std::byte{0x11})));
  EXPECT_TRUE(words.Holds(Bytes(1000, std::byte{0x22})));
}

TEST_F(MemsetRules, AttachedAsyncIsImmediateForHostMemory) {
  for (const Place place : {Place::kPinned, Place::kPageable, Place::kRegistered}) {
    SCOPED_TRACE(place);
    GuardedBuffer memory(place, kBytes);
    Gate gate(stream());
    EXPECT_ACL(ACL_SUCCESS, aclrtMemsetAsync(memory.data(), kBytes, 0x33, kBytes, stream()));
    EXPECT_FALSE(gate.passed());
    EXPECT_TRUE(memory.Holds(Bytes(kBytes, std::byte{0x33})));
    if (place == Place::kPageable) continue;  // MemsetD32 does not take it
    EXPECT_ACL(ACL_SUCCESS, aclrtMemsetD32Async(memory.data(), 1000, 0x44444444, 250, stream()));
    EXPECT_FALSE(gate.passed());
    Bytes expected(kBytes, std::byte{0x33});
    std::fill_n(expected.begin(), 1000, std::byte{0x44});
    EXPECT_TRUE(memory.Holds(expected));
  }
}

class MemsetWords : public CopyTest, public ::testing::WithParamInterface<bool> {
 protected:
  aclError Set(void* at, std::size_t dst_max, std::uint32_t value, std::size_t words) const {
    return GetParam() ? aclrtMemsetD32Async(at, dst_max, value, words, stream())
                      : aclrtMemsetD32(at, dst_max, value, words);
  }
};
INSTANTIATE_TEST_SUITE_P(Calls, MemsetWords, ::testing::Bool(),
                         [](const auto& given) { return std::string(given.param ? "Async" : "Sync"); });

TEST_P(MemsetWords, ChecksInTheirOrder) {
  DeviceBuffer device(kBytes);
  PageableBuffer pageable(kBytes);
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, Set(nullptr, 0, 1, 1));
  EXPECT_TRUE(MessageHas("ptr"));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, Set(device.at(2), 3, 1, 1));
  EXPECT_TRUE(MessageHas("ptr"));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, Set(pageable.data(), 4 * 10 - 1, 1, 10));
  EXPECT_TRUE(MessageHas("memSize"));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, Set(device.data(), 4 * 10 - 1, 1, 10));
  EXPECT_TRUE(MessageHas("memSize"));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, Set(pageable.data(), kBytes, 1, 10));
  EXPECT_ACL(ACL_SUCCESS, LastError());
}

TEST_P(MemsetWords, SetsWords) {
  for (const Place place : {Place::kDevice, Place::kPinned}) {
    for (const std::size_t words :
         {std::size_t{1}, std::size_t{7}, std::size_t{1000}, std::size_t{300'001}}) {
      GuardedBuffer memory(place, words * 4 + 3, 4);
      const auto value = static_cast<std::uint32_t>(random().Next());
      EXPECT_ACL(ACL_SUCCESS, Set(memory.data(), words * 4 + 3, value, words));
      Synchronize();
      Bytes expected(words * 4 + 3, GuardedBuffer::kBackground);
      for (std::size_t i = 0; i < words; ++i)
        std::memcpy(expected.data() + 4 * i, &value, 4);
      EXPECT_TRUE(memory.Holds(expected));
    }
  }
}

TEST_F(MemsetRules, D32AsyncChecksTheStreamAfterTheArguments) {
  DeviceBuffer device(kBytes);
  const aclrtStream dead = DeadStream();
  ForeignStream foreign;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemsetD32Async(device.at(1), kBytes, 1, 1, dead));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtMemsetD32Async(device.data(), kBytes, 1, 1, dead));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, aclrtMemsetD32Async(device.data(), kBytes, 1, 1, foreign));
  OnNewThread([&] {
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtMemsetD32(device.data(), kBytes, 1, 1));
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtMemsetD32Async(device.data(), kBytes, 1, 1, nullptr));
  });
}

}  // namespace
}  // namespace sampan::test::copy_memset_test
