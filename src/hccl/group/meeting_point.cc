// The socket at which the ranks of a group meet. Another user cannot take its abstract name first.
#include "hccl/group/meeting_point.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <vector>

#include "base/system/abstract_address.h"
#include "hccl/group/frame_socket.h"

namespace sampan::hccl {
namespace {

constexpr std::size_t kSaltBytes = 16;
constexpr int kBacklog = 1024;

Descriptor NewSocket() {
  return Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
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

Descriptor Listen(const MeetingPoint& meeting) {
  Descriptor listener = NewSocket();
  const AbstractAddress at(meeting.prefix + RandomHex(kSaltBytes));
  if (listener.get() < 0 ||
      ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&at.address), at.bytes) != 0 ||
      ::listen(listener.get(), kBacklog) != 0)
    return Descriptor();
  return listener;
}

FoundHub FindHub(const MeetingPoint& meeting) {
  FoundHub found;
  const std::string list = SocketList();
  if (list.empty()) return found;
  int error = ECONNREFUSED;
  for (const std::string& name : NamesWithPrefix(list, meeting.prefix)) {
    Descriptor socket = NewSocket();
    if (socket.get() < 0) {
      error = errno;
      break;
    }
    const AbstractAddress at(name);
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&at.address), at.bytes) != 0) {
      if (errno == EAGAIN) error = EAGAIN;  // its queue is full
      continue;
    }
    const auto peer = PeerOf(socket);
    if (peer && peer->first == ::geteuid()) {
      found.connection = std::move(socket);
      return found;
    }
    ++found.foreign_count;
  }
  errno = error;
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
