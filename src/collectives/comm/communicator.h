// A communicator, as one of its ranks sees it.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/error/status.h"
#include "base/platform_bridge.h"
#include "collectives/board/board.h"
#include "collectives/board/own_range.h"
#include "collectives/board/peer_memory.h"
#include "collectives/comm/comm_options.h"
#include "collectives/operators/device_moves.h"
#include "hccl/platform/rank_group.h"

namespace sampan::collectives {

/// The ranks that joined together. A communicator and its sub-communicators share it. Thread-safe.
class Membership {
 public:
  struct Place {
    std::string name;
    std::string token;
    u32 rank;
    u32 size;
    s32 device;
  };
  static HcclResult Join(const char* function, const Place& place, const CommOptions& options,
                         std::shared_ptr<Membership>& joined);

  const std::shared_ptr<Board>& board() const { return board_; }
  PeerMemory& peer_memory() { return peer_memory_; }
  /// Null if the host reaches the devices' memory.
  DeviceMoves* device_moves() const { return device_moves_.get(); }
  u32 rank() const { return group_->Rank(); }
  /// HCCL_SUCCESS, or why the ranks are no longer together.
  HcclResult Health(std::string* reason) const { return group_->Status(reason); }

 private:
  HcclResult ShareBoard(const char* function, s32 device, const CommOptions& options,
                        std::vector<s32>& devices);
  /// Lets this rank's device access the memory of the other devices.
  HcclResult OpenDevices(const char* function, const std::vector<s32>& devices);

  std::shared_ptr<::hccl::RankGroup> group_;
  std::shared_ptr<Board> board_;
  PeerMemory peer_memory_;
  std::unique_ptr<DeviceMoves> device_moves_;
};

/// Whether the host reaches the memory of the backend's devices.
bool HostReachesDevices();

/// Thread-safe. Queued operators share it.
class Communicator {
 public:
  struct Facts {
    std::string name;
    u32 rank = 0, size = 1;
    s32 device = 0;
    CommOptions options;
    bool is_sub = false;
    std::vector<u32> members{};  ///< of a sub-communicator: its ranks in the whole one
  };
  Communicator(Facts facts, std::shared_ptr<Membership> membership, Region region);

  const Facts& facts() const { return facts_; }
  u32 rank() const { return facts_.rank; }
  u32 size() const { return facts_.size; }
  const Region& region() const { return region_; }
  RankCell& own_cell() const { return region_.cell(rank()); }
  /// Whether the rank's process has exited.
  bool IsGone(u32 rank) const;
  /// "communicator 'name'", with the program's free text.
  std::string Describe() const;
  /// "rank 1 (process 72)"
  std::string NameRank(u32 rank) const;
  /// The rank, and what it does.
  std::string DescribeRank(u32 rank) const;
  /// " in main at copy.cc:12" for an address of the rank's process; empty if it is not known.
  std::string DescribePlace(u32 rank, u64 place) const;

  // The calls of this rank, under the mutex: the order of the calls is the order of the numbers.
  std::mutex& call_mutex() { return call_mutex_; }
  u64 next_collective = 1;
  std::vector<u64> next_send, next_receive;  // by peer
  /// How long a call may spin until the other ranks have called. Ranks that call one after the other do not
  /// meet like that: if no rank comes in that time, the next calls do not try.
  std::chrono::nanoseconds TakeMaxSpin() {
    if (calls_without_spin_ != 0) {
      --calls_without_spin_;
      return {};
    }
    calls_without_spin_ = kCallsWithoutSpin;
    return max_spin_;
  }
  void NoteMet() { calls_without_spin_ = 0; }

  std::shared_ptr<Membership> membership() const;
  /// Whether the host moves the bytes of operators, and not the rank's device.
  bool host_moves() const { return host_moves_; }
  /// Announces memory of this rank: others may access it as long as the result exists. Processes find it by
  /// its file.
  OwnRange Announce(const DeviceRange& range, u64 bytes) const {
    return has_neighbours_ ? OwnRange(range.engine, bytes) : OwnRange();
  }
  /// The engines' address of another rank's memory.
  Result<std::byte*> Resolve(u32 rank, const SharedRange& range) const;
  u64 InodeOf(int file);

  /// Fails if the communicator is broken: a rank is gone, or an operator failed. What this rank knows, it
  /// tells all ranks.
  Status Check();
  HcclResult async_error(std::string* reason = nullptr);
  /// Breaks it for all ranks and ends their waits. The first reason stays.
  void Break(HcclResult code, const std::string& reason) noexcept;
  /// Wakes a rank that may wait for what this rank has just written, or all.
  void Wake(u32 rank) const noexcept { WakeSleepers(region_.cell(rank).bell); }
  void WakeAll() const noexcept;

  /// How often the sub-communicator with this name and these members was made from this one before. All
  /// members count the same.
  u64 NextGeneration(u64 key) {
    const std::lock_guard lock(call_mutex_);
    return generations_[key]++;
  }

  std::atomic<bool>& suspended() { return suspended_; }
  /// Operators that are queued and not over, and calls in progress.
  std::atomic<u32>& pending() { return pending_; }
  /// This rank leaves: others that wait for it are told.
  void Leave();

 private:
  static constexpr u32 kCallsWithoutSpin = 7;

  /// What the membership knows. The ranks outside of a sub-communicator do not matter to it.
  HcclResult MembersHealth(std::string* reason) const;
  HcclResult Health(std::string* reason) const;

  const Facts facts_;
  const std::shared_ptr<Board> board_;  // keeps the region mapped as long as a thread may look at it
  mutable std::mutex membership_mutex_;
  std::shared_ptr<Membership> membership_;
  const Region region_;
  std::mutex call_mutex_;
  u32 calls_without_spin_ = 0;      // under it
  std::map<u64, u64> generations_;  // under it
  const bool has_neighbours_;       // other ranks in this process
  const bool host_moves_;
  const std::chrono::nanoseconds max_spin_;
  std::mutex inode_mutex_;
  std::vector<std::pair<int, u64>> inodes_;  // of this process's memory files
  std::atomic<bool> suspended_{false};
  std::atomic<u32> pending_{0};
};

}  // namespace sampan::collectives
