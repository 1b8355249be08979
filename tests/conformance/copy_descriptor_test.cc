// Copies by descriptor: the checks of the three calls; operands that are read when the copy runs.
// Rules of docs/BEHAVIOUR.md: operand-1, operand-2, operand-3, operand-4.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include "acl/acl.h"
#include "tests/support/copy_fixture.h"

namespace sampan::test::copy_descriptor_test {
namespace {

constexpr std::size_t kBytes = 1000;
constexpr std::size_t kFourGiB = std::size_t{1} << 32;
constexpr aclrtMemcpyKind kInner = ACL_MEMCPY_INNER_DEVICE_TO_DEVICE;

/// Where the 32-byte form keeps its operands.
constexpr std::size_t kDescriptorBytes = 32, kLengthAt = 12, kSrcAt = 16, kDstAt = 24;

template <typename Value>
void Store(const Buffer& buffer, std::size_t offset, Value value) {
  buffer.Write(offset, std::as_bytes(std::span(&value, 1)));
}
template <typename Value>
Value Load(const Buffer& buffer, std::size_t offset) {
  const Bytes bytes = buffer.Read(offset, sizeof(Value));
  Value value;
  std::memcpy(&value, bytes.data(), sizeof(value));
  return value;
}
std::uint64_t Address(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

class AttachedDescriptor : public CopyTest {};

TEST_F(AttachedDescriptor, SizeChecksInTheirOrder) {
  std::size_t bytes = 7;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetMemcpyDescSize(kInner, nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetMemcpyDescSize(ACL_MEMCPY_DEVICE_TO_DEVICE, nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetMemcpyDescSize(Kind(8), &bytes));
  for (int kind = 0; kind < 8; ++kind) {
    if (kind == kInner) continue;
    EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtGetMemcpyDescSize(Kind(kind), &bytes));
  }
  EXPECT_EQ(bytes, 7U);
  EXPECT_ACL(ACL_SUCCESS, aclrtGetMemcpyDescSize(kInner, &bytes));
  EXPECT_EQ(bytes, kDescriptorBytes);
}

TEST_F(AttachedDescriptor, SizeNeedsNoContext) {
  OnNewThread([] {
    std::size_t bytes = 0;
    EXPECT_ACL(ACL_SUCCESS, aclrtGetMemcpyDescSize(kInner, &bytes));
    EXPECT_EQ(bytes, kDescriptorBytes);
  });
}

TEST_F(AttachedDescriptor, SetLaysTheOperandsOut) {
  DeviceBuffer desc(64), src(kBytes), dst(kBytes);
  EXPECT_ACL(ACL_SUCCESS, aclrtSetMemcpyDesc(desc.data(), kInner, src.data(), dst.data(), kBytes, nullptr));
  EXPECT_EQ(Load<std::uint32_t>(desc, kLengthAt), kBytes);
  EXPECT_EQ(Load<std::uint64_t>(desc, kSrcAt), Address(src.data()));
  EXPECT_EQ(Load<std::uint64_t>(desc, kDstAt), Address(dst.data()));
}

TEST_F(AttachedDescriptor, SetChecksInTheirOrder) {
  DeviceBuffer desc(128), src(kBytes), dst(kBytes);
  PinnedBuffer host(kBytes);
  int config = 0;
  void* const nothing = nullptr;
  struct {
    aclError code;
    void* desc;
    int kind;
    void* src;
    void* dst;
    std::size_t count;
    void* config;
    const char* named;
  } const calls[] = {
      // Each row breaks its own rule and one of every later row that still can be.
      {ACL_ERROR_INVALID_PARAM, nothing, 8, nothing, nothing, 0, &config, "desc"},
      {ACL_ERROR_INVALID_PARAM, desc.data(), 8, nothing, nothing, 0, &config, "kind"},
      {ACL_ERROR_INVALID_PARAM, desc.data(), 3, nothing, nothing, 0, &config, "src"},
      {ACL_ERROR_INVALID_PARAM, desc.data(), 3, src.data(), nothing, 0, &config, "dst"},
      {ACL_ERROR_INVALID_PARAM, desc.data(), 3, src.data(), dst.data(), 0, &config, "count"},
      {ACL_ERROR_INVALID_PARAM, desc.data(), 3, src.data(), dst.data(), kFourGiB + 1, &config, "config"},
      {ACL_ERROR_RT_FEATURE_NOT_SUPPORT, desc.at(1), 3, host.data(), dst.data(), kFourGiB + 1, nothing,
       "kind"},
      {ACL_ERROR_RT_PARAM_INVALID, desc.at(1), kInner, host.data(), dst.data(), kFourGiB + 1, nothing,
       "count"},
      {ACL_ERROR_RT_PARAM_INVALID, desc.at(32), kInner, src.data(), dst.data(), kBytes, nothing, "desc"},
      {ACL_ERROR_RT_PARAM_INVALID, host.data(), kInner, src.data(), dst.data(), kBytes, nothing, "desc"},
      {ACL_ERROR_RT_PARAM_INVALID, desc.data(), kInner, host.data(), dst.data(), kBytes, nothing, "src"},
      {ACL_ERROR_RT_PARAM_INVALID, desc.data(), kInner, src.data(), host.data(), kBytes, nothing, "dst"},
  };
  for (const auto& call : calls) {
    SCOPED_TRACE(call.named);
    EXPECT_ACL(call.code,
               aclrtSetMemcpyDesc(call.desc, Kind(call.kind), call.src, call.dst, call.count, call.config));
    EXPECT_TRUE(MessageHas(call.named));
  }
  OnNewThread([&] {
    EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
               aclrtSetMemcpyDesc(desc.data(), Kind(7), src.data(), dst.data(), kBytes, nullptr));
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
               aclrtSetMemcpyDesc(desc.at(8), kInner, src.data(), dst.data(), kBytes, nullptr));
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL,
               aclrtSetMemcpyDesc(desc.data(), kInner, src.data(), dst.data(), kBytes, nullptr));
  });
}

TEST_F(AttachedDescriptor, LaunchChecksInTheirOrder) {
  DeviceBuffer desc(128), src(kBytes), dst(kBytes);
  PinnedBuffer host(128);
  const aclrtStream dead = DeadStream();
  ASSERT_ACL(ACL_SUCCESS, aclrtSetMemcpyDesc(desc.data(), kInner, src.data(), dst.data(), kBytes, nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemcpyAsyncWithDesc(nullptr, Kind(8), nullptr));
  EXPECT_TRUE(MessageHas("desc"));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemcpyAsyncWithDesc(host.data(), Kind(8), nullptr));
  EXPECT_TRUE(MessageHas("kind"));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemcpyAsyncWithDesc(host.data(), Kind(3), nullptr));
  EXPECT_TRUE(MessageHas("stream"));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemcpyAsyncWithDesc(desc.data(), kInner, nullptr));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtMemcpyAsyncWithDesc(host.data(), Kind(3), dead));
  for (int kind = 0; kind < 8; ++kind) {
    if (kind == kInner) continue;
    EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtMemcpyAsyncWithDesc(host.at(1), Kind(kind), stream()));
  }
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpyAsyncWithDesc(host.data(), kInner, stream()));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpyAsyncWithDesc(desc.at(16), kInner, stream()));
  ForeignStream foreign;
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpyAsyncWithDesc(desc.at(16), kInner, foreign));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, aclrtMemcpyAsyncWithDesc(desc.data(), kInner, foreign));
  OnNewThread([&] {
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpyAsyncWithDesc(desc.at(16), kInner, stream()));
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtMemcpyAsyncWithDesc(desc.data(), kInner, stream()));
  });
}

TEST_F(AttachedDescriptor, CopiesBetweenItsOperands) {
  for (const std::size_t bytes :
       {std::size_t{1}, std::size_t{31}, std::size_t{4096}, std::size_t{1'000'003}}) {
    DeviceBuffer desc(64);
    GuardedBuffer src(Place::kDevice, bytes, 3), dst(Place::kDevice, bytes, 1);
    const Bytes contents = random().Fill(bytes);
    src.Write(contents);
    ASSERT_ACL(ACL_SUCCESS, aclrtSetMemcpyDesc(desc.data(), kInner, src.data(), dst.data(), bytes, nullptr));
    EXPECT_TRUE(dst.Untouched());
    EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsyncWithDesc(desc.data(), kInner, stream()));
    Synchronize();
    EXPECT_TRUE(dst.Holds(contents));
    EXPECT_TRUE(src.Holds(contents));
  }
}

TEST_F(AttachedDescriptor, OperandsAreReadWhenTheCopyRuns) {
  DeviceBuffer desc(64);
  GuardedBuffer src(Place::kDevice, kBytes), dst(Place::kDevice, kBytes);
  GuardedBuffer other_src(Place::kDevice, kBytes), other_dst(Place::kDevice, kBytes);
  const Bytes contents = random().Fill(kBytes);
  src.Write(random().Fill(kBytes));
  other_src.Write(contents);
  ASSERT_ACL(ACL_SUCCESS, aclrtSetMemcpyDesc(desc.data(), kInner, src.data(), dst.data(), kBytes, nullptr));
  Gate gate(stream());
  EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsyncWithDesc(desc.data(), kInner, stream()));
  constexpr std::uint32_t kFewer = 600;
  Store<std::uint32_t>(desc, kLengthAt, kFewer);
  Store<std::uint64_t>(desc, kSrcAt, Address(other_src.data()));
  Store<std::uint64_t>(desc, kDstAt, Address(other_dst.data()));
  gate.Open();
  Synchronize();
  EXPECT_TRUE(dst.Untouched());
  Bytes expected(kBytes, GuardedBuffer::kBackground);
  std::copy_n(contents.begin(), kFewer, expected.begin());
  EXPECT_TRUE(other_dst.Holds(expected));
}

TEST_F(AttachedDescriptor, StreamOrderRewritesItBetweenLaunches) {
  DeviceBuffer desc(64), first(kBytes), second(kBytes);
  GuardedBuffer dst(Place::kDevice, 2 * kBytes);
  PinnedBuffer operands(32);
  const Bytes one = random().Fill(kBytes), two = random().Fill(kBytes);
  first.Write(0, one);
  second.Write(0, two);
  ASSERT_ACL(ACL_SUCCESS, aclrtSetMemcpyDesc(desc.data(), kInner, first.data(), dst.data(), kBytes, nullptr));
  Store<std::uint64_t>(operands, 0, Address(second.data()));
  Store<std::uint64_t>(operands, 8, Address(dst.at(kBytes)));
  EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsyncWithDesc(desc.data(), kInner, stream()));
  EXPECT_ACL(ACL_SUCCESS,
             aclrtMemcpyAsync(desc.at(kSrcAt), 16, operands.data(), 16, ACL_MEMCPY_HOST_TO_DEVICE, stream()));
  EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsyncWithDesc(desc.data(), kInner, stream()));
  Synchronize();
  Bytes expected = one;
  expected.insert(expected.end(), two.begin(), two.end());
  EXPECT_TRUE(dst.Holds(expected));
}

TEST_F(AttachedDescriptor, MayBeLaunchedAgain) {
  DeviceBuffer desc(64), src(kBytes);
  GuardedBuffer dst(Place::kDevice, kBytes);
  ASSERT_ACL(ACL_SUCCESS, aclrtSetMemcpyDesc(desc.data(), kInner, src.data(), dst.data(), kBytes, nullptr));
  for (int i = 0; i < 5; ++i) {
    const Bytes contents = random().Fill(kBytes);
    src.Write(0, contents);
    EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsyncWithDesc(desc.data(), kInner, stream()));
    Synchronize();
    EXPECT_TRUE(dst.Holds(contents));
  }
}

TEST_F(AttachedDescriptor, FourGiBIsStoredAsZeroWhichMovesNothing) {
  DeviceBuffer desc(64), src(kBytes);
  GuardedBuffer dst(Place::kDevice, kBytes);
  EXPECT_ACL(ACL_SUCCESS, aclrtSetMemcpyDesc(desc.data(), kInner, src.data(), dst.data(), kFourGiB, nullptr));
  EXPECT_EQ(Load<std::uint32_t>(desc, kLengthAt), 0U);
  EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsyncWithDesc(desc.data(), kInner, stream()));
  Synchronize();
  EXPECT_TRUE(dst.Untouched());
}

TEST_F(AttachedDescriptor, BadOperandsFailWhenTheCopyRuns) {
  DeviceBuffer desc(64), src(kBytes), freed(kBytes);
  GuardedBuffer dst(Place::kDevice, kBytes);
  PinnedBuffer host(kBytes);
  const std::uint64_t dangling = Address(freed.data());
  freed.Free();
  const std::pair<const char*, std::uint64_t> sources[] = {{"null", 0},
                                                           {"wild", 0x1000},
                                                           {"freed", dangling},
                                                           {"pinned", Address(host.data())},
                                                           {"past the end", Address(src.at(kBytes))}};
  for (const auto& [name, source] : sources) {
    SCOPED_TRACE(name);
    ASSERT_ACL(ACL_SUCCESS, aclrtSetMemcpyDesc(desc.data(), kInner, src.data(), dst.data(), kBytes, nullptr));
    Store<std::uint64_t>(desc, kSrcAt, source);
    EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsyncWithDesc(desc.data(), kInner, stream()));
    EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStream(stream()));
    EXPECT_TRUE(MessageHas("src of the descriptor 0x" + Hex(desc.data())));
    Synchronize();
    ASSERT_ACL(ACL_SUCCESS, aclrtSetMemcpyDesc(desc.data(), kInner, dst.data(), src.data(), kBytes, nullptr));
    Store<std::uint64_t>(desc, kDstAt, source);
    EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsyncWithDesc(desc.data(), kInner, stream()));
    EXPECT_ACL(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStream(stream()));
    EXPECT_TRUE(MessageHas("dst of the descriptor 0x" + Hex(desc.data())));
  }
  EXPECT_TRUE(dst.Untouched());
}

}  // namespace
}  // namespace sampan::test::copy_descriptor_test
