// Frames over a Unix-domain socket: what the ranks of a group and their hub tell each other.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "hccl/base.h"

namespace sampan::hccl {

enum class FrameKind : u32 {
  kHello = 1,  ///< to the hub: token; rank and size of the group
  kWelcome,    ///< from the hub: all ranks are here; their processes
  kRefused,    ///< from the hub: why not
  kGather,     ///< to the hub: this rank's part of an exchange
  kGathered,   ///< from the hub: all parts
  kBroken,     ///< both ways: the group is not whole any more, and why
  kBye,        ///< to the hub: this rank leaves
  kLeft,       ///< from the hub: a rank has left
};

struct Frame {
  FrameKind kind{};
  u32 rank = 0;
  u32 number = 0;  ///< size of the group, or a code
  u64 sequence = 0;
  std::vector<u8> content;

  std::string text() const { return {content.begin(), content.end()}; }
};

inline std::vector<u8> Bytes(std::string_view text) {
  return {text.begin(), text.end()};
}

/// One end of a connection. Never blocks; not thread-safe.
class FrameSocket {
 public:
  /// More than a frame may have: whoever sends that is not one of us.
  static constexpr u64 kMostBytes = u64{64} << 20;

  explicit FrameSocket(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}

  int descriptor() const { return descriptor_.get(); }
  /// The user and the process at the other end.
  std::optional<std::pair<uid_t, pid_t>> Peer() const;

  void Queue(const Frame& frame);
  bool has_output() const { return sent_ < output_.size(); }
  /// Sends what can be sent now. False when the other end is gone.
  bool Send();
  /// Receives what is there. False when the other end is gone, or talks nonsense.
  bool Receive();
  /// The next whole frame.
  std::optional<Frame> Next();

 private:
  struct Header;

  Descriptor descriptor_;
  std::vector<u8> output_, input_;
  std::size_t sent_ = 0, taken_ = 0;
};

/// Abstract names have no file: nothing is left behind, however a process ends.
Descriptor ListenAt(const std::string& name);
Descriptor ConnectTo(const std::string& name);

}  // namespace sampan::hccl
