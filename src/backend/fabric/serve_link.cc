// The owner's side of a connection: serves requests on one piece of memory.
#include "backend/fabric/serve_link.h"

#include <atomic>
#include <cstring>

#include "backend/api/allocation.h"

namespace sampan::fabric {
namespace {

/// Fills with the four bytes of the pattern, which begin at the first byte.
void FillWith(std::byte* begin, std::size_t bytes, std::uint32_t pattern) {
  std::size_t done = 0;
  for (; done + sizeof(pattern) <= bytes; done += sizeof(pattern))
    std::memcpy(begin + done, &pattern, sizeof(pattern));
  std::memcpy(begin + done, &pattern, bytes - done);
}

/// A word may be what a stream waits for, so it is stored at once.
void Write(std::byte* there, const std::byte* bytes, std::uint64_t count) {
  std::uint64_t word = 0;
  if (count != sizeof(word) || reinterpret_cast<std::uintptr_t>(there) % sizeof(word) != 0) {
    std::memcpy(there, bytes, count);
    return;
  }
  std::memcpy(&word, bytes, sizeof(word));
  std::atomic_ref(*reinterpret_cast<std::uint64_t*>(there)).store(word, std::memory_order_release);
}

}  // namespace

Status ServeLink::Accept(Port& port, fi_info& info, std::span<const std::byte> welcome) {
  auto endpoint = Endpoint::Make(port, info, *this);
  if (!endpoint.ok()) return endpoint.TakeStatus();
  endpoint_ = std::move(*endpoint);
  if (const int error = endpoint_->Accept(welcome); error != 0)
    return {Code::kResourceAllocFail, Text("a connection cannot be accepted: ", port.ErrorText(error))};
  return {};
}

void ServeLink::OnFrame(Endpoint::Slot& slot, std::size_t bytes) {
  waiting_.emplace_back(&slot, bytes);
  OnSent();
}

void ServeLink::OnSent() {
  while (!is_broken_ && !waiting_.empty() && endpoint_->free_slot() != nullptr) {
    const auto [slot, bytes] = waiting_.front();
    waiting_.pop_front();
    if (!Serve({slot->bytes, bytes}) || endpoint_->Receive(*slot) != 0) is_broken_ = true;
  }
}

bool ServeLink::Serve(std::span<const std::byte> frame) {
  Request request;
  if (!ReadRequest(frame, request) || request.header.request != next_request_++) return false;
  std::byte* const reply = endpoint_->free_slot()->bytes;
  FrameHeader header;
  header.request = request.header.request;
  const Code code = Move(request, reply + sizeof(header));
  const bool with_data = code == Code::kOk && request.header.kind == FrameKind::kRead;
  header.kind = with_data ? FrameKind::kData : FrameKind::kDone;
  header.code = static_cast<std::int32_t>(code);
  header.payload_bytes = with_data ? request.header.payload_bytes : 0;
  std::memcpy(reply, &header, sizeof(header));
  const iovec whole = {reply, sizeof(header) + header.payload_bytes};
  return endpoint_->Send({&whole, 1}) == 0;
}

Code ServeLink::Move(const Request& request, std::byte* reply) {
  const std::lock_guard lock(offer_->mutex);
  if (offer_->memory == nullptr) return Code::kSdmaCopyError;
  if (request.header.kind == FrameKind::kSignal)
    return offer_->memory->Signal() ? Code::kOk : Code::kParamInvalid;
  const PeerMemoryFacts& facts = offer_->memory->facts();
  if (facts.read_only != 0 && request.header.kind != FrameKind::kRead) return Code::kNoPermission;
  for (std::size_t i = 0; i < request.header.pieces; ++i) {  // all, before the first byte moves
    const FramePiece piece = request.piece(i);
    if (!RangeHolds(0, facts.bytes, piece.offset, piece.bytes)) return Code::kParamInvalid;
  }
  const std::byte* payload = request.payload.data();
  for (std::size_t i = 0; i < request.header.pieces; ++i) {
    const auto [offset, bytes] = request.piece(i);
    std::byte* const there = offer_->begin + offset;
    switch (request.header.kind) {
      case FrameKind::kWrite:
        Write(there, payload, bytes);
        payload += bytes;
        break;
      case FrameKind::kRead:
        std::memcpy(reply, there, bytes);
        reply += bytes;
        break;
      default:
        FillWith(there, bytes, request.header.pattern);
        break;
    }
  }
  return Code::kOk;
}

}  // namespace sampan::fabric
