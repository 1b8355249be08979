// A communicator, as one of its ranks sees it.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/error/status.h"
#include "base/platform_bridge.h"
#include "collectives/board/board.h"
#include "collectives/board/own_range.h"
#include "collectives/comm/comm_options.h"
#include "collectives/comm/membership.h"
#include "collectives/far/note.h"

namespace sampan::collectives {

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
    u64 region_key = 0;          ///< of a sub-communicator: that of its part of the board
  };
  Communicator(Facts facts, std::shared_ptr<Membership> membership, Region region);

  const Facts& facts() const { return facts_; }
  u32 rank() const { return facts_.rank; }
  u32 size() const { return facts_.size; }
  const Region& region() const { return region_; }
  RankCell& own_cell() const { return region_.cell(rank()); }
  /// Whether the rank runs on another host, and whether any does.
  bool IsFar(u32 rank) const { return !far_.empty() && is_far_[rank]; }
  bool has_far() const { return !far_.empty(); }
  /// Whether the rank is in another process of this host, or on another host.
  bool IsElsewhere(u32 rank) const;
  /// Tells the ranks of other hosts, if there are any. The note gets the rank and its number.
  void Tell(Note note, std::span<const Piece> pieces = {}, std::span<const u8> bytes = {}) const noexcept;
  /// Tells them what a place in this program is called, once for each.
  void TellPlace(u64 place) const;
  /// As StreamWork::TellStanding, to the ranks of all hosts.
  void TellStanding(u32 ways) const noexcept {
    if (own_cell().standing.exchange(ways) != ways) Tell({.kind = NoteKind::kStands, .number = ways});
  }
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
  /// How a call may spin until the stream is idle and the other ranks have called. Ranks that call one after
  /// the other do not meet like that: after each spin in vain, twice as many calls do not try.
  StreamWork::Spin TakeSpin() {
    if (calls_without_spin_ != 0) {
      --calls_without_spin_;
      return {};
    }
    calls_without_spin_ = next_calls_without_spin_;
    next_calls_without_spin_ = std::min(2 * next_calls_without_spin_ + 1, max_calls_without_spin_);
    return spin_;
  }
  void NoteMet() {
    calls_without_spin_ = 0;
    next_calls_without_spin_ = 1;
  }

  std::shared_ptr<Membership> membership() const;
  /// Whether the host moves the bytes of operators, and not the rank's device.
  bool host_moves() const { return host_moves_; }
  /// Announces memory of this rank: others may access it as long as the result exists. Processes find it by
  /// its file.
  OwnRange Announce(const DeviceRange& range, u64 bytes) const {
    return has_neighbours_ ? OwnRange(range.engine, bytes) : OwnRange();
  }
  /// The memory of a rank of another host. Takes time.
  Result<std::byte*> ResolveFar(u32 rank, const FarRange& range, std::vector<KeyedMemoryUse>& uses) const;
  /// The engines' address of another rank's memory.
  Result<std::byte*> Resolve(u32 rank, const SharedRange& range) const;
  u64 InodeOf(int file);

  /// Whether a rank has broken it.
  bool is_broken() const { return region_.failure().state.load(std::memory_order_seq_cst) != Failure::kNone; }
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
  /// What the membership knows. The ranks outside of a sub-communicator do not matter to it.
  HcclResult MembersHealth(std::string* reason) const;
  HcclResult Health(std::string* reason) const;

  u32 WholeRank(u32 rank) const { return facts_.is_sub ? facts_.members[rank] : rank; }

  const Facts facts_;
  const std::shared_ptr<Board> board_;  // keeps the region mapped as long as a thread may look at it
  mutable std::mutex membership_mutex_;
  std::shared_ptr<Membership> membership_;
  const Region region_;
  std::mutex call_mutex_;
  u32 calls_without_spin_ = 0, next_calls_without_spin_ = 1;  // under it
  std::map<u64, u64> generations_;                            // under it
  const bool has_neighbours_;                                 // other ranks in this process
  const bool host_moves_;
  const StreamWork::Spin spin_;
  const u32 max_calls_without_spin_;
  std::vector<u32> far_;      // members on other hosts, by their ranks in the whole communicator
  std::vector<bool> is_far_;  // by rank
  mutable std::mutex telling_mutex_;
  mutable u64 last_note_ = 0;          // under it
  mutable std::set<u64> told_places_;  // under it
  std::mutex inode_mutex_;
  std::vector<std::pair<int, u64>> inodes_;  // of this process's memory files
  std::atomic<bool> suspended_{false};
  std::atomic<u32> pending_{0};
};

}  // namespace sampan::collectives
