// One rank of a communicator: its device, its stream, and the communicator.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include "check.h"
#include "hccl/hccl.h"
#include "launch.h"

namespace collectives {

/// A root info that rank 0 makes and all ranks read, also ranks that are forked later. Made before the ranks.
class SharedRootInfo {
 public:
  SharedRootInfo() {
    void* const memory =
        ::mmap(nullptr, sizeof(Content), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    content_ = new (memory) Content;
  }
  ~SharedRootInfo() { ::munmap(content_, sizeof(Content)); }
  SharedRootInfo(const SharedRootInfo&) = delete;
  SharedRootInfo& operator=(const SharedRootInfo&) = delete;

  HcclRootInfo Get(u32 rank) {
    if (rank == 0) {
      Check(HcclGetRootInfo(&content_->info));
      content_->is_ready.store(true);
    }
    while (!content_->is_ready.load())
      ::usleep(200);
    return content_->info;
  }

 private:
  struct Content {
    std::atomic<bool> is_ready{false};
    HcclRootInfo info{};
  };
  Content* content_;
};

inline HcclCommConfig ConfigWithLimit(s32 seconds) {
  HcclCommConfig config;
  HcclCommConfigInit(&config);
  config.hcclExecTimeOut = seconds;
  return config;
}

/// Lives on the thread that made it.
class World {
 public:
  World(const Seat& seat, SharedRootInfo& root) : World(seat, root, ConfigWithLimit(seat.timeout_seconds)) {}
  World(const Seat& seat, SharedRootInfo& root, const HcclCommConfig& config)
      : World(seat, [&](HcclComm* made) {
          const HcclRootInfo info = root.Get(seat.rank);
          return HcclCommInitRootInfoConfig(seat.size, &info, seat.rank, &config, made);
        }) {}
  /// `join` makes the communicator, on the rank's device.
  World(const Seat& seat, const std::function<HcclResult(HcclComm*)>& join)
      : rank(seat.rank), size(seat.size) {
    uint32_t devices = 0;
    Check(aclrtGetDeviceCount(&devices));
    Check(aclrtSetDevice(static_cast<int32_t>(rank % devices)));
    Check(aclrtCreateStream(&stream));
    Check(join(&comm));
  }
  ~World() {
    aclrtSynchronizeStream(stream);
    HcclCommDestroy(comm);
    aclrtDestroyStream(stream);
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  void Synchronize() const { Check(aclrtSynchronizeStream(stream)); }

  const u32 rank, size;
  HcclComm comm = nullptr;
  aclrtStream stream = nullptr;
};

/// Device memory that is freed with its owner.
class DeviceBlock {
 public:
  explicit DeviceBlock(std::size_t bytes) : bytes_(bytes) {
    Check(aclrtMalloc(&address_, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  }
  explicit DeviceBlock(const std::vector<u8>& contents) : DeviceBlock(contents.size()) { Write(contents); }
  ~DeviceBlock() {
    if (address_ != nullptr) aclrtFree(address_);  // NULL: moved
  }
  DeviceBlock(DeviceBlock&& that) noexcept : address_(that.address_), bytes_(that.bytes_) {
    that.address_ = nullptr;
  }
  DeviceBlock(const DeviceBlock&) = delete;
  DeviceBlock& operator=(const DeviceBlock&) = delete;

  void* at(std::size_t offset = 0) const { return static_cast<char*>(address_) + offset; }
  void Write(const std::vector<u8>& contents) const {
    Check(aclrtMemcpy(address_, bytes_, contents.data(), contents.size(), ACL_MEMCPY_HOST_TO_DEVICE));
  }
  std::vector<u8> Read() const {
    std::vector<u8> contents(bytes_);
    Check(aclrtMemcpy(contents.data(), bytes_, address_, bytes_, ACL_MEMCPY_DEVICE_TO_HOST));
    return contents;
  }

 private:
  void* address_ = nullptr;
  std::size_t bytes_;
};

/// Runs the body once for each rank, in a communicator of all of them. Returns what failed.
inline std::vector<Ending> RunWorlds(u32 size, Form form, const std::function<void(World&)>& body,
                                     s32 limit_seconds = 60) {
  SharedRootInfo root;
  return RunRanks({size, form, limit_seconds}, [&](const Seat& seat) {
    World world(seat, root);
    body(world);
  });
}

}  // namespace collectives
