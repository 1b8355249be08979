// The words of refused and failed copies: which argument, its value, the rule, which allocation.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>

#include "acl/acl.h"
#include "tests/support/batch_request.h"
#include "tests/support/copy_fixture.h"

namespace sampan::test::copy_messages_test {
namespace {

constexpr std::size_t kBytes = 4096;

class Messages : public CopyTest {};

/// `[PID: n] time title(CODE): text`
::testing::AssertionResult HasShape(const std::string& message, const std::string& code) {
  static const std::string kBegin = "[PID: " + std::to_string(getpid()) + "] 2";
  const std::size_t at = message.find("(" + code + "): ");
  if (message.starts_with(kBegin) && at != std::string::npos && at < message.find('\n') &&
      at + code.size() + 4 < message.size()) {
    return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure() << "not the shape of a message with " << code << ": " << message;
}

TEST_F(Messages, HaveTheirShape) {
  PinnedBuffer host(kBytes);
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemcpy(nullptr, 1, host.data(), 1, ACL_MEMCPY_DEFAULT));
  EXPECT_TRUE(HasShape(RecentMessage(), "EH0002"));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemcpy(host.data(), 1, host.data(), 1, Kind(6)));
  EXPECT_TRUE(HasShape(RecentMessage(), "EH0001"));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpy(host.data(), 1, host.data(), 2, ACL_MEMCPY_DEFAULT));
  EXPECT_TRUE(HasShape(RecentMessage(), "EE1011"));
}

TEST_F(Messages, NewestComesFirst) {
  PinnedBuffer host(kBytes);
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemcpy(nullptr, 1, host.data(), 1, ACL_MEMCPY_DEFAULT));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtMemcpy(host.data(), 4321, host.data(), 8765, ACL_MEMCPY_DEFAULT));
  const char* const all = aclGetRecentErrMsg();
  ASSERT_NE(all, nullptr);
  const char* const newer = std::strstr(all, "8765");
  const char* const older = std::strstr(all, "dst");
  ASSERT_NE(newer, nullptr);
  ASSERT_NE(older, nullptr);
  EXPECT_LT(newer, std::strstr(newer, "[PID:")) << "the older message should follow: " << all;
}

TEST_F(Messages, NameTheArgumentItsValueWithTheLimit) {
  PinnedBuffer host(kBytes);
  DeviceBuffer device(kBytes);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtMemcpy(device.data(), 1234, host.data(), 2345, ACL_MEMCPY_HOST_TO_DEVICE));
  for (const char* part : {"destMax", "1234", "count", "2345"})
    EXPECT_TRUE(MessageHas(part));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemcpy(device.data(), 1, host.data(), 1, Kind(98765)));
  for (const char* part : {"kind", "98765"})
    EXPECT_TRUE(MessageHas(part));
}

TEST_F(Messages, AttachedNameWidthWithPitch) {
  PinnedBuffer host(kBytes);
  DeviceBuffer device(kBytes);
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM,
             aclrtMemcpy2d(device.data(), 4321, host.data(), 1234, 1235, 1, ACL_MEMCPY_HOST_TO_DEVICE));
  for (const char* part : {"width", "1235", "spitch", "1234"})
    EXPECT_TRUE(MessageHas(part));
}

TEST_F(Messages, NameTheAllocationAndItsSize) {
  PinnedBuffer host(100'000);
  DeviceBuffer device(12'345);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpyAsync(device.at(100), 54'321, host.data(), 54'321,
                                                          ACL_MEMCPY_HOST_TO_DEVICE, stream()));
  EXPECT_TRUE(MessageHas(Hex(device.data())));
  EXPECT_TRUE(MessageHas("12345"));
  EXPECT_TRUE(MessageHas("54321"));
}

TEST_F(Messages, AttachedNameTheEntryOfABatch) {
  PinnedBuffer host(100'000);
  DeviceBuffer device(12'345);
  BatchRequest request;
  for (std::size_t i = 0; i < 300; ++i)
    request.Add(device.at(i * 32), host.at(i * 32), 32);
  request.Add(device.at(0), host.data(), 54'321);
  request.UseAttr(HostToDevice());
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, request.Submit(BatchForm::kAsync, stream()));
  EXPECT_EQ(request.fail_index, 300U);
  EXPECT_TRUE(MessageHas("300"));
  EXPECT_TRUE(MessageHas(Hex(device.data())));
  EXPECT_TRUE(MessageHas("54321"));
}

void ExpectParts(std::initializer_list<std::string> parts) {
  for (const std::string& part : parts)
    EXPECT_TRUE(MessageHas(part));
}
/// An argument as messages give it: its name, its address, and of memory that the runtime knows the
/// allocation.
std::string Known(const std::string& name, const void* address) {
  return name + " 0x" + Hex(address) + " is allocation #";
}
std::string Plain(const std::string& name, const void* address) {
  return name + " 0x" + Hex(address) + " is pageable host memory";
}

TEST_F(Messages, AttachedNameBothEndsWhereTheirDirectionIsWrong) {
  PinnedBuffer pinned(kBytes), other(kBytes);
  PageableBuffer host(kBytes);
  DeviceBuffer device(kBytes);
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
             aclrtMemcpyAsync(pinned.at(64), 64, other.at(32), 64, ACL_MEMCPY_DEFAULT, stream()));
  ExpectParts({Known("dst", pinned.at(64)), Known("src", other.at(32)), Hex(pinned.data())});
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtMemcpyAsync(device.at(32), 64, host.data(), 64, ACL_MEMCPY_DEVICE_TO_HOST, stream()));
  ExpectParts({Known("dst", device.at(32)), Plain("src", host.data()), "DEVICE_TO_HOST"});
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpyAsync(host.data(), 64, device.at(32), 64,
                                                          ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, stream()));
  ExpectParts({Known("src", device.at(32)), Plain("dst", host.data()), "HOST_TO_BUF_TO_DEVICE"});
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtMemcpy2d(pinned.at(64), 8, other.at(32), 8, 8, 2, ACL_MEMCPY_DEFAULT));
  ExpectParts({Known("dst", pinned.at(64)), Known("src", other.at(32))});
}

TEST_F(Messages, AttachedNameBothEndsOfABatchEntry) {
  PinnedBuffer pinned(kBytes);
  PageableBuffer host(kBytes);
  DeviceBuffer device(kBytes);
  const auto submit = [&](void* dst, void* src, const aclrtMemcpyBatchAttr& attribute) {
    BatchRequest request;
    request.Add(device.data(), pinned.data(), 32);
    request.UseAttr(HostToDevice());
    request.Add(dst, src, 32);
    request.UseAttr(attribute, 1);
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, request.Submit(BatchForm::kAsync, stream()));
    EXPECT_EQ(request.fail_index, 1u);
    ExpectParts({"entry 1: "});
  };
  aclrtMemcpyBatchAttr both = HostToDevice();
  both.dstLoc = both.srcLoc;
  submit(pinned.at(64), host.at(32), both);
  ExpectParts({Known("dst", pinned.at(64)), Plain("src", host.at(32))});
  submit(pinned.at(64), host.at(32), HostToDevice());
  ExpectParts({Known("dst", pinned.at(64)), "its attribute says memory of device 0"});
  submit(pinned.at(64), device.at(32), DeviceToHost());
  ExpectParts({Known("dst", pinned.at(64)), Known("src", device.at(32)), "one direction"});
}

TEST_F(Messages, AttachedNameMemoryThatShouldBeADevices) {
  PinnedBuffer pinned(kBytes);
  PageableBuffer host(kBytes);
  DeviceBuffer device(kBytes);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpyAsyncWithDesc(pinned.data(), Kind(6), stream()));
  ExpectParts({Known("desc", pinned.data())});
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtSetMemcpyDesc(device.data(), Kind(6), device.at(64), host.data(), 8, nullptr));
  ExpectParts({Plain("dstAddr", host.data())});
}

/// `name 0x…`, as messages name a buffer whose argument is not looked up.
std::string Named(const std::string& name, const void* address) {
  return name + " 0x" + Hex(address);
}

TEST_F(Messages, AttachedNameTheBuffersOfRows) {
  PinnedBuffer host(kBytes);
  DeviceBuffer device(kBytes), other(kBytes);
  const auto rows = [&](std::size_t dpitch, std::size_t spitch, std::size_t width, std::size_t height) {
    return aclrtMemcpy2d(device.at(32), dpitch, host.at(64), spitch, width, height, ACL_MEMCPY_DEFAULT);
  };
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, rows(20, 10, 11, 2));
  ExpectParts({"width 11", "spitch 10", Named("src", host.at(64))});
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, rows(10, 20, 11, 2));
  ExpectParts({"width 11", "dpitch 10", Named("dst", device.at(32))});
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, rows(10, 10, 10, 5'242'881));
  ExpectParts({"height 5242881", "5242880", Named("dst", device.at(32)), Named("src", host.at(64))});
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, rows(SIZE_MAX / 2, 10, 10, 5));
  ExpectParts({"dpitch", "height 5", Named("dst", device.at(32))});
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, rows(10, SIZE_MAX / 2, 10, 5));
  ExpectParts({"spitch", "height 5", Named("src", host.at(64))});
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
             aclrtMemcpy2d(device.at(32), 8, other.at(64), 8, 8, 2, ACL_MEMCPY_DEVICE_TO_DEVICE));
  ExpectParts({"kind ACL_MEMCPY_DEVICE_TO_DEVICE", Named("dst", device.at(32)), Named("src", other.at(64))});
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemcpy2d(device.at(32), 8, other.at(64), 8, 8, 2, Kind(5)));
  ExpectParts({"kind", "1 to 4", Named("dst", device.at(32)), Named("src", other.at(64))});
}

TEST_F(Messages, AttachedNameTheCellsOfOffsets) {
  DeviceBuffer cells(64);
  auto** const dst = static_cast<void**>(static_cast<void*>(cells.at(8)));
  auto** const src = static_cast<const void**>(static_cast<void*>(cells.at(16)));
  const auto copy = [&](std::size_t max, std::size_t dst_offset, std::size_t count, std::size_t src_offset) {
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
               aclrtMemcpyAsyncWithOffset(dst, max, dst_offset, src, count, src_offset, Kind(6), stream()));
  };
  copy(10, 0, 11, 0);
  ExpectParts({"count 11", "destMax 10", Named("dst", dst)});
  copy(SIZE_MAX, 0, (std::size_t{4} << 30) + 1, 0);
  ExpectParts({"count 4294967297", "4 GiB", Named("dst", dst)});
  copy(10, 0, 1, std::size_t{1} << 48);
  ExpectParts({"srcDataOffset 281474976710656", "48 bits", Named("src", src)});
  copy(SIZE_MAX, std::size_t{1} << 48, 1, 0);
  ExpectParts({"dstDataOffset 281474976710656", "48 bits", Named("dst", dst)});
  copy(10, 10, 1, 0);
  ExpectParts({"dstDataOffset 10", "destMax 10", Named("dst", dst)});
  copy(10, 8, 3, 0);
  ExpectParts({"count 3", "dstDataOffset 8", "destMax 10", Named("dst", dst)});
}

TEST_F(Messages, AttachedNameTheDescriptor) {
  DeviceBuffer device(kBytes);
  int config = 0;
  const auto set = [&](aclError code, std::size_t count, void* with) {
    EXPECT_ACL(code, aclrtSetMemcpyDesc(device.at(64), Kind(6), device.at(128), device.at(256), count, with));
  };
  set(ACL_ERROR_INVALID_PARAM, 0, nullptr);
  ExpectParts({"count", "is 0", Named("desc", device.at(64))});
  set(ACL_ERROR_INVALID_PARAM, 1, &config);
  ExpectParts({"config", Hex(&config), Named("desc", device.at(64))});
  set(ACL_ERROR_RT_PARAM_INVALID, (std::size_t{4} << 30) + 1, nullptr);
  ExpectParts({"count 4294967297", "4 GiB", Named("desc", device.at(64))});
}

TEST_F(Messages, NameTheMemoryToSet) {
  DeviceBuffer device(100);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemset(device.at(32), 4, 0, 5));
  ExpectParts({"count 5", "maxCount 4", Named("devPtr", device.at(32))});
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemsetAsync(device.at(32), 400, 0, 400, stream()));
  ExpectParts({Named("devPtr", device.at(32)), "+ 400 bytes", "+100 bytes"});
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemsetD32(device.at(32), 4, 0, 2));
  ExpectParts({"N 2", "memSize 4", Named("ptr", device.at(32))});
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemsetD32Async(device.at(32), 400, 0, 100, stream()));
  ExpectParts({Named("ptr", device.at(32)), "+ 400 bytes", "+100 bytes"});
}

TEST_F(Messages, AttachedNameTheReservedByteOfAnAttribute) {
  PinnedBuffer host(kBytes);
  DeviceBuffer device(kBytes);
  BatchRequest request;
  request.Add(device.data(), host.data(), 32);
  request.UseAttr(HostToDevice());
  request.attrs[0].rsv[5] = 77;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, request.Submit(BatchForm::kAsync, stream()));
  ExpectParts({"attrs[0].rsv[5] is 77"});
}

}  // namespace
}  // namespace sampan::test::copy_messages_test
