// What a round of writes carries: a number alone determines places and bytes, the same in every process.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace sampan::test {

struct RoundPiece {
  std::size_t offset, bytes;
};

/// Fills with bytes that the seed determines, 8 at a time.
inline void FillFrom(std::uint64_t seed, std::byte* begin, std::size_t bytes) {
  std::uint64_t state = seed * 0x9E3779B97F4A7C15ULL + 1;
  for (std::size_t done = 0; done < bytes; done += sizeof(state)) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    const std::uint64_t word = state ^ state >> 33;
    std::memcpy(begin + done, &word, std::min(sizeof(word), bytes - done));
  }
}

/// The shapes take turns: 4 KiB, 300 KB, 1 MiB, a batch, rows.
struct Round {
  explicit Round(std::uint64_t number) : seed(number) {
    const std::size_t begin = number * 4099 % 65536;
    switch (number % 5) {
      case 0:
        pieces = {{begin, 4096}};
        break;
      case 1:
        pieces = {{begin, 300'000}};
        break;
      case 2:
        pieces = {{begin, std::size_t{1} << 20}};
        break;
      case 3:
        for (std::size_t i = 0; i < 64; ++i)
          pieces.push_back({begin + i * 20'003, 1 + (i * 577 + number) % 20'000});
        break;
      default:
        for (std::size_t i = 0; i < kRows; ++i)
          pieces.push_back({begin + i * kPitch, kRowBytes});
        break;
    }
    for (const RoundPiece& piece : pieces)
      bytes += piece.bytes;
    extent = pieces.back().offset + pieces.back().bytes;
  }
  bool is_rows() const { return pieces.size() == kRows; }
  /// All pieces, one after the other.
  std::vector<std::byte> Contents() const {
    std::vector<std::byte> contents(bytes);
    FillFrom(seed, contents.data(), bytes);
    return contents;
  }
  /// Returns true if the memory has what this round writes.
  bool IsIn(const std::byte* memory) const {
    const std::vector<std::byte> expected = Contents();
    const std::byte* next = expected.data();
    for (const RoundPiece& piece : pieces) {
      if (std::memcmp(memory + piece.offset, next, piece.bytes) != 0) return false;
      next += piece.bytes;
    }
    return true;
  }

  static constexpr std::size_t kRows = 200, kRowBytes = 777, kPitch = 1024;
  std::uint64_t seed;
  std::vector<RoundPiece> pieces;
  std::size_t bytes = 0;   ///< of all pieces
  std::size_t extent = 0;  ///< their end
};

}  // namespace sampan::test
