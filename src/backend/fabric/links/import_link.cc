// The importer's side of a connection: transfers in frames.
#include "backend/fabric/links/import_link.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "backend/fabric/provider/kept_sockets.h"
#include "base/error/text.h"
#include "base/network/interface.h"

namespace sampan::fabric {
namespace {

/// Long pieces travel in messages of this length over a slow network.
constexpr std::uint64_t kMinDirectMessage = std::uint64_t{1} << 20;

/// The next pieces of a transfer, as many as a frame holds.
struct FrameLoad {
  std::vector<PeerPiece> pieces;
  std::uint64_t bytes = 0;
  bool direct = true;
};

FrameLoad TakeLoad(PendingTransfer& pending, std::uint64_t max_direct_bytes) {
  FrameLoad load;
  const auto& pieces = pending.transfer.pieces;
  load.direct = false;
  if (pieces.empty()) return load;  // a signal
  const bool fill = pending.transfer.kind == PeerTransfer::Kind::kFill;
  const auto left = [&] { return pieces[pending.piece].bytes - pending.in_piece; };
  load.direct = !fill && left() >= kMinDirectBytes;
  load.pieces.reserve(std::min(kMaxPieces, pieces.size() - pending.piece));
  const std::uint64_t max_bytes = fill ? kMaxFillBytes : load.direct ? max_direct_bytes : kMaxPayloadBytes;
  const std::size_t max_pieces = load.direct ? kMaxDirectPieces : kMaxPieces;
  while (load.bytes < max_bytes && load.pieces.size() < max_pieces && !pending.is_sent()) {
    if (!fill && (left() >= kMinDirectBytes) != load.direct) break;
    // What remains of a frame is not filled with less than travels direct.
    if (load.direct && max_bytes - load.bytes < kMinDirectBytes) break;
    PeerPiece piece = pieces[pending.piece];
    if (piece.local != nullptr) piece.local += pending.in_piece;
    piece.offset += pending.in_piece;
    piece.bytes = std::min(left(), max_bytes - load.bytes);
    load.bytes += piece.bytes;
    pending.in_piece += piece.bytes;
    if (pending.in_piece == pieces[pending.piece].bytes) {
      ++pending.piece;
      pending.in_piece = 0;
    }
    load.pieces.push_back(piece);
  }
  return load;
}

/// The local ends of direct pieces.
class LocalParts {
 public:
  explicit LocalParts(std::span<const PeerPiece> pieces) : count_(pieces.size()) {
    for (std::size_t i = 0; i < count_; ++i)
      parts_[i] = {pieces[i].local, pieces[i].bytes};
  }
  std::span<const iovec> get() const { return {parts_.data(), count_}; }

 private:
  std::array<iovec, kMaxDirectPieces> parts_;
  std::size_t count_;
};

FrameKind KindOf(PeerTransfer::Kind kind) {
  switch (kind) {
    case PeerTransfer::Kind::kWrite:
      return FrameKind::kWrite;
    case PeerTransfer::Kind::kRead:
      return FrameKind::kRead;
    case PeerTransfer::Kind::kFill:
      return FrameKind::kFill;
    case PeerTransfer::Kind::kSignal:
      break;
  }
  return FrameKind::kSignal;
}

std::string_view SubjectOf(const PeerTransfer& transfer) {
  return transfer.kind == PeerTransfer::Kind::kSignal ? "a notify of " : "memory of ";
}

std::string MeaningOf(Code code) {
  switch (code) {
    case Code::kSdmaCopyError:
      return "its owner has freed it";
    case Code::kNoPermission:
      return "it may only be read";
    case Code::kParamInvalid:
      return "the range leaves it";
    default:
      return Text("its owner answers ", static_cast<int>(code));
  }
}

}  // namespace

ImportLink::ImportLink(Port& port, ClosedEndpoints& closed, const PeerName& name, Admission admission,
                       std::chrono::milliseconds limit, Opened opened)
    : port_(port),
      closed_(closed),
      name_(name),
      admission_(std::move(admission)),
      limit_(limit),
      opened_(std::move(opened)),
      max_direct_bytes_(kMinDirectMessage) {}

std::string ImportLink::Peer() const {
  return Text("process ", name_.process, " on host ", sampan::Describe(name_.address));
}

void ImportLink::Begin() {
  if (Status connected = Connect(); !connected.ok()) Opening(std::move(connected));
}

Status ImportLink::Connect() {
  heard_ = Clock::now();
  auto route = port_.Route(admission_.fabric, admission_.local);
  if (!route.ok()) return route.TakeStatus();
  auto endpoint = Endpoint::Make(port_, **route, *this);
  if (!endpoint.ok()) return endpoint.TakeStatus();
  endpoint_ = std::move(*endpoint);
  PrepareSockets(admission_.local);
  const Key& ticket = admission_.welcome.ticket;
  const int error = endpoint_->Connect(**route, std::as_bytes(std::span(&ticket, 1)));
  if (error == 0) return {};
  return {Code::kLostHeartbeat, Text(Peer(), " cannot be reached: ", port_.ErrorText(error))};
}

void ImportLink::Opening(Status status) {
  if (opened_ == nullptr) return;
  admission_.place.Close();
  if (!status.ok() && broken_.empty()) broken_ = "the connection was never open";
  std::exchange(opened_, nullptr)(std::move(status));
}

void ImportLink::Close() {
  is_open_ = false;
  if (endpoint_ == nullptr) return;
  endpoint_->Close();
  closed_.push_back(std::move(endpoint_));
}

void ImportLink::OnConnected() {
  heard_ = Clock::now();
  is_open_ = true;
  Opening({});
}

void ImportLink::OnShutDown() {
  Fail("the process has exited, or closed the connection");
}

void ImportLink::OnBroken(int error) {
  // Cancelled by libfabric, because the connection is closed.
  if (error == ECANCELED) return OnShutDown();
  Fail(port_.ErrorText(error));
}

void ImportLink::Start(PeerTransfer transfer, std::function<void(Status)> done) {
  if (!broken_.empty() || !is_open_) {
    return done({Code::kLostHeartbeat, Text(Peer(), " is lost: ", broken_, "; import it again")});
  }
  auto pending = std::make_shared<PendingTransfer>();
  pending->transfer = std::move(transfer);
  pending->done = std::move(done);
  waiting_.push_back(std::move(pending));
  SendFrames();
}

void ImportLink::SendFrames() {
  while (is_open_ && !waiting_.empty() && in_flight_.size() < Endpoint::kSlots &&
         bytes_in_flight_ <= kMaxDirectBytes) {
    // A frame of each in turn, so that a long transfer does not hold up a short one.
    const std::shared_ptr<PendingTransfer> transfer = std::move(waiting_.front());
    waiting_.pop_front();
    if (const int error = SendFrame(transfer); error != 0) {
      waiting_.push_back(transfer);
      return Fail(port_.ErrorText(error));
    }
    if (!transfer->is_sent()) waiting_.push_back(transfer);
  }
}

int ImportLink::SendFrame(const std::shared_ptr<PendingTransfer>& pending) {
  FrameLoad load = TakeLoad(*pending, max_direct_bytes_);
  const bool write = pending->transfer.kind == PeerTransfer::Kind::kWrite;
  std::byte* const frame = endpoint_->free_slot()->bytes;
  FrameHeader header;
  header.kind = KindOf(pending->transfer.kind);
  header.request = next_request_++;
  header.pieces = static_cast<std::uint32_t>(load.pieces.size());
  header.payload_bytes = static_cast<std::uint32_t>(load.bytes);
  header.pattern = pending->transfer.pattern;
  std::memcpy(frame, &header, sizeof(header));
  std::byte* end = frame + sizeof(header);
  for (const PeerPiece& piece : load.pieces) {
    const FramePiece entry{piece.offset, piece.bytes};
    std::memcpy(end, &entry, sizeof(entry));
    end += sizeof(entry);
  }
  for (const PeerPiece& piece : load.pieces) {
    if (!write || load.direct) break;
    std::memcpy(end, piece.local, piece.bytes);
    end += piece.bytes;
  }
  if (in_flight_.empty()) heard_ = Clock::now();
  bytes_in_flight_ += load.bytes;
  ++pending->frames_out;
  Endpoint::Slot* slot = nullptr;
  int error = endpoint_->SendRequest(static_cast<std::size_t>(end - frame), slot);
  const bool sends_direct = write && load.direct;
  if (error == 0 && sends_direct) error = endpoint_->SendBytes(LocalParts(load.pieces).get());
  if (pending->transfer.kind != PeerTransfer::Kind::kRead) load.pieces.clear();
  std::uint64_t wire_bytes = static_cast<std::uint64_t>(end - frame) + sizeof(FrameHeader);  // of the answer
  if (pending->transfer.kind == PeerTransfer::Kind::kRead || sends_direct) wire_bytes += load.bytes;
  in_flight_.push_back(
      {pending, std::move(load.pieces), load.bytes, wire_bytes, load.direct, slot, sends_direct, {}});
  return error;
}

void ImportLink::Hear() {
  const Deadline now = Clock::now();
  // A message is not longer than what arrives well within the limit.
  max_direct_bytes_ = now - heard_ < limit_ / 32 ? kMaxDirectBytes : kMinDirectMessage;
  heard_ = now;
}

void ImportLink::OnFrame(std::span<const std::byte> frame) {
  Hear();
  if (!Answer(frame)) Fail("it does not keep to the protocol");
}

void ImportLink::OnBytes(std::size_t count) {
  Hear();
  if (in_flight_.empty() || count != in_flight_.front().bytes)
    return Fail("it does not keep to the protocol");
  EndOldest(Code::kOk);
  GoOn();
}

void ImportLink::OnBytesSent() {
  Hear();  // the other side takes bytes
  const auto sent = std::find_if(in_flight_.begin(), in_flight_.end(),
                                 [](const InFlight& each) { return each.is_sending; });
  if (sent == in_flight_.end()) return;
  sent->is_sending = false;
  if (!sent->code) return;
  EndOldest(*sent->code);
  GoOn();
}

bool ImportLink::Answer(std::span<const std::byte> frame) {
  FrameHeader header;
  if (frame.size() < sizeof(header) || in_flight_.empty()) return false;
  std::memcpy(&header, frame.data(), sizeof(header));
  if (header.request != next_answer_++) return false;
  InFlight& request = in_flight_.front();
  const auto code = static_cast<Code>(header.code);
  const std::span<const std::byte> payload = frame.subspan(sizeof(header));
  const bool has_data = code == Code::kOk && request.transfer->transfer.kind == PeerTransfer::Kind::kRead;
  if (header.kind != (has_data ? FrameKind::kData : FrameKind::kDone)) return false;
  if (header.payload_bytes != (has_data ? request.bytes : 0)) return false;
  if (payload.size() != (request.direct ? 0 : header.payload_bytes)) return false;
  if (has_data && request.direct) {
    if (const int error = endpoint_->ReceiveBytes(LocalParts(request.pieces).get()); error != 0)
      Fail(port_.ErrorText(error));
    return true;
  }
  if (has_data) {
    const std::byte* from = payload.data();
    for (const PeerPiece& piece : request.pieces) {
      std::memcpy(piece.local, from, piece.bytes);
      from += piece.bytes;
    }
  }
  // A hostile owner may answer early. Memory that is still read must not be given back to the program.
  if (request.is_sending) {
    request.code = code;
    return true;
  }
  EndOldest(code);
  GoOn();
  return true;
}

void ImportLink::EndOldest(Code code) {
  const InFlight request = std::move(in_flight_.front());
  in_flight_.pop_front();
  bytes_in_flight_ -= request.bytes;
  if (request.slot != nullptr && endpoint_ != nullptr) endpoint_->Free(request.slot);
  PendingTransfer& pending = *request.transfer;
  --pending.frames_out;
  if (pending.transfer.wire_bytes != nullptr) *pending.transfer.wire_bytes += request.wire_bytes;
  if (code != Code::kOk) {
    if (pending.failure.ok())
      pending.failure = {code, Text(SubjectOf(pending.transfer), Peer(), ": ", MeaningOf(code))};
    pending.piece = pending.transfer.pieces.size();  // the rest is not sent
    std::erase(waiting_, request.transfer);
  }
  EndIfDone(request.transfer);
}

void ImportLink::GoOn() {
  if (endpoint_ == nullptr) return;
  if (const int error = endpoint_->ReceiveFrame(); error != 0) return Fail(port_.ErrorText(error));
  SendFrames();
}

void ImportLink::EndIfDone(const std::shared_ptr<PendingTransfer>& transfer) {
  if (!transfer->is_sent() || transfer->frames_out != 0 || transfer->done == nullptr) return;
  std::exchange(transfer->done, nullptr)(std::move(transfer->failure));
}

Deadline ImportLink::deadline() const {
  const bool waits = (opened_ != nullptr && broken_.empty()) || !in_flight_.empty();
  return waits ? heard_ + limit_ : kNever;
}

void ImportLink::OnTimeOver() {
  const auto seconds = std::chrono::duration_cast<std::chrono::milliseconds>(limit_).count();
  Fail(Text("no answer for ", seconds, " ms: the network is cut, or the process is stopped"));
}

void ImportLink::Fail(std::string why) {
  if (!broken_.empty()) return;
  broken_ = std::move(why);
  // Closed first: nothing is sent from a transfer's memory once its end was told.
  Close();
  Opening(Error{Code::kLostHeartbeat, Text(Peer(), ": ", broken_)});
  std::deque<std::shared_ptr<PendingTransfer>> ended = std::move(waiting_);
  for (InFlight& each : in_flight_)
    ended.push_back(std::move(each.transfer));
  waiting_.clear();
  in_flight_.clear();
  bytes_in_flight_ = 0;
  for (const auto& each : ended) {
    if (each->done == nullptr) continue;
    std::exchange(each->done,
                  nullptr)({Code::kLostHeartbeat,
                            Text(each->transfer.kind == PeerTransfer::Kind::kSignal ? "a signal failed with "
                                                                                    : "a copy failed with ",
                                 Peer(), ": ", broken_)});
  }
}

}  // namespace sampan::fabric
