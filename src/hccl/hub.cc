// The meeting point of a group's ranks, kept by the process of rank 0.
#include "hccl/hub.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/text.h"
#include "base/threads.h"
#include "hccl/byte_stream.h"

namespace sampan::plf {
namespace {

using Clock = std::chrono::steady_clock;

/// Connections that have not said who they are: more than the group could be.
constexpr std::size_t kMostStrangers = 1024;

struct Member {
  explicit Member(Descriptor descriptor) : socket(std::move(descriptor)) {}

  FrameSocket socket;
  pid_t process = -1;
  std::optional<u32> rank;  // once it has said the token
  bool left = false;
  bool closing = false;  // once everything is sent
};

/// One thread's.
class Hub {
 public:
  Hub(Descriptor listener, HubOptions options)
      : options_(std::move(options)),
        listener_(std::move(listener)),
        ranks_(options_.rank_size, nullptr),
        left_(options_.rank_size, false),
        deadline_(Clock::now() + options_.timeout) {}

  void Run() {
    while (complete_ ? !members_.empty() : Clock::now() < deadline_)
      Poll();
    if (!complete_) RefuseLate();
  }

 private:
  void Poll() {
    std::vector<pollfd> watched;
    if (!complete_) watched.push_back({listener_.get(), POLLIN, 0});
    for (const Member& member : members_) {
      const short events = static_cast<short>(POLLIN | (member.socket.has_output() ? POLLOUT : 0));
      watched.push_back({member.socket.descriptor(), events, 0});
    }
    constexpr int kMostMs = 1000;
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - Clock::now()).count() + 1;
    const int limit = complete_ ? -1 : static_cast<int>(std::clamp<long long>(left, 0, kMostMs));
    if (::poll(watched.data(), watched.size(), limit) <= 0) return;
    std::size_t next = 0;
    const bool knocked = !complete_ && watched[next++].revents != 0;
    for (auto member = members_.begin(); member != members_.end(); ++next) {
      const auto current = member++;
      if (watched[next].revents != 0) Serve(current);
    }
    if (knocked) Admit();
    Flush();
  }

  void Admit() {
    for (;;) {
      Descriptor accepted(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (accepted.get() < 0) return;
      Member member(std::move(accepted));
      const auto peer = member.socket.Peer();
      if (!peer || peer->first != ::geteuid() || members_.size() >= kMostStrangers + options_.rank_size)
        continue;
      member.process = peer->second;
      members_.push_back(std::move(member));
    }
  }

  void Serve(std::list<Member>::iterator member) {
    const bool alive = member->socket.Receive();
    while (const auto frame = member->socket.Next())
      Handle(*member, *frame);
    if (!alive) Drop(member);
  }

  void Handle(Member& member, const Frame& frame) {
    if (!member.rank && frame.kind != FrameKind::kHello) return;
    switch (frame.kind) {
      case FrameKind::kHello:
        return Join(member, frame);
      case FrameKind::kGather:
        return Gather(*member.rank, frame);
      case FrameKind::kBroken:
        return Tell({FrameKind::kBroken, *member.rank, frame.number, 0, frame.content});
      case FrameKind::kBye:
        return Leave(member);
      default:
        return;  // only the hub says the rest
    }
  }

  void Refuse(Member& member, const std::string& why) {
    member.socket.Queue({FrameKind::kRefused, 0, HCCL_E_PARA, 0, Bytes(why)});
    member.closing = true;
  }

  void Join(Member& member, const Frame& frame) {
    if (member.rank || member.closing) return;
    if (frame.text() != options_.token) return Refuse(member, "the token is not the group's");
    if (frame.number != options_.rank_size) {
      return Refuse(member, Text("rank ", frame.rank, " says that the group has ", frame.number,
                                 " ranks, rank 0 says ", options_.rank_size));
    }
    if (frame.rank >= options_.rank_size || ranks_[frame.rank] != nullptr) {
      return Refuse(member, Text("there is a rank ", frame.rank, " in the group already"));
    }
    member.rank = frame.rank;
    ranks_[frame.rank] = &member;
    left_[frame.rank] = false;
    if (std::all_of(ranks_.begin(), ranks_.end(), [](const Member* each) { return each != nullptr; }))
      Complete();
  }

  void Complete() {
    complete_ = true;
    listener_.Close();
    ByteWriter processes;
    for (const Member* each : ranks_)
      processes.Put(static_cast<s64>(each->process));
    Tell({FrameKind::kWelcome, 0, options_.rank_size, 0, processes.Take()});
    for (Member& each : members_) {
      if (!each.rank) each.closing = true;
    }
  }

  void Gather(u32 rank, const Frame& frame) {
    auto& parts = gathers_[frame.sequence];
    parts.resize(options_.rank_size);
    parts[rank] = frame.content;
    FinishGather(frame.sequence);
  }

  void FinishGather(u64 sequence) {
    const auto& parts = gathers_[sequence];
    for (u32 rank = 0; rank < options_.rank_size; ++rank) {
      if (!parts[rank] && left_[rank]) {
        return Tell({FrameKind::kBroken, rank, HCCL_E_REMOTE, 0,
                     Bytes(Text("rank ", rank, " has left the group '", options_.group,
                                "', others still exchange with it"))});
      }
    }
    if (!std::all_of(parts.begin(), parts.end(), [](const auto& part) { return part.has_value(); })) return;
    ByteWriter all;
    for (const auto& part : parts)
      all.PutBytes(*part);
    gathers_.erase(sequence);
    Tell({FrameKind::kGathered, 0, 0, sequence, all.Take()});
  }

  void Leave(Member& member) {
    member.left = member.closing = true;
    left_[*member.rank] = true;
    if (complete_) Tell({FrameKind::kLeft, *member.rank, 0, 0, {}});
    std::vector<u64> open;
    for (const auto& [sequence, parts] : gathers_)
      open.push_back(sequence);
    for (const u64 sequence : open)
      FinishGather(sequence);
  }

  void Drop(std::list<Member>::iterator member) {
    if (member->rank) {
      const u32 rank = *member->rank;
      ranks_[rank] = nullptr;
      if (!member->left && complete_) {
        Tell({FrameKind::kBroken, rank, HCCL_E_REMOTE, 0,
              Bytes(Text("rank ", rank, " (process ", member->process, ") ended without leaving the group '",
                         options_.group, "'"))});
      }
    }
    members_.erase(member);
  }

  void Tell(const Frame& frame) {
    for (Member* each : ranks_) {
      if (each != nullptr) each->socket.Queue(frame);
    }
  }

  void Flush() {
    for (auto member = members_.begin(); member != members_.end();) {
      const auto current = member++;
      const bool alive = current->socket.Send();
      if (!alive || (current->closing && !current->socket.has_output())) Drop(current);
    }
  }

  void RefuseLate() {
    listener_.Close();  // first: whoever comes when the others know finds nobody
    std::string missing;
    for (u32 rank = 0; rank < options_.rank_size; ++rank) {
      if (ranks_[rank] == nullptr) missing += Text(missing.empty() ? "" : ", ", rank);
    }
    Tell({FrameKind::kRefused, 0, HCCL_E_TIMEOUT, 0,
          Bytes(Text("not all ranks of the group '", options_.group, "' came within ",
                     options_.timeout.count(), " ms; missing: ", missing))});
    for (Member& each : members_)
      static_cast<void>(each.socket.Send());
  }

  const HubOptions options_;
  Descriptor listener_;
  std::list<Member> members_;  // in any order; those without a rank have said nothing yet
  std::vector<Member*> ranks_;
  std::vector<bool> left_;
  std::map<u64, std::vector<std::optional<std::vector<u8>>>> gathers_;
  const Clock::time_point deadline_;
  bool complete_ = false;
};

}  // namespace

void StartHub(Descriptor listener, HubOptions options) {
  auto hub = std::make_shared<Hub>(std::move(listener), std::move(options));
  // Nobody waits for it: the ranks that it serves may outlive the one that started it.
  StartThread("sampan-hub", [hub] { hub->Run(); }).Detach();
}

}  // namespace sampan::plf
