// A rank's membership in a group: its connection to the hub, and the thread that reads from it.
#include "hccl/group/membership.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "base/error/system_error.h"
#include "base/network/connecting.h"
#include "base/time/clock.h"
#include "hccl/group/byte_stream.h"
#include "hccl/group/hub.h"
#include "hccl/report.h"

namespace sampan::hccl {
namespace {

/// How long a leaving rank waits until the hub has closed the connection.
constexpr std::chrono::seconds kMaxFarewell{2};
/// The same for rank 0 of a group whose ranks post: its process may exit then, and with it the hub.
constexpr std::chrono::seconds kMaxFarewellOfHub{10};

/// The results of exchanges that may wait for their calls. An honest hub sends one at a time.
constexpr std::size_t kMaxWaitingResults = 4;

/// The code of a failure that another process reports: never success, whatever that process says.
HcclResult FailureOf(u32 number) {
  return number > HCCL_SUCCESS && number < HCCL_E_RESERVED ? static_cast<HcclResult>(number) : HCCL_E_REMOTE;
}

/// Retries until rank 0 listens and has admitted this rank. What listens at an address in the network may be
/// a stranger, or rank 0 of an earlier group.
HcclResult Connect(const char* function, const MeetingPoint& meeting, const ::hccl::RankGroupConfig& config,
                   std::optional<FrameSocket>& connected) {
  auto process = ThisProcess();
  if (!process.ok()) return Fail(function, HCCL_E_SYSCALL, process.error().message);
  const Introduction introduction{config.rank, config.rankSize, *process};
  const Deadline deadline = Clock::now() + config.timeout;
  std::string obstacle;
  for (auto pause = std::chrono::milliseconds(1);;
       pause = std::min(pause * 2, std::chrono::milliseconds(20))) {
    FoundHub found = FindHub(meeting, deadline);
    std::string seen;
    if (found.connection.get() >= 0) {
      connected.emplace(std::move(found.connection), kMaxReasonBytes);
      const Status introduced = Introduce(*connected, meeting.secret, introduction,
                                          std::min(deadline, Clock::now() + kIntroductionLimit));
      if (introduced.ok()) return HCCL_SUCCESS;
      seen = Text("what listens there: ", introduced.error().message);
    } else if (!found.may_come()) {
      return Fail(function, HCCL_E_SYSCALL,
                  Text("rank ", config.rank, " cannot connect to the ", meeting.Describe(), ": ",
                       SystemError(found.error)));
    } else if (meeting.address) {
      seen = found.error == kConnectedLate ? "no answer" : SystemError(found.error);
    } else {
      seen = Text(found.foreign_count, " sockets of this name belong to other users");
    }
    const bool is_late = Clock::now() >= deadline;
    // The last attempt was cut short: an earlier one says more.
    if (obstacle.empty() || !is_late) obstacle = seen;
    if (is_late) {
      return Fail(function, HCCL_E_TIMEOUT,
                  Text("EI0015: rank ", config.rank, " did not find rank 0 of the ", meeting.Describe(),
                       " within ", config.timeout.count(), " ms (", obstacle, ")"));
    }
    std::this_thread::sleep_for(pause);
  }
}

HcclResult FailSecondRank0(const char* function, const MeetingPoint& meeting) {
  return Fail(function, HCCL_E_UNAVAIL,
              Text("there is a rank 0 of the ", meeting.Describe(), " with this token already"));
}

HcclResult FailToListen(const char* function, const MeetingPoint& meeting, int error) {
  if (meeting.address && error == EADDRINUSE) {
    return Fail(function, HCCL_E_UNAVAIL,
                Text("EI0019: the ", meeting.Describe(), " cannot meet there: another socket has the port"));
  }
  return Fail(function, HCCL_E_SYSCALL,
              Text("cannot listen for the ", meeting.Describe(), ": ", SystemError(error)));
}

/// `meeting` is where this rank meets the hub itself, `in_network` where others do.
HcclResult OpenHub(const char* function, const MeetingPoint& meeting, const MeetingPoint& in_network,
                   const ::hccl::RankGroupConfig& config) {
  const bool on_one_host = !meeting.address;
  if (on_one_host && FindHub(meeting, kNever).connection.get() >= 0)
    return FailSecondRank0(function, meeting);
  Descriptor listener = Listen(meeting);
  if (listener.get() < 0) return FailToListen(function, meeting, errno);
  // A second rank 0 that started at the same time has another name. Both of them fail.
  if (on_one_host && HasRival(meeting, listener)) return FailSecondRank0(function, meeting);
  HubOptions options{meeting.group, meeting.secret, config.rankSize, config.timeout};
  Descriptor second;
  if (on_one_host && in_network.address) {
    options.own_host = HostText(*in_network.address);
    second = Listen(in_network);
    if (second.get() < 0)
      LogWarning(Text(function, ": ranks of other hosts cannot join the ", in_network.Describe(), ": ",
                      SystemError(errno)));
  }
  StartHub(std::move(listener), std::move(options), std::move(second));
  return HCCL_SUCCESS;
}

/// Where the rank meets rank 0.
MeetingPoint OwnWay(MeetingPoint meeting, const ::hccl::RankGroupConfig& config) {
  if (config.isOnHostOfRank0) meeting.address.reset();
  return meeting;
}

}  // namespace

HcclResult Membership::Join(const char* function, const MeetingPoint& in_network,
                            const ::hccl::RankGroupConfig& config, std::shared_ptr<Membership>& joined) {
  const MeetingPoint meeting = OwnWay(in_network, config);
  if (config.rank == 0) {
    if (const HcclResult result = OpenHub(function, meeting, in_network, config); result != HCCL_SUCCESS)
      return result;
  }
  std::optional<FrameSocket> socket;
  if (const HcclResult result = Connect(function, meeting, config, socket); result != HCCL_SUCCESS)
    return result;
  socket->set_max_frame_bytes(FrameSocket::kMaxFrameBytes);
  std::shared_ptr<Membership> membership(new Membership(meeting, config, std::move(*socket)));
  if (const HcclResult result = membership->AwaitWelcome(function); result != HCCL_SUCCESS) return result;
  joined = std::move(membership);
  return HCCL_SUCCESS;
}

Membership::Membership(MeetingPoint meeting, const ::hccl::RankGroupConfig& config, FrameSocket socket)
    : group_(std::move(meeting.group)),
      rank_(config.rank),
      rank_size_(config.rankSize),
      timeout_(config.timeout),
      on_posted_(config.onPosted),
      socket_(std::move(socket)) {
  thread_ = StartThread("sampan-rank", [this] { Listen(); });
}

Membership::~Membership() {
  if (sampanInherited()) {  // the connection and the thread are the parent's
    thread_.Detach();
    return;
  }
  try {
    QueueReport();  // before the farewell: the hub does not read what a rank sends behind it
    Send({FrameKind::kBye, rank_, 0, 0, {}});
  } catch (const std::exception&) {
    // The other ranks notice the closed connection.
  }
  {
    std::unique_lock lock(mutex_);
    const auto limit = rank_ == 0 && has_posts_ ? kMaxFarewellOfHub : kMaxFarewell;
    changed_.wait_for(lock, limit, [&] { return is_closed_; });
    is_leaving_ = true;
  }
  health_->wake_up().Wake();
  thread_.Join();
}

HcclResult Membership::AwaitWelcome(const char* function) {
  std::unique_lock lock(mutex_);
  // One second more than the hub's limit: the hub's message names the missing ranks.
  const auto limit = timeout_ + std::chrono::seconds(1);
  changed_.wait_for(lock, limit, [&] { return is_welcome_ || is_refused_ || is_closed_; });
  if (is_welcome_) return HCCL_SUCCESS;
  if (is_refused_) return Fail(function, refusal_code_, refusal_);
  if (is_closed_) {
    return Fail(function, HCCL_E_REMOTE,
                Text("rank 0 of the group '", group_, "' ended before all ranks had come"));
  }
  return Fail(function, HCCL_E_TIMEOUT,
              Text("EI0015: rank ", rank_, " waited ", timeout_.count(), " ms for all ranks of the group '",
                   group_, "' to come"));
}

void Membership::Send(const Frame& frame) {
  {
    const std::lock_guard lock(mutex_);
    socket_.Queue(frame);
  }
  health_->wake_up().Wake();
}

void Membership::QueueReport() {
  const std::lock_guard lock(mutex_);
  if (!health_->TakeReport()) return;
  const std::string reason = health_->reason().substr(0, kMaxReasonBytes);
  socket_.Queue({FrameKind::kBroken, rank_, static_cast<u32>(health_->code()), 0, Bytes(reason)});
}

void Membership::Listen() noexcept {
  for (bool is_first = true;; is_first = false) {
    try {
      {
        const std::lock_guard lock(mutex_);
        if (is_leaving_) return;
        if (is_first) TakeFrames(true);  // what came with the hub's admission
      }
      ListenOnce();
      DeliverPosted();
    } catch (const std::exception&) {
      OnOutOfMemory();
    }
  }
}

void Membership::ListenOnce() {
  QueueReport();
  short events = POLLIN;
  {
    const std::lock_guard lock(mutex_);
    if (!is_closed_ && !socket_.Send()) OnClosed();
    if (socket_.has_output()) events |= POLLOUT;
  }
  pollfd watched[] = {{health_->wake_up().descriptor(), POLLIN, 0}, {socket_.descriptor(), events, 0}};
  const nfds_t count = is_closed_ ? 1 : 2;
  if (::poll(watched, count, -1) <= 0) return;
  if (watched[0].revents != 0) health_->wake_up().Clear();
  if (count == 1 || watched[1].revents == 0) return;
  const std::lock_guard lock(mutex_);
  TakeFrames(socket_.Receive());
}

void Membership::TakeFrames(bool is_alive) {
  while (const auto frame = socket_.Next())
    is_alive = Handle(*frame) && is_alive;
  if (!is_alive) {
    ::shutdown(socket_.descriptor(), SHUT_RDWR);  // tells a hub that broke the protocol
    OnClosed();
  }
  changed_.notify_all();
}

bool Membership::TakePlaces(const std::vector<u8>& content) {
  if (is_welcome_) return false;
  ByteReader in(content);
  for (u32 rank = 0; rank < rank_size_ && in.ok(); ++rank) {
    const auto process = in.Get<ProcessIdentity>();
    places_.push_back({process, in.GetText()});
  }
  // A number that no process can have would mean a group of processes, or all of them.
  is_welcome_ = in.ok() && std::all_of(places_.begin(), places_.end(),
                                       [](const RankPlace& place) { return place.process.process > 0; });
  return is_welcome_;
}

bool Membership::Handle(const Frame& frame) {
  switch (frame.kind) {
    case FrameKind::kWelcome:
      return TakePlaces(frame.content);
    case FrameKind::kRefused:
      is_refused_ = true;
      refusal_code_ = FailureOf(frame.number);
      refusal_ = frame.text();
      return true;
    case FrameKind::kGathered:
      gathered_[frame.sequence] = frame.content;
      return gathered_.size() <= kMaxWaitingResults;
    case FrameKind::kPosted:
      if (!is_welcome_ || frame.rank >= rank_size_) return false;
      has_posts_ = true;
      posted_.push_back({frame.rank, frame.content});
      return true;
    case FrameKind::kBroken:
      health_->Break(FailureOf(frame.number), frame.text());
      return true;
    case FrameKind::kLeft:
      has_rank_0_left_ = has_rank_0_left_ || frame.rank == 0;
      return true;
    default:
      return false;  // only ranks send the others
  }
}

void Membership::DeliverPosted() {
  std::vector<Posted> posted;
  {
    const std::lock_guard lock(mutex_);
    posted.swap(posted_);
  }
  if (!on_posted_) return;
  for (const Posted& each : posted)
    on_posted_(each.from, each.bytes);
}

HcclResult Membership::Post(const char* function, const std::vector<u32>& peers,
                            const std::vector<u8>& bytes) {
  if (health_->is_broken()) return Fail(function, health_->code(), health_->reason());
  ByteWriter content;
  content.Put(static_cast<u32>(peers.size()));
  for (const u32 peer : peers) {
    if (peer >= rank_size_)
      return Fail(function, HCCL_E_PARA, Text("the group '", group_, "' has no rank ", peer));
    content.Put(peer);
  }
  content.PutBytes(bytes);
  if (bytes.size() > kMaxPostBytes)
    return Fail(function, HCCL_E_PARA, Text(bytes.size(), " bytes are too many, at most ", kMaxPostBytes));
  {
    const std::lock_guard lock(mutex_);
    has_posts_ = true;
  }
  Send({FrameKind::kPost, rank_, 0, 0, content.Take()});
  return HCCL_SUCCESS;
}

void Membership::OnClosed() {
  is_closed_ = true;
  if (!is_welcome_ || is_refused_ || (has_rank_0_left_ && !has_posts_)) return;
  const std::string how = has_rank_0_left_ ? "has left" : socket_.HowItEnded() + " leaving";
  health_->Break(HCCL_E_REMOTE,
                 Text(Describe(0), ", which keeps the group together, ", how, " the group '", group_, "'"));
}

void Membership::OnOutOfMemory() noexcept {
  const std::lock_guard lock(mutex_);
  is_closed_ = true;
  ::shutdown(socket_.descriptor(), SHUT_RDWR);     // the hub tells the other ranks
  health_->Break(HCCL_E_MEMORY, "out of memory");  // short enough not to allocate
  changed_.notify_all();
}

HcclResult Membership::Exchange(const char* function, const std::vector<u8>& mine,
                                std::vector<std::vector<u8>>& all) {
  const std::lock_guard one_at_a_time(exchange_mutex_);
  if (health_->is_broken()) return Fail(function, health_->code(), health_->reason());
  const u64 sequence = next_sequence_++;
  Send({FrameKind::kGather, rank_, 0, sequence, mine});
  std::optional<std::vector<u8>> parts;
  {
    std::unique_lock lock(mutex_);
    const auto found = [&] { return gathered_.contains(sequence); };
    changed_.wait_for(lock, timeout_, [&] { return found() || is_closed_ || health_->is_broken(); });
    if (found())
      parts = std::move(gathered_.extract(sequence).mapped());
    else if (is_closed_ && !health_->is_broken())
      return Fail(function, HCCL_E_REMOTE, Text("rank 0 has left the group '", group_, "', which ended it"));
  }
  if (!parts) {
    // The ranks no longer agree on the exchange: break the group, so that no rank waits for this one.
    health_->BreakHere(HCCL_E_TIMEOUT,
                       Text("rank ", rank_, " waited ", timeout_.count(),
                            " ms for the other ranks of the group '", group_, "' to exchange"));
    return Fail(function, health_->code(), health_->reason());
  }
  all.clear();
  ByteReader reader(*parts);
  for (u32 rank = 0; rank < rank_size_; ++rank)
    all.push_back(reader.GetBytes());
  return reader.ok() ? HCCL_SUCCESS : Fail(function, HCCL_E_INTERNAL, "an exchange came back incomplete");
}

}  // namespace sampan::hccl
