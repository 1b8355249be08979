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

/// Belongs to the network's thread. After Close it must live until all completions were read once more.
class Endpoint {
 public:
  /// Frames that each side may have on the way: 2 MiB in all.
  static constexpr std::size_t kSlots = 8;
  struct Slot {
    Endpoint* endpoint = nullptr;
    std::byte* bytes = nullptr;  ///< kMaxFrameBytes
  };
  /// What its connection is told.
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void OnFrame(Slot& slot, std::size_t bytes) = 0;
    /// A slot for sending is free again.
    virtual void OnSent() = 0;
    virtual void OnBroken(int error) = 0;
  };

  static Result<std::unique_ptr<Endpoint>> Make(Port& port, fi_info& info, Owner& owner);
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  int Connect(const fi_info& info, std::span<const std::byte> data);
  int Accept(std::span<const std::byte> data);
  fid_t id() const { return endpoint_ != nullptr ? &endpoint_->fid : nullptr; }
  bool is_closed() const { return endpoint_ == nullptr; }
  void Close() { endpoint_.reset(); }

  /// A slot to send from, or null while all are in use.
  Slot* free_slot() const { return free_.empty() ? nullptr : free_.back(); }
  /// Sends the parts as one frame from the free slot. The memory must stay until OnSent or Close. Returns 0,
  /// or an error after which the connection is of no use.
  int Send(std::span<const iovec> parts);
  /// The frame of a received slot was used: another one may come there.
  int Receive(Slot& slot);

  /// For the network: a send or a receive of the slot completed.
  static void Complete(const Completion& completion);

 private:
  Endpoint(Owner& owner) : owner_(owner) {}
  Status Prepare();
  bool IsForSending(const Slot& slot) const { return &slot < slots_ + kSlots; }

  Owner& owner_;
  Owned<fid_ep> endpoint_;
  std::byte* memory_ = nullptr;
  Slot slots_[2 * kSlots];  // for sending, then for receiving
  std::vector<Slot*> free_;
};

}  // namespace sampan::fabric
