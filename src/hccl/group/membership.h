// A rank's membership in a group: its connection to the hub, and the thread that reads from it.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/threads/threads.h"
#include "hccl/group/group_health.h"
#include "hccl/group/introduction.h"
#include "hccl/group/meeting_point.h"
#include "hccl/platform/rank_group.h"

namespace sampan::hccl {

/// Thread-safe. The destructor leaves the group. It waits up to 2 s until the hub has closed the connection;
/// in a group whose ranks post, that of rank 0 waits up to 10 s for ranks of other processes.
class Membership {
 public:
  /// Connects and waits for all ranks. The function is named in messages.
  static HcclResult Join(const char* function, const MeetingPoint& meeting,
                         const ::hccl::RankGroupConfig& config, std::shared_ptr<Membership>& joined);
  ~Membership();
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;

  u32 rank() const { return rank_; }
  u32 rank_size() const { return rank_size_; }
  const std::string& group() const { return group_; }
  const std::shared_ptr<GroupHealth>& health() const { return health_; }
  const std::string& host_text(u32 rank) const { return places_[rank].host; }
  s64 process_of(u32 rank) const { return places_[rank].process.process; }
  const HostIdentity& host_of(u32 rank) const { return places_[rank].process.host; }
  /// Whether the rank lives in this process, or on this host.
  bool IsInThisProcess(u32 rank) const { return places_[rank].process == places_[rank_].process; }
  bool IsOnThisHost(u32 rank) const { return host_of(rank) == host_of(rank_); }
  /// "rank 1 (process 71 on 10.0.0.2)"
  std::string Describe(u32 rank) const { return NameOf(rank, places_[rank]); }

  /// All ranks' parts, by rank. Every rank makes the same calls in the same order.
  HcclResult Exchange(const char* function, const std::vector<u8>& mine, std::vector<std::vector<u8>>& all);
  /// Sends bytes to other ranks, for their on_posted_.
  HcclResult Post(const char* function, const std::vector<u32>& peers, const std::vector<u8>& bytes);

 private:
  struct Posted {
    u32 from;
    std::vector<u8> bytes;
  };

  Membership(MeetingPoint meeting, const ::hccl::RankGroupConfig& config, FrameSocket socket);

  HcclResult AwaitWelcome(const char* function);
  void Listen() noexcept;
  void ListenOnce();
  /// Tells the other ranks that this one broke the group, if they have not been told.
  void QueueReport();
  /// Handles the frames that have come. The mutex is held.
  void TakeFrames(bool is_alive);
  /// Returns false if the hub breaks the protocol. The mutex is held.
  bool Handle(const Frame& frame);
  bool TakePlaces(const std::vector<u8>& content);
  /// Hands on what has come, without the mutex.
  void DeliverPosted();
  /// Called when the connection is closed, with the mutex held.
  void OnClosed();
  void OnOutOfMemory() noexcept;
  void Send(const Frame& frame);

  const std::string group_;
  const u32 rank_, rank_size_;
  const std::chrono::milliseconds timeout_;
  const std::function<void(u32, const std::vector<u8>&)> on_posted_;
  const std::shared_ptr<GroupHealth> health_ = std::make_shared<GroupHealth>();
  std::vector<RankPlace> places_;  // written before the first call that reads it
  std::mutex exchange_mutex_;      // one exchange at a time
  u64 next_sequence_ = 0;          // guarded by exchange_mutex_

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  FrameSocket socket_;  // only the thread receives from it
  bool is_welcome_ = false, is_refused_ = false, has_rank_0_left_ = false, is_leaving_ = false;
  bool is_closed_ = false;  // only the thread changes it
  HcclResult refusal_code_ = HCCL_SUCCESS;
  std::string refusal_;
  std::map<u64, std::vector<u8>> gathered_;
  std::vector<Posted> posted_;
  bool has_posts_ = false;  // the ranks post
  Thread thread_;
};

}  // namespace sampan::hccl
