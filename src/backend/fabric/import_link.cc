// The importer's side of a connection: the handshake, then transfers in frames.
#include "backend/fabric/import_link.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "backend/fabric/interface.h"
#include "base/error/text.h"
#include "base/system/host_identity.h"

namespace sampan::fabric {
namespace {

/// Pieces from this size on are sent from where they are, if they are few. Smaller ones are gathered first.
constexpr std::uint64_t kMinDirectBytes = 16384;
/// Parts of a frame that libfabric takes, with the header.
constexpr std::size_t kMaxParts = 4;

bool IsDirect(std::span<const PeerPiece> pieces) {
  return pieces.size() < kMaxParts && std::all_of(pieces.begin(), pieces.end(), [](const PeerPiece& piece) {
           return piece.bytes >= kMinDirectBytes;
         });
}

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

ImportLink::ImportLink(Port& port, const PeerName& name, std::chrono::milliseconds limit, Opened opened)
    : port_(port), name_(name), limit_(limit), opened_(std::move(opened)) {}

std::string ImportLink::Peer() const {
  return Text("process ", name_.process, " on host ", sampan::fabric::Describe(name_.address));
}

void ImportLink::Begin() {
  auto nonce = RandomKey();
  if (!nonce.ok()) return Opening(nonce.TakeStatus());
  auto host = ThisHost();
  if (!host.ok()) return Opening(host.TakeStatus());
  hello_.cell = name_.cell;
  hello_.process = ::getpid();
  hello_.server = ServerNumber(*host);
  hello_.nonce = *nonce;
  if (Status connected = Connect(); !connected.ok()) Opening(std::move(connected));
}

Status ImportLink::Connect() {
  heard_ = Clock::now();
  auto route = port_.Route(name_.address);
  if (!route.ok()) return route.TakeStatus();
  auto endpoint = Endpoint::Make(port_, **route, *this);
  if (!endpoint.ok()) return endpoint.TakeStatus();
  endpoint_ = std::move(*endpoint);
  const int error = endpoint_->Connect(**route, std::as_bytes(std::span(&hello_, 1)));
  if (error == 0) return {};
  return {Code::kLostHeartbeat, Text(Peer(), " cannot be reached: ", port_.ErrorText(error))};
}

void ImportLink::Opening(Result<PeerMemoryFacts> result) {
  if (opened_ == nullptr) return;
  if (!result.ok() && broken_.empty()) broken_ = "the connection was never open";
  std::exchange(opened_, nullptr)(std::move(result));
}

void ImportLink::Close() {
  is_open_ = false;
  if (endpoint_ == nullptr) return;
  endpoint_->Close();
  closed_.push_back(std::move(endpoint_));
}

void ImportLink::MoveClosed(std::vector<std::unique_ptr<Endpoint>>& closed) {
  for (auto& each : closed_)
    closed.push_back(std::move(each));
  closed_.clear();
}

void ImportLink::OnRefused(int error, std::span<const std::byte> data) {
  if (is_open_) return Fail(port_.ErrorText(error));
  Close();
  Refusal refusal;
  if (!ReadPlain(data, refusal)) {
    return Opening(Error{Code::kLostHeartbeat, Text(Peer(), " cannot be reached: ", port_.ErrorText(error),
                                                    "; check that it runs, and that a connection to this "
                                                    "address is allowed")});
  }
  if (refusal.code != 0 || hello_.with_proof != 0) {
    const auto code =
        static_cast<Code>(refusal.code != 0 ? refusal.code : static_cast<int>(Code::kNoPermission));
    return Opening(Error{code == Code::kNoPermission ? code : Code::kParamInvalid,
                         code == Code::kNoPermission
                             ? Text(Peer(), " shares this with processes that it named, and ", ::getpid(),
                                    " is not one of them")
                             : Text(Peer(), " shares nothing under this handle or key, or no more")});
  }
  hello_.with_proof = 1;
  hello_.cookie = refusal.cookie;
  hello_.proof = ProofOfImporter(name_.secret, hello_);
  if (Status connected = Connect(); !connected.ok()) Opening(std::move(connected));
}

void ImportLink::OnConnected(std::span<const std::byte> data) {
  Welcome welcome;
  heard_ = Clock::now();
  if (!ReadPlain(data, welcome) || hello_.with_proof == 0 ||
      !SameDigest(welcome.proof, ProofOfOwner(name_.secret, hello_))) {
    return Fail("it does not know the handle's secret: another process listens there now");
  }
  is_open_ = true;
  Opening(welcome.facts);
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
         endpoint_->free_slot() != nullptr) {
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

std::vector<PeerPiece> ImportLink::TakePieces(PendingTransfer& pending) const {
  std::vector<PeerPiece> taken;
  const auto& pieces = pending.transfer.pieces;
  std::uint64_t room =
      pending.transfer.kind == PeerTransfer::Kind::kFill ? kMaxFillBytes : std::uint64_t{kMaxPayloadBytes};
  while (room > 0 && taken.size() < kMaxPieces && !pending.is_sent()) {
    PeerPiece piece = pieces[pending.piece];
    if (piece.local != nullptr) piece.local += pending.in_piece;
    piece.offset += pending.in_piece;
    piece.bytes = std::min(piece.bytes - pending.in_piece, room);
    room -= piece.bytes;
    pending.in_piece += piece.bytes;
    if (pending.in_piece == pieces[pending.piece].bytes) {
      ++pending.piece;
      pending.in_piece = 0;
    }
    taken.push_back(piece);
  }
  return taken;
}

int ImportLink::SendFrame(const std::shared_ptr<PendingTransfer>& pending) {
  std::vector<PeerPiece> pieces = TakePieces(*pending);
  std::byte* const frame = endpoint_->free_slot()->bytes;
  FrameHeader header;
  header.request = next_request_++;
  header.pieces = static_cast<std::uint32_t>(pieces.size());
  header.pattern = pending->transfer.pattern;
  const PeerTransfer::Kind kind = pending->transfer.kind;
  header.kind = KindOf(kind);
  std::byte* end = frame + sizeof(header);
  for (const PeerPiece& piece : pieces) {
    const FramePiece entry{piece.offset, piece.bytes};
    std::memcpy(end, &entry, sizeof(entry));
    end += sizeof(entry);
    header.payload_bytes += static_cast<std::uint32_t>(piece.bytes);
  }
  std::memcpy(frame, &header, sizeof(header));
  std::array<iovec, kMaxParts> parts;
  std::size_t part_count = 1;
  if (kind == PeerTransfer::Kind::kWrite) {
    const bool direct = IsDirect(pieces);
    for (const PeerPiece& piece : pieces) {
      if (direct) {
        parts[part_count++] = {piece.local, piece.bytes};
      } else {
        std::memcpy(end, piece.local, piece.bytes);
        end += piece.bytes;
      }
    }
  }
  parts[0] = {frame, static_cast<std::size_t>(end - frame)};
  if (in_flight_.empty()) heard_ = Clock::now();
  ++pending->frames_out;
  if (kind != PeerTransfer::Kind::kRead) pieces.clear();
  in_flight_.push_back({pending, std::move(pieces), header.payload_bytes});
  return endpoint_->Send({parts.data(), part_count});
}

void ImportLink::OnFrame(Endpoint::Slot& slot, std::size_t bytes) {
  heard_ = Clock::now();
  if (!Answer({slot.bytes, bytes})) return Fail("it does not keep to the protocol");
  if (endpoint_ == nullptr) return;
  if (const int error = endpoint_->Receive(slot); error != 0) return Fail(port_.ErrorText(error));
  SendFrames();
}

bool ImportLink::Answer(std::span<const std::byte> frame) {
  FrameHeader header;
  if (frame.size() < sizeof(header) || in_flight_.empty()) return false;
  std::memcpy(&header, frame.data(), sizeof(header));
  const std::span<const std::byte> payload = frame.subspan(sizeof(header));
  if (header.request != next_answer_++ || payload.size() != header.payload_bytes) return false;
  const auto code = static_cast<Code>(header.code);
  const bool is_read = in_flight_.front().transfer->transfer.kind == PeerTransfer::Kind::kRead;
  const bool with_data = is_read && code == Code::kOk;
  // Checked while the request is pending: a frame that breaks the rules fails all that is.
  if (header.kind != (with_data ? FrameKind::kData : FrameKind::kDone)) return false;
  if (payload.size() != (with_data ? in_flight_.front().bytes : 0)) return false;
  const InFlight request = std::move(in_flight_.front());
  in_flight_.pop_front();
  PendingTransfer& pending = *request.transfer;
  --pending.frames_out;
  if (code != Code::kOk) {
    if (pending.failure.ok())
      pending.failure = {code, Text(SubjectOf(pending.transfer), Peer(), ": ", MeaningOf(code))};
    pending.piece = pending.transfer.pieces.size();  // the rest is not sent
    std::erase(waiting_, request.transfer);
  } else if (is_read) {
    const std::byte* from = payload.data();
    for (const PeerPiece& piece : request.pieces) {
      std::memcpy(piece.local, from, piece.bytes);
      from += piece.bytes;
    }
  }
  EndIfDone(request.transfer);
  return true;
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
