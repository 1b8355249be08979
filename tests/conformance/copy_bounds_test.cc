// Addresses that a copy may not touch: past an allocation, freed, never allocated, unmapped, read-only.
// Rules of docs/BEHAVIOUR.md: copy-6, copy-12, memory-6, rows-6.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "acl/acl.h"
#include "tests/support/copy_fixture.h"

namespace sampan::test::copy_bounds_test {
namespace {

constexpr std::size_t kPage = 4096;

/// Pages of host memory with one that must not be touched behind them.
class FencedPages {
 public:
  explicit FencedPages(std::size_t pages) : bytes_(pages * kPage) {
    base_ = static_cast<std::byte*>(
        mmap(nullptr, bytes_ + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(base_ + bytes_, kPage, PROT_NONE);
  }
  ~FencedPages() { munmap(base_, bytes_ + kPage); }
  FencedPages(const FencedPages&) = delete;
  FencedPages& operator=(const FencedPages&) = delete;
  std::byte* at(std::size_t offset) const { return base_ + offset; }
  std::size_t bytes() const { return bytes_; }
  void MakeReadOnly() const { mprotect(base_, bytes_, PROT_READ); }

 private:
  std::byte* base_;
  std::size_t bytes_;
};

class CopyBounds : public CopyTest, public ::testing::WithParamInterface<bool> {
 protected:
  static aclError Copy(void* dst, const void* src, std::size_t bytes, aclrtMemcpyKind kind, aclrtStream on) {
    return GetParam() ? aclrtMemcpyAsync(dst, bytes, src, bytes, kind, on)
                      : aclrtMemcpy(dst, bytes, src, bytes, kind);
  }
  aclError Up(void* dst, const void* src, std::size_t bytes) const {
    return Copy(dst, src, bytes, ACL_MEMCPY_HOST_TO_DEVICE, stream());
  }
  aclError Down(void* dst, const void* src, std::size_t bytes) const {
    return Copy(dst, src, bytes, ACL_MEMCPY_DEVICE_TO_HOST, stream());
  }
  aclError Across(void* dst, const void* src, std::size_t bytes) const {
    return Copy(dst, src, bytes, ACL_MEMCPY_DEVICE_TO_DEVICE, stream());
  }
};

INSTANTIATE_TEST_SUITE_P(Calls, CopyBounds, ::testing::Bool(),
                         [](const auto& given) { return std::string(given.param ? "Async" : "Sync"); });

TEST_P(CopyBounds, RoundingUpTo32BelongsToTheAllocation) {
  for (const std::size_t size : {std::size_t{1}, std::size_t{31}, std::size_t{32}, std::size_t{33},
                                 std::size_t{100}, std::size_t{4096}, std::size_t{65'537}}) {
    SCOPED_TRACE(size);
    const std::size_t limit = (size + 31) / 32 * 32;
    DeviceBuffer device(size), large_device(limit + 64);
    PinnedBuffer pinned(size), large_pinned(limit + 64);
    EXPECT_ACL(ACL_SUCCESS, Up(device.data(), large_pinned.data(), limit));
    EXPECT_ACL(ACL_SUCCESS, Down(large_pinned.data(), device.data(), limit));
    EXPECT_ACL(ACL_SUCCESS, Up(large_device.data(), pinned.data(), limit));
    EXPECT_ACL(ACL_SUCCESS, Down(pinned.data(), large_device.data(), limit));
    Synchronize();
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, Up(device.data(), large_pinned.data(), limit + 1));
    EXPECT_TRUE(MessageHas(Hex(device.data())));
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, Down(large_pinned.data(), device.data(), limit + 1));
    EXPECT_TRUE(MessageHas(Hex(device.data())));
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, Up(large_device.data(), pinned.data(), limit + 1));
    EXPECT_TRUE(MessageHas(Hex(pinned.data())));
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, Down(pinned.data(), large_device.data(), limit + 1));
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, Across(device.data(), large_device.data(), limit + 1));
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, Across(large_device.data(), device.data(), limit + 1));
    Synchronize();
  }
}

TEST_P(CopyBounds, TheWholeRangeCountsNotOnlyItsStart) {
  DeviceBuffer device(256);
  PinnedBuffer pinned(4096);
  EXPECT_ACL(ACL_SUCCESS, Up(device.at(255), pinned.data(), 1));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, Up(device.at(255), pinned.data(), 2));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, Up(device.at(256), pinned.data(), 1));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, Up(device.at(1), pinned.data(), SIZE_MAX / 2));
  Synchronize();
}

TEST_P(CopyBounds, ARefusedCopyMovesNothing) {
  GuardedBuffer large(Place::kDevice, 4096);
  PinnedBuffer small(256);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, Up(large.data(), small.data(), 257));
  Synchronize();
  EXPECT_TRUE(large.Untouched());
}

TEST_P(CopyBounds, RegisteredMemoryEndsWhereTheProgramsOwnDoes) {
  constexpr std::size_t kBytes = 16 * kPage;
  FencedPages pages(kBytes / kPage);
  void* seen_by_device = nullptr;
  GuardedBuffer device(Place::kDevice, kBytes);
  const Bytes contents = random().Fill(kBytes);
  std::memcpy(pages.at(0), contents.data(), contents.size());
  ASSERT_ACL(ACL_SUCCESS,
             aclrtHostRegister(pages.at(0), kBytes / 2, ACL_HOST_REGISTER_MAPPED, &seen_by_device));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, Up(device.data(), pages.at(0), kBytes + 1));
  EXPECT_TRUE(MessageHas(Hex(pages.at(0))));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, Down(pages.at(1), device.data(), kBytes));
  Synchronize();
  EXPECT_TRUE(device.Untouched());
  EXPECT_ACL(ACL_SUCCESS, Up(device.data(), pages.at(0), kBytes));
  Synchronize();
  EXPECT_TRUE(device.Holds(contents));
  EXPECT_ACL(ACL_SUCCESS, aclrtHostUnregister(pages.at(0)));
}

TEST_P(CopyBounds, FreedMemoryIsRefused) {
  PinnedBuffer pinned(kPage);
  DeviceBuffer device(kPage);
  DeviceBuffer freed_device(kPage);
  void* const device_address = freed_device.data();
  freed_device.Free();
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, Up(device_address, pinned.data(), 64));
  EXPECT_TRUE(MessageHas(Hex(device_address)));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, Down(pinned.data(), device_address, 64));
  PinnedBuffer freed_pinned(kPage);
  void* const pinned_address = freed_pinned.data();
  freed_pinned.Free();
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, Up(device.data(), pinned_address, 64));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, Down(pinned_address, device.data(), 64));
  Synchronize();
}

TEST_P(CopyBounds, WildAddressesAreRefused) {
  DeviceBuffer device(kPage);
  PinnedBuffer pinned(kPage);
  for (const std::uintptr_t wild :
       {std::uintptr_t{0x10}, std::uintptr_t{0x1000}, std::uintptr_t{0x7FFF'FFFF'F000},
        std::uintptr_t{0xFFFF'8000'0000'0000}, std::uintptr_t{SIZE_MAX - 8}}) {
    SCOPED_TRACE(wild);
    auto* const nowhere = reinterpret_cast<void*>(wild);
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, Up(device.data(), nowhere, 64));
    EXPECT_TRUE(MessageHas(Hex(nowhere)));
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, Down(nowhere, device.data(), 64));
  }
  Synchronize();
}

TEST_P(CopyBounds, PageableMemoryThatEndsTooEarlyIsRefused) {
  FencedPages pages(1);
  GuardedBuffer device(Place::kDevice, 2 * kPage);
  EXPECT_ACL(ACL_SUCCESS, Up(device.data(), pages.at(kPage - 64), 64));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, Up(device.data(), pages.at(kPage - 64), 65));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, Up(device.data(), pages.at(0), kPage + 1));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, Down(pages.at(kPage - 64), device.data(), 65));
  EXPECT_ACL(ACL_SUCCESS, Down(pages.at(kPage - 64), device.data(), 64));
}

TEST_P(CopyBounds, AttachedPagesBetweenRowsNeedNotBeThere) {
  constexpr std::size_t kRows = 4, kWidth = 100;
  const auto copy = [&](void* dst, std::size_t dst_pitch, const void* src, std::size_t src_pitch,
                        aclrtMemcpyKind kind) {
    return GetParam() ? aclrtMemcpy2dAsync(dst, dst_pitch, src, src_pitch, kWidth, kRows, kind, stream())
                      : aclrtMemcpy2d(dst, dst_pitch, src, src_pitch, kWidth, kRows, kind);
  };
  const FencedPages pages(2 * kRows);
  const Bytes contents = random().Fill(kRows * kWidth);
  for (std::size_t row = 0; row < kRows; ++row) {
    std::memcpy(pages.at(2 * row * kPage), contents.data() + row * kWidth, kWidth);
    mprotect(pages.at((2 * row + 1) * kPage), kPage, PROT_NONE);
  }
  DeviceBuffer device(kRows * kWidth);
  EXPECT_ACL(ACL_SUCCESS, copy(device.data(), kWidth, pages.at(0), 2 * kPage, ACL_MEMCPY_HOST_TO_DEVICE));
  Synchronize();
  EXPECT_EQ(device.Read(0, kRows * kWidth), contents);
  const Bytes others = random().Fill(kRows * kWidth);
  device.Write(0, others);
  EXPECT_ACL(ACL_SUCCESS, copy(pages.at(0), 2 * kPage, device.data(), kWidth, ACL_MEMCPY_DEVICE_TO_HOST));
  Synchronize();
  for (std::size_t row = 0; row < kRows; ++row)
    EXPECT_EQ(std::memcmp(pages.at(2 * row * kPage), others.data() + row * kWidth, kWidth), 0) << row;
  // The second row lies in a page that is not there.
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             copy(device.data(), kWidth, pages.at(0), kPage + kWidth, ACL_MEMCPY_HOST_TO_DEVICE));
}

TEST_P(CopyBounds, ReadOnlyDestinationIsRefused) {
  FencedPages pages(1);
  DeviceBuffer device(kPage);
  device.Write(0, Bytes(kPage, std::byte{0x77}));
  pages.MakeReadOnly();
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, Down(pages.at(0), device.data(), 64));
  EXPECT_EQ(*pages.at(0), std::byte{0});
  EXPECT_ACL(ACL_SUCCESS, Up(device.data(), pages.at(0), 64));
  EXPECT_TRUE(SameBytes(Bytes(64, std::byte{0}), device.Read(0, 64)));
}

TEST_P(CopyBounds, AddressesBetweenAllocationsAreRefused) {
  DeviceBuffer device(64);
  PinnedBuffer pinned(kPage);
  // The padding behind an allocation, and what lies beyond any alignment of the next one.
  for (const std::size_t beyond : {std::size_t{64}, std::size_t{96}, std::size_t{1} << 21}) {
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, Up(device.at(beyond), pinned.data(), 1));
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, Down(pinned.data(), device.at(beyond), 1));
  }
}

class CountsBeyondAllMemory : public CopyTest {};

TEST_F(CountsBeyondAllMemory, AreRefusedBetweenHostBuffers) {
  PageableBuffer first(64), second(64);
  for (const std::size_t count : {SIZE_MAX / 4, SIZE_MAX / 2, SIZE_MAX - 64, SIZE_MAX}) {
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
               aclrtMemcpy(first.data(), SIZE_MAX, second.data(), count, ACL_MEMCPY_HOST_TO_HOST))
        << count;
  }
}

/// The same mistakes while work is queued: the refusal comes at submission, the queued work is not disturbed.
class RefusalsBehindAGate : public CopyTest {};

TEST_F(RefusalsBehindAGate, DoNotDisturbTheQueue) {
  GuardedBuffer device(Place::kDevice, kPage);
  PinnedBuffer pinned(kPage);
  const Bytes contents = random().Fill(kPage);
  pinned.Write(0, contents);
  Gate gate(stream());
  EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(device.data(), kPage, pinned.data(), kPage,
                                           ACL_MEMCPY_HOST_TO_DEVICE, stream()));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpyAsync(device.data(), 2 * kPage, pinned.data(), 2 * kPage,
                                                          ACL_MEMCPY_HOST_TO_DEVICE, stream()));
  EXPECT_FALSE(gate.passed());
  gate.Open();
  Synchronize();
  EXPECT_TRUE(device.Holds(contents));
}

}  // namespace
}  // namespace sampan::test::copy_bounds_test
