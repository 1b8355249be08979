// An operator in which all ranks of a communicator take part: its steps.
#include "collectives/operators/collective.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error/text.h"

namespace sampan::collectives {
namespace {

bool IsPushed(OperatorKind kind) {
  return kind == OperatorKind::kAllGather || kind == OperatorKind::kAllGatherV;
}
bool IsFetched(OperatorKind kind) {
  return kind == OperatorKind::kReduceScatter || kind == OperatorKind::kReduceScatterV ||
         kind == OperatorKind::kScatter;
}

Status CheckHeld(const DeviceRange& range) {
  return range.held == nullptr ? Status() : range.held->CheckLive();
}

}  // namespace

Collective::Collective(std::shared_ptr<Communicator> communicator, CollectiveCall&& call, u64 number)
    : Operation(std::move(communicator), call.facts),
      call_(std::move(call)),
      number_(number),
      moved_bytes_(BytesToMove()),
      posted_bytes_(BytesToPost()) {}

u64 Collective::BytesToMove() const {
  const u64 all = std::max(call_.send_bytes, call_.receive_bytes);
  switch (static_cast<OperatorKind>(call_.facts.kind)) {
    case OperatorKind::kAllReduce:
    case OperatorKind::kBroadcast:
    case OperatorKind::kReduce:
      return 2 * all / size();
    default:
      return all;
  }
}

const char* Collective::Algorithm() const noexcept {
  return posted_bytes_ != 0 ? "posted with the facts" : Operation::Algorithm();
}

std::string Collective::Name() const {
  return Text("operator number ", number_, " (", sampan::collectives::Describe(facts()), ") of ",
              communicator().Describe());
}

bool Collective::TurnCame() const noexcept {
  for (u32 other = 0; other < size(); ++other)  // what the next operator asks
    __builtin_prefetch(&communicator().region().entry(number_ + 1, other).ended);
  if (number_ <= kSlots) return true;
  for (u32 other = 0; other < size(); ++other) {
    if (EntryOf(other).ended.load(std::memory_order_acquire) + kSlots < number_) return false;
  }
  return true;
}

Status Collective::ShareWithFar() {
  if (!communicator().has_far() || posted_bytes_ != 0) return {};
  if (Status sent = Export(call_.send, call_.send_bytes, far_send_); !sent.ok()) return sent;
  return Export(call_.receive, call_.receive_bytes, far_receive_);
}

Status Collective::Publish() {
  for (const DeviceRange* range : {&call_.send, &call_.receive}) {
    if (Status live = CheckHeld(*range); !live.ok())
      return {live.code(), Text(Name(), " on rank ", rank(), ": ", live.error().message)};
  }
  Entry& entry = EntryOf(rank());
  entry.facts = call_.facts;
  if (posted_bytes_ != 0)
    Post();
  else if (Status published = PublishBuffers(entry); !published.ok())
    return published;
  RankCell& cell = communicator().own_cell();
  if (cell.begun.load(std::memory_order_relaxed) < number_)
    cell.begun.store(number_, std::memory_order_relaxed);
  entry.arrived.store(number_, std::memory_order_seq_cst);
  communicator().WakeAll();
  if (communicator().has_far()) TellArrival();
  return {};
}

void Collective::TellArrival() const {
  const std::byte* const posted = communicator().region().posted(number_, rank());
  communicator().Tell({.kind = NoteKind::kArrived,
                       .number = number_,
                       .facts = call_.facts,
                       .send = far_send_,
                       .receive = far_receive_},
                      call_.published,
                      {reinterpret_cast<const u8*>(posted), static_cast<std::size_t>(posted_bytes_)});
}

Status Collective::PublishBuffers(Entry& entry) {
  if (NeedsStaging() && IsPushed(static_cast<OperatorKind>(facts().kind))) {
    staging_.resize(call_.send_bytes);
    std::byte* const staging = staging_.data();
    Status staged = CopyToAll(call_.send.engine, Places(&staging, 1), call_.send_bytes, false);
    if (!staged.ok()) return staged;
  }
  entry.send = Shared(call_.send, call_.send_bytes);
  entry.receive = Shared(call_.receive, call_.receive_bytes);
  const auto pieces = communicator().region().pieces(number_, rank());
  std::copy(call_.published.begin(), call_.published.end(), pieces.begin());
  announced_ = {communicator().Announce(call_.send, call_.send_bytes),
                communicator().Announce(call_.receive, call_.receive_bytes)};
  return {};
}

bool Collective::PeersCame() const noexcept {
  for (u32 other = 0; other < size(); ++other) {
    if (EntryOf(other).arrived.load(std::memory_order_seq_cst) >= number_) continue;
    NoteMissing(other);
    return false;
  }
  return true;
}

bool Collective::PeersEnded() const noexcept {
  if (posted_bytes_ != 0) return true;  // no other rank needs this one's memory, or writes into it
  for (u32 other = 0; other < size(); ++other) {
    if (EntryOf(other).ended.load(std::memory_order_seq_cst) < number_) return false;
  }
  return true;
}

bool Collective::IsMissing(u32 other, Hold hold) const noexcept {
  const Entry& entry = EntryOf(other);
  const u64 reached = hold == Hold::kTurn    ? entry.ended.load() + kSlots
                      : hold == Hold::kPeers ? entry.arrived.load()
                                             : entry.ended.load();
  return reached < number_;
}

std::string Collective::Missing(Hold hold) const {
  std::string text;
  for (u32 other = 0; other < size(); ++other) {
    if (IsMissing(other, hold)) text += Text(text.empty() ? "" : "; ", communicator().DescribeRank(other));
  }
  return text.empty() ? "all ranks came at the last moment" : text;
}

std::vector<StreamWork::Access> Collective::Accesses() const {
  std::vector<Access> all;
  if (call_.send.held != nullptr)
    all.push_back({call_.send.held.get(), call_.send.engine, call_.send_bytes, false});
  if (call_.receive.held != nullptr)
    all.push_back({call_.receive.held.get(), call_.receive.engine, call_.receive_bytes, true});
  return all;
}

CallFacts Collective::FactsOf(u32 rank) const {
  return rank == this->rank() ? call_.facts : EntryOf(rank).facts;
}

Status Collective::Disagreement(u32 other, const char* parameter) const {
  const auto call_of = [&](u32 rank) {
    const CallFacts its = FactsOf(rank);
    return Text(communicator().NameRank(rank), " called ", sampan::collectives::Describe(its),
                communicator().DescribePlace(rank, its.place));
  };
  return {Code::kParamInvalid,
          Text("EI0005: ranks disagree in operator number ", number_, " of ", communicator().Describe(), ": ",
               std::string_view(parameter), ": ", call_of(0), ", ", call_of(other))};
}

Status Collective::CheckAgreement() const {
  const CallFacts mine = FactsOf(0);
  for (u32 other = 1; other < size(); ++other) {
    const CallFacts theirs = FactsOf(other);
    if (mine.kind != theirs.kind) return Disagreement(other, "the operator differs");
    if (mine.count != theirs.count) return Disagreement(other, "the count differs");
    if (mine.type != theirs.type) return Disagreement(other, "the data type differs");
    if (mine.operation != theirs.operation) return Disagreement(other, "the reduce operation differs");
    if (mine.root != theirs.root) return Disagreement(other, "the root differs");
    if (mine.digest != theirs.digest) return Disagreement(other, "the arrays of counts differ");
  }
  return {};
}

Piece Collective::PieceOf(u32 other) const {
  if (call_.published.empty()) return {rank() * facts().count, facts().count};
  return other == rank() ? call_.published[rank()] : communicator().region().pieces(number_, other)[rank()];
}

Status Collective::CheckPiece(u32 other, const Piece& piece) const {
  if (call_.expected.empty() || piece.count == call_.expected[other].count) return {};
  return {
      Code::kParamInvalid,
      Text("EI0005: ranks disagree in ", Name(), ": ", communicator().NameRank(other), " has ", piece.count,
           " elements for rank ", rank(), communicator().DescribePlace(other, FactsOf(other).place), "; ",
           communicator().NameRank(rank()), " expects ", call_.expected[other].count,
           communicator().DescribePlace(rank(), facts().place))};
}

Collective::Needs Collective::NeedsOf(u32 other, const Piece& piece) const {
  const u64 all = facts().count * call_.element_bytes;
  const u64 to_piece_end = piece.count == 0 ? 0 : (piece.offset + piece.count) * call_.element_bytes;
  switch (static_cast<OperatorKind>(facts().kind)) {
    case OperatorKind::kAllReduce:
      return {.send = all, .receive = all};
    case OperatorKind::kReduce:
      return {.send = all, .receive = other == facts().root ? all : 0};
    case OperatorKind::kBroadcast:
    case OperatorKind::kBarrier:
      return {.send = 0, .receive = all};
    case OperatorKind::kAllGather:
    case OperatorKind::kAllGatherV:
      return {.send = 0, .receive = to_piece_end};
    case OperatorKind::kScatter:
      return {.send = other == facts().root ? to_piece_end : 0, .receive = 0};
    default:
      return {.send = to_piece_end, .receive = 0};
  }
}

Result<std::byte*> Collective::Resolve(u32 other, const SharedRange& range, const FarRange& far, u64 needed) {
  if (needed == 0) return nullptr;
  const bool is_far = communicator().IsFar(other);
  const u64 shared = is_far ? far.bytes : range.bytes;
  if (needed <= shared) return is_far ? ResolveFar(other, far) : communicator().Resolve(other, range);
  return Error{Code::kTaskTimeout,
               Text(Name(), " needs ", needed, " bytes of ", communicator().NameRank(other),
                    ", which shares ", shared, " bytes: its part of the board has wrong contents")};
}

Status Collective::Find(u32 other, Buffers& buffers) {
  const Piece piece = PieceOf(other);
  if (Status agreed = CheckPiece(other, piece); !agreed.ok()) return agreed;
  // No caller may name so many elements, and products of fewer do not overflow.
  constexpr u64 kMaxElements = u64{1} << 40;
  if (piece.offset > kMaxElements || piece.count > kMaxElements) {
    return {Code::kTaskTimeout,
            Text(Name(), ": ", communicator().NameRank(other), " has ", piece.count, " elements at ",
                 piece.offset, " for this rank: its part of the board has wrong contents")};
  }
  const Needs needs = NeedsOf(other, piece);
  const Entry& entry = EntryOf(other);
  const SharedRange send_range = entry.send, receive_range = entry.receive;
  const bool is_far = communicator().IsFar(other);
  const FarRange far_send = is_far ? entry.far_send : FarRange();
  const FarRange far_receive = is_far ? entry.far_receive : FarRange();
  auto send = Resolve(other, send_range, far_send, needs.send);
  if (!send.ok()) return send.TakeStatus();
  auto receive = Resolve(other, receive_range, far_receive, needs.receive);
  if (!receive.ok()) return receive.TakeStatus();
  buffers.send[other] = *send;
  buffers.receive[other] = *receive;
  buffers.pieces[other] = piece;
  return {};
}

Result<Collective::Buffers> Collective::FindBuffers() {
  Buffers buffers{.send = std::vector<std::byte*>(size()),
                  .receive = std::vector<std::byte*>(size()),
                  .pieces = std::vector<Piece>(size())};
  for (u32 other = 0; other < size(); ++other) {
    if (other == rank()) continue;
    if (Status found = Find(other, buffers); !found.ok()) return found;
  }
  buffers.send[rank()] = call_.send.engine;
  buffers.receive[rank()] = call_.receive.engine;
  buffers.pieces[rank()] = PieceOf(rank());
  if (Status agreed = CheckPiece(rank(), buffers.pieces[rank()]); !agreed.ok()) return agreed;
  return buffers;
}

Status Collective::MoveData() {
  if (Status agreed = CheckAgreement(); !agreed.ok()) return agreed;
  if (posted_bytes_ != 0) {
    RunPosted();
  } else {
    const PeerAccess access(communicator(), EntryOf(rank()).moving, number_);
    if (Status may = access.Check(); !may.ok()) return may;
    auto buffers = FindBuffers();
    if (!buffers.ok()) return buffers.TakeStatus();
    if (Status moved = Run(*buffers); !moved.ok()) return moved;
  }
  EntryOf(rank()).ended.store(number_, std::memory_order_seq_cst);
  communicator().WakeAll();
  if (communicator().has_far()) communicator().Tell({.kind = NoteKind::kEnded, .number = number_});
  return {};
}

KeptMemory Collective::TakeMemory() {
  KeptMemory memory{.held = {std::move(call_.send.held), std::move(call_.receive.held)}, .is_free = {}};
  announced_ = {};
  memory.is_free = [communicator = shared(), number = number_] {
    for (u32 other = 0; other < communicator->size(); ++other) {
      if (communicator->region().entry(number, other).moving.load(std::memory_order_seq_cst) == number &&
          !communicator->IsGone(other))
        return false;
    }
    return true;
  };
  return memory;
}

void Collective::Finish() noexcept {
  if (staged_output_ != nullptr) {
    const Status placed = CopyToAll(staging_.data(), Places(&staged_output_, 1), staging_.size(), false);
    if (!placed.ok()) communicator().Break(HCCL_E_RUNTIME, placed.error().message);
  }
  staged_output_ = nullptr;
  announced_ = {};
  call_.send.held.reset();
  call_.receive.held.reset();
}

bool Collective::NeedsStaging() const {
  const auto kind = static_cast<OperatorKind>(facts().kind);
  if (!IsPushed(kind) && !IsFetched(kind)) return false;
  const std::byte* const send = call_.send.engine;
  const std::byte* const receive = call_.receive.engine;
  if (send == nullptr || receive == nullptr) return false;
  if (send + call_.send_bytes <= receive || receive + call_.receive_bytes <= send) return false;
  // In place at the own block, no other rank touches what this rank needs.
  const u64 own = call_.published.empty() ? rank() * facts().count : call_.published[rank()].offset;
  return IsPushed(kind) ? send != receive + own * call_.element_bytes
                        : receive != send + own * call_.element_bytes;
}

}  // namespace sampan::collectives
