// hccl::Stream: owners and views.
#include <gtest/gtest.h>

#include <thread>
#include <utility>

#include "hccl/platform/stream_pub.h"
#include "tests/hccl/hccl_expect.h"
#include "tests/support/device_fixture.h"
#include "tests/support/stream.h"

namespace sampan::test::stream_test {
namespace {

using HcclStream = hccl::Stream;
using hccl::StreamType;

static_assert(std::is_same_v<decltype(std::declval<HcclStream&>() = std::declval<HcclStream>()), HcclStream>);
static_assert(std::has_virtual_destructor_v<HcclStream>);

bool Lives(void* stream) {
  std::int32_t id = 0;
  const bool lives = aclrtStreamGetId(stream, &id) == ACL_SUCCESS;
  aclrtGetLastError(ACL_RT_THREAD_LEVEL);
  return lives;
}

class HcclStreamTest : public DeviceTest {};

TEST_F(HcclStreamTest, ADefaultOneIsEmpty) {
  HcclStream stream{};
  EXPECT_FALSE(stream);
  EXPECT_EQ(stream.ptr(), nullptr);
  EXPECT_EQ(stream.id(), -1);
  EXPECT_FALSE(stream.IsMainStream());
  EXPECT_FALSE(stream.IsInvalid());
}

TEST_F(HcclStreamTest, AnOwnerEndsItsStreamAndItsCopiesKnow) {
  HcclStream view{};
  void* handle = nullptr;
  {
    HcclStream owner(StreamType::STREAM_TYPE_ONLINE, true);
    ASSERT_TRUE(owner);
    EXPECT_TRUE(owner.IsMainStream());
    EXPECT_GE(owner.id(), 0);
    EXPECT_EQ(owner.sqId(), static_cast<u32>(owner.id()));
    std::uint32_t flags = 0;
    EXPECT_ACL(ACL_SUCCESS, aclrtStreamGetFlags(owner.ptr(), &flags));
    EXPECT_EQ(flags, static_cast<std::uint32_t>(ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC));
    handle = owner.ptr();
    view = owner;
    { const HcclStream another = view; }
    EXPECT_FALSE(view.IsInvalid()) << "the end of a copy is not the end of the stream";
    EXPECT_TRUE(Lives(handle));
  }
  EXPECT_FALSE(Lives(handle));
  EXPECT_TRUE(view.IsInvalid());
  EXPECT_EQ(view.id(), -1);
}

TEST_F(HcclStreamTest, TypesGiveTheFlags) {
  const std::pair<StreamType, std::uint32_t> cases[] = {
      {StreamType::STREAM_TYPE_OFFLINE, ACL_STREAM_PERSISTENT},
      {StreamType::STREAM_TYPE_DEVICE, ACL_STREAM_DEVICE_USE_ONLY}};
  for (const auto& [type, expected] : cases) {
    const HcclStream stream(type);
    ASSERT_TRUE(stream);
    std::uint32_t flags = 0;
    EXPECT_ACL(ACL_SUCCESS, aclrtStreamGetFlags(stream.ptr(), &flags));
    EXPECT_EQ(flags, expected);
  }
  EXPECT_FALSE(HcclStream(StreamType::STREAM_TYPE_RESERVED));
}

TEST_F(HcclStreamTest, MovingTakesOver) {
  HcclStream from(StreamType::STREAM_TYPE_ONLINE);
  void* const handle = from.ptr();
  HcclStream to(std::move(from));
  EXPECT_FALSE(from);
  HcclStream last(StreamType::STREAM_TYPE_ONLINE);
  void* const replaced = last.ptr();
  last = std::move(to);
  EXPECT_FALSE(Lives(replaced)) << "what was owned before ends";
  EXPECT_EQ(last.ptr(), handle);
  EXPECT_TRUE(Lives(handle));
  last = HcclStream(last);  // a view of itself
  EXPECT_TRUE(Lives(handle));
  HcclStream& same = last;
  last = std::move(same);
  EXPECT_TRUE(Lives(handle));
  last = HcclStream();
  EXPECT_FALSE(Lives(handle));
}

TEST_F(HcclStreamTest, WrappersDoNotOwn) {
  Stream real;
  {
    HcclStream wrapped(real.get());
    EXPECT_TRUE(wrapped.IsMainStream());
    EXPECT_GE(wrapped.id(), 0);
    HcclComStreamInfo info;
    info.actualStreamId = 77;
    info.sqId = 5;
    info.sqDepth = 2048;
    info.sqBaseAddr = real.get();
    info.logicCqId = 6;
    HcclStream described(info);
    EXPECT_EQ(described.ptr(), real.get());
    EXPECT_FALSE(described.IsMainStream());
    EXPECT_EQ(described.id(), 77);
    EXPECT_EQ(described.sqId(), 5u);
    EXPECT_EQ(described.logicCqId(), 6u);
    EXPECT_EQ(described.GetHcclStreamInfo().sqDepth, 2048u);
    const HcclComStreamInfo* told = nullptr;
    EXPECT_HCCL(HCCL_SUCCESS, described.GetStreamInfo(told));
    EXPECT_EQ(told->actualStreamId, 77);
  }
  EXPECT_TRUE(Lives(real.get()));
}

TEST_F(HcclStreamTest, DestroyingHappensInTheContextOfCreation) {
  auto owner = std::make_unique<HcclStream>(StreamType::STREAM_TYPE_ONLINE);
  void* const handle = owner->ptr();
  std::thread other([&] {
    EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(1));
    aclrtContext before = nullptr, after = nullptr;
    EXPECT_ACL(ACL_SUCCESS, aclrtGetCurrentContext(&before));
    owner.reset();
    EXPECT_ACL(ACL_SUCCESS, aclrtGetCurrentContext(&after));
    EXPECT_EQ(before, after) << "the thread's own context is current again";
    EXPECT_ACL(ACL_SUCCESS, aclrtResetDevice(1));
  });
  other.join();
  EXPECT_FALSE(Lives(handle));
}

TEST_F(HcclStreamTest, RecordsComeOutInOrder) {
  HcclStream stream{};
  hccl::TaskLogicInfo info;
  EXPECT_HCCL(HCCL_E_NOT_FOUND, stream.PopTaskLogicInfo(info));
  for (u64 i = 1; i <= 3; ++i) {
    info.size = i;
    stream.PushTaskLogicInfo(info);
  }
  for (u64 i = 1; i <= 3; ++i) {
    EXPECT_HCCL(HCCL_SUCCESS, stream.PopTaskLogicInfo(info));
    EXPECT_EQ(info.size, i);
  }
  EXPECT_HCCL(HCCL_E_NOT_FOUND, stream.PopTaskLogicInfo(info));
}

TEST_F(HcclStreamTest, ModeIsKeptAndTheDeviceSideRefused) {
  HcclStream stream(StreamType::STREAM_TYPE_ONLINE);
  uint64_t mode = 1;
  EXPECT_HCCL(HCCL_SUCCESS, stream.GetMode(&mode));
  EXPECT_EQ(mode, 0u);
  EXPECT_HCCL(HCCL_SUCCESS, stream.SetMode(3));
  EXPECT_HCCL(HCCL_SUCCESS, stream.GetMode(&mode));
  EXPECT_EQ(mode, 3u);
  EXPECT_HCCL(HCCL_E_PTR, stream.GetMode(nullptr));
  uint8_t* bytes = nullptr;
  uint16_t task = 0;
  EXPECT_HCCL(HCCL_E_NOT_SUPPORT, stream.GetNextSqeBufferAddr(bytes, bytes, bytes, task));
  EXPECT_HCCL(HCCL_E_NOT_SUPPORT, stream.InitSqAndCqeContext(0, 0, nullptr));
  EXPECT_HCCL(HCCL_E_NOT_SUPPORT, stream.ClearLocalBuff());
  EXPECT_EQ(stream.GetSqeContextPtr(), nullptr);
}

}  // namespace
}  // namespace sampan::test::stream_test
