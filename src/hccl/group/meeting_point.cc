// The socket at which the ranks of a group meet: of one host, or in the network.
#include "hccl/group/meeting_point.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <list>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error/text.h"
#include "base/network/connecting.h"
#include "base/system/abstract_address.h"
#include "base/system/environment.h"
#include "hccl/group/frame_socket.h"

namespace sampan::hccl {
namespace {

constexpr std::size_t kSaltBytes = 16;
constexpr int kBacklog = 1024;

/// One attempt to reach a host. The system repeats a lost packet only after a second.
constexpr std::chrono::milliseconds kAttempt{1000};

Descriptor NewSocket(int family = AF_UNIX) {
  return Descriptor(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

void SetOption(const Descriptor& socket, int level, int option) {
  const int on = 1;
  ::setsockopt(socket.get(), level, option, &on, sizeof(on));
}

/// After how long a silent host is lost: SAMPAN_PEER_TIMEOUT, which the runtime has checked. The system looks
/// once a second, so less than a second is left for that.
int SilenceMs() {
  const std::string text = EnvironmentValue("SAMPAN_PEER_TIMEOUT").value_or("3");
  int seconds = 0;
  std::from_chars(text.data(), text.data() + text.size(), seconds);
  return std::clamp(seconds, 1, 600) * 1000 - 500;
}

/// What connections have, and accepted ones inherit.
void Prepare(const Descriptor& socket) {
  SetOption(socket, SOL_SOCKET, SO_REUSEADDR);  // an earlier group's connections do not keep the port
  SetOption(socket, IPPROTO_TCP, TCP_NODELAY);
  LimitSilence(socket.get(), SilenceMs());
}

PeerAddress OwnEndOf(const Descriptor& socket) {
  SocketAddress name;
  static_cast<void>(::getsockname(socket.get(), name.get(), &name.length));
  return FromSocket(*name.get());
}

Descriptor ListenAt(const PeerAddress& address) {
  const SocketAddress name = ToSocket(address);
  Descriptor listener = NewSocket(name.storage.ss_family);
  Prepare(listener);
  if (listener.get() < 0 || ::bind(listener.get(), name.get(), name.length) != 0 ||
      ::listen(listener.get(), kBacklog) != 0)
    return Descriptor();
  return listener;
}

/// Sockets that listen for a later rank 0 of this process, the oldest first. Thread-safe.
class ReservedPlaces {
 public:
  void Add(const PeerAddress& address, Descriptor listener) {
    const std::lock_guard lock(mutex_);
    places_.emplace_back(address, std::move(listener));
    if (places_.size() > kMaxPlaces) places_.pop_front();
  }
  /// Empty if it is not reserved.
  Descriptor Take(const PeerAddress& address) {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(places_.begin(), places_.end(),
                                    [&](const auto& place) { return place.first == address; });
    if (found == places_.end()) return Descriptor();
    Descriptor listener = std::move(found->second);
    places_.erase(found);
    return listener;
  }

 private:
  static constexpr std::size_t kMaxPlaces = 16;
  std::mutex mutex_;
  std::list<std::pair<PeerAddress, Descriptor>> places_;
};

ReservedPlaces& TheReservedPlaces() {
  static auto* const places = new ReservedPlaces;
  return *places;
}

FoundHub ConnectTo(const PeerAddress& address, Deadline until) {
  const SocketAddress name = ToSocket(address);
  FoundHub found{NewSocket(name.storage.ss_family), errno};
  if (found.connection.get() < 0) return found;
  Prepare(found.connection);
  found.error = ConnectBy(found.connection.get(), name, std::min(until, Clock::now() + kAttempt));
  // While rank 0 does not listen, the system may choose its port for this end: then the socket meets itself.
  if (found.error == 0 && OwnEndOf(found.connection) == FromSocket(*name.get())) found.error = ECONNREFUSED;
  if (found.error != 0) found.connection.Close();
  return found;
}

/// The system's list of Unix-domain sockets; empty, with errno set, if it cannot be read.
std::string SocketList() {
  const Descriptor file(::open("/proc/net/unix", O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return {};
  std::string text;
  std::array<char, 65536> piece;
  for (;;) {
    const ssize_t length = ::read(file.get(), piece.data(), piece.size());
    if (length < 0 && errno == EINTR) continue;
    if (length <= 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(length));
  }
}

/// The abstract names in the list that begin with the prefix.
std::vector<std::string> NamesWithPrefix(std::string_view list, std::string_view prefix) {
  const std::string mark = std::string(" @").append(prefix);
  std::vector<std::string> names;
  while (!list.empty()) {
    const std::string_view line = list.substr(0, list.find('\n'));
    list.remove_prefix(std::min(list.size(), line.size() + 1));
    if (const auto at = line.find(mark); at != std::string_view::npos)
      names.emplace_back(line.substr(at + 2));
  }
  return names;
}

std::string NameOf(const Descriptor& socket) {
  sockaddr_un address{};
  socklen_t bytes = sizeof(address);
  constexpr socklen_t kBegin = offsetof(sockaddr_un, sun_path) + 1;
  if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &bytes) != 0 || bytes <= kBegin)
    return {};
  return {address.sun_path + 1, bytes - kBegin};
}

}  // namespace

std::string RandomHex(std::size_t bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  while (text.size() < 2 * bytes) {
    u8 random = 0;
    if (::getrandom(&random, 1, 0) != 1) continue;
    text += kDigits[random >> 4];
    text += kDigits[random & 15];
  }
  return text;
}

std::string MeetingPoint::Describe() const {
  return Text("group '", group, "'", address ? " at " : "", address ? sampan::Describe(*address) : "");
}

bool FoundHub::may_come() const {
  switch (error) {
    case kConnectedLate:
    case ECONNREFUSED:
    case ECONNRESET:
    case EAGAIN:
    case EINTR:
    case EHOSTUNREACH:
    case ENETUNREACH:
    case ETIMEDOUT:
      return true;
    default:
      return false;
  }
}

bool Reserve(PeerAddress& address) {
  Descriptor listener = ListenAt(address);
  if (listener.get() < 0) return false;
  address = OwnEndOf(listener);
  TheReservedPlaces().Add(address, std::move(listener));
  return true;
}

Descriptor Listen(const MeetingPoint& meeting) {
  if (meeting.address) {
    Descriptor reserved = TheReservedPlaces().Take(*meeting.address);
    return reserved.get() >= 0 ? std::move(reserved) : ListenAt(*meeting.address);
  }
  Descriptor listener = NewSocket();
  const AbstractAddress at(meeting.prefix + RandomHex(kSaltBytes));
  if (listener.get() < 0 ||
      ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&at.address), at.bytes) != 0 ||
      ::listen(listener.get(), kBacklog) != 0)
    return Descriptor();
  return listener;
}

FoundHub FindHub(const MeetingPoint& meeting, Deadline until) {
  if (meeting.address) return ConnectTo(*meeting.address, until);
  FoundHub found;
  const std::string list = SocketList();
  found.error = list.empty() ? errno : ECONNREFUSED;
  for (const std::string& name : NamesWithPrefix(list, meeting.prefix)) {
    Descriptor socket = NewSocket();
    if (socket.get() < 0) {
      found.error = errno;
      break;
    }
    const AbstractAddress at(name);
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&at.address), at.bytes) != 0) {
      if (errno == EAGAIN) found.error = EAGAIN;  // its queue is full
      continue;
    }
    const auto peer = PeerOf(socket);
    if (peer && peer->first == ::geteuid()) {
      found.connection = std::move(socket);
      return found;
    }
    ++found.foreign_count;
  }
  return found;
}

bool HasRival(const MeetingPoint& meeting, const Descriptor& listener) {
  const std::string own = NameOf(listener);
  for (const std::string& name : NamesWithPrefix(SocketList(), meeting.prefix)) {
    if (name == own) continue;
    const Descriptor socket = NewSocket();
    const AbstractAddress at(name);
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&at.address), at.bytes) != 0) continue;
    const auto peer = PeerOf(socket);
    if (peer && peer->first == ::geteuid()) return true;
  }
  return false;
}

}  // namespace sampan::hccl
