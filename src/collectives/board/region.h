// What the ranks of a communicator share: a part of a memory file, laid out for their number.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <span>

#include "base/threads/sleep_word.h"
#include "hccl/base.h"

namespace sampan::collectives {

inline constexpr std::size_t kLineBytes = 64;
/// Operators of all ranks that can be in progress at once, and messages of a pair of ranks.
inline constexpr u64 kSlots = 16;
inline constexpr u64 kChannelSlots = 64;
inline constexpr u32 kMaxRanks = 128;
/// Inputs up to this length travel with the facts.
inline constexpr u64 kPostedBytes = 4096;

/// What all ranks have to agree on. Zero where an operator has no such parameter.
struct CallFacts {
  u32 kind = 0;  ///< OperatorKind
  u32 type = 0;
  u32 operation = 0;
  u32 root = 0;
  u64 count = 0;
  u64 digest = 0;  ///< of arrays that are the same on all ranks
  u64 place = 0;   ///< of the call in the program: an address of the rank's process; it may differ
};

/// Device memory of a rank: its engines' address, and its place in a memory file (file -1: none).
struct SharedRange {
  u64 engine = 0;
  u64 inode = 0;
  u64 file_offset = 0;
  u64 bytes = 0;
  s64 file = -1;
};

/// The same for ranks of other hosts: the key of the memory, and the place in it.
struct FarRange {
  std::array<char, 72> key{};  ///< with its NUL; empty: none
  u64 offset = 0;
  u64 bytes = 0;
};

/// The elements of a buffer that are for one rank, or from it.
struct Piece {
  u64 offset = 0;
  u64 count = 0;
};

/// A rank's part in one operator. The rank writes it, then stores the operator's number in `arrived`.
struct Entry {
  alignas(kLineBytes) std::atomic<u64> arrived;
  CallFacts facts;
  SharedRange send, receive;
  alignas(kLineBytes) std::atomic<u64> ended;  ///< the operator's number, once the rank has moved its bytes
  /// Its number while the rank accesses the others' memory. On a line of its own: read after failures only.
  alignas(kLineBytes) std::atomic<u64> moving;
  alignas(kLineBytes) FarRange far_send, far_receive;  ///< of ranks of other hosts, instead of the others
  alignas(kLineBytes) Piece pieces[1];                 ///< one for each rank
};

/// A message from one rank to another.
struct Message {
  alignas(kLineBytes) std::atomic<u64> arrived;
  u64 count;
  u64 type;
  u64 place;  ///< of the call
  SharedRange send;
  FarRange far_send;  ///< of a rank of another host, instead
  alignas(kLineBytes) std::atomic<u64> taken;
  alignas(kLineBytes) std::atomic<u64> taking;  ///< the message's number while the receiver reads it
};

/// What the others see of a rank.
struct RankCell {
  alignas(kLineBytes) SleepWord bell;  ///< woken when something has changed that the rank may wait for
  alignas(kLineBytes) std::atomic<s64> process;
  std::atomic<u64> called;      ///< collective operators that it has called
  std::atomic<u64> last_call;   ///< PackedCall of the last operator or message
  std::atomic<u64> last_place;  ///< and its place in the program
  std::atomic<u64> begun;       ///< collective operators that its streams have reached
  std::atomic<u32> has_left;
  std::atomic<u32> standing;  ///< as StreamWork::TellStanding
  std::atomic<u64> told;      ///< notes of a rank of another host that were applied here
};

/// Why the communicator is broken. Written once, by the rank that detects it first.
struct Failure {
  enum State : u32 { kNone, kWriting, kSet };
  alignas(kLineBytes) std::atomic<u32> state;
  std::atomic<s32> code;
  char text[4032];
};

/// Views of the shared part. Atomic words of zeros are the initial state. Copyable; owns nothing.
class Region {
 public:
  Region() = default;
  Region(std::byte* base, u32 ranks) : base_(base), ranks_(ranks) {}

  static constexpr u64 EntryBytes(u32 ranks) { return PostedAt(ranks) + kPostedBytes; }
  static constexpr u64 Bytes(u32 ranks) {
    return sizeof(Failure) + ranks * sizeof(RankCell) + kSlots * ranks * EntryBytes(ranks) +
           u64{ranks} * ranks * kChannelSlots * sizeof(Message);
  }

  u32 ranks() const { return ranks_; }
  Failure& failure() const { return *reinterpret_cast<Failure*>(base_); }
  RankCell& cell(u32 rank) const {
    return *reinterpret_cast<RankCell*>(base_ + sizeof(Failure) + rank * sizeof(RankCell));
  }
  /// The part of a rank in the operator with that number.
  Entry& entry(u64 number, u32 rank) const {
    const u64 index = number % kSlots * ranks_ + rank;
    return *reinterpret_cast<Entry*>(entries() + index * EntryBytes(ranks_));
  }
  std::span<Piece> pieces(u64 number, u32 rank) const { return {entry(number, rank).pieces, ranks_}; }
  /// The input that a rank posts with its part.
  std::byte* posted(u64 number, u32 rank) const {
    return reinterpret_cast<std::byte*>(&entry(number, rank)) + PostedAt(ranks_);
  }
  /// The message with that number from one rank to another.
  Message& message(u32 from, u32 to, u64 number) const {
    std::byte* const messages = entries() + kSlots * ranks_ * EntryBytes(ranks_);
    const u64 index = (u64{from} * ranks_ + to) * kChannelSlots + number % kChannelSlots;
    return *reinterpret_cast<Message*>(messages + index * sizeof(Message));
  }

 private:
  static constexpr u64 PostedAt(u32 ranks) {
    const u64 bytes = offsetof(Entry, pieces) + ranks * sizeof(Piece);
    return (bytes + kLineBytes - 1) / kLineBytes * kLineBytes;
  }
  std::byte* entries() const { return base_ + sizeof(Failure) + ranks_ * sizeof(RankCell); }

  std::byte* base_ = nullptr;
  u32 ranks_ = 0;
};

static_assert(std::atomic<u64>::is_always_lock_free && std::atomic<u32>::is_always_lock_free);
static_assert(sizeof(Failure) % kLineBytes == 0 && sizeof(RankCell) % kLineBytes == 0);

}  // namespace sampan::collectives
