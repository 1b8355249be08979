// Ranks as threads of the test: each with a device, a dispatcher, a stream and its place in a group.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "hccl/platform/rank_group.h"
#include "tests/hccl/hccl_expect.h"
#include "tests/support/random_bytes.h"

namespace sampan::test {

inline hccl::DeviceMem DeviceBytes(const Bytes& contents) {
  hccl::DeviceMem memory = hccl::DeviceMem::alloc(contents.size());
  EXPECT_TRUE(memory);
  EXPECT_ACL(ACL_SUCCESS, aclrtMemcpy(memory.ptr(), contents.size(), contents.data(), contents.size(),
                                      ACL_MEMCPY_HOST_TO_DEVICE));
  return memory;
}

inline Bytes HostBytes(const hccl::DeviceMem& memory) {
  Bytes contents(memory.size());
  EXPECT_ACL(ACL_SUCCESS, aclrtMemcpy(contents.data(), contents.size(), memory.ptr(), memory.size(),
                                      ACL_MEMCPY_DEVICE_TO_HOST));
  return contents;
}

/// A dispatcher that ends with the object.
class OwnDispatcher {
 public:
  explicit OwnDispatcher(DispatcherType type = DispatcherType::DISPATCHER_NORMAL) {
    EXPECT_HCCL(HCCL_SUCCESS, HcclDispatcherInit(type, -1, &handle_));
  }
  ~OwnDispatcher() { EXPECT_HCCL(HCCL_SUCCESS, HcclDispatcherDestroy(handle_)); }
  OwnDispatcher(const OwnDispatcher&) = delete;
  OwnDispatcher& operator=(const OwnDispatcher&) = delete;
  operator HcclDispatcher() const { return handle_; }

 private:
  HcclDispatcher handle_ = nullptr;
};

/// What a rank has. Made and used by its thread.
struct RankWorld {
  explicit RankWorld(const hccl::RankGroupConfig& config) : rank(config.rank), size(config.rankSize) {
    std::uint32_t devices = 0;
    EXPECT_ACL(ACL_SUCCESS, aclrtGetDeviceCount(&devices));
    device = static_cast<std::int32_t>(rank % devices);
    EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(device));
    dispatcher = std::make_unique<OwnDispatcher>();
    stream = hccl::Stream(hccl::StreamType::STREAM_TYPE_ONLINE, true);
    EXPECT_HCCL(HCCL_SUCCESS, hccl::RankGroup::Join(config, group));
  }
  ~RankWorld() {
    links.clear();
    group.reset();
    stream = hccl::Stream();
    dispatcher.reset();
  }

  void Connect(hccl::MachinePara& para) {
    EXPECT_HCCL(HCCL_SUCCESS, group->Connect(*dispatcher, para, links));
  }
  void Synchronize() const { EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream.ptr())); }

  std::uint32_t rank, size;
  std::int32_t device = 0;
  std::unique_ptr<OwnDispatcher> dispatcher;
  hccl::Stream stream{};
  std::shared_ptr<hccl::RankGroup> group;
  std::vector<LINK> links;
};

inline hccl::RankGroupConfig GroupOf(std::uint32_t size) {
  hccl::RankGroupConfig config;
  config.name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
  config.name.resize(std::min<std::size_t>(config.name.size(), 64));
  config.token = hccl::RankGroup::MakeToken();
  config.rankSize = size;
  config.timeout = std::chrono::seconds(60);
  return config;
}

/// Joins as this rank, and leaves.
inline HcclResult Join(hccl::RankGroupConfig config, u32 rank) {
  std::shared_ptr<hccl::RankGroup> group;
  config.rank = rank;
  return hccl::RankGroup::Join(config, group);
}

/// Runs the body once for each rank, each in its thread.
inline void RunRanks(std::uint32_t size, const std::function<void(RankWorld&)>& body) {
  const hccl::RankGroupConfig shared = GroupOf(size);
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      hccl::RankGroupConfig config = shared;
      config.rank = rank;
      RankWorld world(config);
      if (world.group != nullptr) body(world);
    });
  }
  for (std::thread& thread : threads)
    thread.join();
}

}  // namespace sampan::test
