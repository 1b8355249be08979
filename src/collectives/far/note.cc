// What a rank tells ranks of other hosts: each of its changes on the board.
#include "collectives/far/note.h"

#include <algorithm>
#include <cstring>

#include "hccl/group/byte_stream.h"

namespace sampan::collectives {
namespace {

using hccl::ByteReader;
using hccl::ByteWriter;

/// The larger one of both stays: notes may be applied in another order than they were told.
void Raise(std::atomic<u64>& word, u64 value) {
  for (u64 seen = word.load(); seen < value && !word.compare_exchange_weak(seen, value);) {
  }
}

void ApplyArrival(const WholeNote& whole, const Region& region) {
  const Note& note = whole.note;
  Entry& entry = region.entry(note.number, note.rank);
  entry.facts = note.facts;
  entry.far_send = note.send;
  entry.far_receive = note.receive;
  std::copy(whole.pieces.begin(), whole.pieces.end(), region.pieces(note.number, note.rank).begin());
  if (!whole.bytes.empty())
    std::memcpy(region.posted(note.number, note.rank), whole.bytes.data(), whole.bytes.size());
  Raise(region.cell(note.rank).begun, note.number);
  entry.arrived.store(note.number, std::memory_order_seq_cst);
}

void ApplyMessage(const Note& note, const Region& region) {
  Message& message = region.message(note.rank, note.peer, note.number);
  message.count = note.facts.count;
  message.type = note.facts.type;
  message.place = note.facts.place;
  message.far_send = note.send;
  message.arrived.store(note.number, std::memory_order_seq_cst);
}

void ApplyCall(const Note& note, const Region& region) {
  RankCell& cell = region.cell(note.rank);
  cell.last_call.store(note.packed_call);
  cell.last_place.store(note.facts.place);
  Raise(cell.called, note.number);
}

/// Whether this process is the first one on its host that has the note.
bool Claim(const Note& note, const Region& region) {
  u64 last = note.sequence - 1;
  return region.cell(note.rank).told.compare_exchange_strong(last, note.sequence);
}

}  // namespace

std::vector<u8> Encode(const WholeNote& whole) {
  ByteWriter out;
  out.Put(whole.note);
  out.Put(static_cast<u32>(whole.pieces.size()));
  for (const Piece& piece : whole.pieces)
    out.Put(piece);
  out.PutBytes(whole.bytes);
  return out.Take();
}

std::optional<WholeNote> DecodeNote(const std::vector<u8>& bytes) {
  ByteReader in(bytes);
  WholeNote whole{.note = in.Get<Note>()};
  const Note& note = whole.note;
  const u32 pieces = in.Get<u32>();
  if (!in.ok() || note.ranks == 0 || note.ranks > kMaxRanks || note.rank >= note.ranks ||
      note.peer >= note.ranks || note.sequence == 0 || (pieces != 0 && pieces != note.ranks))
    return std::nullopt;
  for (u32 i = 0; i < pieces; ++i)
    whole.pieces.push_back(in.Get<Piece>());
  whole.bytes = in.GetBytes();
  return in.ok() && whole.bytes.size() <= kPostedBytes ? std::optional(std::move(whole)) : std::nullopt;
}

void SetFailure(const Region& region, s32 code, const std::string& reason) noexcept {
  Failure& failure = region.failure();
  u32 none = Failure::kNone;
  if (failure.state.compare_exchange_strong(none, Failure::kWriting)) {
    const std::size_t bytes = std::min(reason.size(), sizeof(failure.text) - 1);
    std::memcpy(failure.text, reason.data(), bytes);
    failure.text[bytes] = '\0';
    failure.code.store(code);
    failure.state.store(Failure::kSet, std::memory_order_seq_cst);
  }
  for (u32 rank = 0; rank < region.ranks(); ++rank)
    WakeSleepers(region.cell(rank).bell);
}

void Apply(const WholeNote& whole, const Region& region) {
  const Note& note = whole.note;
  if (!Claim(note, region)) return;
  switch (note.kind) {
    case NoteKind::kMade:
      region.cell(note.rank).process.store(static_cast<s64>(note.number));
      break;
    case NoteKind::kCalled:
      ApplyCall(note, region);
      break;
    case NoteKind::kArrived:
      ApplyArrival(whole, region);
      break;
    case NoteKind::kEnded:
      Raise(region.entry(note.number, note.rank).ended, note.number);
      break;
    case NoteKind::kSent:
      ApplyMessage(note, region);
      break;
    case NoteKind::kTaken:
      Raise(region.message(note.peer, note.rank, note.number).taken, note.number);
      break;
    case NoteKind::kFailed:
      return SetFailure(region, note.code, whole.text());
    case NoteKind::kLeft:
      region.cell(note.rank).has_left.store(1);
      break;
    case NoteKind::kStands:  // no rank sleeps on it
      return region.cell(note.rank).standing.store(static_cast<u32>(note.number));
    default:
      return;  // a text, which each process keeps
  }
  for (u32 rank = 0; rank < region.ranks(); ++rank)
    WakeSleepers(region.cell(rank).bell);
}

bool Hear(u32 from, const std::vector<u8>& bytes, Board& board, FarRanks& far_ranks) {
  const auto whole = DecodeNote(bytes);
  const u32 ranks = board.whole().ranks();
  if (!whole || !far_ranks.IsFar(from) || whole->note.ranks > ranks) return false;
  const Note& note = whole->note;
  if (note.region == 0 && (note.rank != from || note.ranks != ranks)) return false;
  if (note.kind == NoteKind::kPlace) far_ranks.KeepPlace(from, note.facts.place, whole->text());
  Result<Region> region = note.region == 0 ? board.whole() : board.SubRegion(note.region, note.ranks);
  if (region.ok()) Apply(*whole, *region);
  return true;
}

}  // namespace sampan::collectives
