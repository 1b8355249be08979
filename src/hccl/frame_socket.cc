// Frames over a Unix-domain socket: what the ranks of a group and their hub tell each other.
#include "hccl/frame_socket.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "base/abstract_address.h"

namespace sampan::hccl {

struct FrameSocket::Header {
  static constexpr u32 kMagic = 0x53484331;

  u32 magic = kMagic;
  FrameKind kind{};
  u32 rank = 0;
  u32 number = 0;
  u64 sequence = 0;
  u64 bytes = 0;
};

namespace {

Descriptor NewSocket() {
  return Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

}  // namespace

std::optional<std::pair<uid_t, pid_t>> FrameSocket::Peer() const {
  ucred credentials{};
  socklen_t bytes = sizeof(credentials);
  if (::getsockopt(descriptor(), SOL_SOCKET, SO_PEERCRED, &credentials, &bytes) != 0) return std::nullopt;
  return std::pair{credentials.uid, credentials.pid};
}

void FrameSocket::Queue(const Frame& frame) {
  Header header;
  header.kind = frame.kind;
  header.rank = frame.rank;
  header.number = frame.number;
  header.sequence = frame.sequence;
  header.bytes = frame.content.size();
  const auto* const first = reinterpret_cast<const u8*>(&header);
  output_.reserve(output_.size() + sizeof(header) + frame.content.size());
  output_.insert(output_.end(), first, first + sizeof(header));
  output_.insert(output_.end(), frame.content.begin(), frame.content.end());
}

bool FrameSocket::Send() {
  while (has_output()) {
    const ssize_t length =
        ::send(descriptor(), output_.data() + sent_, output_.size() - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
    sent_ += static_cast<std::size_t>(length);
  }
  output_.clear();
  sent_ = 0;
  return true;
}

bool FrameSocket::Receive() {
  for (;;) {
    std::array<u8, 65536> piece;
    const ssize_t length = ::recv(descriptor(), piece.data(), piece.size(), MSG_DONTWAIT);
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
    if (length == 0) return false;
    input_.insert(input_.end(), piece.begin(), piece.begin() + length);
    if (input_.size() - taken_ >= sizeof(Header)) {
      Header header;
      std::memcpy(&header, input_.data() + taken_, sizeof(header));
      if (header.magic != Header::kMagic || header.bytes > kMostBytes) return false;
    }
    if (static_cast<std::size_t>(length) < piece.size()) return true;
  }
}

std::optional<Frame> FrameSocket::Next() {
  Header header;
  if (input_.size() - taken_ < sizeof(header)) return std::nullopt;
  std::memcpy(&header, input_.data() + taken_, sizeof(header));
  if (header.magic != Header::kMagic || header.bytes > kMostBytes) return std::nullopt;
  const std::size_t whole = sizeof(header) + static_cast<std::size_t>(header.bytes);
  if (input_.size() - taken_ < whole) return std::nullopt;
  const auto first = input_.begin() + static_cast<std::ptrdiff_t>(taken_);
  Frame frame{header.kind,
              header.rank,
              header.number,
              header.sequence,
              {first + sizeof(header), first + static_cast<std::ptrdiff_t>(whole)}};
  taken_ += whole;
  if (taken_ == input_.size()) {
    input_.clear();
    taken_ = 0;
  }
  return frame;
}

Descriptor ListenAt(const std::string& name) {
  constexpr int kMostWaiting = 1024;
  Descriptor listener = NewSocket();
  const AbstractAddress at(name);
  if (listener.get() < 0 ||
      ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&at.address), at.bytes) != 0 ||
      ::listen(listener.get(), kMostWaiting) != 0)
    return Descriptor();
  return listener;
}

Descriptor ConnectTo(const std::string& name) {
  Descriptor socket = NewSocket();
  const AbstractAddress at(name);
  if (socket.get() < 0 ||
      ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&at.address), at.bytes) != 0)
    return Descriptor();
  return socket;
}

}  // namespace sampan::hccl
