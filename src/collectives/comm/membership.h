// The ranks that joined together, as one of them knows them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/error/status.h"
#include "collectives/board/board.h"
#include "collectives/board/peer_memory.h"
#include "collectives/comm/comm_options.h"
#include "collectives/far/far_memory.h"
#include "collectives/far/far_ranks.h"
#include "collectives/operators/device_moves.h"
#include "hccl/platform/rank_group.h"

namespace sampan::collectives {

/// On which hosts the ranks may be.
struct HostPlan {
  std::string address{};  ///< of rank 0; empty: all ranks run on one host
  bool is_on_host_of_rank_0 = true;
  std::vector<u32> servers{};  ///< by rank, of a rank table
};

/// The ranks that joined together. A communicator and its sub-communicators share it. Thread-safe.
class Membership {
 public:
  struct Place {
    std::string name;
    std::string token;
    u32 rank;
    u32 size;
    s32 device;
    HostPlan hosts;
  };
  static HcclResult Join(const char* function, const Place& place, const CommOptions& options,
                         std::shared_ptr<Membership>& joined);

  const std::shared_ptr<Board>& board() const { return board_; }
  PeerMemory& peer_memory() { return peer_memory_; }
  FarRanks& far_ranks() { return far_ranks_; }
  /// Null if all ranks run on one host.
  FarMemory* far_memory() const { return far_memory_.get(); }
  /// Tells ranks of other hosts. Does nothing if the ranks are no longer together.
  void Tell(const std::vector<u32>& ranks, const std::vector<u8>& note) const;
  /// Null if the host reaches the devices' memory.
  DeviceMoves* device_moves() const { return device_moves_.get(); }
  u32 rank() const { return group_->Rank(); }
  /// HCCL_SUCCESS, or why the ranks are no longer together.
  HcclResult Health(std::string* reason) const { return group_->Status(reason); }

 private:
  HcclResult FindHosts(const char* function, const HostPlan& plan);
  /// Imports a little from each other host: no operator shall be the first to find that it cannot.
  HcclResult TryNetwork(const char* function);
  HcclResult ShareBoard(const char* function, s32 device, const CommOptions& options,
                        std::vector<s32>& devices);
  /// What a rank of another host tells. On a thread of the group.
  void Hear(u32 from, const std::vector<u8>& bytes) noexcept;
  /// Lets this rank's device access the memory of the other devices.
  HcclResult OpenDevices(const char* function, const std::vector<s32>& devices);

  std::shared_ptr<Board> board_;
  PeerMemory peer_memory_;
  FarRanks far_ranks_;
  std::unique_ptr<FarMemory> far_memory_;
  std::unique_ptr<DeviceMoves> device_moves_;
  std::shared_ptr<::hccl::RankGroup> group_;  // the last one: its thread uses the others
};

/// Whether the host reaches the memory of the backend's devices.
bool HostReachesDevices();

}  // namespace sampan::collectives
