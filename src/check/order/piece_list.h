// Ranges of bytes in order that do not overlap, each with the access that touched it last.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "check/order/shape.h"

namespace sampan::check {

/// `T` is what a piece carries. Sorted in chunks: a batch in any sequence costs a short search and a short
/// move for each entry. Not thread-safe.
template <typename T>
class PieceList {
 public:
  struct Piece {
    Range range;
    T value;
  };

  std::size_t size() const { return size_; }
  void clear() {
    chunks_.clear();
    size_ = 0;
  }

  /// The new piece takes the place of the bytes that others have of it.
  void Put(const Range& range, T value) {
    Place at = FirstThatEndsBehind(range.begin);
    if (at.chunk < chunks_.size()) {
      Piece& first = PieceAt(at);
      if (first.range.begin == range.begin && first.range.end == range.end) {
        first.value = std::move(value);
        return;
      }
      if (first.range.begin < range.begin) {
        const Range rest{range.end, first.range.end};
        first.range.end = range.begin;
        T kept = first.value;
        ++at.index;
        if (rest.begin < rest.end) at = Insert(at, {rest, std::move(kept)});
      }
      at = Clear(at, range);
    }
    Insert(at, {range, std::move(value)});
  }

  /// Calls `each` with the pieces that the range touches, in order, until it returns true.
  template <typename Each>
  bool AnyOf(const Range& range, Each each) const {
    for (Place at = FirstThatEndsBehind(range.begin); at.chunk < chunks_.size(); at = {at.chunk + 1, 0}) {
      const auto& pieces = chunks_[at.chunk];
      for (; at.index < pieces.size(); ++at.index) {
        if (pieces[at.index].range.begin >= range.end) return false;
        if (each(pieces[at.index])) return true;
      }
    }
    return false;
  }

  template <typename Drops>
  void EraseIf(Drops drops) {
    size_ = 0;
    for (auto& pieces : chunks_) {
      std::erase_if(pieces, drops);
      size_ += pieces.size();
    }
    std::erase_if(chunks_, [](const auto& pieces) { return pieces.empty(); });
  }

 private:
  static constexpr std::size_t kMaxChunk = 64;
  /// No chunk is empty. Behind the last piece of a chunk, or at the first of the next: the same place.
  struct Place {
    std::size_t chunk = 0, index = 0;
  };

  Piece& PieceAt(const Place& at) { return chunks_[at.chunk][at.index]; }

  Place FirstThatEndsBehind(std::uint64_t offset) const {
    const auto ends = [](const auto& pieces, std::uint64_t wanted) {
      return pieces.back().range.end <= wanted;
    };
    const auto chunk = std::lower_bound(chunks_.begin(), chunks_.end(), offset, ends);
    if (chunk == chunks_.end()) return {chunks_.size(), 0};
    const auto piece =
        std::lower_bound(chunk->begin(), chunk->end(), offset,
                         [](const Piece& each, std::uint64_t wanted) { return each.range.end <= wanted; });
    return {static_cast<std::size_t>(chunk - chunks_.begin()),
            static_cast<std::size_t>(piece - chunk->begin())};
  }

  /// Removes the bytes of the range from the pieces at the place and behind it. Returns where it was.
  Place Clear(Place at, const Range& range) {
    while (at.chunk < chunks_.size()) {
      auto& pieces = chunks_[at.chunk];
      const auto first = pieces.begin() + static_cast<std::ptrdiff_t>(at.index);
      const auto last =
          std::find_if(first, pieces.end(), [&](const Piece& piece) { return piece.range.end > range.end; });
      const bool goes_on = last == pieces.end();
      if (!goes_on) last->range.begin = std::max(last->range.begin, range.end);
      size_ -= static_cast<std::size_t>(last - first);
      pieces.erase(first, last);
      if (!goes_on) break;
      if (!pieces.empty()) {
        if (at.chunk + 1 == chunks_.size() || chunks_[at.chunk + 1].front().range.begin >= range.end) break;
        at = {at.chunk + 1, 0};
        continue;
      }
      chunks_.erase(chunks_.begin() + static_cast<std::ptrdiff_t>(at.chunk));
      at.index = 0;
    }
    return at;
  }

  /// Returns the place of the new piece.
  Place Insert(Place at, Piece piece) {
    ++size_;
    if (at.chunk == chunks_.size()) {
      if (chunks_.empty() || chunks_.back().size() == kMaxChunk) chunks_.emplace_back();
      at = {chunks_.size() - 1, chunks_.back().size()};
    } else if (chunks_[at.chunk].size() == kMaxChunk) {
      Split(at);
    }
    auto& pieces = chunks_[at.chunk];
    pieces.insert(pieces.begin() + static_cast<std::ptrdiff_t>(at.index), std::move(piece));
    return at;
  }

  void Split(Place& at) {
    std::vector<Piece> behind;
    behind.reserve(kMaxChunk);
    auto& pieces = chunks_[at.chunk];
    const auto middle = pieces.begin() + kMaxChunk / 2;
    behind.insert(behind.end(), std::make_move_iterator(middle), std::make_move_iterator(pieces.end()));
    pieces.erase(middle, pieces.end());
    chunks_.insert(chunks_.begin() + static_cast<std::ptrdiff_t>(at.chunk) + 1, std::move(behind));
    if (at.index > kMaxChunk / 2) at = {at.chunk + 1, at.index - kMaxChunk / 2};
  }

  std::vector<std::vector<Piece>> chunks_;
  std::size_t size_ = 0;
};

}  // namespace sampan::check
