// One connection: buffers for frames, and sending and receiving them.
#include "backend/fabric/links/endpoint.h"

#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <sys/mman.h>

#include <cerrno>

#include "base/error/assert.h"
#include "base/error/system_error.h"
#include "base/error/text.h"

namespace sampan::fabric {

Result<std::unique_ptr<Endpoint>> Endpoint::Make(Port& port, fi_info& info, Owner& owner) {
  std::unique_ptr<Endpoint> endpoint(new Endpoint(port, owner, info.tx_attr->inject_size));
  auto made = port.MakeEndpoint(info, endpoint.get());
  if (!made.ok()) return made.TakeStatus();
  endpoint->endpoint_ = std::move(*made);
  if (Status prepared = endpoint->Prepare(); !prepared.ok()) return prepared;
  return endpoint;
}

Status Endpoint::Prepare() {
  // Pages that no frame reaches take no memory.
  void* const mapped = ::mmap(nullptr, kMemoryBytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED)
    return {Code::kMemoryAllocation, Text("no memory for a connection's frames: ", SystemError(errno))};
  memory_ = static_cast<std::byte*>(mapped);
  free_.reserve(kSlots);
  for (std::size_t i = 0; i < kSlots; ++i) {
    frames_out_[i] = {this, Slot::Use::kFrameOut, memory_ + i * kSlotBytes};
    free_.push_back(&frames_out_[i]);
  }
  frame_in_ = {this, Slot::Use::kFrameIn, memory_ + kSlots * kSlotBytes};
  bytes_out_ = {this, Slot::Use::kBytesOut, nullptr};
  bytes_in_ = {this, Slot::Use::kBytesIn, nullptr};
  if (const int error = ReceiveFrame(); error != 0)
    return {Code::kResourceAllocFail, Text("a connection cannot receive: ", SystemError(-error))};
  return {};
}

Endpoint::~Endpoint() {
  Close();
  if (memory_ != nullptr) ::munmap(memory_, kMemoryBytes);
}

int Endpoint::Connect(const fi_info& info, std::span<const std::byte> data) {
  return ::fi_connect(endpoint_.get(), info.dest_addr, data.data(), data.size());
}

int Endpoint::Accept(std::span<const std::byte> data) {
  return ::fi_accept(endpoint_.get(), data.data(), data.size());
}

int Endpoint::SendCopy(std::size_t bytes) {
  SAMPAN_ASSERT(!is_closed());
  return static_cast<int>(::fi_inject(endpoint_.get(), free_.back()->bytes, bytes, FI_ADDR_UNSPEC));
}

int Endpoint::SendSlot(std::size_t bytes, std::uint64_t flags) {
  SAMPAN_ASSERT(!is_closed() && bytes <= kMaxFrameBytes);
  Slot* const slot = free_.back();
  free_.pop_back();
  const iovec part = {slot->bytes, bytes};
  return SendParts({&part, 1}, slot, flags);
}

int Endpoint::SendRequest(std::size_t bytes, Slot*& used) {
  used = bytes <= inject_bytes_ ? nullptr : free_.back();
  return used == nullptr ? SendCopy(bytes) : SendSlot(bytes, 0);
}

int Endpoint::SendAnswer(std::size_t bytes) {
  if (bytes > inject_bytes_ || copied_answers_ == kMaxCopiedAnswers) return SendSlot(bytes, FI_COMPLETION);
  ++copied_answers_;
  return SendCopy(bytes);
}

int Endpoint::SendParts(std::span<const iovec> parts, Slot* slot, std::uint64_t flags) {
  fi_msg message = {};
  message.msg_iov = parts.data();
  message.iov_count = parts.size();
  message.addr = FI_ADDR_UNSPEC;
  message.context = slot;
  return static_cast<int>(::fi_sendmsg(endpoint_.get(), &message, flags));
}

int Endpoint::SendBytes(std::span<const iovec> parts) {
  SAMPAN_ASSERT(!is_closed() && parts.size() <= kMaxDirectPieces);
  return SendParts(parts, &bytes_out_, FI_COMPLETION);
}

int Endpoint::ReceiveFrame() {
  if (is_closed()) return 0;
  return static_cast<int>(
      ::fi_recv(endpoint_.get(), frame_in_.bytes, kMaxFrameBytes, nullptr, FI_ADDR_UNSPEC, &frame_in_));
}

int Endpoint::ReceiveBytes(std::span<const iovec> parts) {
  SAMPAN_ASSERT(!is_closed() && parts.size() <= kMaxDirectPieces);
  return static_cast<int>(
      ::fi_recvv(endpoint_.get(), parts.data(), nullptr, parts.size(), FI_ADDR_UNSPEC, &bytes_in_));
}

void Endpoint::Tell(const ConnectionEvent& event) {
  if (event.context == nullptr) return;
  Owner& owner = static_cast<Endpoint*>(event.context)->owner_;
  if (event.kind == ConnectionEvent::Kind::kConnected) return owner.OnConnected();
  if (event.kind == ConnectionEvent::Kind::kRefused) return owner.OnRefused(event.error);
  owner.OnShutDown();
}

void Endpoint::Complete(const Completion& completion) {
  auto* const slot = static_cast<Slot*>(completion.context);
  if (slot == nullptr) return;
  Endpoint& endpoint = *slot->endpoint;
  if (endpoint.is_closed()) return;
  if (completion.error != 0) return endpoint.owner_.OnBroken(completion.error);
  switch (slot->use) {
    case Slot::Use::kFrameIn:
      return endpoint.owner_.OnFrame({slot->bytes, completion.bytes});
    case Slot::Use::kBytesIn:
      return endpoint.owner_.OnBytes(completion.bytes);
    case Slot::Use::kBytesOut:
      return endpoint.owner_.OnBytesSent();
    case Slot::Use::kFrameOut:
      endpoint.free_.push_back(slot);
      endpoint.copied_answers_ = 0;
      return endpoint.owner_.OnSent();
  }
}

}  // namespace sampan::fabric
