// The thread that keeps the ranks of a group together, in the process of rank 0.
#include "hccl/group/hub.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <list>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "base/error/text.h"
#include "base/network/connecting.h"
#include "base/threads/threads.h"
#include "base/time/clock.h"
#include "hccl/group/byte_stream.h"

namespace sampan::hccl {
namespace {

using std::chrono::milliseconds;

/// A stranger is a connection that has not proved that it knows the token. If there are more, one is closed.
/// A rank introduces itself as soon as it is connected.
constexpr std::size_t kMaxStrangers = 256;

/// The hub accepts at most this many connections before it checks its deadline and its other connections.
constexpr int kMaxAcceptsPerRound = 64;

/// The pause of accepting after the process or the system ran out of descriptors or memory.
constexpr milliseconds kAcceptPause{20};

/// The limit of all parts of one exchange together: they must fit into one frame.
constexpr u64 kMaxGatherBytes = FrameSocket::kMaxFrameBytes - (u64{1} << 20);

/// The output that may wait for a rank that does not read: two exchanges. Beyond, its connection is closed.
constexpr std::size_t kMaxOutputBytes = 2 * FrameSocket::kMaxFrameBytes;

struct Member {
  Member(Descriptor descriptor, const PeerAddress& address)
      : socket(std::move(descriptor), sizeof(Hello)), from(address) {}

  FrameSocket socket;
  const PeerAddress from;  // without a version if it is a socket of one host
  Key challenge{};
  const Deadline introduced_by = Clock::now() + kIntroductionLimit;
  std::optional<u32> rank;  // set when the proof was right
  RankPlace place;
  bool has_left = false;
  bool has_reported = false;  // that the group is broken
  bool is_closing = false;    // when all of its output is sent
  bool is_reachable = true;   // as Flush found it
};

/// The exchange that is open. There is one at a time: a rank begins the next one when it has all parts.
struct OpenGather {
  u64 sequence = 0;
  u64 bytes = 0;
  std::size_t part_count = 0;
  std::vector<std::optional<std::vector<u8>>> parts;  // by rank
};

/// Only the hub's thread uses it.
class Hub {
 public:
  Hub(Descriptor listener, Descriptor in_network, HubOptions options)
      : options_(std::move(options)),
        out_of_memory_(Encode(
            {FrameKind::kBroken, 0, HCCL_E_MEMORY, 0,
             Bytes(Text("the process of rank 0 of the group '", options_.group, "' is out of memory"))})),
        listeners_{std::move(listener), std::move(in_network)},
        ranks_(options_.rank_size, nullptr),
        has_left_(options_.rank_size, false),
        deadline_(Clock::now() + options_.timeout) {
    gather_.parts.resize(options_.rank_size);
  }

  void Run() noexcept {
    try {
      while (is_complete_ ? !members_.empty() : Clock::now() < deadline_)
        RunRound();
      if (!is_complete_) RefuseLate();
    } catch (const std::exception&) {
      BreakWithoutMemory();
    }
  }

 private:
  using MemberPosition = std::list<Member>::iterator;

  void RunRound() {
    const Deadline now = Clock::now();
    const bool accepts = !is_complete_ && now >= accepts_from_;
    members_.remove_if([&](const Member& member) { return !member.rank && member.introduced_by <= now; });
    watched_.clear();
    for (const Member& member : members_) {
      const short events = static_cast<short>(POLLIN | (member.socket.has_output() ? POLLOUT : 0));
      watched_.push_back({member.socket.descriptor(), events, 0});
    }
    // No entries that poll would leave out: it refuses more entries than the process may have descriptors.
    const auto is_watched = [&](const Descriptor& listener) { return accepts && listener.get() >= 0; };
    for (const Descriptor& listener : listeners_) {
      if (is_watched(listener)) watched_.push_back({listener.get(), POLLIN, 0});
    }
    const int ready = ::poll(watched_.data(), watched_.size(), PollMs(now));
    if (ready < 0) std::this_thread::sleep_for(kAcceptPause);
    if (ready <= 0) return;
    std::size_t next = 0;
    for (auto member = members_.begin(); member != members_.end(); ++next) {
      const auto current = member++;
      if (watched_[next].revents != 0) Serve(current);
    }
    for (const Descriptor& listener : listeners_) {
      if (is_watched(listener) && watched_[next++].revents != 0) AcceptSome(listener);
    }
    Flush();
  }

  int PollMs(Deadline now) const {
    if (is_complete_) return -1;
    const Deadline until = now < accepts_from_ ? std::min(accepts_from_, deadline_) : deadline_;
    const auto left = std::chrono::duration_cast<milliseconds>(until - now).count() + 1;
    return static_cast<int>(std::clamp<long long>(left, 0, 1000));
  }

  void AcceptSome(const Descriptor& listener) {
    for (int accepted = 0; accepted < kMaxAcceptsPerRound; ++accepted) {
      SocketAddress name;
      Descriptor socket(::accept4(listener.get(), name.get(), &name.length, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (socket.get() < 0) {
        if (errno == EINTR || errno == ECONNABORTED) continue;
        // Without descriptors the connection stays in the queue, and polling would return at once.
        if (errno != EAGAIN && errno != EWOULDBLOCK) accepts_from_ = Clock::now() + kAcceptPause;
        return;
      }
      Challenge(std::move(socket), FromSocket(*name.get()));
    }
  }

  void Challenge(Descriptor socket, const PeerAddress& from) {
    const bool is_of_this_host = from.version == 0;
    const auto peer = is_of_this_host ? PeerOf(socket) : std::nullopt;
    if (is_of_this_host && (!peer || peer->first != ::geteuid())) return;
    auto challenge = RandomKey();
    if (!challenge.ok()) return;
    Member& member = members_.emplace_back(std::move(socket), from);
    if (peer) member.place.process.process = peer->second;
    member.challenge = *challenge;
    member.socket.Queue({FrameKind::kChallenge, 0, 0, 0, ContentOf(member.challenge)});
    DisplaceStranger();
  }

  void DisplaceStranger() {
    const auto host_of = [](const Member& member) { return member.rank ? nullptr : &member.from.host; };
    const auto stranger_count = std::count_if(members_.begin(), members_.end(), host_of);
    if (stranger_count > static_cast<long>(kMaxStrangers)) members_.erase(FindDisplaced(members_, host_of));
  }

  void Serve(MemberPosition member) {
    bool is_alive = true;
    try {
      is_alive = member->socket.Receive();
      while (const auto frame = member->socket.Next())
        is_alive = Handle(*member, *frame) && is_alive;
    } catch (const std::bad_alloc&) {
      if (member->rank) throw;
      is_alive = false;  // it is a stranger
    }
    // One that has said goodbye is dropped by Flush, when the others were told.
    if (!is_alive && !member->has_left) Drop(member);
  }

  /// Returns false if the member breaks the protocol.
  bool Handle(Member& member, const Frame& frame) {
    if (!member.rank && frame.kind != FrameKind::kHello) return false;
    switch (frame.kind) {
      case FrameKind::kHello:
        Join(member, frame);
        return true;
      case FrameKind::kGather:
        return Gather(*member.rank, frame);
      case FrameKind::kPost:
        return RelayPost(*member.rank, frame);
      case FrameKind::kBroken:
        return RelayBroken(member, frame);
      case FrameKind::kBye:
        Leave(member);
        return true;
      default:
        return false;  // only the hub sends the others
    }
  }

  void Refuse(Member& member, const std::string& why) {
    member.socket.Queue({FrameKind::kRefused, 0, HCCL_E_PARA, 0, Bytes(why)});
    member.is_closing = true;
  }

  void Join(Member& member, const Frame& frame) {
    if (member.rank || member.is_closing) return;
    const auto hello = DataIn<Hello>(frame.content);
    if (!hello ||
        !SameDigest(hello->proof, ProofOfRank(options_.secret, hello->introduction, member.challenge)))
      return Refuse(member, "the token is not the group's");
    const auto& [rank, rank_size, process, nonce] = hello->introduction;
    const Digest proof = ProofOfHub(options_.secret, hello->introduction, member.challenge);
    member.socket.Queue({FrameKind::kAdmitted, 0, 0, 0, ContentOf(proof)});
    if (rank_size != options_.rank_size) {
      return Refuse(member, Text("rank ", rank, " says that the group has ", rank_size,
                                 " ranks, rank 0 says ", options_.rank_size));
    }
    if (rank >= options_.rank_size || ranks_[rank] != nullptr)
      return Refuse(member, Text("there is a rank ", rank, " in the group already"));
    const bool is_of_this_host = member.from.version == 0;
    const s64 number = is_of_this_host ? member.place.process.process : process.process;
    member.place = {process, is_of_this_host ? options_.own_host : HostText(member.from)};
    member.place.process.process = number;  // the system's word counts more
    member.rank = rank;
    member.socket.set_max_frame_bytes(FrameSocket::kMaxFrameBytes);
    ranks_[rank] = &member;
    has_left_[rank] = false;
    if (std::all_of(ranks_.begin(), ranks_.end(), [](const Member* each) { return each != nullptr; }))
      Complete();
  }

  void Complete() {
    is_complete_ = true;
    CloseListeners();
    ByteWriter places;
    for (const Member* each : ranks_) {
      places.Put(each->place.process);
      places.PutBytes(each->place.host);
    }
    Tell({FrameKind::kWelcome, 0, 0, 0, places.Take()});
    for (Member& each : members_) {
      if (!each.rank) each.is_closing = true;
    }
  }

  bool Gather(u32 rank, const Frame& frame) {
    if (!is_complete_ || frame.sequence != gather_.sequence || gather_.parts[rank]) return false;
    gather_.bytes += frame.content.size();
    if (gather_.bytes > kMaxGatherBytes) {
      Tell({FrameKind::kBroken, rank, HCCL_E_PARA, 0,
            Bytes(Text("the ranks of the group '", options_.group, "' exchange ", gather_.bytes,
                       " bytes at once, at most ", kMaxGatherBytes))});
      return true;
    }
    gather_.parts[rank] = frame.content;
    ++gather_.part_count;
    FinishGather();
    return true;
  }

  void FinishGather() {
    if (gather_.part_count == 0) return;
    for (u32 rank = 0; rank < options_.rank_size; ++rank) {
      if (!gather_.parts[rank] && has_left_[rank]) {
        return Tell({FrameKind::kBroken, rank, HCCL_E_REMOTE, 0,
                     Bytes(Text("rank ", rank, " has left the group '", options_.group,
                                "', others still exchange with it"))});
      }
    }
    if (gather_.part_count != options_.rank_size) return;
    ByteWriter all;
    for (auto& part : gather_.parts) {
      all.PutBytes(*part);
      part.reset();
    }
    Tell({FrameKind::kGathered, 0, 0, gather_.sequence, all.Take()});
    ++gather_.sequence;
    gather_.bytes = gather_.part_count = 0;
  }

  bool RelayPost(u32 from, const Frame& frame) {
    ByteReader in(frame.content);
    const u32 count = in.Get<u32>();
    if (!is_complete_ || frame.content.size() > kMaxPostBytes + kMaxPostPeersBytes ||
        count > options_.rank_size)
      return false;
    std::vector<u32> peers(count);
    for (u32& peer : peers)
      peer = in.Get<u32>();
    is_relay_ = true;
    const EncodedFrame posted = Encode({FrameKind::kPosted, from, 0, 0, in.GetBytes()});
    if (!in.ok()) return false;
    for (const u32 peer : peers) {
      if (peer >= options_.rank_size) return false;
      if (ranks_[peer] != nullptr && !has_left_[peer]) ranks_[peer]->socket.Queue(posted);
    }
    return true;
  }

  bool RelayBroken(Member& member, const Frame& frame) {
    if (frame.content.size() > kMaxReasonBytes || member.has_reported) return false;
    member.has_reported = true;
    Tell({FrameKind::kBroken, *member.rank, frame.number, 0, frame.content});
    return true;
  }

  void Leave(Member& member) {
    member.has_left = member.is_closing = true;
    has_left_[*member.rank] = true;
    if (is_complete_) Tell({FrameKind::kLeft, *member.rank, 0, 0, {}});
    FinishGather();
  }

  void Drop(MemberPosition member) {
    if (member->rank) {
      const u32 rank = *member->rank;
      ranks_[rank] = nullptr;
      if (!member->has_left && is_complete_) {
        Tell({FrameKind::kBroken, rank, HCCL_E_REMOTE, 0,
              Bytes(Text(NameOf(rank, member->place), " ", member->socket.HowItEnded(),
                         " leaving the group '", options_.group, "'"))});
      }
    }
    members_.erase(member);
  }

  void CloseListeners() {
    for (Descriptor& listener : listeners_)
      listener.Close();
  }

  void Tell(const Frame& frame) { Tell(Encode(frame)); }
  void Tell(const EncodedFrame& frame) {
    for (Member* each : ranks_) {
      if (each != nullptr) each->socket.Queue(frame);
    }
  }

  /// In a group whose ranks post, rank 0 is the last one of its processes: when it has left, its process may
  /// exit, and nothing is relayed any more.
  bool MayClose(const Member& member) const {
    if (!member.is_closing || member.socket.has_output()) return false;
    if (!is_relay_ || !member.has_left || *member.rank != 0) return true;
    return std::none_of(ranks_.begin(), ranks_.end(), [&](const Member* each) {
      return each != nullptr && !each->has_left && each->place.process != member.place.process;
    });
  }

  /// Sends to all before it drops one: the process of rank 0 may exit when its connection is closed.
  void Flush() {
    for (Member& each : members_)
      each.is_reachable = each.socket.Send() && each.socket.output_bytes() <= kMaxOutputBytes;
    for (auto member = members_.begin(); member != members_.end();) {
      const auto current = member++;
      if (!current->is_reachable || MayClose(*current)) Drop(current);
    }
  }

  void RefuseLate() {
    CloseListeners();  // closed first: a later rank must not find this hub
    std::string missing;
    for (u32 rank = 0; rank < options_.rank_size; ++rank) {
      if (ranks_[rank] == nullptr) missing += Text(missing.empty() ? "" : ", ", rank);
    }
    Tell({FrameKind::kRefused, 0, HCCL_E_TIMEOUT, 0,
          Bytes(Text("EI0015: not all ranks of the group '", options_.group, "' came within ",
                     options_.timeout.count(), " ms; missing: ", missing))});
    for (Member& each : members_)
      static_cast<void>(each.socket.Send());
  }

  /// Breaks the group: by a frame where that is possible, and by closing all connections.
  void BreakWithoutMemory() noexcept {
    CloseListeners();
    for (Member& each : members_) {
      try {
        if (each.rank) each.socket.Queue(out_of_memory_);
      } catch (const std::exception&) {
        // The rank notices the closed connection.
      }
      static_cast<void>(each.socket.Send());
    }
    members_.clear();
  }

  const HubOptions options_;
  const EncodedFrame out_of_memory_;
  std::array<Descriptor, 2> listeners_;  // the second one in the network, if there is one besides
  std::list<Member> members_;  // in the order of their connections; those without a rank are strangers
  std::vector<Member*> ranks_;
  std::vector<bool> has_left_;
  std::vector<pollfd> watched_;
  OpenGather gather_;
  const Deadline deadline_;
  Deadline accepts_from_{};
  bool is_complete_ = false;
  bool is_relay_ = false;  // a rank has posted
};

}  // namespace

void StartHub(Descriptor listener, HubOptions options, Descriptor in_network) {
  auto hub = std::make_shared<Hub>(std::move(listener), std::move(in_network), std::move(options));
  // Detached: the ranks that it serves may outlive the one that started it.
  StartThread("sampan-hub", [hub] { hub->Run(); }).Detach();
}

}  // namespace sampan::hccl
