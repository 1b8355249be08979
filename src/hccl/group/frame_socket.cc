// Frames over a socket: the messages between the ranks of a group and their hub.
#include "hccl/group/frame_socket.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "base/error/system_error.h"
#include "base/error/text.h"

namespace sampan::hccl {
namespace {

constexpr u32 kMagic = 0x53484331;

/// The limit of one call: a fast sender must not keep the thread from its other connections.
constexpr std::size_t kMaxReceiveBytes = std::size_t{1} << 20;

/// A buffer with more memory than this frees what it does not use.
constexpr std::size_t kMaxIdleBytes = std::size_t{64} << 10;

struct Header {
  u32 magic = kMagic;
  FrameKind kind{};
  u32 rank = 0;
  u32 number = 0;
  u64 sequence = 0;
  u64 bytes = 0;
};

}  // namespace

EncodedFrame Encode(const Frame& frame) {
  Header header;
  header.kind = frame.kind;
  header.rank = frame.rank;
  header.number = frame.number;
  header.sequence = frame.sequence;
  header.bytes = frame.content.size();
  std::vector<u8> bytes(sizeof(header) + frame.content.size());
  std::memcpy(bytes.data(), &header, sizeof(header));
  if (!frame.content.empty())
    std::memcpy(bytes.data() + sizeof(header), frame.content.data(), frame.content.size());
  return std::make_shared<const std::vector<u8>>(std::move(bytes));
}

std::optional<std::pair<uid_t, pid_t>> PeerOf(const Descriptor& socket) {
  ucred credentials{};
  socklen_t bytes = sizeof(credentials);
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &bytes) != 0) return std::nullopt;
  return std::pair{credentials.uid, credentials.pid};
}

void FrameSocket::Queue(EncodedFrame frame) {
  const std::size_t bytes = frame->size();
  output_.push_back(std::move(frame));
  output_bytes_ += bytes;
}

bool FrameSocket::IsBusy() {
  if (errno == EAGAIN || errno == EWOULDBLOCK) return true;
  error_ = errno;
  return false;
}

std::string FrameSocket::HowItEnded() const {
  const bool is_lost = error_ == ETIMEDOUT || error_ == EHOSTUNREACH || error_ == ENETUNREACH;
  return is_lost ? Text("cannot be reached any more (", SystemError(error_), "), without") : "ended without";
}

bool FrameSocket::Send() {
  while (has_output()) {
    const std::vector<u8>& frame = *output_.front();
    const ssize_t length = ::send(descriptor(), frame.data() + sent_bytes_, frame.size() - sent_bytes_,
                                  MSG_NOSIGNAL | MSG_DONTWAIT);
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) return IsBusy();
    sent_bytes_ += static_cast<std::size_t>(length);
    output_bytes_ -= static_cast<std::size_t>(length);
    if (sent_bytes_ < frame.size()) continue;
    output_.pop_front();
    sent_bytes_ = 0;
  }
  return true;
}

bool FrameSocket::Receive() {
  for (std::size_t received = 0; received < kMaxReceiveBytes;) {
    const std::size_t pending = input_.size() - taken_bytes_;
    if (pending >= sizeof(Header)) {
      Header header;
      std::memcpy(&header, input_.data() + taken_bytes_, sizeof(header));
      if (header.magic != kMagic || header.bytes > max_frame_bytes_) return false;
    }
    const std::size_t room = sizeof(Header) + static_cast<std::size_t>(max_frame_bytes_);
    if (pending >= room) return true;  // a whole frame: the rest stays with the system
    std::array<u8, 65536> piece;
    const std::size_t wanted = std::min(piece.size(), room - pending);
    const ssize_t length = ::recv(descriptor(), piece.data(), wanted, MSG_DONTWAIT);
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) return IsBusy();
    if (length == 0) return false;
    received += static_cast<std::size_t>(length);
    input_.insert(input_.end(), piece.begin(), piece.begin() + length);
  }
  return true;
}

std::optional<Frame> FrameSocket::Next() {
  Header header;
  const std::size_t pending = input_.size() - taken_bytes_;
  if (pending >= sizeof(header)) std::memcpy(&header, input_.data() + taken_bytes_, sizeof(header));
  if (pending < sizeof(header) || header.magic != kMagic || header.bytes > max_frame_bytes_ ||
      pending - sizeof(header) < header.bytes) {
    // The frame is incomplete: move its bytes to the front of the buffer.
    if (taken_bytes_ != 0) input_.erase(input_.begin(), input_.end() - static_cast<std::ptrdiff_t>(pending));
    taken_bytes_ = 0;
    if (input_.capacity() > kMaxIdleBytes && input_.size() < input_.capacity() / 4)
      std::vector<u8>(input_.begin(), input_.end()).swap(input_);
    return std::nullopt;
  }
  const auto content = input_.begin() + static_cast<std::ptrdiff_t>(taken_bytes_ + sizeof(header));
  Frame frame{header.kind,
              header.rank,
              header.number,
              header.sequence,
              {content, content + static_cast<std::ptrdiff_t>(header.bytes)}};
  taken_bytes_ += sizeof(header) + static_cast<std::size_t>(header.bytes);
  return frame;
}

}  // namespace sampan::hccl
