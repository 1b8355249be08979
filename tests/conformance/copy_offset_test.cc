// aclrtMemcpyAsyncWithOffset: its checks; pointer cells that are read when the copy runs.
// Rules of docs/BEHAVIOUR.md: operand-1, operand-2.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "acl/acl.h"
#include "tests/support/copy_fixture.h"

namespace sampan::test::copy_offset_test {
namespace {

constexpr std::size_t kBytes = 1000;
constexpr std::size_t kFourGiB = std::size_t{1} << 32;
constexpr std::size_t kMaxOffset = 0xFFFFFFFFFFFF;
constexpr aclrtMemcpyKind kInner = ACL_MEMCPY_INNER_DEVICE_TO_DEVICE;

/// Two cells in device memory that hold the addresses of a destination and a source.
class Cells {
 public:
  Cells(const void* dst, const void* src) : memory_(64) {
    Point(0, dst);
    Point(32, src);
  }
  void PointDst(const void* at) { Point(0, at); }
  void PointSrc(const void* at) { Point(32, at); }
  void** dst() const { return reinterpret_cast<void**>(memory_.at(0)); }
  const void** src() const { return reinterpret_cast<const void**>(memory_.at(32)); }
  DeviceBuffer& memory() { return memory_; }

 private:
  void Point(std::size_t offset, const void* at) {
    const auto address = reinterpret_cast<std::uintptr_t>(at);
    memory_.Write(offset, std::as_bytes(std::span(&address, 1)));
  }
  DeviceBuffer memory_;
};

class AttachedOffset : public CopyTest {};

TEST_F(AttachedOffset, NothingIsLookedAtWhenCountIsZero) {
  const aclrtStream dead = DeadStream();
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpyAsyncWithOffset(nullptr, 0, SIZE_MAX, nullptr, 0, SIZE_MAX, Kind(99), dead));
  OnNewThread([] {
    EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsyncWithOffset(nullptr, 0, 0, nullptr, 0, 0, kInner, nullptr));
  });
}

TEST_F(AttachedOffset, ChecksInTheirOrder) {
  DeviceBuffer src(kBytes);
  GuardedBuffer dst(Place::kDevice, kBytes);
  const Cells cells(dst.data(), src.data());
  const aclrtStream dead = DeadStream();
  // The kind comes before the handle, the handle before everything else.
  for (const int kind : {0, 1, 2, 3, 4, 5, 7, 8, 99}) {
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
               aclrtMemcpyAsyncWithOffset(nullptr, kBytes, 0, nullptr, kBytes, 0, Kind(kind), dead));
    EXPECT_TRUE(MessageHas("kind"));
  }
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE,
             aclrtMemcpyAsyncWithOffset(nullptr, 0, 0, nullptr, kBytes, 0, kInner, dead));
  struct {
    void** dst;
    std::size_t dest_max, dst_offset;
    const void** src;
    std::size_t count, src_offset;
    const char* named;
  } const calls[] = {
      {nullptr, 1, 0, nullptr, kBytes, 0, "dst"},
      {cells.dst(), 1, 0, nullptr, kBytes, 0, "src"},
      {cells.dst(), kBytes - 1, 0, cells.src(), kBytes, 0, "count"},
      {cells.dst(), SIZE_MAX, 0, cells.src(), kFourGiB + 1, 0, "count"},
      {cells.dst(), kBytes, 0, cells.src(), kBytes, kMaxOffset + 1, "srcDataOffset"},
      {cells.dst(), SIZE_MAX, kMaxOffset + 1, cells.src(), kBytes, 0, "dstDataOffset"},
      {cells.dst(), kBytes, kBytes, cells.src(), 1, 0, "dstDataOffset"},
      {cells.dst(), kBytes, 1, cells.src(), kBytes, 0, "dstDataOffset"},
  };
  for (const auto& call : calls) {
    SCOPED_TRACE(call.named);
    const auto copy = [&](aclrtStream on) {
      return aclrtMemcpyAsyncWithOffset(call.dst, call.dest_max, call.dst_offset, call.src, call.count,
                                        call.src_offset, kInner, on);
    };
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, copy(stream()));
    EXPECT_TRUE(MessageHas(call.named));
    // All of them come before the context is missed.
    OnNewThread([&] { EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, copy(nullptr)); });
  }
  OnNewThread([&] {
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL,
               aclrtMemcpyAsyncWithOffset(cells.dst(), kBytes, 0, cells.src(), kBytes, 0, kInner, nullptr));
  });
  ForeignStream foreign;
  EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT,
             aclrtMemcpyAsyncWithOffset(cells.dst(), kBytes, 0, cells.src(), kBytes, 0, kInner, foreign));
  Synchronize();
  EXPECT_TRUE(dst.Untouched());
}

TEST_F(AttachedOffset, CopiesBehindBothOffsets) {
  constexpr std::size_t kCount = 300, kTo = 123, kFrom = 457;
  GuardedBuffer src(Place::kDevice, kBytes, 1), dst(Place::kDevice, kBytes, 2);
  const Bytes contents = random().Fill(kBytes), before = random().Fill(kBytes);
  src.Write(contents);
  dst.Write(before);
  const Cells cells(dst.data(), src.data());
  EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsyncWithOffset(cells.dst(), kTo + kCount, kTo, cells.src(), kCount,
                                                     kFrom, kInner, stream()));
  Synchronize();
  Bytes expected = before;
  std::copy_n(contents.begin() + kFrom, kCount, expected.begin() + kTo);
  EXPECT_TRUE(dst.Holds(expected));
  EXPECT_TRUE(src.Holds(contents));
}

TEST_F(AttachedOffset, CellsAreReadWhenTheCopyRuns) {
  GuardedBuffer src(Place::kDevice, kBytes), dst(Place::kDevice, kBytes);
  GuardedBuffer other_src(Place::kDevice, kBytes), other_dst(Place::kDevice, kBytes);
  const Bytes contents = random().Fill(kBytes);
  src.Write(random().Fill(kBytes));
  other_src.Write(contents);
  Cells cells(dst.data(), src.data());
  Gate gate(stream());
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpyAsyncWithOffset(cells.dst(), kBytes, 0, cells.src(), kBytes, 0, kInner, stream()));
  cells.PointDst(other_dst.data());
  cells.PointSrc(other_src.data());
  gate.Open();
  Synchronize();
  EXPECT_TRUE(dst.Untouched());
  EXPECT_TRUE(other_dst.Holds(contents));
}

TEST_F(AttachedOffset, EarlierWorkOfTheStreamMaySetTheCells) {
  GuardedBuffer src(Place::kDevice, kBytes), dst(Place::kDevice, kBytes);
  const Bytes contents = random().Fill(kBytes);
  src.Write(contents);
  Cells cells(nullptr, nullptr);
  PinnedBuffer operands(40);
  const std::uintptr_t addresses[] = {reinterpret_cast<std::uintptr_t>(dst.data()),
                                      reinterpret_cast<std::uintptr_t>(src.data())};
  operands.Write(0, std::as_bytes(std::span(&addresses[0], 1)));
  operands.Write(32, std::as_bytes(std::span(&addresses[1], 1)));
  EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(cells.memory().data(), 40, operands.data(), 40,
                                           ACL_MEMCPY_HOST_TO_DEVICE, stream()));
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpyAsyncWithOffset(cells.dst(), kBytes, 0, cells.src(), kBytes, 0, kInner, stream()));
  Synchronize();
  EXPECT_TRUE(dst.Holds(contents));
}

TEST_F(AttachedOffset, NullStreamIsTheDefaultStream) {
  GuardedBuffer src(Place::kDevice, kBytes), dst(Place::kDevice, kBytes);
  const Bytes contents = random().Fill(kBytes);
  src.Write(contents);
  const Cells cells(dst.data(), src.data());
  Gate gate(nullptr);
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpyAsyncWithOffset(cells.dst(), kBytes, 0, cells.src(), kBytes, 0, kInner, nullptr));
  EXPECT_TRUE(dst.Untouched());
  gate.Open();
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(nullptr));
  EXPECT_TRUE(dst.Holds(contents));
}

TEST_F(AttachedOffset, BadCellContentsFailWhenTheCopyRuns) {
  DeviceBuffer src(kBytes), freed(kBytes);
  GuardedBuffer dst(Place::kDevice, kBytes);
  PinnedBuffer host(kBytes);
  void* const dangling = freed.data();
  freed.Free();
  const std::pair<const char*, void*> contents[] = {{"null", nullptr},
                                                    {"wild", reinterpret_cast<void*>(0x1000)},
                                                    {"freed", dangling},
                                                    {"pinned", host.data()},
                                                    {"past the end", src.at(kBytes)}};
  for (const auto& [name, pointer] : contents) {
    SCOPED_TRACE(name);
    Cells cells(dst.data(), pointer);
    EXPECT_ACL(ACL_SUCCESS,
               aclrtMemcpyAsyncWithOffset(cells.dst(), kBytes, 0, cells.src(), kBytes, 0, kInner, stream()));
    EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStream(stream()));
    EXPECT_TRUE(MessageHas("src of the cell 0x" + Hex(cells.src()) + " with offset 0: "));
    cells.PointSrc(src.data());
    cells.PointDst(pointer);
    EXPECT_ACL(ACL_SUCCESS,
               aclrtMemcpyAsyncWithOffset(cells.dst(), kBytes, 0, cells.src(), kBytes, 0, kInner, stream()));
    EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStream(stream()));
    EXPECT_TRUE(MessageHas("dst of the cell 0x" + Hex(cells.dst()) + " with offset 0: "));
  }
  EXPECT_TRUE(dst.Untouched());
}

TEST_F(AttachedOffset, OffsetsMayLeadOutOfTheAllocation) {
  DeviceBuffer src(kBytes);
  GuardedBuffer dst(Place::kDevice, kBytes);
  const Cells cells(dst.data(), src.data());
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpyAsyncWithOffset(cells.dst(), kBytes, 0, cells.src(), 100, 1000, kInner, stream()));
  EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStream(stream()));
  EXPECT_TRUE(MessageHas("src of the cell 0x" + Hex(cells.src()) + " with offset 1000: "));
  EXPECT_TRUE(dst.Untouched());
}

TEST_F(AttachedOffset, CellsOutsideDeviceMemoryNeverPass) {
  DeviceBuffer src(kBytes);
  GuardedBuffer dst(Place::kDevice, kBytes);
  void* dst_cell = dst.data();
  const void* src_cell = src.data();
  const aclError code =
      aclrtMemcpyAsyncWithOffset(&dst_cell, kBytes, 0, &src_cell, kBytes, 0, kInner, stream());
  if (code == ACL_SUCCESS) {
    EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStream(stream()));
  } else {
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, code);
  }
  EXPECT_TRUE(dst.Untouched());
}

}  // namespace
}  // namespace sampan::test::copy_offset_test
