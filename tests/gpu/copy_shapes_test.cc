// Batches and rows of every shape that a path treats differently. Run with every SAMPAN_COPY_PATH.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "acl/acl.h"
#include "tests/support/batch_request.h"
#include "tests/support/copy_fixture.h"
#include "tests/support/logged_path.h"

namespace sampan::test::copy_shapes_test {
namespace {

class CopyShapes : public CopyTest {
 protected:
  /// Entries of random lengths up to `max_bytes` at random alignments; those at the destination do not
  /// touch.
  void CopyBatch(Place from, Place to, std::size_t entries, std::size_t max_bytes) {
    const std::size_t stride = max_bytes + 64;
    GuardedBuffer src(from, stride * entries), dst(to, stride * entries);
    const Bytes contents = random().Fill(stride * entries);
    Bytes expected(stride * entries, GuardedBuffer::kBackground);
    src.Write(contents);
    BatchRequest request;
    for (std::size_t i = 0; i < entries; ++i) {
      const std::size_t bytes = random().Between(1, max_bytes);
      const std::size_t source = random().Between(0, stride * entries - bytes);
      const std::size_t target = i * stride + random().Between(0, 63);
      request.Add(dst.at(target), src.at(source), bytes);
      std::memcpy(expected.data() + target, contents.data() + source, bytes);
    }
    request.UseAttr(from == Place::kDevice ? DeviceToHost() : HostToDevice());
    EXPECT_ACL(ACL_SUCCESS, request.Submit(BatchForm::kAsync, stream()));
    Synchronize();
    EXPECT_TRUE(dst.Holds(expected)) << entries << " entries of up to " << max_bytes << " bytes";
  }

  struct Shape {
    std::size_t width, height, src_pitch, dst_pitch, src_at, dst_at;
  };
  void CopyRows(Place from, Place to, const Shape& shape) {
    const auto [width, height, src_pitch, dst_pitch, src_at, dst_at] = shape;
    GuardedBuffer src(from, src_at + src_pitch * height), dst(to, dst_at + dst_pitch * height);
    const Bytes contents = random().Fill(src.bytes());
    Bytes expected(dst.bytes(), GuardedBuffer::kBackground);
    src.Write(contents);
    for (std::size_t row = 0; row < height; ++row) {
      std::memcpy(expected.data() + dst_at + row * dst_pitch, contents.data() + src_at + row * src_pitch,
                  width);
    }
    const auto kind = from == Place::kDevice
                          ? (to == Place::kDevice ? ACL_MEMCPY_DEVICE_TO_DEVICE : ACL_MEMCPY_DEVICE_TO_HOST)
                          : ACL_MEMCPY_HOST_TO_DEVICE;
    EXPECT_ACL(ACL_SUCCESS, aclrtMemcpy2dAsync(dst.at(dst_at), dst_pitch, src.at(src_at), src_pitch, width,
                                               height, kind, stream()));
    Synchronize();
    EXPECT_TRUE(dst.Holds(expected)) << height << " rows of " << width << ", pitches " << src_pitch << " and "
                                     << dst_pitch << ", from " << src_at << " to " << dst_at;
  }
};

TEST_F(CopyShapes, BatchesOfAnyLengthAndAlignment) {
  for (const std::size_t entries : {2, 5, 9, 32, 33, 129, 3000}) {
    for (const std::size_t max_bytes : {1, 15, 40, 600, 9000}) {
      CopyBatch(Place::kPinned, Place::kDevice, entries, max_bytes);
      CopyBatch(Place::kDevice, Place::kPinned, entries, max_bytes);
    }
  }
}

TEST_F(CopyShapes, FewEntriesThatAreLong) {
  for (const std::size_t entries : {2, 6, 31}) {
    CopyBatch(Place::kPinned, Place::kDevice, entries, 700'000);
    CopyBatch(Place::kDevice, Place::kPinned, entries, 700'000);
  }
}

/// So much that the driver's batch call is made twice, with work in the stream before and behind it.
TEST_F(CopyShapes, FewEntriesOfWhichOneIsMuchLonger) {
  constexpr std::size_t kLong = 3'000'001, kShort = 100, kEntries = 8;
  GuardedBuffer src(Place::kPinned, kLong + kEntries * kShort), dst(Place::kDevice, src.bytes());
  const Bytes contents = random().Fill(src.bytes());
  src.Write(contents);
  BatchRequest request;
  request.Add(dst.at(0), src.at(0), kLong);
  for (std::size_t at = kLong; at < src.bytes(); at += kShort)
    request.Add(dst.at(at), src.at(at), kShort - 1);  // they do not continue one another
  Bytes expected = contents;
  for (std::size_t at = kLong; at < src.bytes(); at += kShort)
    expected[at + kShort - 1] = GuardedBuffer::kBackground;
  request.UseAttr(HostToDevice());
  EXPECT_ACL(ACL_SUCCESS, request.Submit(BatchForm::kAsync, stream()));
  Synchronize();
  EXPECT_TRUE(dst.Holds(expected));
}

TEST_F(CopyShapes, LinearCopiesWithinADevice) {
  for (const std::size_t bytes : {1, 15, 16, 4096, 65'537, 262'144, 1'048'579}) {
    for (const auto& [src_at, dst_at] : {std::pair{0, 0}, {16, 64}, {3, 3}, {5, 8}, {1, 6}}) {
      GuardedBuffer src(Place::kDevice, bytes + 64), dst(Place::kDevice, bytes + 64);
      const Bytes contents = random().Fill(src.bytes());
      src.Write(contents);
      Bytes expected(dst.bytes(), GuardedBuffer::kBackground);
      std::memcpy(expected.data() + dst_at, contents.data() + src_at, bytes);
      EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(dst.at(dst_at), bytes, src.at(src_at), bytes,
                                               ACL_MEMCPY_DEVICE_TO_DEVICE, stream()));
      Synchronize();
      EXPECT_TRUE(dst.Holds(expected)) << bytes << " bytes from " << src_at << " to " << dst_at;
    }
  }
}

/// The kernel is launched for the length that the last descriptor had.
TEST_F(CopyShapes, DescriptorsWhoseLengthsDiffer) {
  constexpr std::size_t kMaxBytes = 3'000'000;
  DeviceBuffer src(kMaxBytes), dst(kMaxBytes), descriptor(64);
  const Bytes contents = random().Fill(kMaxBytes);
  src.Write(0, contents);
  for (const std::size_t bytes : {std::size_t{4096}, std::size_t{40}, kMaxBytes, std::size_t{131'083}}) {
    dst.Write(0, Bytes(kMaxBytes));
    EXPECT_ACL(ACL_SUCCESS, aclrtSetMemcpyDesc(descriptor.data(), ACL_MEMCPY_INNER_DEVICE_TO_DEVICE,
                                               src.data(), dst.data(), bytes, nullptr));
    EXPECT_ACL(ACL_SUCCESS,
               aclrtMemcpyAsyncWithDesc(descriptor.data(), ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, stream()));
    Synchronize();
    Bytes expected(kMaxBytes);
    std::memcpy(expected.data(), contents.data(), bytes);
    EXPECT_TRUE(SameBytes(expected, dst.Read(0, kMaxBytes))) << bytes << " bytes";
  }
}

TEST_F(CopyShapes, ALargeBatchOfLongEntries) {
  constexpr std::size_t kEntries = 80, kBytes = std::size_t{1} << 20;
  GuardedBuffer device(Place::kDevice, kEntries * kBytes);
  PinnedBuffer host(kEntries * kBytes), back(kEntries * kBytes);
  const Bytes contents = random().Fill(kEntries * kBytes);
  host.Write(0, contents);
  BatchRequest in, out;
  for (std::size_t i = 0; i < kEntries; ++i) {
    const std::size_t at = (i * 37 % kEntries) * kBytes;
    in.Add(device.at(at), host.at(at), kBytes);
    out.Add(back.at(at), device.at(at), kBytes);
  }
  in.UseAttr(HostToDevice());
  out.UseAttr(DeviceToHost());
  for (int i = 0; i < 3; ++i) {
    EXPECT_ACL(ACL_SUCCESS,
               aclrtMemsetAsync(device.at(0), kEntries * kBytes, 0, kEntries * kBytes, stream()));
    EXPECT_ACL(ACL_SUCCESS, in.Submit(BatchForm::kAsync, stream()));
    EXPECT_ACL(ACL_SUCCESS, out.Submit(BatchForm::kAsync, stream()));
  }
  Synchronize();
  EXPECT_TRUE(device.Holds(contents));
  EXPECT_EQ(back.Read(0, kEntries * kBytes), contents);
}

TEST_F(CopyShapes, ABatchLongerThanTheRingOfDescriptions) {
  CopyBatch(Place::kPinned, Place::kDevice, 60'000, 8);
  CopyBatch(Place::kDevice, Place::kPinned, 60'000, 8);
}

TEST_F(CopyShapes, ManyBatchesInARow) {
  constexpr std::size_t kEntries = 5000, kBytes = 64;
  GuardedBuffer device(Place::kDevice, kEntries * kBytes);
  PinnedBuffer host(kEntries * kBytes);
  const Bytes contents = random().Fill(kEntries * kBytes);
  host.Write(0, contents);
  BatchRequest request;
  for (std::size_t i = 0; i < kEntries; ++i) {
    const std::size_t at = (i * 7919 % kEntries) * kBytes;
    request.Add(device.at(at), host.at(at), kBytes);
  }
  request.UseAttr(HostToDevice());
  for (int i = 0; i < 50; ++i)
    EXPECT_ACL(ACL_SUCCESS, request.Submit(BatchForm::kAsync, stream()));
  Synchronize();
  EXPECT_TRUE(device.Holds(contents));
}

/// Kernels that wait in the stream, each with arguments of its own.
TEST_F(CopyShapes, SmallBatchesThatWaitTogether) {
  constexpr std::size_t kBatches = 600, kEntries = 3, kStride = 512;
  GuardedBuffer device(Place::kDevice, kBatches * kEntries * kStride);
  PinnedBuffer host(device.bytes());
  const Bytes contents = random().Fill(device.bytes());
  host.Write(0, contents);
  Bytes expected(device.bytes(), GuardedBuffer::kBackground);
  for (std::size_t batch = 0; batch < kBatches; ++batch) {
    BatchRequest request;
    for (std::size_t entry = 0; entry < kEntries; ++entry) {
      const std::size_t at = (batch * kEntries + entry) * kStride;
      const std::size_t bytes = random().Between(1, kStride - 1);
      request.Add(device.at(at), host.at(at), bytes);
      std::memcpy(expected.data() + at, contents.data() + at, bytes);
    }
    request.UseAttr(HostToDevice());
    EXPECT_ACL(ACL_SUCCESS, request.Submit(BatchForm::kAsync, stream()));
  }
  Synchronize();
  EXPECT_TRUE(device.Holds(expected));
}

/// After a wait the last byte is there, and the memory may be reused. Detects a kernel that reports its
/// completion too early: the one for few entries and the one for many.
TEST_F(CopyShapes, WhatWasWaitedForIsThere) {
  constexpr std::size_t kMaxBytes = 400'000;
  const Bytes contents = random().Fill(2 * kMaxBytes);
  GuardedBuffer first(Place::kDevice, kMaxBytes), second(Place::kDevice, kMaxBytes);
  PinnedBuffer host(kMaxBytes), back(kMaxBytes);
  for (int round = 0; round < 1500; ++round) {
    const std::size_t entries = round % 4 == 3 ? random().Between(33, 200) : random().Between(1, 12);
    const std::size_t bytes = random().Between(1, round % 3 == 0 ? kMaxBytes / entries : 700);
    const std::size_t all = entries * bytes;
    const Bytes given(contents.begin() + static_cast<std::ptrdiff_t>(random().Between(0, kMaxBytes)),
                      contents.end());
    std::memcpy(host.at(0), given.data(), all);
    std::memset(back.at(0), 0, all);
    BatchRequest in, out;
    for (std::size_t i = 0; i < entries; ++i) {
      const std::size_t at = (i + 1) % entries * bytes;
      in.Add(first.at(at), host.at(at), bytes);
      out.Add(back.at(at), second.at(at), bytes);
    }
    in.UseAttr(HostToDevice());
    out.UseAttr(DeviceToHost());
    EXPECT_ACL(ACL_SUCCESS, in.Submit(BatchForm::kAsync, stream()));
    if (round % 2 == 0) Synchronize();
    std::memset(host.at(0), 0x77, round % 2 == 0 ? all : 0);  // it has been read
    EXPECT_ACL(ACL_SUCCESS,
               aclrtMemcpyAsync(second.at(0), all, first.at(0), all, ACL_MEMCPY_DEVICE_TO_DEVICE, stream()));
    if (round % 5 == 0) Synchronize();
    EXPECT_ACL(ACL_SUCCESS, out.Submit(BatchForm::kAsync, stream()));
    Synchronize();
    ASSERT_EQ(std::memcmp(back.at(0), given.data(), all), 0)
        << "round " << round << ", " << entries << " entries of " << bytes << " bytes";
  }
}

/// In runs of so many entries. Behind each run there is a gap at the source, at the destination or at both.
TEST_F(CopyShapes, EntriesThatContinueOneAnother) {
  struct Case {
    std::size_t entries, bytes, run, src_gap, dst_gap;
  };
  for (const auto& [entries, bytes, run, src_gap, dst_gap] : {Case{2, 100, 2, 0, 0},
                                                              {7, 1000, 7, 0, 0},
                                                              {8, 300, 3, 0, 5},
                                                              {400, 777, 400, 0, 0},
                                                              {400, 777, 150, 1, 0},
                                                              {400, 777, 150, 0, 1},
                                                              {400, 777, 7, 3, 2},
                                                              {3000, 4096, 1100, 0, 64},
                                                              {3000, 4096, 1100, 64, 0},
                                                              {600, 4099, 1, 1, 0}}) {
    for (const bool up : {true, false}) {
      const std::size_t runs = (entries + run - 1) / run;
      GuardedBuffer src(up ? Place::kPinned : Place::kDevice, entries * bytes + runs * src_gap);
      GuardedBuffer dst(up ? Place::kDevice : Place::kPinned, entries * bytes + runs * dst_gap);
      const Bytes contents = random().Fill(src.bytes());
      src.Write(contents);
      Bytes expected(dst.bytes(), GuardedBuffer::kBackground);
      BatchRequest request;
      for (std::size_t i = 0; i < entries; ++i) {
        const std::size_t from = i * bytes + i / run * src_gap, to = i * bytes + i / run * dst_gap;
        request.Add(dst.at(to), src.at(from), bytes);
        std::memcpy(expected.data() + to, contents.data() + from, bytes);
      }
      request.UseAttr(up ? HostToDevice() : DeviceToHost());
      EXPECT_ACL(ACL_SUCCESS, request.Submit(BatchForm::kAsync, stream()));
      Synchronize();
      EXPECT_TRUE(dst.Holds(expected))
          << entries << " entries of " << bytes << " in runs of " << run << ", gaps " << src_gap << " and "
          << dst_gap << (up ? ", in" : ", out");
    }
  }
}

/// Blocks that lie side by side are pinned one by one.
TEST_F(CopyShapes, EntriesThatContinueOneAnotherInTheNextAllocation) {
  constexpr std::size_t kBlock = std::size_t{2} << 20, kEntry = 4096;
  std::vector<std::unique_ptr<PinnedBuffer>> blocks;
  std::byte* seam = nullptr;  // where two of them meet
  while (seam == nullptr && blocks.size() < 20) {
    blocks.push_back(std::make_unique<PinnedBuffer>(kBlock));
    for (const auto& other : blocks) {
      if (other->at(0) == blocks.back()->at(0) + kBlock) seam = other->at(0);
      if (other->at(0) + kBlock == blocks.back()->at(0)) seam = blocks.back()->at(0);
    }
  }
  ASSERT_NE(seam, nullptr) << "no two blocks lie side by side";
  for (const std::size_t entries : {2, 6, 40}) {
    const std::size_t bytes = entries * kEntry;
    GuardedBuffer device(Place::kDevice, bytes);
    const Bytes contents = random().Fill(bytes);
    std::byte* const host = seam - bytes / 2;
    std::memcpy(host, contents.data(), bytes);
    BatchRequest in, out;
    for (std::size_t i = 0; i < entries; ++i) {
      in.Add(device.at(i * kEntry), host + i * kEntry, kEntry);
      out.Add(host + i * kEntry, device.at(i * kEntry), kEntry);
    }
    in.UseAttr(HostToDevice());
    out.UseAttr(DeviceToHost());
    EXPECT_ACL(ACL_SUCCESS, in.Submit(BatchForm::kAsync, stream()));
    Synchronize();
    EXPECT_TRUE(device.Holds(contents)) << entries;
    std::memset(host - kEntry, 0x5A, bytes + 2 * kEntry);
    EXPECT_ACL(ACL_SUCCESS, out.Submit(BatchForm::kAsync, stream()));
    Synchronize();
    EXPECT_EQ(std::memcmp(host, contents.data(), bytes), 0) << entries;
    for (std::size_t i = 0; i < kEntry; ++i)
      ASSERT_TRUE(host[-1 - static_cast<std::ptrdiff_t>(i)] == std::byte{0x5A} &&
                  host[bytes + i] == std::byte{0x5A})
          << entries;
  }
}

TEST_F(CopyShapes, RowsOfAnyWidthPitchAndAlignment) {
  const struct {
    Place from, to;
  } ways[] = {
      {Place::kPinned, Place::kDevice}, {Place::kDevice, Place::kPinned}, {Place::kDevice, Place::kDevice}};
  for (const auto& [from, to] : ways) {
    for (const std::size_t width : {1, 3, 4, 16, 20, 48, 100, 256, 333, 4096, 8208, 20'000}) {
      const std::size_t height = width < 1000 ? 2111 : 37;
      CopyRows(from, to, {width, height, 2 * width, width, 0, 0});
      CopyRows(from, to, {width, height, width + 3, width + 1, 5, 2});
      CopyRows(from, to, {width, height, (width + 16) / 16 * 16, (width + 64) / 16 * 16, 16, 32});
      CopyRows(from, to, {width, height, width + 5, width, 1, 3});  // dense, but nothing is aligned
      for (const std::size_t rows : {1, 2, 5})
        CopyRows(from, to, {width, rows, width + 1, width, 1, 3});
    }
  }
}

/// The kernel looks at short and at long tables of device memory in two ways.
TEST_F(CopyShapes, OperandsAmongFewAndManyAllocations) {
  std::vector<std::unique_ptr<DeviceBuffer>> blocks;
  for (const std::size_t count : {3, 120, 400}) {
    while (blocks.size() < count)
      blocks.push_back(std::make_unique<DeviceBuffer>(96));
    const DeviceBuffer& src = *blocks[count / 2];
    const DeviceBuffer& dst = *blocks[count - 1];
    const Bytes contents = random().Fill(96);
    src.Write(0, contents);
    dst.Write(0, Bytes(96));
    DeviceBuffer cells(2 * sizeof(void*));
    void* const pointers[2] = {dst.data(), src.data()};
    Bytes cell_bytes(sizeof(pointers));
    std::memcpy(cell_bytes.data(), pointers, sizeof(pointers));
    cells.Write(0, cell_bytes);
    const auto copy = [&](std::size_t src_offset) {
      return aclrtMemcpyAsyncWithOffset(static_cast<void**>(cells.data()), 96, 5,
                                        const_cast<const void**>(static_cast<void**>(cells.data()) + 1), 80,
                                        src_offset, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, stream());
    };
    EXPECT_ACL(ACL_SUCCESS, copy(3));
    Synchronize();
    EXPECT_TRUE(SameBytes(Bytes(contents.begin() + 3, contents.begin() + 83), dst.Read(5, 80)));
    EXPECT_ACL(ACL_SUCCESS, copy(17)) << "by one byte too far: that shows when it executes";
    EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStream(stream()));
    EXPECT_TRUE(MessageHas(Hex(static_cast<std::byte*>(src.data()) + 17)));
    EXPECT_TRUE(SameBytes(Bytes(contents.begin() + 3, contents.begin() + 83), dst.Read(5, 80)));
  }
}

TEST(CopyPath, IsNamedInTheDebugLog) {
  if (!InChild()) {
    ExpectLogged("kernel", {"a batch of 2 entries, 128 bytes, host to device: path kernel, because "
                            "SAMPAN_COPY_PATH says so"});
    return;
  }
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  const Stream stream;
  const DeviceBuffer device(256);
  const PinnedBuffer host(256);
  BatchRequest request;
  request.Add(device.at(0), host.at(128), 64);
  request.Add(device.at(128), host.at(0), 64);
  request.UseAttr(HostToDevice());
  EXPECT_ACL(ACL_SUCCESS, request.Submit(BatchForm::kAsync, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
}

TEST(CopyPath, OfEntriesThatContinueOneAnotherIsThatOfOneCopy) {
  constexpr std::size_t kBytes = 4096;
  if (!InChild()) {
    ExpectLogged(
        "auto",
        {"a batch of 8 entries, 32768 bytes, host to device: path engine, because it is one copy",
         "a batch of 500 entries, 2048000 bytes, host to device: path engine, because it is one copy"});
    return;
  }
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  const Stream stream;
  const DeviceBuffer device(500 * kBytes);
  const PinnedBuffer host(500 * kBytes);
  for (const std::size_t entries : {8, 500}) {
    BatchRequest request;
    for (std::size_t i = 0; i < entries; ++i)
      request.Add(device.at(i * kBytes), host.at(i * kBytes), kBytes);
    request.UseAttr(HostToDevice());
    EXPECT_ACL(ACL_SUCCESS, request.Submit(BatchForm::kAsync, stream));
  }
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
}

}  // namespace
}  // namespace sampan::test::copy_shapes_test
