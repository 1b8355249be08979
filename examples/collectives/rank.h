// One rank of a group: its device, its streams and buffers, and the links to its peers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hccl/platform/dispatcher.h"
#include "hccl/platform/local_notify.h"
#include "hccl/platform/rank_group.h"

namespace collectives {

/// Which rank of which group, and how long it waits for others at most.
struct Seat {
  std::string group;
  std::string token;
  u32 rank = 0;
  u32 size = 1;
  s32 timeout_seconds = 60;
  std::string address{};     ///< of rank 0, if the ranks run on several hosts
  std::string token_file{};  ///< a file with the token, instead of group and token
};

/// How the rank joins its group.
hccl::RankGroupConfig ConfigOf(const Seat& seat);

/// The memory that a rank brings: its peers can read all of it.
struct Room {
  u64 input_bytes;
  u64 output_bytes;
};

/// Owns everything that the rank uses. Lives on the thread that made it. Making one returns when all ranks of
/// the group have made theirs.
class Rank {
 public:
  Rank(const Seat& seat, const Room& room);

  u32 rank() const { return seat_.rank; }
  u32 size() const { return seat_.size; }
  /// The rank `distance` places to the right.
  u32 RankAt(u32 distance) const { return (seat_.rank + distance) % seat_.size; }

  const hccl::DeviceMem& input() const { return input_; }
  const hccl::DeviceMem& output() const { return output_; }
  hccl::Transport& link(u32 peer) { return *links_[peer]; }
  hccl::RankGroup& group() { return *group_; }
  HcclDispatcher dispatcher() const { return dispatcher_.get(); }

  /// The stream that collectives are put into.
  hccl::Stream& stream() { return stream_; }
  /// A stream of its own for each peer, between Fork and Join.
  hccl::Stream& peer_stream(u32 peer) { return side_streams_[peer].stream; }
  /// The streams of the peers go on after what stream() holds now.
  void Fork();
  /// stream() goes on after what the streams of the peers hold now.
  void Join();

  /// Waits for stream(); throws what went wrong in it.
  void Synchronize();

 private:
  struct SideStream {
    hccl::Stream stream;
    std::shared_ptr<hccl::LocalNotify> begin, end;
  };
  void MakeDispatcher();
  void MakeSideStreams();

  Seat seat_;
  hccl::DeviceMem input_;
  hccl::DeviceMem output_;
  std::unique_ptr<void, HcclResult (*)(HcclDispatcher)> dispatcher_{nullptr, HcclDispatcherDestroy};
  hccl::Stream stream_;
  std::vector<SideStream> side_streams_;  // by rank; that of the rank itself is empty
  std::shared_ptr<hccl::RankGroup> group_;
  std::vector<LINK> links_;  // by rank
};

}  // namespace collectives
