// Reserved addresses, physical memory, and copies on what is mapped.
// Rules of docs/BEHAVIOUR.md: map-1, map-2, map-3, map-4, map-5, map-6, operand-5.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/batch_request.h"
#include "tests/support/device_fixture.h"
#include "tests/support/mapped_memory.h"
#include "tests/support/memory_buffer.h"
#include "tests/support/stream.h"

namespace sampan::test::virtual_memory_test {
namespace {

class VirtualMemoryTest : public DeviceTest {
 protected:
  static std::size_t FreeBytes() {
    std::size_t free = 0, total = 0;
    EXPECT_ACL(ACL_SUCCESS, aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
    return free;
  }
};

TEST_F(VirtualMemoryTest, ReservationArguments) {
  void* address = nullptr;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtReserveMemAddress(nullptr, kPiece, 0, nullptr, 0));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtReserveMemAddress(&address, 0, 0, nullptr, 0));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtReserveMemAddress(&address, kPiece, 0, nullptr, 2));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtReserveMemAddress(&address, kPiece, 64, nullptr, 0));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtReleaseMemAddress(nullptr));
  const Reserved range(kPiece);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtReleaseMemAddress(range.at(4096)));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(range.data()) % kPiece, 0u);
  ASSERT_ACL(ACL_SUCCESS, aclrtReserveMemAddressNoUCMemory(&address, 1, 0, nullptr, 1));
  EXPECT_ACL(ACL_SUCCESS, aclrtReleaseMemAddress(address));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtReleaseMemAddress(address));
}

TEST_F(VirtualMemoryTest, PhysicalArguments) {
  aclrtDrvMemHandle handle = nullptr;
  aclrtPhysicalMemProp prop = DeviceProperties();
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMallocPhysical(nullptr, kPiece, &prop, 0));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMallocPhysical(&handle, kPiece, nullptr, 0));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMallocPhysical(&handle, 0, &prop, 0));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMallocPhysical(&handle, kPiece, &prop, 1));
  prop.handleType = ACL_MEM_HANDLE_TYPE_POSIX;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMallocPhysical(&handle, kPiece, &prop, 0));
  prop = DeviceProperties();
  prop.location.type = ACL_MEM_LOCATION_TYPE_UNREGISTERED;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMallocPhysical(&handle, kPiece, &prop, 0));
  for (const aclrtMemAttr wrong : {ACL_DDR_MEM_HUGE, ACL_DDR_MEM, ACL_HBM_MEM, ACL_HBM_MEM_P2P_HUGE}) {
    prop = DeviceProperties();
    prop.memAttr = wrong;
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMallocPhysical(&handle, kPiece, &prop, 0)) << wrong;
  }
  prop = DeviceProperties(63);
  EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtMallocPhysical(&handle, kPiece, &prop, 0));
  prop = DeviceProperties();
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMallocPhysical(&handle, kPiece + 4096, &prop, 0));
  prop.memAttr = ACL_HBM_MEM_HUGE1G;
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtMallocPhysical(&handle, kPiece, &prop, 0));
  EXPECT_EQ(handle, nullptr);
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtFreePhysical(nullptr));
  Physical physical;
  const aclrtDrvMemHandle dead = physical;
  physical.Free();
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtFreePhysical(dead));
}

TEST_F(VirtualMemoryTest, PhysicalMemoryCountsAgainstTheDevice) {
  const std::size_t before = FreeBytes();
  {
    const Physical physical(4 * kPiece);
    EXPECT_EQ(FreeBytes(), before - 4 * kPiece);
  }
  EXPECT_EQ(FreeBytes(), before);
  aclrtDrvMemHandle handle = nullptr;
  const aclrtPhysicalMemProp prop = DeviceProperties();
  EXPECT_ACL(ACL_ERROR_RT_MEMORY_ALLOCATION,
             aclrtMallocPhysical(&handle, (before / kPiece + 1) * kPiece, &prop, 0));
}

TEST_F(VirtualMemoryTest, MappingArguments) {
  const Reserved range(2 * kPiece);
  const Physical physical;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMapMem(nullptr, kPiece, 0, physical, 0));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMapMem(range.data(), kPiece, 0, nullptr, 0));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMapMem(range.data(), 0, 0, physical, 0));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMapMem(range.data(), kPiece, 0, physical, 1));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMapMem(range.data(), kPiece, 4096, physical, 0));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMapMem(range.data(), 2 * kPiece, 0, physical, 0));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMapMem(range.at(4096), kPiece, 0, physical, 0));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMapMem(range.at(2 * kPiece), kPiece, 0, physical, 0));
  DeviceBuffer plain(64);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtUnmapMem(plain.data()));
  {
    const Mapped mapped(range.data(), kPiece, physical);
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMapMem(range.data(), kPiece, 0, physical, 0));
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtReleaseMemAddress(range.data()));
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(range.data()));
  }
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtUnmapMem(range.data()));
}

TEST_F(VirtualMemoryTest, EveryKindOfCopyWorksAcrossNeighbours) {
  const Reserved range(4 * kPiece);
  const Physical first, second(2 * kPiece);
  const Mapped low(range.data(), kPiece, first), high(range.at(kPiece), 2 * kPiece, second);
  Stream stream;
  Random random;
  const std::size_t at = kPiece - 12345, bytes = 2 * kPiece;  // over the seam
  const Bytes contents = random.Fill(bytes);
  PinnedBuffer pinned(bytes);
  pinned.Write(0, contents);
  // Linear, both directions.
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpyAsync(range.at(at), bytes, pinned.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_EQ(ReadDevice(range.at(at), bytes), contents);
  // Fill.
  EXPECT_ACL(ACL_SUCCESS, aclrtMemsetAsync(range.at(at), bytes, 0x5A, bytes, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_EQ(ReadDevice(range.at(at), bytes), Bytes(bytes, std::byte{0x5A}));
  // Rows.
  EXPECT_ACL(ACL_SUCCESS, aclrtMemcpy2dAsync(range.at(at), 2048, pinned.data(), 1024, 1024, 1000,
                                             ACL_MEMCPY_HOST_TO_DEVICE, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  for (const std::size_t row : {std::size_t{0}, std::size_t{6}, std::size_t{999}}) {
    const Bytes expected(contents.begin() + static_cast<std::ptrdiff_t>(row * 1024),
                         contents.begin() + static_cast<std::ptrdiff_t>(row * 1024 + 1024));
    EXPECT_EQ(ReadDevice(range.at(at + row * 2048), 1024), expected);
    EXPECT_EQ(ReadDevice(range.at(at + row * 2048 + 1024), 16), Bytes(16, std::byte{0x5A}));
  }
  // A batch.
  void* dsts[] = {range.at(at), range.at(0)};
  void* srcs[] = {pinned.data(), pinned.at(100)};
  std::size_t sizes[] = {bytes, 5000};
  aclrtMemcpyBatchAttr attribute = {};
  attribute.dstLoc.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  attribute.srcLoc.type = ACL_MEM_LOCATION_TYPE_HOST;
  std::size_t index = 0, failed = 0;
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpyBatchAsync(dsts, sizes, srcs, sizes, 2, &attribute, &index, 1, &failed, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_EQ(ReadDevice(range.at(at), bytes), contents);
  // A descriptor, whose operands are looked up when it runs.
  DeviceBuffer target(bytes), descriptor(64);
  EXPECT_ACL(ACL_SUCCESS, aclrtSetMemcpyDesc(descriptor.data(), ACL_MEMCPY_INNER_DEVICE_TO_DEVICE,
                                             range.at(at), target.data(), bytes, nullptr));
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpyAsyncWithDesc(descriptor.data(), ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_EQ(target.Read(0, bytes), contents);
}

TEST_F(VirtualMemoryTest, ACopyMayNotLeaveWhatIsMapped) {
  const Reserved range(4 * kPiece);
  const Physical physical;
  const Mapped mapped(range.at(kPiece), kPiece, physical);
  Bytes host(2 * kPiece);
  const auto copy_to = [&](std::size_t at, std::size_t bytes) {
    return aclrtMemcpy(range.at(at), bytes, host.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE);
  };
  EXPECT_ACL(ACL_SUCCESS, copy_to(kPiece, kPiece));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, copy_to(kPiece, kPiece + 1));
  EXPECT_TRUE(MessageHas(Hex(range.at(kPiece))));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, copy_to(kPiece - 1, 2));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, copy_to(0, 64));
  EXPECT_TRUE(MessageHas("nothing mapped"));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, copy_to(2 * kPiece, 64));
  DeviceBuffer descriptor(64), source(4096);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtSetMemcpyDesc(descriptor.data(), ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, source.data(),
                                range.at(2 * kPiece - 64), 4096, nullptr));
}

TEST_F(VirtualMemoryTest, NeighboursOfAnotherReservationAreNotReached) {
  const Reserved range(2 * kPiece);
  const Physical first, second;
  const Mapped low(range.data(), kPiece, first);
  Bytes host(kPiece);
  // Whatever lies behind the reservation is not part of it.
  const Mapped high(range.at(kPiece), kPiece, second);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtMemcpy(range.at(2 * kPiece - 32), 64, host.data(), 64, ACL_MEMCPY_HOST_TO_DEVICE));
}

TEST_F(VirtualMemoryTest, OneMemoryAtTwoAddresses) {
  const Reserved range(2 * kPiece);
  const Physical physical;
  const Mapped one(range.data(), kPiece, physical), two(range.at(kPiece), kPiece, physical);
  Random random;
  const Bytes contents = random.Fill(kPiece);
  WriteDevice(range.data(), contents);
  EXPECT_EQ(ReadDevice(range.at(kPiece), kPiece), contents);
}

TEST_F(VirtualMemoryTest, RemappedAddressesHoldTheNewMemory) {
  const Reserved range(kPiece);
  const std::size_t before = FreeBytes();
  Random random;
  for (int round = 0; round < 5; ++round) {
    Physical physical;
    Mapped mapped(range.data(), kPiece, physical);
    EXPECT_EQ(ReadDevice(range.at(777), 64), Bytes(64)) << "the content of the memory before is gone";
    WriteDevice(range.data(), random.Fill(kPiece));
    physical.Free();  // the mapping keeps it
    EXPECT_EQ(FreeBytes(), before - kPiece);
    mapped.Unmap();
    EXPECT_EQ(FreeBytes(), before);
  }
}

TEST_F(VirtualMemoryTest, WhatQueuedWorkUsesIsNotMappedOver) {
  const Reserved range(kPiece);
  const Physical old_memory, new_memory;
  Mapped mapped(range.data(), kPiece, old_memory);
  Stream stream;
  PinnedBuffer source(4096);
  {
    const Gate gate(stream);
    EXPECT_ACL(ACL_SUCCESS,
               aclrtMemcpyAsync(range.data(), 4096, source.data(), 4096, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    mapped.Unmap();
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMapMem(range.data(), kPiece, 0, new_memory, 0));
  }
  EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStream(stream));
  const Mapped again(range.data(), kPiece, new_memory);
}

TEST_F(VirtualMemoryTest, QueuedWorkOnSeveralPiecesUsesAllOfThem) {
  const Reserved range(2 * kPiece);
  const Physical first, second;
  const Mapped front(range.data(), kPiece, first);
  Stream stream;
  PinnedBuffer host(64);
  std::array<void*, 1> inside = {range.at(kPiece - 32)}, outside = {host.data()};
  std::size_t bytes = 64, zero = 0, failed = 0;
  const auto batch = [&](auto& dsts, auto& srcs, aclrtMemcpyBatchAttr attribute) {
    return aclrtMemcpyBatchAsync(dsts.data(), &bytes, srcs.data(), &bytes, 1, &attribute, &zero, 1, &failed,
                                 stream);
  };
  DeviceBuffer cell(8);
  const std::function<aclError()> calls[] = {[&] { return batch(inside, outside, HostToDevice()); },
                                             [&] { return batch(outside, inside, DeviceToHost()); },
                                             [&] {  // the pointer itself lies in both pieces
                                               return aclrtMemcpyAsyncWithOffset(
                                                   reinterpret_cast<void**>(range.at(kPiece - 4)), 64, 0,
                                                   static_cast<const void**>(cell.data()), 64, 0,
                                                   ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, stream);
                                             }};
  for (const auto& call : calls) {
    Mapped back(range.at(kPiece), kPiece, second);
    {
      const Gate gate(stream);
      EXPECT_ACL(ACL_SUCCESS, call());
      back.Unmap();
    }
    EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStream(stream));
  }
}

TEST_F(VirtualMemoryTest, RightsOfOperandsAreChecked) {
  const Reserved range(kPiece);
  const Physical physical;
  ASSERT_ACL(ACL_SUCCESS, aclrtMemMapNoAccess(range.data(), kPiece, 0, physical, 0));
  DeviceBuffer src(64), dst(64), cell(8);
  Stream stream;
  const auto set = [&] {
    return aclrtSetMemcpyDesc(range.data(), ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, src.data(), dst.data(), 64,
                              nullptr);
  };
  const auto run = [&] {
    return aclrtMemcpyAsyncWithDesc(range.data(), ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, stream);
  };
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, set());
  EXPECT_TRUE(MessageHas("no right to write"));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, run());
  EXPECT_TRUE(MessageHas("no right to read"));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtMemcpyAsyncWithOffset(static_cast<void**>(cell.data()), 64, 0,
                                        static_cast<const void**>(range.data()), 64, 0,
                                        ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, stream));
  EXPECT_TRUE(MessageHas("no right to read"));
  aclrtMemAccessDesc desc = {ACL_RT_MEM_ACCESS_FLAGS_READWRITE, {0, ACL_MEM_LOCATION_TYPE_DEVICE}, {}};
  EXPECT_ACL(ACL_SUCCESS, aclrtMemSetAccess(range.data(), kPiece, &desc, 1));
  const Bytes contents = Random().Fill(64);
  src.Write(0, contents);
  EXPECT_ACL(ACL_SUCCESS, set());
  EXPECT_ACL(ACL_SUCCESS, run());
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_EQ(dst.Read(0, 64), contents);
  EXPECT_ACL(ACL_SUCCESS, aclrtUnmapMem(range.data()));
}

TEST_F(VirtualMemoryTest, RightsAreChecked) {
  const Reserved range(2 * kPiece);
  const Physical physical, neighbour;
  ASSERT_ACL(ACL_SUCCESS, aclrtMemMapNoAccess(range.data(), kPiece, 0, physical, 0));
  const Mapped behind(range.at(kPiece), kPiece, neighbour);
  Bytes host(kPiece);
  const auto write = [&] {
    return aclrtMemcpy(range.data(), 64, host.data(), 64, ACL_MEMCPY_HOST_TO_DEVICE);
  };
  const auto read = [&] { return aclrtMemcpy(host.data(), 64, range.data(), 64, ACL_MEMCPY_DEVICE_TO_HOST); };
  aclrtMemLocation location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
  std::uint64_t flags = 99;
  EXPECT_ACL(ACL_SUCCESS, aclrtMemGetAccess(range.data(), &location, &flags));
  EXPECT_EQ(flags, std::uint64_t{ACL_RT_MEM_ACCESS_FLAGS_NONE});
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, write());
  EXPECT_TRUE(MessageHas("no right to write"));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, read());
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemset(range.data(), 64, 1, 64));

  aclrtMemAccessDesc desc = {ACL_RT_MEM_ACCESS_FLAGS_READ, location, {}};
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemSetAccess(nullptr, kPiece, &desc, 1));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemSetAccess(range.data(), kPiece, &desc, 0));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemSetAccess(range.data(), 4096, &desc, 1));
  EXPECT_ACL(ACL_SUCCESS, aclrtMemSetAccess(range.data(), kPiece, &desc, 1));
  EXPECT_ACL(ACL_SUCCESS, read());
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, write());
  EXPECT_ACL(ACL_SUCCESS, aclrtMemGetAccess(range.at(4096), &location, &flags));
  EXPECT_EQ(flags, std::uint64_t{ACL_RT_MEM_ACCESS_FLAGS_READ});

  desc.flags = ACL_RT_MEM_ACCESS_FLAGS_READWRITE;
  EXPECT_ACL(ACL_SUCCESS, aclrtMemSetAccess(range.data(), kPiece, &desc, 1));
  EXPECT_ACL(ACL_SUCCESS, write());
  // A copy does not cross into a piece without rights.
  desc.flags = ACL_RT_MEM_ACCESS_FLAGS_NONE;
  EXPECT_ACL(ACL_SUCCESS, aclrtMemSetAccess(range.at(kPiece), kPiece, &desc, 1));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtMemcpy(range.at(kPiece - 32), 64, host.data(), 64, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_ACL(ACL_SUCCESS, aclrtUnmapMem(range.data()));
}

/// Short copies between device and pinned memory may take a shorter way than others.
TEST_F(VirtualMemoryTest, RightsOfShortQueuedCopiesAreChecked) {
  const Reserved range(kPiece);
  const Physical physical;
  const Mapped mapped(range.data(), kPiece, physical);
  PinnedBuffer pinned(256);
  Stream stream;
  Random random;
  const Bytes contents = random.Fill(256), other = random.Fill(256);
  WriteDevice(range.data(), contents);
  pinned.Write(0, other);
  const auto write = [&] {
    return aclrtMemcpyAsync(range.data(), 64, pinned.data(), 64, ACL_MEMCPY_HOST_TO_DEVICE, stream);
  };
  const auto read = [&] {
    return aclrtMemcpyAsync(pinned.data(), 64, range.data(), 64, ACL_MEMCPY_DEVICE_TO_HOST, stream);
  };
  const auto write_batch = [&] {
    BatchRequest request;
    for (const std::size_t at : {0, 128})
      request.Add(range.at(at), pinned.at(at), 64);
    request.UseAttr(HostToDevice());
    return request.Submit(BatchForm::kAsync, stream);
  };
  const auto allow = [&](aclrtMemAccessFlags flags) {
    aclrtMemAccessDesc desc = {flags, {0, ACL_MEM_LOCATION_TYPE_DEVICE}, {}};
    ASSERT_ACL(ACL_SUCCESS, aclrtMemSetAccess(range.data(), kPiece, &desc, 1));
  };
  allow(ACL_RT_MEM_ACCESS_FLAGS_NONE);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, read());
  EXPECT_TRUE(MessageHas("no right to read"));
  allow(ACL_RT_MEM_ACCESS_FLAGS_READ);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, write());
  EXPECT_TRUE(MessageHas("no right to write"));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, write_batch());
  EXPECT_TRUE(MessageHas("no right to write"));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_EQ(ReadDevice(range.data(), 256), contents);
  EXPECT_EQ(pinned.Read(0, 256), other);
  EXPECT_ACL(ACL_SUCCESS, read());
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_EQ(pinned.Read(0, 64), Bytes(contents.begin(), contents.begin() + 64));
}

TEST_F(VirtualMemoryTest, ABatchNeedsRightsToEachOfItsMappings) {
  constexpr std::size_t kEach = 64, kInEach = 20;
  const Reserved range(2 * kPiece);
  const Physical first, second;
  const Mapped mapped_first(range.data(), kPiece, first), mapped_second(range.at(kPiece), kPiece, second);
  PinnedBuffer pinned(kInEach * 2 * kEach);
  Stream stream;
  Random random;
  const Bytes contents = random.Fill(2 * kPiece), other = random.Fill(kInEach * 2 * kEach);
  WriteDevice(range.data(), contents);
  pinned.Write(0, other);
  const auto allow = [&](std::size_t at, aclrtMemAccessFlags flags) {
    aclrtMemAccessDesc desc = {flags, {0, ACL_MEM_LOCATION_TYPE_DEVICE}, {}};
    ASSERT_ACL(ACL_SUCCESS, aclrtMemSetAccess(range.at(at), kPiece, &desc, 1));
  };
  // Entries in the first mapping, one across the border, entries in the second mapping.
  Bytes expected = contents;
  BatchRequest request;
  for (std::size_t i = 0; i < 2 * kInEach; ++i) {
    const std::size_t at = i < kInEach    ? i * 2 * kEach
                           : i == kInEach ? kPiece - kEach / 2
                                          : kPiece + i * 2 * kEach;
    request.Add(range.at(at), pinned.at(i * kEach), kEach);
    std::memcpy(expected.data() + at, other.data() + i * kEach, kEach);
  }
  request.UseAttr(HostToDevice());
  allow(kPiece, ACL_RT_MEM_ACCESS_FLAGS_READ);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, request.Submit(BatchForm::kAsync, stream));
  EXPECT_TRUE(MessageHas("no right to write"));
  EXPECT_TRUE(MessageHas("entry 20"));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_EQ(ReadDevice(range.data(), 2 * kPiece), contents);
  allow(kPiece, ACL_RT_MEM_ACCESS_FLAGS_READWRITE);
  allow(0, ACL_RT_MEM_ACCESS_FLAGS_NONE);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, request.Submit(BatchForm::kAsync, stream));
  EXPECT_TRUE(MessageHas("entry 0"));
  allow(0, ACL_RT_MEM_ACCESS_FLAGS_READWRITE);
  EXPECT_ACL(ACL_SUCCESS, request.Submit(BatchForm::kAsync, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_TRUE(ReadDevice(range.data(), 2 * kPiece) == expected);
}

TEST_F(VirtualMemoryTest, RightsAreCheckedWhenADescriptorRuns) {
  const Reserved range(2 * kPiece);
  const Physical physical, other;
  const Mapped mapped(range.data(), kPiece, physical);
  Mapped gone(range.at(kPiece), kPiece, other);
  DeviceBuffer buffer(4096), into(64), out_of(64), elsewhere(64);
  Random random;
  const Bytes contents = random.Fill(4096);
  WriteDevice(range.data(), contents);
  buffer.Write(0, Bytes(4096, std::byte{0x11}));
  const auto set = [&](DeviceBuffer& descriptor, void* src, void* dst) {
    ASSERT_ACL(ACL_SUCCESS, aclrtSetMemcpyDesc(descriptor.data(), ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, src, dst,
                                               4096, nullptr));
  };
  set(into, buffer.data(), range.data());
  set(out_of, range.data(), buffer.data());
  set(elsewhere, buffer.data(), range.at(kPiece));
  Stream stream;
  const auto run = [&](const DeviceBuffer& descriptor) {
    EXPECT_ACL(ACL_SUCCESS,
               aclrtMemcpyAsyncWithDesc(descriptor.data(), ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, stream));
    return aclrtSynchronizeStream(stream);
  };
  const aclrtMemLocation location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
  aclrtMemAccessDesc desc = {ACL_RT_MEM_ACCESS_FLAGS_READ, location, {}};
  EXPECT_ACL(ACL_SUCCESS, aclrtMemSetAccess(range.data(), kPiece, &desc, 1));
  EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, run(into));
  EXPECT_EQ(ReadDevice(range.data(), 4096), contents);
  EXPECT_ACL(ACL_SUCCESS, run(out_of));
  EXPECT_EQ(buffer.Read(0, 4096), contents);
  desc.flags = ACL_RT_MEM_ACCESS_FLAGS_NONE;
  EXPECT_ACL(ACL_SUCCESS, aclrtMemSetAccess(range.data(), kPiece, &desc, 1));
  EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, run(out_of));
  desc.flags = ACL_RT_MEM_ACCESS_FLAGS_READWRITE;
  EXPECT_ACL(ACL_SUCCESS, aclrtMemSetAccess(range.data(), kPiece, &desc, 1));
  buffer.Write(0, Bytes(4096, std::byte{0x22}));
  EXPECT_ACL(ACL_SUCCESS, run(into));
  EXPECT_EQ(ReadDevice(range.data(), 4096), Bytes(4096, std::byte{0x22}));
  EXPECT_ACL(ACL_SUCCESS, run(elsewhere));
  gone.Unmap();
  EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, run(elsewhere));
}

TEST_F(VirtualMemoryTest, WhatIsKnownOfAMapping) {
  const Reserved range(2 * kPiece);
  const Physical physical;
  const Mapped mapped(range.at(kPiece), kPiece, physical);
  aclrtPtrAttributes attributes = {};
  EXPECT_ACL(ACL_SUCCESS, aclrtPointerGetAttributes(range.at(kPiece + 5), &attributes));
  EXPECT_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_DEVICE);
  EXPECT_EQ(attributes.location.id, 0u);
  void* base = nullptr;
  std::size_t bytes = 0;
  EXPECT_ACL(ACL_SUCCESS, aclrtMemGetAddressRange(range.at(kPiece + 4097), &base, &bytes));
  EXPECT_EQ(base, range.at(kPiece));
  EXPECT_EQ(bytes, kPiece);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemGetAddressRange(range.data(), &base, &bytes));
  DeviceBuffer plain(100);
  EXPECT_ACL(ACL_SUCCESS, aclrtMemGetAddressRange(plain.at(50), &base, &bytes));
  EXPECT_EQ(base, plain.data());
  EXPECT_EQ(bytes, 100u);

  aclrtPhysicalMemProp prop = {};
  EXPECT_ACL(ACL_SUCCESS, aclrtMemGetAllocationPropertiesFromHandle(physical, &prop));
  EXPECT_EQ(prop.memAttr, ACL_HBM_MEM_HUGE);
  EXPECT_EQ(prop.location.type, ACL_MEM_LOCATION_TYPE_DEVICE);
  std::size_t granularity = 0;
  for (const auto option : {ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED}) {
    EXPECT_ACL(ACL_SUCCESS, aclrtMemGetAllocationGranularity(&prop, option, &granularity));
    EXPECT_EQ(granularity, kPiece);
  }
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM,
             aclrtMemGetAllocationGranularity(nullptr, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &granularity));
  prop.memAttr = ACL_HBM_MEM;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM,
             aclrtMemGetAllocationGranularity(&prop, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &granularity));
}

TEST_F(VirtualMemoryTest, ARetainedHandleOfFreedMemoryKeepsIt) {
  const Reserved range(2 * kPiece);
  Random random;
  const Bytes contents = random.Fill(4096);
  aclrtDrvMemHandle retained = nullptr;
  {
    Physical physical;
    const Mapped mapped(range.data(), kPiece, physical);
    WriteDevice(range.data(), contents);
    const aclrtDrvMemHandle freed = physical;
    physical.Free();
    EXPECT_ACL(ACL_SUCCESS, aclrtMemRetainAllocationHandle(range.at(100), &retained));
    EXPECT_NE(retained, freed);
    aclrtDrvMemHandle again = nullptr;
    EXPECT_ACL(ACL_SUCCESS, aclrtMemRetainAllocationHandle(range.at(200), &again));
    EXPECT_EQ(again, retained);
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemRetainAllocationHandle(range.at(kPiece), &again));
  }
  {
    const Mapped elsewhere(range.at(kPiece), kPiece, retained);
    EXPECT_EQ(ReadDevice(range.at(kPiece), 4096), contents);
  }
  EXPECT_ACL(ACL_SUCCESS, aclrtFreePhysical(retained));
}

TEST_F(VirtualMemoryTest, MemoryThatWasRetainedIsFreedByOneCall) {
  const std::size_t before = FreeBytes();
  const Reserved range(kPiece);
  for (int round = 0; round < 3; ++round) {  // as allocators do that keep no handle
    aclrtDrvMemHandle handle = nullptr, retained = nullptr;
    const aclrtPhysicalMemProp prop = DeviceProperties();
    ASSERT_ACL(ACL_SUCCESS, aclrtMallocPhysical(&handle, kPiece, &prop, 0));
    ASSERT_ACL(ACL_SUCCESS, aclrtMapMem(range.data(), kPiece, 0, handle, 0));
    ASSERT_ACL(ACL_SUCCESS, aclrtMemRetainAllocationHandle(range.data(), &retained));
    EXPECT_EQ(retained, handle);
    EXPECT_ACL(ACL_SUCCESS, aclrtUnmapMem(range.data()));
    EXPECT_EQ(FreeBytes(), before - kPiece);
    EXPECT_ACL(ACL_SUCCESS, aclrtFreePhysical(retained));
    EXPECT_EQ(FreeBytes(), before);
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtFreePhysical(handle));
  }
}

TEST_F(VirtualMemoryTest, HostMemoryByNumaNodeIsTheProgramsToo) {
  aclrtPhysicalMemProp prop = DeviceProperties();
  prop.memAttr = ACL_DDR_MEM_HUGE;
  prop.location.type = ACL_MEM_LOCATION_TYPE_HOST_NUMA;
  const Reserved range(kPiece);
  const Physical physical(kPiece, prop);
  const Mapped mapped(range.data(), kPiece, physical);
  Random random;
  const Bytes contents = random.Fill(4096);
  std::memcpy(range.data(), contents.data(), contents.size());
  DeviceBuffer device(4096);
  Stream stream;
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpyAsync(device.data(), 4096, range.data(), 4096, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_EQ(device.Read(0, 4096), contents);
}

/// share-4: an import is not exported again, and mapped memory has no IPC key.
TEST_F(VirtualMemoryTest, ImportsItsOwnShareableHandle) {
  const Physical physical;
  const Reserved range(2 * kPiece);
  std::uint64_t number = 0;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM,
             aclrtMemExportToShareableHandle(nullptr, ACL_MEM_HANDLE_TYPE_NONE, 0, &number));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM,
             aclrtMemExportToShareableHandle(physical, ACL_MEM_HANDLE_TYPE_POSIX, 0, &number));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtMemExportToShareableHandle(physical, ACL_MEM_HANDLE_TYPE_NONE, 2, &number));
  ASSERT_ACL(ACL_SUCCESS, aclrtMemExportToShareableHandle(physical, ACL_MEM_HANDLE_TYPE_NONE, 0, &number));
  aclrtDrvMemHandle imported = nullptr;
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemImportFromShareableHandle(number ^ 1, 0, &imported));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemImportFromShareableHandle(12345, 0, &imported));
  ASSERT_ACL(ACL_SUCCESS, aclrtMemImportFromShareableHandle(number, 0, &imported));
  {
    const Mapped own(range.data(), kPiece, physical), other(range.at(kPiece), kPiece, imported);
    Random random;
    const Bytes contents = random.Fill(kPiece);
    WriteDevice(range.data(), contents);
    EXPECT_EQ(ReadDevice(range.at(kPiece), kPiece), contents);
    char key[65] = {};
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
               aclrtIpcMemGetExportKey(range.data(), kPiece, key, sizeof(key), 0));
    EXPECT_TRUE(MessageHas("is not memory of aclrtMalloc's kind"));
  }
  std::uint64_t again = 0;
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
             aclrtMemExportToShareableHandle(imported, ACL_MEM_HANDLE_TYPE_NONE, 0, &again));
  EXPECT_ACL(ACL_SUCCESS, aclrtFreePhysical(imported));
  aclrtMemFabricHandle fabric = {};
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
             aclrtMemExportToShareableHandleV2(physical, 0, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, &fabric));
  EXPECT_TRUE(MessageHas("one host"));
  std::int32_t pid = 1;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemSetPidToShareableHandle(number, &pid, 0));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemSetPidToShareableHandle(number ^ 1, &pid, 1));
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemSetPidToShareableHandleV2(&number, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, &pid, 1));
}

}  // namespace
}  // namespace sampan::test::virtual_memory_test
