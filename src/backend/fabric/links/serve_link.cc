// The owner's side of a connection: serves requests on one piece of memory.
#include "backend/fabric/links/serve_link.h"

#include <atomic>
#include <cstring>
#include <utility>

#include "backend/api/allocation.h"
#include "base/error/text.h"

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

/// Checks the request against the memory as it is now, and sets a signal. The caller has the lock.
Code Check(const Offer& offer, const Request& request) {
  if (offer.memory == nullptr) return Code::kSdmaCopyError;
  if (request.header.kind == FrameKind::kSignal)
    return offer.memory->Signal() ? Code::kOk : Code::kParamInvalid;
  const PeerMemoryFacts& facts = offer.memory->facts();
  if (facts.read_only != 0 && request.header.kind != FrameKind::kRead) return Code::kNoPermission;
  for (std::size_t i = 0; i < request.header.pieces; ++i) {  // all, before the first byte moves
    const FramePiece piece = request.piece(i);
    if (!RangeHolds(0, facts.bytes, piece.offset, piece.bytes)) return Code::kParamInvalid;
  }
  return Code::kOk;
}

}  // namespace

Status ServeLink::Accept(Port& port, fi_info& info) {
  auto endpoint = Endpoint::Make(port, info, *this);
  if (!endpoint.ok()) return endpoint.TakeStatus();
  endpoint_ = std::move(*endpoint);
  if (const int error = endpoint_->Accept({}); error != 0)
    return {Code::kResourceAllocFail, Text("a connection cannot be accepted: ", port.ErrorText(error))};
  return {};
}

void ServeLink::Break() {
  if (!std::exchange(is_broken_, true)) broken_.push_back(this);
}

void ServeLink::Close() {
  Break();
  if (endpoint_ == nullptr) return;
  endpoint_->Close();
  while (pins_ != 0)
    Unpin();
  closed_.push_back(std::move(endpoint_));
}

void ServeLink::OnFrame(std::span<const std::byte> frame) {
  waiting_ = frame;
  OnSent();
}

void ServeLink::OnSent() {
  if (is_broken_ || waiting_.empty() || endpoint_->free_slot() == nullptr) return;
  if (!Serve(std::exchange(waiting_, {}))) Break();
}

bool ServeLink::Serve(std::span<const std::byte> frame) {
  Request request;
  if (!ReadRequest(frame, request) || request.header.request != ++last_request_) return false;
  if (request.direct)
    return request.header.kind == FrameKind::kWrite ? ReceiveDirect(request) : SendDirect(request);
  const Code code = Move(request, endpoint_->free_slot()->bytes + sizeof(FrameHeader));
  const bool with_data = code == Code::kOk && request.header.kind == FrameKind::kRead;
  return Answer(with_data ? FrameKind::kData : FrameKind::kDone, code,
                with_data ? request.header.payload_bytes : 0, true) &&
         endpoint_->ReceiveFrame() == 0;
}

bool ServeLink::ReceiveDirect(const Request& request) {
  auto parts = Pin(request);
  direct_code_ = parts.ok() ? Code::kOk : parts.code();
  direct_pinned_ = parts.ok();
  direct_bytes_ = request.header.payload_bytes;
  if (parts.ok()) return endpoint_->ReceiveBytes(*parts) == 0;
  const std::span<std::byte> waste = endpoint_->waste();
  parts_.fill({waste.data(), waste.size()});
  return endpoint_->ReceiveBytes(parts_) == 0;
}

void ServeLink::OnBytes(std::size_t count) {
  if (std::exchange(direct_pinned_, false)) Unpin();
  if (count != direct_bytes_ || !Answer(FrameKind::kDone, direct_code_, 0, true) ||
      endpoint_->ReceiveFrame() != 0) {
    Break();
  }
}

bool ServeLink::SendDirect(const Request& request) {
  auto parts = Pin(request);
  if (!parts.ok()) return Answer(FrameKind::kDone, parts.code(), 0, true) && endpoint_->ReceiveFrame() == 0;
  return Answer(FrameKind::kData, Code::kOk, request.header.payload_bytes, false) &&
         endpoint_->SendBytes(*parts) == 0 && endpoint_->ReceiveFrame() == 0;
}

bool ServeLink::Answer(FrameKind kind, Code code, std::uint64_t payload_bytes, bool payload_in_slot) {
  FrameHeader header;
  header.kind = kind;
  header.request = last_request_;
  header.code = static_cast<std::int32_t>(code);
  header.payload_bytes = static_cast<std::uint32_t>(payload_bytes);
  std::memcpy(endpoint_->free_slot()->bytes, &header, sizeof(header));
  return endpoint_->SendAnswer(sizeof(header) + (payload_in_slot ? payload_bytes : 0)) == 0;
}

Result<std::span<const iovec>> ServeLink::Pin(const Request& request) {
  const std::lock_guard lock(offer_->mutex);
  if (const Code code = Check(*offer_, request); code != Code::kOk) return Error{code, ""};
  for (std::size_t i = 0; i < request.header.pieces; ++i) {
    const auto [offset, bytes] = request.piece(i);
    parts_[i] = {offer_->begin + offset, bytes};
  }
  ++offer_->pins;
  ++pins_;
  return std::span<const iovec>(parts_.data(), request.header.pieces);
}

void ServeLink::Unpin() {
  SAMPAN_ASSERT(pins_ > 0);
  --pins_;
  const std::lock_guard lock(offer_->mutex);
  if (--offer_->pins == 0) offer_->unpinned.notify_all();
}

Code ServeLink::Move(const Request& request, std::byte* reply) {
  const std::lock_guard lock(offer_->mutex);
  if (const Code code = Check(*offer_, request); code != Code::kOk) return code;
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
