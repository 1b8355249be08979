// Frames over a socket: the messages between the ranks of a group and their hub.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/system/descriptor.h"
#include "hccl/base.h"

namespace sampan::hccl {

enum class FrameKind : u32 {
  kHello = 1,  ///< to the hub: a Hello (introduction.h)
  kWelcome,    ///< from the hub: all ranks have joined; their processes
  kRefused,    ///< from the hub: why this rank cannot join
  kGather,     ///< to the hub: this rank's part of an exchange
  kGathered,   ///< from the hub: all parts
  kBroken,     ///< both ways: the group is broken, and why
  kBye,        ///< to the hub: this rank leaves
  kLeft,       ///< from the hub: a rank has left
  kChallenge,  ///< from the hub, first of all: a Key for this connection alone
  kAdmitted,   ///< from the hub: the proof that it knows the token
  kPost,       ///< to the hub: the ranks that shall get bytes, and the bytes
  kPosted,     ///< from the hub: the bytes
};

struct Frame {
  FrameKind kind{};
  u32 rank = 0;
  u32 number = 0;  ///< a code
  u64 sequence = 0;
  std::vector<u8> content;

  std::string text() const { return {content.begin(), content.end()}; }
};

/// The bytes of a frame. Shared, so that a frame to all ranks is stored once.
using EncodedFrame = std::shared_ptr<const std::vector<u8>>;
EncodedFrame Encode(const Frame& frame);

/// The most bytes of a kPost frame, and of the list of ranks before them.
inline constexpr std::size_t kMaxPostBytes = std::size_t{1} << 20, kMaxPostPeersBytes = std::size_t{8} << 10;

/// The longest text of a kBroken frame.
inline constexpr std::size_t kMaxReasonBytes = 4096;

inline std::vector<u8> Bytes(std::string_view text) {
  return {text.begin(), text.end()};
}

/// The user and the process at the other end of a connection of one host.
std::optional<std::pair<uid_t, pid_t>> PeerOf(const Descriptor& socket);

/// One end of a connection. Never blocks; not thread-safe.
class FrameSocket {
 public:
  /// The limit of a frame's content between a rank and its hub.
  static constexpr u64 kMaxFrameBytes = u64{64} << 20;

  FrameSocket(Descriptor descriptor, u64 max_frame_bytes)
      : descriptor_(std::move(descriptor)), max_frame_bytes_(max_frame_bytes) {}

  int descriptor() const { return descriptor_.get(); }
  /// The largest content that is accepted from here on.
  void set_max_frame_bytes(u64 bytes) { max_frame_bytes_ = bytes; }

  void Queue(EncodedFrame frame);
  void Queue(const Frame& frame) { Queue(Encode(frame)); }
  /// The number of the error that ended the connection; 0: the other end closed it, or broke the protocol.
  int error() const { return error_; }
  /// Text for messages: "ended without", or that the network lost the connection.
  std::string HowItEnded() const;
  bool has_output() const { return !output_.empty(); }
  std::size_t output_bytes() const { return output_bytes_; }
  /// Sends what can be sent now. Returns false if the other end is gone.
  bool Send();
  /// Receives available bytes, up to a limit and at most one largest frame ahead. Returns false if the other
  /// end is gone or breaks the protocol.
  bool Receive();
  /// The next whole frame.
  std::optional<Frame> Next();

 private:
  /// Returns true if the last call on the socket would have blocked.
  bool IsBusy();

  Descriptor descriptor_;
  u64 max_frame_bytes_;
  int error_ = 0;
  std::deque<EncodedFrame> output_;
  std::size_t output_bytes_ = 0, sent_bytes_ = 0;  // queued and not yet sent; sent of the first frame
  std::vector<u8> input_;
  std::size_t taken_bytes_ = 0;  // of the input
};

}  // namespace sampan::hccl
