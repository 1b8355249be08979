// One rank's place in a group: its connection to the hub, and the thread that listens to it.
#include "hccl/membership.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/system_error.h"
#include "hccl/byte_stream.h"
#include "hccl/hub.h"
#include "hccl/report.h"

namespace sampan::plf {
namespace {

using Clock = std::chrono::steady_clock;

/// How long a rank that leaves waits for the hub to have heard it.
constexpr std::chrono::seconds kFarewell{2};

/// Tries until somebody listens there.
HcclResult Connect(const char* function, const MeetingPoint& meeting, const hccl::RankGroupConfig& config,
                   Descriptor& connected) {
  const auto deadline = Clock::now() + config.timeout;
  for (auto pause = std::chrono::milliseconds(1);;
       pause = std::min(pause * 2, std::chrono::milliseconds(20))) {
    connected = ConnectTo(meeting.address);
    if (connected.get() >= 0) return HCCL_SUCCESS;
    const int error = errno;
    if (error != ECONNREFUSED && error != ENOENT && error != EAGAIN && error != EINTR) {
      return Fail(function, HCCL_E_SYSCALL,
                  Text("rank ", config.rank, " cannot connect to the group '", meeting.group,
                       "': ", SystemError(error)));
    }
    if (Clock::now() >= deadline) {
      return Fail(function, HCCL_E_TIMEOUT,
                  Text("rank ", config.rank, " did not find rank 0 of the group '", meeting.group,
                       "' within ", config.timeout.count(), " ms"));
    }
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace

HcclResult Membership::Join(const char* function, const MeetingPoint& meeting,
                            const hccl::RankGroupConfig& config, std::shared_ptr<Membership>& joined) {
  if (config.rank == 0) {
    Descriptor listener = ListenAt(meeting.address);
    if (listener.get() < 0) {
      const bool taken = errno == EADDRINUSE;
      return Fail(function, taken ? HCCL_E_UNAVAIL : HCCL_E_SYSCALL,
                  taken ? Text("there is a rank 0 of the group '", meeting.group, "' with this token already")
                        : Text("cannot listen for the group '", meeting.group, "': ", SystemError(errno)));
    }
    StartHub(std::move(listener), {meeting.group, meeting.token, config.rankSize, config.timeout});
  }
  Descriptor connected;
  if (const HcclResult result = Connect(function, meeting, config, connected); result != HCCL_SUCCESS)
    return result;
  FrameSocket socket(std::move(connected));
  const auto hub = socket.Peer();
  if (!hub || hub->first != ::geteuid()) {
    return Fail(function, HCCL_E_NETWORK,
                Text("the group '", meeting.group, "' is kept by another user's process"));
  }
  socket.Queue({FrameKind::kHello, config.rank, config.rankSize, 0, Bytes(meeting.token)});
  std::shared_ptr<Membership> membership(new Membership(meeting, config, std::move(socket)));
  if (const HcclResult result = membership->AwaitWelcome(function); result != HCCL_SUCCESS) return result;
  joined = std::move(membership);
  return HCCL_SUCCESS;
}

Membership::Membership(MeetingPoint meeting, const hccl::RankGroupConfig& config, FrameSocket socket)
    : group_(std::move(meeting.group)),
      rank_(config.rank),
      rank_size_(config.rankSize),
      timeout_(config.timeout),
      socket_(std::move(socket)) {
  thread_ = StartThread("sampan-rank", [this] { Listen(); });
}

Membership::~Membership() {
  Send({FrameKind::kBye, rank_, 0, 0, {}});
  {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kFarewell, [&] { return ended_; });
    leaving_ = true;
  }
  health_->wake_up().Wake();
  thread_.Join();
}

HcclResult Membership::AwaitWelcome(const char* function) {
  std::unique_lock lock(mutex_);
  // The hub's own limit comes first where it is the same, and says who is missing, also on a busy machine.
  const auto limit = timeout_ + std::chrono::seconds(1);
  changed_.wait_for(lock, limit, [&] { return welcome_ || refused_ || ended_; });
  if (welcome_) return HCCL_SUCCESS;
  if (refused_) return Fail(function, refusal_code_, refusal_);
  if (ended_) {
    return Fail(function, HCCL_E_REMOTE,
                Text("rank 0 of the group '", group_, "' ended before all ranks had come"));
  }
  return Fail(function, HCCL_E_TIMEOUT,
              Text("rank ", rank_, " waited ", timeout_.count(), " ms for all ranks of the group '", group_,
                   "' to come"));
}

void Membership::Send(const Frame& frame) {
  {
    const std::lock_guard lock(mutex_);
    socket_.Queue(frame);
  }
  health_->wake_up().Wake();
}

void Membership::Listen() {
  for (;;) {
    if (health_->TakeNews()) {
      Send({FrameKind::kBroken, rank_, static_cast<u32>(health_->code()), 0, Bytes(health_->reason())});
    }
    short events = POLLIN;
    {
      const std::lock_guard lock(mutex_);
      if (leaving_) return;
      if (!ended_ && !socket_.Send()) Ended();
      if (socket_.has_output()) events |= POLLOUT;
    }
    pollfd watched[] = {{health_->wake_up().descriptor(), POLLIN, 0}, {socket_.descriptor(), events, 0}};
    const nfds_t count = ended_ ? 1 : 2;  // only this thread changes it
    if (::poll(watched, count, -1) <= 0) continue;
    if (watched[0].revents != 0) health_->wake_up().Clear();
    if (count == 1 || watched[1].revents == 0) continue;
    const std::lock_guard lock(mutex_);
    const bool alive = socket_.Receive();
    while (const auto frame = socket_.Next())
      Handle(*frame);
    if (!alive) Ended();
    changed_.notify_all();
  }
}

void Membership::Handle(const Frame& frame) {
  switch (frame.kind) {
    case FrameKind::kWelcome: {
      ByteReader processes(frame.content);
      for (u32 rank = 0; rank < rank_size_; ++rank)
        processes_.push_back(processes.Get<s64>());
      welcome_ = true;
      return;
    }
    case FrameKind::kRefused:
      refused_ = true;
      refusal_code_ = static_cast<HcclResult>(frame.number);
      refusal_ = frame.text();
      return;
    case FrameKind::kGathered:
      gathered_[frame.sequence] = frame.content;
      return;
    case FrameKind::kBroken:
      health_->Break(static_cast<HcclResult>(frame.number), frame.text());
      return;
    case FrameKind::kLeft:
      hub_left_ = hub_left_ || frame.rank == 0;
      return;
    default:
      return;  // only ranks say the rest
  }
}

void Membership::Ended() {
  ended_ = true;
  if (!welcome_ || hub_left_ || refused_) return;
  health_->Break(HCCL_E_REMOTE,
                 Text("rank 0 (process ", processes_[0],
                      "), which keeps the group together, ended without leaving the group '", group_, "'"));
}

HcclResult Membership::Exchange(const char* function, const std::vector<u8>& mine,
                                std::vector<std::vector<u8>>& all) {
  const std::lock_guard one_at_a_time(exchange_mutex_);
  if (health_->broken()) return Fail(function, health_->code(), health_->reason());
  const u64 sequence = next_sequence_++;
  Send({FrameKind::kGather, rank_, 0, sequence, mine});
  std::vector<u8> parts;
  {
    std::unique_lock lock(mutex_);
    const auto found = [&] { return gathered_.contains(sequence); };
    changed_.wait_for(lock, timeout_, [&] { return found() || ended_ || health_->broken(); });
    if (found())
      parts = std::move(gathered_.extract(sequence).mapped());
    else if (ended_ && !health_->broken())
      return Fail(function, HCCL_E_REMOTE, Text("rank 0 has left the group '", group_, "', which ended it"));
  }
  if (parts.empty()) {
    // A rank that did not come is as good as gone: the others are not to wait for this one either.
    health_->BreakHere(HCCL_E_TIMEOUT,
                       Text("rank ", rank_, " waited ", timeout_.count(),
                            " ms for the other ranks of the group '", group_, "' to exchange"));
    return Fail(function, health_->code(), health_->reason());
  }
  all.clear();
  ByteReader reader(parts);
  for (u32 rank = 0; rank < rank_size_; ++rank)
    all.push_back(reader.GetBytes());
  return reader.ok() ? HCCL_SUCCESS : Fail(function, HCCL_E_INTERNAL, "an exchange came back incomplete");
}

}  // namespace sampan::plf
