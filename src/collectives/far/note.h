// What a rank tells ranks of other hosts: each of its changes on the board.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "collectives/board/board.h"
#include "collectives/far/far_ranks.h"

namespace sampan::collectives {

enum class NoteKind : u32 {
  kMade = 1,  ///< its communicator; `number` is its process
  kPlace,     ///< the text of a place in its program
  kCalled,    ///< an operator
  kArrived,   ///< at the operator `number`: facts, memory, pieces, and what it posts
  kEnded,     ///< the operator `number`
  kSent,      ///< the message `number` to `peer`: its count and type are in the facts
  kTaken,     ///< the message `number` from `peer`
  kFailed,    ///< with `code`, and why
  kLeft,      ///< its communicator
  kStands,    ///< its process does: `number` as StreamWork::TellStanding
};

/// Plain data.
struct Note {
  NoteKind kind{};
  u32 rank = 0, ranks = 1;  ///< who tells it: its number in its communicator, and the size of that
  u64 region = 0;           ///< of the board: 0, or the key of a sub-communicator
  u64 sequence = 0;         ///< from 1: of the rank's notes in the communicator
  u64 number = 0;
  u32 peer = 0;
  s32 code = 0;
  u64 packed_call = 0;  ///< of kCalled
  CallFacts facts{};
  FarRange send{}, receive{};
};

/// A note with what has no fixed length.
struct WholeNote {
  Note note;
  std::vector<Piece> pieces{};
  std::vector<u8> bytes{};  ///< posted bytes, or a text: at most kPostedBytes

  std::string text() const { return {bytes.begin(), bytes.end()}; }
};

std::vector<u8> Encode(const WholeNote& whole);
/// Nothing if the bytes are no note, or one with impossible numbers.
std::optional<WholeNote> DecodeNote(const std::vector<u8>& bytes);

/// Changes the region as the note says, and wakes its ranks. All members on this host get the note, and the
/// first one applies it.
void Apply(const WholeNote& whole, const Region& region);

/// What a rank of the whole communicator tells: keeps it, and applies it. Returns false if no rank may tell
/// that.
bool Hear(u32 from, const std::vector<u8>& bytes, Board& board, FarRanks& far_ranks);

/// Breaks the communicator on this host. The first reason stays.
void SetFailure(const Region& region, s32 code, const std::string& reason) noexcept;

}  // namespace sampan::collectives
