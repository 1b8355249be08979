// Where importers prove what they know, before libfabric sees a connection.
#include "backend/fabric/gate/gate.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "backend/fabric/provider/wake_at.h"
#include "base/error/system_error.h"
#include "base/error/text.h"
#include "base/network/connecting.h"
#include "base/system/host_identity.h"

namespace sampan::fabric {
namespace {

/// Accepted in a row. If one of so many says nonsense, accepting pauses: a flood leaves most of the thread's
/// time to transfers. Honest callers wait in the system's queue meanwhile.
constexpr int kAcceptedAtOnce = 8;
constexpr std::chrono::milliseconds kFloodPause{1};
constexpr int kEventsAtOnce = 32;
/// The pause of accepting after the process or the system ran out of descriptors or memory. The caller stays
/// in the system's queue, so the listener would wake the thread again at once.
constexpr std::chrono::milliseconds kAcceptPause{20};

}  // namespace

Result<Gate> Gate::Open(PeerAddress& address) {
  const auto failure = [&](const char* what) {
    return Error{Code::kResourceAllocFail, Text("cannot listen at ", HostText(address), ": ",
                                                std::string_view(what), ": ", SystemError(errno))};
  };
  SocketAddress socket = ToSocket(address);
  Descriptor listener(
      ::socket(socket.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP));
  if (listener.get() < 0) return failure("socket");
  const int seconds = static_cast<int>(kHandshakeTimeout.count());
  ::setsockopt(listener.get(), IPPROTO_TCP, TCP_DEFER_ACCEPT, &seconds, sizeof(seconds));
  if (::bind(listener.get(), socket.get(), socket.length) != 0) return failure("bind");
  if (::listen(listener.get(), SOMAXCONN) != 0) return failure("listen");
  if (::getsockname(listener.get(), socket.get(), &socket.length) != 0) return failure("getsockname");
  Descriptor epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (epoll.get() < 0) return failure("epoll_create1");
  if (Status watched = WakeAt(epoll, listener.get(), static_cast<std::uint32_t>(listener.get()));
      !watched.ok())
    return watched;
  address.port = FromSocket(*socket.get()).port;
  return Gate(std::move(listener), std::move(epoll));
}

void Gate::MakeRoom() {
  if (callers_.size() < kMaxCallers) return;
  const auto oldest = FindDisplaced(callers_, [](Caller& caller) { return &caller.address.host; });
  by_socket_.erase(oldest->socket.get());
  callers_.erase(oldest);
}

void Gate::Listen(bool listens) {
  epoll_event event = {};
  event.events = listens ? std::uint32_t{EPOLLIN} : 0U;
  event.data.u32 = static_cast<std::uint32_t>(listener_.get());
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, listener_.get(), &event);
}

void Gate::Pause(std::chrono::milliseconds time) {
  listens_at_ = Clock::now() + time;
  Listen(false);
}

void Gate::Accept(const Judge& judge) {
  bool is_flood = false;
  for (int i = 0; i < kAcceptedAtOnce; ++i) {
    SocketAddress from;
    Descriptor socket(::accept4(listener_.get(), from.get(), &from.length, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket.get() < 0) {
      if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED) return;
      return Pause(kAcceptPause);
    }
    const int number = socket.get();
    Caller caller;
    caller.socket = std::move(socket);
    caller.address = FromSocket(*from.get());
    caller.deadline = Clock::now() + kHandshakeTimeout;
    // Its first bytes are there.
    if (!Hear(caller, judge)) {
      is_flood = true;
      continue;
    }
    if (!WakeAt(epoll_, number, static_cast<std::uint32_t>(number)).ok()) continue;
    MakeRoom();
    callers_.push_back(std::move(caller));
    by_socket_[number] = std::prev(callers_.end());
  }
  if (is_flood) Pause(kFloodPause);
}

bool Gate::Hear(Caller& caller, const Judge& judge) {
  const int socket = caller.socket.get();
  // Never more than the next message: what comes behind it was not asked for.
  const std::size_t wanted = caller.challenged ? caller.bytes.size() : sizeof(Hello);
  const ssize_t received = ::recv(socket, caller.bytes.data() + caller.received, wanted - caller.received, 0);
  if (received < 0) return errno == EAGAIN || errno == EINTR;
  if (received == 0) return false;
  caller.received += static_cast<std::size_t>(received);
  if (caller.received < wanted) return true;
  Hello hello;
  std::memcpy(&hello, caller.bytes.data(), sizeof(hello));
  if (!caller.challenged) {
    if (hello.mark != kHandshakeMark || hello.port > UINT16_MAX) return false;
    auto nonce = RandomKey();
    if (!nonce.ok()) return false;
    caller.challenge.nonce = *nonce;
    caller.challenged = true;
    return ::send(socket, &caller.challenge, sizeof(Challenge), MSG_NOSIGNAL) == sizeof(Challenge);
  }
  Proof proof;
  std::memcpy(&proof, caller.bytes.data() + sizeof(hello), sizeof(proof));
  PeerAddress from = caller.address;
  from.port = static_cast<std::uint16_t>(hello.port);
  const Welcome welcome = judge(hello, caller.challenge, proof, from);
  ::send(socket, &welcome, sizeof(welcome), MSG_NOSIGNAL);  // a caller that does not read it is gone
  return false;
}

Deadline Gate::Serve(const Judge& judge) {
  epoll_event events[kEventsAtOnce];
  const int count = ::epoll_wait(epoll_.get(), events, kEventsAtOnce, 0);
  bool knocks = false;
  for (int i = 0; i < count; ++i) {
    const int socket = events[i].data.fd;
    if (socket == listener_.get()) {
      knocks = true;
    } else if (const auto found = by_socket_.find(socket); found != by_socket_.end()) {
      const auto caller = found->second;
      if (Hear(*caller, judge)) continue;
      by_socket_.erase(found);
      callers_.erase(caller);
    }
  }
  const Deadline now = Clock::now();
  if (listens_at_ != Deadline{} && listens_at_ <= now) {
    listens_at_ = {};
    Listen(true);
    knocks = true;
  }
  if (knocks) Accept(judge);
  while (!callers_.empty() && callers_.front().deadline <= now) {
    by_socket_.erase(callers_.front().socket.get());
    callers_.pop_front();
  }
  const Deadline next = listens_at_ != Deadline{} ? listens_at_ : kNever;
  return callers_.empty() ? next : std::min(next, callers_.front().deadline);
}

namespace {

/// The importer's socket to a gate. Never waits past one deadline. A signal handler that runs meanwhile ends
/// no wait.
class Call {
 public:
  Call(std::chrono::milliseconds limit, Deadline deadline, std::string peer)
      : limit_(limit), deadline_(deadline), peer_(std::move(peer)) {}

  Status Connect(const PeerAddress& address) {
    // Several attempts: the system repeats a lost first packet only after a second. A host is found again
    // some time after its cable is mended. Time is left for the messages.
    constexpr int kAttempts = 4;
    const auto each = limit_ / (kAttempts + 1);
    for (int attempt = 1;; ++attempt) {
      const SocketAddress socket = ToSocket(address);
      socket_ = Descriptor(
          ::socket(socket.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP));
      if (socket_.get() < 0) return Unreachable("socket", errno);
      const int error = ConnectBy(socket_.get(), socket, std::min(deadline_, Clock::now() + each));
      if (error == 0) break;
      const bool no_route = error == EHOSTUNREACH || error == ENETUNREACH;
      if ((error != kConnectedLate && !no_route) || attempt == kAttempts)
        return Unreachable("connect", error);
      if (no_route) std::this_thread::sleep_for(each);
    }
    const int on = 1;
    ::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    return {};
  }
  Result<PeerAddress> LocalAddress() const {
    SocketAddress local;
    if (::getsockname(socket_.get(), local.get(), &local.length) != 0)
      return Unreachable("getsockname", errno);
    return FromSocket(*local.get());
  }
  template <typename Data>
  Status Send(const Data& data) {
    auto left = std::as_bytes(std::span(&data, 1));
    while (!left.empty()) {
      const ssize_t sent = ::send(socket_.get(), left.data(), left.size(), MSG_NOSIGNAL);
      if (sent > 0) left = left.subspan(static_cast<std::size_t>(sent));
      if (sent > 0 || errno == EINTR) continue;
      if (errno != EAGAIN) return Unreachable("send", errno);
      if (!AwaitSocket(socket_.get(), POLLOUT, deadline_)) return Unreachable("send", kConnectedLate);
    }
    return {};
  }
  template <typename Data>
  Status Receive(Data& data) {
    auto left = std::as_writable_bytes(std::span(&data, 1));
    while (!left.empty()) {
      const ssize_t received = ::recv(socket_.get(), left.data(), left.size(), 0);
      if (received > 0) left = left.subspan(static_cast<std::size_t>(received));
      if (received == 0) return Unreachable("recv", ECONNRESET);
      if (received > 0 || errno == EINTR) continue;
      if (errno != EAGAIN) return Unreachable("recv", errno);
      if (!AwaitSocket(socket_.get(), POLLIN, deadline_)) return Unreachable("recv", kConnectedLate);
    }
    return {};
  }

 private:
  Error Unreachable(const char* what, int error) const {
    return {Code::kLostHeartbeat,
            Text(peer_, " cannot be reached: ", std::string_view(what), ": ",
                 error == kConnectedLate ? Text("no answer for ", limit_.count(), " ms")
                                         : std::string(SystemError(error)),
                 "; check that it runs, and that a connection to this address is allowed")};
  }

  const std::chrono::milliseconds limit_;
  const Deadline deadline_;
  const std::string peer_;
  Descriptor socket_;
};

/// Takes a free port of the address. Until the socket is closed, no socket that asks for any port gets it.
/// libfabric may bind one to it: both allow the reuse of their addresses.
Result<Descriptor> TakePort(PeerAddress& local) {
  local.port = 0;
  SocketAddress socket = ToSocket(local);
  Descriptor bound(::socket(socket.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP));
  const int on = 1;
  ::setsockopt(bound.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (::bind(bound.get(), socket.get(), socket.length) != 0 ||
      ::getsockname(bound.get(), socket.get(), &socket.length) != 0)
    return Error{Code::kResourceAllocFail, Text("no port is free: ", SystemError(errno))};
  local.port = FromSocket(*socket.get()).port;
  return bound;
}

/// One call. Sets `crowded` if the owner has no place at this moment.
Result<Admission> AskOnce(const PeerName& name, Call call, const std::string& peer, bool& crowded) {
  if (Status connected = call.Connect(name.address); !connected.ok()) return connected;
  auto local = call.LocalAddress();
  if (!local.ok()) return local.TakeStatus();
  auto place = TakePort(*local);
  if (!place.ok()) return place.TakeStatus();
  auto host = ThisHost();
  if (!host.ok()) return host.TakeStatus();
  auto nonce = RandomKey();
  if (!nonce.ok()) return nonce.TakeStatus();
  Hello hello;
  hello.cell = name.cell;
  hello.process = ::getpid();
  hello.port = local->port;
  hello.server = ServerNumber(*host);
  hello.nonce = *nonce;
  Challenge challenge;
  Welcome welcome;
  if (Status sent = call.Send(hello); !sent.ok()) return sent;
  if (Status heard = call.Receive(challenge); !heard.ok()) return heard;
  if (Status sent = call.Send(Proof{ProofOfImporter(name.secret, hello, challenge)}); !sent.ok()) return sent;
  if (Status heard = call.Receive(welcome); !heard.ok()) return heard;
  const auto code = static_cast<Code>(welcome.code);
  crowded = welcome.code == kCrowded;
  if (crowded) return Error{Code::kLostHeartbeat, Text(peer, " lets in too many others at this time")};
  if (code == Code::kNoPermission) {
    return Error{code, Text(peer, " shares this with processes that it named, and ", ::getpid(),
                            " is not one of them")};
  }
  if (code == Code::kResourceAllocFail)
    return Error{code, Text(peer, " has as many connections as it accepts")};
  if (code != Code::kOk)
    return Error{Code::kParamInvalid, Text(peer, " shares nothing under this handle or key, or no more")};
  if (welcome.mark != kHandshakeMark || welcome.port == 0 || welcome.port > UINT16_MAX ||
      !SameDigest(welcome.proof, ProofOfOwner(name.secret, hello, challenge))) {
    return Error{Code::kLostHeartbeat,
                 Text(peer, " does not know the handle's secret: another process listens there now")};
  }
  Admission admission{welcome, name.address, *local, std::move(*place)};
  admission.fabric.port = static_cast<std::uint16_t>(welcome.port);
  return admission;
}

}  // namespace

Result<Admission> AskForAdmission(const PeerName& name, std::chrono::milliseconds limit,
                                  const std::string& peer) {
  const Deadline deadline = Clock::now() + limit;
  constexpr std::chrono::milliseconds kMaxPause{50};
  for (std::chrono::milliseconds pause{1};; pause = std::min(pause * 2, kMaxPause)) {
    bool crowded = false;
    auto admission = AskOnce(name, Call(limit, deadline, peer), peer, crowded);
    if (!crowded || Clock::now() + pause >= deadline) return admission;
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace sampan::fabric
