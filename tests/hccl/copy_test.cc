// HcclD2DMemcpyAsync and HcclMemcpyAsync: what is decided, in which order, and what arrives.
// Rules of docs/BEHAVIOUR.md: hccl-1.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include "tests/hccl/dispatcher_fixture.h"
#include "tests/support/child_process.h"
#include "tests/support/mapped_memory.h"
#include "tests/support/temporary_folder.h"

namespace sampan::test::copy_test {
namespace {

using hccl::DeviceMem;
using hccl::LinkType;
using Kind = HcclRtMemcpyKind;

class CopyTest : public DispatcherTest {
 protected:
  HcclResult CopyRaw(void* dst, u64 max, const void* src, u64 count, Kind kind, hccl::Stream& in) {
    return HcclMemcpyAsync(d(), dst, max, src, count, kind, in, INVALID_VALUE_RANKID, LinkType::LINK_ONCHIP);
  }
  HcclResult CopyRaw(void* dst, u64 max, const void* src, u64 count,
                     Kind kind = Kind::HCCL_RT_MEMCPY_KIND_DEVICE_TO_DEVICE) {
    return CopyRaw(dst, max, src, count, kind, stream());
  }
};

TEST_F(CopyTest, CopiesWhatTheSourceHas) {
  for (const std::size_t bytes : {1, 100, 4096, 100003}) {
    GuardedBuffer dst(Place::kDevice, bytes + 64, 3), src(Place::kDevice, bytes, 5);
    const Bytes contents = random().Fill(bytes);
    src.Write(contents);
    EXPECT_HCCL(HCCL_SUCCESS, Copy(View(dst), View(src)));
    Synchronize();
    Bytes expected(bytes + 64, GuardedBuffer::kBackground);
    std::copy(contents.begin(), contents.end(), expected.begin());
    EXPECT_TRUE(dst.Holds(expected)) << "the rest of a larger destination stays";
  }
}

TEST_F(CopyTest, IsAsynchronousAndInStreamOrder) {
  GuardedBuffer a(Place::kDevice, 64), b(Place::kDevice, 64), c(Place::kDevice, 64);
  const Bytes contents = random().Fill(64);
  a.Write(contents);
  Gate gate(stream().ptr());
  EXPECT_HCCL(HCCL_SUCCESS, Copy(View(b), View(a)));
  EXPECT_HCCL(HCCL_SUCCESS, Copy(View(c), View(b)));
  EXPECT_FALSE(gate.passed());
  EXPECT_EQ(records().size(), 2u) << "the record is of the submission";
  gate.Open();
  Synchronize();
  EXPECT_TRUE(c.Holds(contents));
}

TEST_F(CopyTest, D2DChecksInOrder) {
  GuardedBuffer buffer(Place::kDevice, 64);
  DeviceMem none{}, some = View(buffer), part = some.range(0, 32);
  hccl::Stream no_stream{};
  EXPECT_HCCL(HCCL_E_PTR, HcclD2DMemcpyAsync(d(), none, none, stream())) << "even for no bytes";
  EXPECT_TRUE(MessageHas("dst"));
  EXPECT_HCCL(HCCL_E_PTR, HcclD2DMemcpyAsync(d(), some, none, stream()));
  EXPECT_TRUE(MessageHas("src"));
  EXPECT_HCCL(HCCL_E_PTR, HcclD2DMemcpyAsync(d(), part, some, stream())) << "not E_PARA";
  EXPECT_TRUE(MessageHas("32 bytes, fewer than the 64"));
  EXPECT_HCCL(HCCL_E_PTR, HcclD2DMemcpyAsync(d(), part, some, no_stream)) << "before the stream is looked at";
  DeviceMem same(some.ptr(), 10);
  EXPECT_HCCL(HCCL_E_PTR, HcclD2DMemcpyAsync(d(), same, some, stream())) << "before equal pointers are";
  DeviceMem empty(some.ptr(), 0);
  EXPECT_HCCL(HCCL_SUCCESS, HcclD2DMemcpyAsync(d(), part, empty, stream()));
  EXPECT_HCCL(HCCL_E_INTERNAL, HcclD2DMemcpyAsync(d(), empty, empty, no_stream))
      << "without a stream the bound comes before the length";
  EXPECT_HCCL(HCCL_SUCCESS, HcclD2DMemcpyAsync(d(), some, some, stream()));
  EXPECT_TRUE(records().empty()) << "nothing of this is a task";
  EXPECT_TRUE(buffer.Untouched());
}

TEST_F(CopyTest, RawChecksInOrder) {
  GuardedBuffer dst(Place::kDevice, 64), src(Place::kDevice, 64);
  const Kind bad = Kind::HCCL_RT_MEMCPY_KIND_RESERVED;
  hccl::Stream no_stream{};
  EXPECT_HCCL(HCCL_E_PTR, CopyRaw(nullptr, 0, nullptr, 64, bad, no_stream));
  EXPECT_TRUE(MessageHas("dst"));
  EXPECT_HCCL(HCCL_E_PTR, CopyRaw(dst.data(), 0, nullptr, 64, bad, no_stream));
  EXPECT_TRUE(MessageHas("src"));
  EXPECT_HCCL(HCCL_E_INTERNAL, CopyRaw(dst.data(), 0, src.data(), 0, bad, no_stream));
  EXPECT_HCCL(HCCL_E_INTERNAL, CopyRaw(dst.data(), 63, src.data(), 64, bad, no_stream));
  EXPECT_HCCL(HCCL_SUCCESS, CopyRaw(dst.data(), 0, src.data(), 0, bad)) << "the length before the bound";
  EXPECT_HCCL(HCCL_SUCCESS, CopyRaw(dst.data(), 0, dst.data(), 64, bad)) << "equal pointers before the bound";
  EXPECT_HCCL(HCCL_E_PARA, CopyRaw(dst.data(), 63, src.data(), 64, bad));
  EXPECT_TRUE(MessageHas("count 64 is more than destMax 63"));
  EXPECT_HCCL(HCCL_E_PARA, CopyRaw(dst.data(), 64, src.data(), 64, bad));
  EXPECT_TRUE(MessageHas("kind is 5"));
  EXPECT_HCCL(HCCL_E_PARA,
              CopyRaw(dst.data(), 64, src.data(), 64, Kind::HCCL_RT_MEMCPY_ADDR_DEVICE_TO_DEVICE));
  EXPECT_TRUE(records().empty());
  EXPECT_TRUE(dst.Untouched());
}

TEST_F(CopyTest, WithoutAStreamItHappensAtOnce) {
  GuardedBuffer device(Place::kDevice, 64), host(Place::kPageable, 64);
  const Bytes contents = random().Fill(64);
  host.Write(contents);
  hccl::Stream no_stream{};
  const Kind any = Kind::HCCL_RT_MEMCPY_KIND_DEVICE_TO_DEVICE;
  EXPECT_HCCL(HCCL_SUCCESS, CopyRaw(device.data(), 64, host.data(), 64, any, no_stream));
  EXPECT_TRUE(device.Holds(contents));
  GuardedBuffer back(Place::kPageable, 64);
  EXPECT_HCCL(HCCL_SUCCESS, CopyRaw(back.data(), 64, device.data(), 64, any, no_stream));
  EXPECT_TRUE(back.Holds(contents));
  EXPECT_HCCL(HCCL_E_INTERNAL, CopyRaw(back.at(1), 63, back.data(), 10, any, no_stream)) << "overlap";
  EXPECT_HCCL(HCCL_SUCCESS, CopyRaw(back.data(), 64, back.data(), 64, any, no_stream));
  GuardedBuffer d2(Place::kDevice, 64);
  DeviceMem to = View(d2);
  EXPECT_HCCL(HCCL_SUCCESS, HcclD2DMemcpyAsync(d(), to, View(device), no_stream));
  EXPECT_TRUE(d2.Holds(contents));
  EXPECT_TRUE(records().empty());
}

TEST_F(CopyTest, WithoutAStreamHostMemoryNeedsNoContext) {
  for (const Place to : {Place::kPageable, Place::kPinned}) {
    for (const Place from : {Place::kPageable, Place::kPinned}) {
      GuardedBuffer dst(to, 100003, 3), src(from, 100003, 5);
      const Bytes contents = random().Fill(100003);
      src.Write(contents);
      OnNewThread([&] {
        hccl::Stream no_stream{};
        DeviceMem view = View(dst);
        EXPECT_HCCL(HCCL_SUCCESS, HcclD2DMemcpyAsync(d(), view, View(src), no_stream));
      });
      EXPECT_TRUE(dst.Holds(contents));
    }
  }
  GuardedBuffer device(Place::kDevice, 64), pinned(Place::kPinned, 64), host(Place::kPageable, 64);
  OnNewThread([&] {
    hccl::Stream no_stream{};
    const Kind any = Kind::HCCL_RT_MEMCPY_KIND_DEVICE_TO_DEVICE;
    EXPECT_HCCL(HCCL_E_INTERNAL, CopyRaw(host.data(), 64, device.data(), 64, any, no_stream));
    EXPECT_TRUE(MessageHas("context")) << "the host cannot reach a device's memory";
    EXPECT_HCCL(HCCL_E_INTERNAL, CopyRaw(pinned.data(), 1 << 20, host.data(), 1 << 20, any, no_stream));
    EXPECT_TRUE(MessageHas("dst")) << "past the end";
    EXPECT_HCCL(HCCL_E_INTERNAL, CopyRaw(host.data(), 64, reinterpret_cast<void*>(64), 64, any, no_stream));
    EXPECT_TRUE(MessageHas("src")) << "nothing is there";
    EXPECT_HCCL(HCCL_SUCCESS, CopyRaw(host.data(), 64, host.data(), 64, any, no_stream));
  });
  EXPECT_TRUE(host.Untouched());
  EXPECT_TRUE(pinned.Untouched());
}

TEST_F(CopyTest, RawTakesTheDirections) {
  GuardedBuffer device(Place::kDevice, 64), host(Place::kPinned, 64), back(Place::kPinned, 64);
  const Bytes contents = random().Fill(64);
  host.Write(contents);
  EXPECT_HCCL(HCCL_SUCCESS,
              CopyRaw(device.data(), 64, host.data(), 64, Kind::HCCL_RT_MEMCPY_KIND_HOST_TO_DEVICE));
  EXPECT_HCCL(HCCL_SUCCESS,
              CopyRaw(back.data(), 64, device.data(), 64, Kind::HCCL_RT_MEMCPY_KIND_DEVICE_TO_HOST));
  Synchronize();
  EXPECT_TRUE(back.Holds(contents));
  EXPECT_EQ(records().size(), 2u);
}

TEST_F(CopyTest, WhatTheRuntimeRefusesIsERuntime) {
  GuardedBuffer device(Place::kDevice, 64);
  EXPECT_HCCL(HCCL_E_RUNTIME, CopyRaw(device.data(), 1 << 20, device.at(32), 1 << 19))
      << "beyond the allocation";
  EXPECT_TRUE(MessageHas("aclrtMemcpyAsync")) << "the runtime's own message is there";
  GuardedBuffer host(Place::kPageable, 64), other(Place::kPageable, 64);
  EXPECT_HCCL(HCCL_E_RUNTIME,
              CopyRaw(host.data(), 64, other.data(), 64, Kind::HCCL_RT_MEMCPY_KIND_HOST_TO_HOST));
  EXPECT_TRUE(records().empty());
  aclrtGetLastError(ACL_RT_THREAD_LEVEL);
}

TEST_F(CopyTest, TheRecordSaysWhatTheCallerSaid) {
  GuardedBuffer dst(Place::kDevice, 64), src(Place::kDevice, 64);
  DeviceMem to = View(dst);
  const auto before = static_cast<u64>(std::chrono::steady_clock::now().time_since_epoch().count());
  EXPECT_HCCL(HCCL_SUCCESS, HcclD2DMemcpyAsync(d(), to, View(src), stream(), 7, LinkType::LINK_ROCE));
  const auto after = static_cast<u64>(std::chrono::steady_clock::now().time_since_epoch().count());
  ASSERT_EQ(records().size(), 1u);
  const hccl::TaskPara& record = records()[0];
  EXPECT_EQ(record.type, hccl::TaskType::TASK_SDMA) << "ROCE does not make it RDMA";
  EXPECT_EQ(record.profilerType, hccl::ProfilerType::TASK_ALL);
  EXPECT_EQ(record.stream, stream().ptr());
  EXPECT_TRUE(record.isMainStream);
  EXPECT_FALSE(record.isFftsDispatcher);
  EXPECT_TRUE(record.beginTime >= before && record.beginTime <= after);
  EXPECT_EQ(record.dma.src, src.data());
  EXPECT_EQ(record.dma.dst, dst.data());
  EXPECT_EQ(record.dma.size, 64u);
  EXPECT_EQ(record.dma.notifyID, INVALID_U64);
  EXPECT_EQ(record.dma.linkType, LinkType::LINK_ROCE);
  EXPECT_EQ(record.dma.remoteUserRank, 7u);
  EXPECT_HCCL(HCCL_SUCCESS, RegisterLoadTaskCallBack(d(), nullptr, nullptr));
  EXPECT_HCCL(HCCL_SUCCESS, Copy(View(dst), View(src)));
  EXPECT_EQ(records().size(), 1u) << "the observer is removed";
  Synchronize();
}

TEST_F(CopyTest, TheTraceSaysItToo) {
  if (!InChild()) {
    const TemporaryFolder folder;
    const std::string path = folder.path() + "/trace.json";
    const ChildResult child = RunInChild({{"SAMPAN_TRACE", path}});
    EXPECT_TRUE(child.Passed()) << child;
    std::ifstream file(path);
    const std::string trace((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    EXPECT_NE(trace.find("\"link\":\"SIO\",\"remote_rank\":1234"), std::string::npos);
    EXPECT_NE(trace.find("\"link\":\"HCCS_SW\",\"remote_rank\":1235"), std::string::npos);
    EXPECT_NE(trace.find("\"size(B)\":4321"), std::string::npos);
    std::istringstream lines(trace);
    for (std::string line; std::getline(lines, line);) {
      if (line.find("\"size(B)\":4321,") != std::string::npos) {
        EXPECT_EQ(line.find("\"link\""), std::string::npos) << "a copy of the program's own: " << line;
      }
    }
    return;
  }
  GuardedBuffer dst(Place::kDevice, 8192), src(Place::kDevice, 8192);
  DeviceMem to = View(dst);
  EXPECT_HCCL(HCCL_SUCCESS, HcclD2DMemcpyAsync(d(), to, View(src), stream(), 1234, LinkType::LINK_SIO));
  EXPECT_HCCL(HCCL_SUCCESS, HcclReduceAsync(d(), src.data(), 64, HCCL_DATA_TYPE_INT8, HCCL_REDUCE_SUM,
                                            stream(), dst.data(), 1235, LinkType::LINK_HCCS_SW, 1));
  EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(dst.data(), 8192, src.data(), 4321, ACL_MEMCPY_DEVICE_TO_DEVICE,
                                           stream().ptr()));
  Synchronize();
}

TEST_F(CopyTest, GoesBetweenDevicesOncePeerAccessIsOn) {
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(1));
  DeviceMem there = DeviceMem::alloc(4096);
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  const Bytes contents = random().Fill(4096);
  DeviceMem here = DeviceBytes(contents);
  EXPECT_HCCL(HCCL_E_RUNTIME, Copy(there, here));
  EXPECT_ACL(ACL_SUCCESS, aclrtDeviceEnablePeerAccess(1, 0));
  EXPECT_HCCL(HCCL_SUCCESS, Copy(there, here));
  Synchronize();
  EXPECT_TRUE(HostBytes(there) == contents);
  EXPECT_ACL(ACL_SUCCESS, aclrtDeviceDisablePeerAccess(1));
  there.free();
  EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(1));
  aclrtGetLastError(ACL_RT_THREAD_LEVEL);
}

/// More than 4 GiB of addresses over a little memory that is mapped again and again.
class LongMemory {
 public:
  static constexpr std::size_t kPart = std::size_t{64} << 20;
  static constexpr std::size_t kBytes = (std::size_t{4} << 30) + kPart;

  LongMemory() : memory_(kPart), addresses_(kBytes) {
    for (std::size_t at = 0; at < kBytes; at += kPart)
      mapped_.push_back(std::make_unique<Mapped>(addresses_.at(at), kPart, memory_));
  }
  void* data() const { return addresses_.data(); }

 private:
  Physical memory_;
  Reserved addresses_;
  std::vector<std::unique_ptr<Mapped>> mapped_;
};

TEST_F(CopyTest, LongCopiesAreCutAt4GiBWithTheBoundReduced) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the thread sanitizer's shadow of so much memory takes a minute to fill";
#endif
  LongMemory dst, src;
  constexpr u64 kFour = HCCL_SDMA_MAX_COUNT_4GB;
  const Bytes contents = random().Fill(LongMemory::kPart);
  ASSERT_ACL(ACL_SUCCESS, aclrtMemcpy(src.data(), contents.size(), contents.data(), contents.size(),
                                      ACL_MEMCPY_HOST_TO_DEVICE));
  // The bound is exact: undiminished, the second task's would reach behind the mapped memory.
  EXPECT_HCCL(HCCL_SUCCESS, CopyRaw(dst.data(), kFour + 4096, src.data(), kFour + 4096));
  Synchronize();
  ASSERT_EQ(records().size(), 2u);
  EXPECT_EQ(records()[0].dma.size, kFour);
  EXPECT_EQ(records()[1].dma.size, 4096u);
  EXPECT_EQ(records()[1].dma.src, static_cast<u8*>(src.data()) + kFour);
  EXPECT_EQ(records()[1].dma.dst, static_cast<u8*>(dst.data()) + kFour);
  EXPECT_EQ(records()[0].beginTime, records()[1].beginTime) << "of the whole call";
  Bytes found(contents.size());
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpy(found.data(), found.size(), dst.data(), found.size(), ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT_TRUE(found == contents);
}

}  // namespace
}  // namespace sampan::test::copy_test
