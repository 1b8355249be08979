// One connection: buffers for frames, and sending and receiving them.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "backend/fabric/links/frames.h"
#include "backend/fabric/provider/port.h"
#include "base/error/status.h"

namespace sampan::fabric {

/// Used by the thread that has the network's turn. After Close it must live until all completions were read
/// once more.
class Endpoint {
 public:
  /// Requests of a connection without an answer.
  static constexpr std::size_t kSlots = 8;
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
    /// A slot of SendAnswer is free again.
    virtual void OnSent() = 0;
    /// The oldest memory of SendBytes is not read any more.
    virtual void OnBytesSent() = 0;
    virtual void OnBroken(int error) = 0;
    virtual void OnConnected() {}
    virtual void OnRefused(int /*error*/) {}
    virtual void OnShutDown() {}
  };

  /// The endpoint receives a frame.
  static Result<std::unique_ptr<Endpoint>> Make(Port& port, fi_info& info, Owner& owner);
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  int Connect(const fi_info& info, std::span<const std::byte> data);
  int Accept(std::span<const std::byte> data);
  bool is_closed() const { return endpoint_ == nullptr; }
  void Close() { port_.Close(endpoint_); }

  /// A slot to send a frame from, or null while all are in use.
  Slot* free_slot() const { return free_.empty() ? nullptr : free_.back(); }
  void Free(Slot* slot) { free_.push_back(slot); }
  /// Bytes of a refused write are received here, one part after another.
  std::span<std::byte> waste() const { return {memory_ + kWasteAt, kMaxDirectBytes / kMaxDirectPieces}; }

  // All return 0, or an error after which the connection is of no use. One receive is pending at a time: the
  // kind of the next message is known when the one before has arrived.

  /// Sends the first bytes of the free slot as one frame. Sets `used` to the slot if it is in use until the
  /// answer comes, which must Free it. A completion of each would cost more than a short frame.
  int SendRequest(std::size_t bytes, Slot*& used);
  /// The same for an answer: OnSent tells when the slot is free again. Up to kMaxCopiedAnswers short ones in
  /// a row are copied at once. If the peer reads nothing, the next ones keep their slots, and soon none is
  /// free.
  int SendAnswer(std::size_t bytes);
  /// Sends at most kMaxDirectPieces as one message. The memory must stay until OnBytesSent or Close.
  int SendBytes(std::span<const iovec> parts);
  int ReceiveFrame();
  /// Receives one message into the parts, which must stay until OnBytes or Close.
  int ReceiveBytes(std::span<const iovec> parts);

  /// For the network: something has happened to a connection, if it is still open.
  static void Tell(const ConnectionEvent& event);
  /// For the network: a send or a receive has completed.
  static void Complete(const Completion& completion);

 private:
  static constexpr std::size_t kMaxCopiedAnswers = 16;
  static constexpr std::size_t kSlotBytes = (kMaxFrameBytes + 4095) / 4096 * 4096;
  static constexpr std::size_t kWasteAt = (kSlots + 1) * kSlotBytes;
  static constexpr std::size_t kMemoryBytes = kWasteAt + kMaxDirectBytes / kMaxDirectPieces;

  Endpoint(Port& port, Owner& owner, std::size_t inject_bytes)
      : port_(port), owner_(owner), inject_bytes_(inject_bytes) {}
  Status Prepare();
  /// Sends the frame in the free slot. The system copies it, so the slot stays free.
  int SendCopy(std::size_t bytes);
  /// Sends the frame in the free slot, which is taken.
  int SendSlot(std::size_t bytes, std::uint64_t flags);
  int SendParts(std::span<const iovec> parts, Slot* slot, std::uint64_t flags);

  Port& port_;
  Owner& owner_;
  const std::size_t inject_bytes_;  // the system copies frames up to this length
  Owned<fid_ep> endpoint_;
  std::byte* memory_ = nullptr;
  Slot frames_out_[kSlots], bytes_out_, frame_in_, bytes_in_;
  std::vector<Slot*> free_;
  std::size_t copied_answers_ = 0;  // since the last one that has left
};

/// Endpoints that were closed. They may be destroyed after the completions were read once more.
using ClosedEndpoints = std::vector<std::unique_ptr<Endpoint>>;

}  // namespace sampan::fabric
