// The pages of a buffer that are kept from the program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "check/host/page_guard.h"
#include "check/order/shape.h"

namespace sampan::check {

/// Pieces that are kept and opened apart: the program may fill one part of a buffer while copies use another.
/// Not thread-safe.
///
/// Changing the rights of a page that is in the page table costs about 0.1 us. So the entries of longer
/// pieces move to addresses of our own first, whole tables at a time. They move back when the piece opens.
/// If the program leaves the buffer alone, they stay there, and no processor has to forget them. A page
/// without an entry tells: at times one is left out, and whether the program has used it is seen at the next
/// Keep.
///
/// Each change interrupts the other processors of the process. A program may close the same run of pieces in
/// each round, one behind the other, and use none meanwhile. Then the first Keep closes the run.
class GuardedPages {
 public:
  /// `may_move`: the runtime has made the memory, so nothing else changes what is mapped at its addresses.
  GuardedPages(const Range& buffer, bool may_move) : buffer_(buffer), may_move_(may_move) {}
  ~GuardedPages();
  GuardedPages(const GuardedPages&) = delete;
  GuardedPages& operator=(const GuardedPages&) = delete;

  /// Pages are kept at least at this level.
  void Keep(const Range& pages, PageLevel level);
  void OpenAll() noexcept;
  /// Opens the pieces for which `is_needed(pages)` is false.
  template <typename IsNeeded>
  void OpenUnneeded(IsNeeded is_needed) noexcept {
    for (auto piece = pieces_.begin(); piece != pieces_.end();) {
      if (is_needed(piece->pages)) {
        ++piece;
        continue;
      }
      OpenAhead();
      run_ = {};
      piece = OpenPieces(piece, piece + 1);
    }
  }

  bool is_empty() const { return pieces_.empty(); }
  /// From the first page that is kept to the last one.
  Range hull() const;

  /// Async-signal-safe.
  bool Keeps(std::uint64_t page) const noexcept;
  /// The program uses pages: those that no copy uses yet open. Async-signal-safe.
  void NoteAccess(const Range& pages) noexcept;
  /// Pages get this level although they lie in pieces. The next Keep ends that. If the system refuses to
  /// split a mapping, all pages of the buffer open. Async-signal-safe.
  void OpenSome(const Range& pages, PageLevel level) noexcept;

 private:
  struct Piece {
    Range pages;
    PageLevel level = PageLevel::kAll;
    bool has_holes = false;
    Range moved;  // the pages without entries
  };
  using Pieces = std::vector<Piece>;  // by address, without overlaps

  /// More pieces of one buffer are joined: each may split a mapping.
  static constexpr std::size_t kMaxPieces = 64;
  static constexpr unsigned kMinOpensPerQuestion = 8, kMaxOpensPerQuestion = 128;

  Pieces::iterator FirstThatEndsBehind(std::uint64_t address) noexcept;
  /// The pieces that become one with the pages.
  std::pair<Pieces::iterator, Pieces::iterator> Joined(const Range& pages);
  /// The entries of the pages are at their addresses; false: they stay there.
  bool MoveAway(const Range& pages) noexcept;
  /// Opens pages whose entries are away.
  void OpenMoved(const Range& pages) noexcept;
  /// Returns the piece behind them.
  Pieces::iterator OpenPieces(Pieces::iterator first, Pieces::iterator last) noexcept;
  void NoteUse() noexcept;
  /// Pieces one behind the other with one level, since the buffer was open.
  struct Run {
    Range pages;
    PageLevel level = PageLevel::kAll;
    unsigned pieces = 0;

    friend bool operator==(const Run&, const Run&) = default;
  };
  /// The pages were closed ahead, and are a piece now.
  bool TakeAhead(const Range& pages, PageLevel level);
  /// Adds the pages to the run. Returns true if it is a new one that will probably be the same as the last
  /// one.
  bool NoteRun(const Range& pages, PageLevel level);
  void EndRun() noexcept;
  void Pause() noexcept;
  /// Opens what was closed ahead.
  void OpenAhead() noexcept;

  const Range buffer_;
  bool may_move_;
  std::uint64_t home_ = 0;  // of the buffer's first page in our own addresses
  Range reserved_;          // our own addresses
  Pieces pieces_;
  bool is_left_alone_ = false;  // by the program
  Range away_;                  // open pages whose entries were not moved back
  std::uint64_t asked_ = 0;     // an open page without an entry; 0: none
  unsigned opens_ = 0, opens_per_question_ = kMinOpensPerQuestion;
  Run run_, expected_;                   // of this round, and of the one before
  bool is_run_observed_ = false;         // whether the program uses pages of the run before they are closed
  unsigned seen_ = 0;                    // rounds in a row that were as expected
  unsigned pause_ = 0, next_pause_ = 4;  // rounds without expectations
  Range ahead_;                          // closed pages behind the last piece that are no piece yet
  bool ahead_moved_ = false;
};

}  // namespace sampan::check
