// One connection: buffers for frames, and sending and receiving them.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "backend/fabric/frames.h"
#include "backend/fabric/port.h"
#include "base/error/status.h"

namespace sampan::fabric {

/// Used by the thread that has the network's turn. After Close it must live until all completions were read
/// once more.
class Endpoint {
 public:
  /// Frames that may be on the way to the system at a time.
  static constexpr std::size_t kSlots = 4;
  struct Slot {
    enum class Use { kFrameOut, kBytesOut, kFrameIn, kBytesIn };
    Endpoint* endpoint = nullptr;
    Use use{};
    std::byte* bytes = nullptr;  ///< kMaxFrameBytes; null for bytes that are elsewhere
  };
  /// What its connection is told.
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void OnFrame(std::span<const std::byte> frame) = 0;
    /// What ReceiveBytes asked for is in place.
    virtual void OnBytes(std::size_t count) = 0;
    /// A slot for sending is free again.
    virtual void OnSent() = 0;
    /// The oldest memory of SendBytes is not read any more.
    virtual void OnBytesSent() = 0;
    virtual void OnBroken(int error) = 0;
  };

  /// The endpoint receives a frame.
  static Result<std::unique_ptr<Endpoint>> Make(Port& port, fi_info& info, Owner& owner);
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  int Connect(const fi_info& info, std::span<const std::byte> data);
  int Accept(std::span<const std::byte> data);
  fid_t id() const { return endpoint_ != nullptr ? &endpoint_->fid : nullptr; }
  bool is_closed() const { return endpoint_ == nullptr; }
  void Close() { endpoint_.reset(); }

  /// A slot to send a frame from, or null while all are in use.
  Slot* free_slot() const { return free_.empty() ? nullptr : free_.back(); }
  /// Bytes of a refused write are received here: kMaxDirectBytes.
  std::byte* waste() const { return memory_ + kWasteAt; }

  // All return 0, or an error after which the connection is of no use. One receive is pending at a time: the
  // kind of the next message is known when the one before has arrived.

  /// Sends the first bytes of the free slot as one frame.
  int Send(std::size_t bytes);
  /// Sends at most kMaxDirectPieces as one message. The memory must stay until OnBytesSent or Close.
  int SendBytes(std::span<const iovec> parts);
  int ReceiveFrame();
  /// Receives one message into the parts, which must stay until OnBytes or Close.
  int ReceiveBytes(std::span<const iovec> parts);

  /// For the network: a send or a receive has completed.
  static void Complete(const Completion& completion);

 private:
  static constexpr std::size_t kSlotBytes = (kMaxFrameBytes + 4095) / 4096 * 4096;
  static constexpr std::size_t kWasteAt = (kSlots + 1) * kSlotBytes;
  static constexpr std::size_t kMemoryBytes = kWasteAt + kMaxDirectBytes;

  explicit Endpoint(Owner& owner) : owner_(owner) {}
  Status Prepare();

  Owner& owner_;
  Owned<fid_ep> endpoint_;
  std::byte* memory_ = nullptr;
  Slot frames_out_[kSlots], bytes_out_, frame_in_, bytes_in_;
  std::vector<Slot*> free_;
};

}  // namespace sampan::fabric
