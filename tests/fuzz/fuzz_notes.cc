// libFuzzer target: bytes become notes of a rank of another host, which change the board of this one.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "collectives/far/note.h"
#include "tests/fuzz/fuzz_descriptors.h"
#include "tests/fuzz/fuzz_input.h"

namespace sampan::fuzz {
namespace {

using collectives::Board;
using collectives::FarRanks;
using collectives::Note;
using collectives::NoteKind;
using collectives::Piece;
using collectives::Region;
using collectives::WholeNote;

/// Rank 0 lives here, the others on another host. Rank 2 is honest.
constexpr u32 kRanks = 3, kHostile = 1, kHonest = 2;
/// Rooms of the board that are watched: that of all ranks, and those of sub-communicators.
constexpr u64 kRooms = 3;
constexpr int kMaxSteps = 16;

struct alignas(collectives::kLineBytes) Line {
  std::array<std::byte, collectives::kLineBytes> bytes;
};

/// The bytes of a room at one time.
class Snapshot {
 public:
  explicit Snapshot(const Region& room) : lines_(Region::Bytes(kRanks) / sizeof(Line)) {
    std::memcpy(lines_.data(), &room.failure(), lines_.size() * sizeof(Line));
  }
  /// Without what a rank may change in the room of all ranks: its own part, and why the communicator is
  /// broken.
  Snapshot& WithoutPartOf(u32 rank) {
    const Region room(lines_.data()->bytes.data(), kRanks);
    Forget(&room.failure(), sizeof(collectives::Failure));
    Forget(&room.cell(rank), sizeof(collectives::RankCell));
    for (u64 slot = 0; slot < collectives::kSlots; ++slot)
      Forget(&room.entry(slot, rank), Region::EntryBytes(kRanks));
    for (u32 peer = 0; peer < kRanks; ++peer) {
      for (u64 slot = 0; slot < collectives::kChannelSlots; ++slot) {
        room.message(peer, rank, slot).taken.store(0);
        Forget(&room.message(rank, peer, slot), offsetof(collectives::Message, taken));
      }
    }
    return *this;
  }
  bool operator==(const Snapshot& other) const {
    return std::memcmp(lines_.data(), other.lines_.data(), lines_.size() * sizeof(Line)) == 0;
  }

 private:
  static void Forget(void* part, std::size_t bytes) { std::memset(part, 0, bytes); }

  std::vector<Line> lines_;
};
static_assert(Region::Bytes(kRanks) % sizeof(Line) == 0);

/// The board of this host.
class Host {
 public:
  Host() : far_ranks_({{.host = {}, .server = 0}, {.host = {}, .server = 1}, {.host = {}, .server = 1}}, 0) {
    auto board = Board::Create(kRanks);
    if (!board.ok()) FailInput("no board");
    board_ = std::move(*board);
    rooms_.push_back(board_->whole());
    for (u64 key = 1; key < kRooms; ++key)
      rooms_.push_back(*board_->SubRegion(key, kRanks));
  }

  const Region& whole() const { return rooms_.front(); }
  /// The one that is applied next.
  u64 NextSequence(const Note& note) const {
    if (note.region >= kRooms || note.rank >= kRanks || note.ranks == 0 || note.ranks > kRanks) return 1;
    // The layout depends on the number of ranks.
    const Region room(reinterpret_cast<std::byte*>(&rooms_[note.region].failure()), note.ranks);
    return room.cell(note.rank).told.load() + 1;
  }
  bool Hear(u32 from, const std::vector<u8>& bytes) {
    return collectives::Hear(from, bytes, *board_, far_ranks_);
  }
  /// What a note may not change, stays.
  void HearAndWatch(u32 from, const std::vector<u8>& bytes) {
    std::vector<Snapshot> before = Look();
    const bool heard = Hear(from, bytes);
    std::vector<Snapshot> after = Look();
    const auto whole = collectives::DecodeNote(bytes);
    if (heard && (!whole || from == 0)) FailInput("a note that is none, or of this host", from);
    const u64 room = whole ? whole->note.region : 0;
    if (heard && room == 0) {
      before[0].WithoutPartOf(from);
      after[0].WithoutPartOf(from);
    }
    for (u64 each = 0; each < kRooms; ++each) {
      const bool may_change = heard && room != 0 && each == room;
      if (!may_change && !(before[each] == after[each]))
        FailInput("a note changed another room or rank", room);
    }
  }
  std::string PlaceText(u32 rank, u64 place) const { return far_ranks_.PlaceText(rank, place); }

 private:
  std::vector<Snapshot> Look() const { return {rooms_.begin(), rooms_.end()}; }

  FarRanks far_ranks_;
  std::shared_ptr<Board> board_;
  std::vector<Region> rooms_;
};

/// A small number, or any.
u64 NumberFrom(Input& input, std::size_t below) {
  return input.Below(8) == 7 ? input.Long() : input.Below(below);
}

/// The sequence number fits more often than not.
std::vector<u8> NoteFrom(Input& input, const Host& host) {
  if (input.Below(8) == 7) {
    std::vector<u8> bytes(input.Short() % 600);
    for (u8& byte : bytes)
      byte = input.Byte();
    return bytes;
  }
  WholeNote whole;
  Note& note = whole.note;
  note.kind = static_cast<NoteKind>(NumberFrom(input, 12));
  note.rank = input.Below(4) == 3 ? static_cast<u32>(NumberFrom(input, 4)) : kHostile;
  note.ranks = input.Below(4) == 3 ? static_cast<u32>(NumberFrom(input, 5)) : kRanks;
  note.region = input.Below(2) == 0 ? 0 : NumberFrom(input, kRooms + 1);
  note.sequence = input.Below(8) == 7 ? input.Long() : host.NextSequence(note);
  note.number = NumberFrom(input, 80);
  note.peer = static_cast<u32>(NumberFrom(input, 4));
  note.code = static_cast<s32>(NumberFrom(input, 30));
  note.packed_call = input.Long();
  note.facts = {.kind = input.Byte(), .type = input.Byte(), .count = input.Long(), .place = input.Byte()};
  note.send.key.fill(static_cast<char>(input.Byte()));
  whole.pieces.resize(input.Below(4) == 3 ? input.Below(6) : 0, {input.Byte(), input.Byte()});
  whole.bytes.assign(input.Below(4) == 3 ? collectives::kPostedBytes + input.Below(2) : input.Byte(),
                     input.Byte() | 1);
  std::vector<u8> bytes = Encode(whole);
  if (input.Below(8) == 7) bytes[input.Short() % bytes.size()] ^= static_cast<u8>(1 + input.Below(255));
  if (input.Below(8) == 7) bytes.resize(bytes.size() * input.Byte() / 256);
  return bytes;
}

void Expect(bool right, const char* what) {
  if (!right) FailInput(what);
}

/// What the honest rank tells, arrives whole.
void TellHonestly(Host& host) {
  constexpr u64 kNumber = 40;
  u64 sequence = 0;
  const auto tell = [&](Note note, std::vector<Piece> pieces = {}, std::vector<u8> bytes = {}) {
    note.rank = kHonest;
    note.ranks = kRanks;
    note.sequence = ++sequence;
    Expect(host.Hear(kHonest, collectives::Encode({note, std::move(pieces), std::move(bytes)})),
           "an honest note is refused");
  };
  const collectives::CallFacts facts{.kind = 3, .type = 4, .count = 5, .place = 6};
  const std::vector<Piece> pieces = {{1, 2}, {3, 4}, {5, 6}};
  const std::vector<u8> posted(collectives::kPostedBytes, 0x5A);
  tell({.kind = NoteKind::kMade, .number = 77});
  tell({.kind = NoteKind::kCalled, .number = 9, .packed_call = 8, .facts = facts});
  tell({.kind = NoteKind::kArrived, .number = kNumber, .facts = facts}, pieces, posted);
  tell({.kind = NoteKind::kSent, .number = kNumber, .peer = 0, .facts = facts});
  tell({.kind = NoteKind::kTaken, .number = kNumber, .peer = 0});
  tell({.kind = NoteKind::kEnded, .number = kNumber});
  tell({.kind = NoteKind::kStands, .number = 7});
  tell({.kind = NoteKind::kLeft});
  const Region& room = host.whole();
  const collectives::RankCell& cell = room.cell(kHonest);
  Expect(cell.process == 77 && cell.last_call == 8 && cell.last_place == 6 && cell.called == 9 &&
             cell.begun == kNumber && cell.standing == 7 && cell.has_left == 1,
         "what an honest rank called");
  const collectives::Entry& entry = room.entry(kNumber, kHonest);
  const auto told = room.pieces(kNumber, kHonest);
  Expect(entry.arrived == kNumber && entry.ended == kNumber && entry.facts.count == 5 &&
             std::equal(
                 pieces.begin(), pieces.end(), told.begin(), told.end(),
                 [](const Piece& a, const Piece& b) { return a.offset == b.offset && a.count == b.count; }) &&
             std::memcmp(room.posted(kNumber, kHonest), posted.data(), posted.size()) == 0,
         "where an honest rank arrived");
  Expect(room.message(kHonest, 0, kNumber).arrived == kNumber &&
             room.message(kHonest, 0, kNumber).count == 5 &&
             room.message(0, kHonest, kNumber).taken == kNumber,
         "messages of an honest rank");
}

void FuzzNotes(Input input) {
  Host host;
  for (int step = 0; step < kMaxSteps && !input.empty(); ++step) {
    const u32 from = input.Below(8) == 7 ? 0 : kHostile;
    host.HearAndWatch(from, NoteFrom(input, host));
  }
  TellHonestly(host);
}

}  // namespace
}  // namespace sampan::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sampan::fuzz::FuzzNotes(sampan::fuzz::Input({data, size}));
  sampan::fuzz::CheckDescriptorCount();
  return 0;
}
