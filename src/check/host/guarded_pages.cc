// The pages of a buffer that are kept from the program.
#include "check/host/guarded_pages.h"

#include <sys/mman.h>

#include <algorithm>
#include <utility>

namespace sampan::check {
namespace {

constexpr std::uint64_t kMinMovedPages = 32;                   // fewer cost as much when their rights change
constexpr std::uint64_t kTableBytes = std::uint64_t{2} << 20;  // that one page table maps
/// As many rounds must have been as expected before pages are closed ahead.
constexpr unsigned kMinSeen = 2;
constexpr unsigned kMaxPause = 256;

bool IsShort(const Range& pages) {
  return pages.bytes() < kMinMovedPages * HostPageBytes();
}

/// Both as one range; the longer one, if they do not meet.
Range Join(const Range& one, const Range& other) {
  if (one.end == other.begin) return {one.begin, other.end};
  return one.bytes() < other.bytes() ? other : one;
}

}  // namespace

GuardedPages::~GuardedPages() {
  if (reserved_.bytes() != 0) ::munmap(reinterpret_cast<void*>(reserved_.begin), reserved_.bytes());
}

Range GuardedPages::hull() const {
  return pieces_.empty() ? Range{} : Range{pieces_.front().pages.begin, pieces_.back().pages.end};
}

GuardedPages::Pieces::iterator GuardedPages::FirstThatEndsBehind(std::uint64_t address) noexcept {
  return std::upper_bound(pieces_.begin(), pieces_.end(), address,
                          [](std::uint64_t wanted, const Piece& piece) { return wanted < piece.pages.end; });
}

std::pair<GuardedPages::Pieces::iterator, GuardedPages::Pieces::iterator> GuardedPages::Joined(
    const Range& pages) {
  auto first = FirstThatEndsBehind(pages.begin), last = first;
  while (last != pieces_.end() && last->pages.begin < pages.end)
    ++last;
  // Short neighbours are one piece, so that many short copies need few changes.
  const auto joins = [&](const Piece& piece) { return IsShort(pages) || IsShort(piece.pages); };
  if (first != pieces_.begin() && std::prev(first)->pages.end == pages.begin && joins(*std::prev(first)))
    --first;
  if (last != pieces_.end() && last->pages.begin == pages.end && joins(*last)) ++last;
  if (first == last && pieces_.size() >= kMaxPieces) first == pieces_.begin() ? void(++last) : void(--first);
  return {first, last};
}

void GuardedPages::Keep(const Range& pages, PageLevel level) {
  NoteUse();
  if (TakeAhead(pages, level)) return;
  if (NoteRun(pages, level)) {
    pieces_.push_back({.pages = pages, .level = level});
    ahead_moved_ = MoveAway(expected_.pages);
    SetPages(expected_.pages, level);
    if (ahead_moved_) pieces_.back().moved = pages;
    ahead_ = {pages.end, expected_.pages.end};
    return;
  }
  const auto [first, last] = Joined(pages);
  if (last - first == 1 && first->pages.Holds(pages) && !first->has_holes && level <= first->level) return;
  Piece joined{.pages = pages, .level = level};
  for (auto piece = first; piece != last; ++piece) {
    joined.pages = {std::min(joined.pages.begin, piece->pages.begin),
                    std::max(joined.pages.end, piece->pages.end)};
    joined.level = std::max(joined.level, piece->level);
  }
  const bool only_grows = std::all_of(
      first, last, [&](const Piece& piece) { return !piece.has_holes && piece.level == joined.level; });
  const auto place = first == last ? pieces_.insert(first, {.pages = pages}) : first;
  const auto end = place + (first == last ? 0 : last - first);
  const auto close = [&](const Range& more) {
    if (more.bytes() == 0) return;
    if (MoveAway(more)) joined.moved = Join(joined.moved, more);
    if (only_grows) SetPages(more, joined.level);
  };
  std::uint64_t behind = joined.pages.begin;
  for (auto piece = place; piece != end; ++piece) {
    close({behind, std::max(behind, piece->pages.begin)});
    joined.moved = Join(joined.moved, piece->moved);
    behind = piece->pages.end;
  }
  close({behind, joined.pages.end});
  if (!only_grows) SetPages(joined.pages, joined.level);
  *place = joined;
  if (end != place) pieces_.erase(place + 1, end);
}

bool GuardedPages::NoteRun(const Range& pages, PageLevel level) {
  if (run_.pieces != 0 && pages.begin == run_.pages.end && level == run_.level) {
    if (is_run_observed_ && HasEntry(pages.begin)) Pause();
    run_.pages.end = pages.end;
    ++run_.pieces;
    return false;
  }
  run_ = {pages, level, 1};
  is_run_observed_ = false;
  const bool is_expected = pieces_.empty() && expected_.pieces != 0 && pages.begin == expected_.pages.begin &&
                           pages.end < expected_.pages.end && level == expected_.level;
  if (!is_expected || pause_ != 0) return false;
  if (seen_ >= kMinSeen) return true;
  is_run_observed_ = true;
  for (std::uint64_t at = pages.end; at < expected_.pages.end; at += pages.bytes())
    EmptyEntries({at, at + HostPageBytes()});
  return false;
}

bool GuardedPages::TakeAhead(const Range& pages, PageLevel level) {
  if (ahead_.bytes() == 0) return false;
  Piece& before = pieces_.back();
  const bool fits = pages.begin == ahead_.begin && pages.end <= ahead_.end && level == run_.level &&
                    !before.has_holes && pieces_.size() < kMaxPieces;
  if (!fits) {
    OpenAhead();
    return false;
  }
  const Range moved = ahead_moved_ ? pages : Range{};
  if (IsShort(pages) || IsShort(before.pages)) {
    before.pages.end = pages.end;
    before.moved = Join(before.moved, moved);
  } else {
    pieces_.push_back({.pages = pages, .level = level, .moved = moved});
  }
  ahead_ = pages.end == ahead_.end ? Range{} : Range{pages.end, ahead_.end};
  run_.pages.end = pages.end;
  ++run_.pieces;
  return true;
}

void GuardedPages::OpenAhead() noexcept {
  const Range pages = std::exchange(ahead_, {});
  if (pages.bytes() == 0) return;
  if (ahead_moved_) {
    OpenMoved(pages);
  } else {
    SetPages(pages, PageLevel::kAll);
  }
}

/// The program uses pages of a run before they are closed.
void GuardedPages::Pause() noexcept {
  is_run_observed_ = false;
  seen_ = 0;
  pause_ = next_pause_;
  next_pause_ = std::min(2 * next_pause_, kMaxPause);
}

void GuardedPages::NoteAccess(const Range& pages) noexcept {
  if (!ahead_.Touches(pages)) return;
  OpenAhead();
  Pause();
}

/// The buffer opens as a whole.
void GuardedPages::EndRun() noexcept {
  if (run_ == expected_) {
    if (is_run_observed_) ++seen_;
  } else {
    seen_ = 0;
    expected_ = run_.pieces > 1 && may_move_ ? run_ : Run{};
  }
  run_ = {};
  is_run_observed_ = false;
  if (pause_ != 0) --pause_;
  if (ahead_.bytes() == 0) return;
  Piece& last = pieces_.back();  // opens with them
  last.pages.end = ahead_.end;
  if (ahead_moved_) last.moved = Join(last.moved, ahead_);
  ahead_ = {};
}

bool GuardedPages::MoveAway(const Range& pages) noexcept {
  if (!may_move_ || IsShort(pages)) return false;
  if (away_.Holds(pages)) return true;
  if (reserved_.bytes() == 0) {
    const std::uint64_t bytes = buffer_.bytes() + kTableBytes;
    void* const reserved =
        ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    may_move_ = reserved != MAP_FAILED;
    if (!may_move_) return false;
    const auto begin = reinterpret_cast<std::uint64_t>(reserved);
    reserved_ = {begin, begin + bytes};
    // Whole tables move only if both addresses have the same offset in a table.
    home_ = begin + (buffer_.begin - begin) % kTableBytes;
  }
  return MovePages(pages, pages.begin - buffer_.begin + home_);
}

void GuardedPages::NoteUse() noexcept {
  if (asked_ == 0) return;
  is_left_alone_ = !HasEntry(std::exchange(asked_, 0));
  if (!is_left_alone_) away_ = {};
  opens_per_question_ =
      is_left_alone_ ? kMinOpensPerQuestion : std::min(2 * opens_per_question_, kMaxOpensPerQuestion);
}

void GuardedPages::OpenMoved(const Range& pages) noexcept {
  const std::uint64_t middle = (pages.begin + pages.bytes() / 2) / HostPageBytes() * HostPageBytes();
  if (is_left_alone_) {
    SetPages(pages, PageLevel::kAll);
    away_ = Join(away_, pages);
    asked_ = middle;
    return;
  }
  const std::uint64_t from = pages.begin - buffer_.begin + home_;
  if (!MovePages({from, from + pages.bytes()}, pages.begin)) SetPages(pages, PageLevel::kAll);
  if (++opens_ < opens_per_question_) return;
  opens_ = 0;
  EmptyEntries({middle, middle + HostPageBytes()});
  asked_ = middle;
}

GuardedPages::Pieces::iterator GuardedPages::OpenPieces(Pieces::iterator first,
                                                        Pieces::iterator last) noexcept {
  Range kept, moved;
  const auto open_kept = [&] {
    if (kept.bytes() != 0) SetPages(kept, PageLevel::kAll);
  };
  const auto open_moved = [&] {
    if (moved.bytes() != 0) OpenMoved(moved);
  };
  const auto add = [](Range& all, const Range& more, auto open) {
    if (more.bytes() == 0) return;
    if (all.end == more.begin) {
      all.end = more.end;
      return;
    }
    open();
    all = more;
  };
  for (auto piece = first; piece != last; ++piece) {
    const Range& pages = piece->pages;
    const Range& away = piece->moved;
    add(kept, {pages.begin, away.bytes() == 0 ? pages.end : away.begin}, open_kept);
    if (away.bytes() == 0) continue;
    add(moved, away, open_moved);
    add(kept, {away.end, pages.end}, open_kept);
  }
  open_kept();
  open_moved();
  return pieces_.erase(first, last);
}

void GuardedPages::OpenAll() noexcept {
  EndRun();
  OpenPieces(pieces_.begin(), pieces_.end());
}

bool GuardedPages::Keeps(std::uint64_t page) const noexcept {
  const auto piece = const_cast<GuardedPages*>(this)->FirstThatEndsBehind(page);
  return piece != pieces_.end() && piece->pages.begin <= page;
}

void GuardedPages::OpenSome(const Range& pages, PageLevel level) noexcept {
  const bool is_done = SetPages(pages, level);
  const Range& opened = is_done ? pages : buffer_;
  for (auto piece = FirstThatEndsBehind(opened.begin);
       piece != pieces_.end() && piece->pages.begin < opened.end; ++piece)
    piece->has_holes = true;
  if (!is_done) SetPages(buffer_, PageLevel::kAll);
}

}  // namespace sampan::check
