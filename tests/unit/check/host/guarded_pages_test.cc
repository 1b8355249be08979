// Pages that are kept from the program: their rights, and the bytes behind them.
#include "check/host/guarded_pages.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "base/system/memory_file.h"
#include "base/system/page_size.h"

namespace sampan::check {
namespace {

/// Memory with two addresses, as the runtime makes it: 2,000 pages that begin within a page table.
class TwoViews {
 public:
  TwoViews() {
    auto file = CreateMemoryFile("guarded pages", kPages * HostPageBytes(), Code::kMemoryAllocation);
    if (!file.ok()) return;
    for (std::byte** view : {&program_, &engine_})
      *view = static_cast<std::byte*>(
          ::mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, file->get(), 0));
    if (::pipe(pipe_.data()) != 0) program_ = nullptr;
  }
  ~TwoViews() {
    ::munmap(program_, bytes());
    ::munmap(engine_, bytes());
    ::close(pipe_[0]);
    ::close(pipe_[1]);
  }
  TwoViews(const TwoViews&) = delete;
  TwoViews& operator=(const TwoViews&) = delete;

  static constexpr std::uint64_t kPages = 2000;
  static std::uint64_t bytes() { return kPages * HostPageBytes(); }
  Range all() const { return {address(), address() + bytes()}; }
  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(program_); }
  Range Pages(std::uint64_t first, std::uint64_t count) const {
    const std::uint64_t begin = address() + first * HostPageBytes();
    return {begin, begin + count * HostPageBytes()};
  }
  std::byte* engine(std::uint64_t page) { return engine_ + page * HostPageBytes(); }

  /// What the program may do with the page, as the system answers it.
  PageLevel LevelOf(std::uint64_t page) {
    std::byte* const at = program_ + page * HostPageBytes();
    if (::write(pipe_[1], at, 1) != 1) return PageLevel::kNothing;
    const std::byte before = *engine(page);
    if (::read(pipe_[0], at, 1) == 1) return *engine(page) == before ? PageLevel::kAll : PageLevel::kNothing;
    std::byte rest;
    return ::read(pipe_[0], &rest, 1) == 1 ? PageLevel::kRead : PageLevel::kNothing;
  }
  void WriteByProgram(std::uint64_t page, std::byte value) { program_[page * HostPageBytes() + 7] = value; }

 private:
  std::byte* program_ = nullptr;
  std::byte* engine_ = nullptr;
  std::array<int, 2> pipe_{};
};

TEST(GuardedPages, AreKeptAtTheirLevelAndOpenAgain) {
  for (const bool may_move : {false, true}) {
    TwoViews views;
    GuardedPages guard(views.all(), may_move);
    guard.Keep(views.Pages(3, 1), PageLevel::kRead);
    guard.Keep(views.Pages(100, 300), PageLevel::kNothing);
    EXPECT_EQ(views.LevelOf(2), PageLevel::kAll);
    EXPECT_EQ(views.LevelOf(3), PageLevel::kRead);
    EXPECT_EQ(views.LevelOf(99), PageLevel::kAll);
    EXPECT_EQ(views.LevelOf(100), PageLevel::kNothing);
    EXPECT_EQ(views.LevelOf(399), PageLevel::kNothing);
    EXPECT_EQ(views.LevelOf(400), PageLevel::kAll);
    EXPECT_TRUE(guard.Keeps(views.Pages(399, 1).begin));
    EXPECT_FALSE(guard.Keeps(views.Pages(400, 1).begin));
    guard.OpenUnneeded([&](const Range& pages) { return pages.bytes() == HostPageBytes(); });
    EXPECT_EQ(views.LevelOf(3), PageLevel::kRead);
    EXPECT_EQ(views.LevelOf(250), PageLevel::kAll);
    guard.OpenAll();
    EXPECT_EQ(views.LevelOf(3), PageLevel::kAll);
    EXPECT_TRUE(guard.is_empty());
  }
}

TEST(GuardedPages, HolesCloseWithTheNextKeep) {
  TwoViews views;
  GuardedPages guard(views.all(), true);
  guard.Keep(views.Pages(0, 600), PageLevel::kNothing);
  guard.OpenSome(views.Pages(5, 1), PageLevel::kRead);
  EXPECT_EQ(views.LevelOf(5), PageLevel::kRead);
  guard.Keep(views.Pages(590, 4), PageLevel::kRead);
  EXPECT_EQ(views.LevelOf(5), PageLevel::kNothing);
}

// Random pieces against a level for each page. No page is open that has to be kept, and neighbours stay
// usable. What the program writes is what the engines read.
TEST(GuardedPages, RandomPiecesKeepWhatIsAskedFor) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  const auto below = [&](std::uint64_t limit) { return random() % limit; };
  for (int round = 0; round < 20; ++round) {
    TwoViews views;
    GuardedPages guard(views.all(), round % 4 != 0);
    std::vector<PageLevel> needed(TwoViews::kPages, PageLevel::kAll);
    for (int step = 0; step < 60; ++step) {
      const std::uint64_t first = below(TwoViews::kPages);
      const std::uint64_t longest = TwoViews::kPages - first;
      const std::uint64_t count = 1 + below(below(2) == 0 ? longest : std::min<std::uint64_t>(longest, 8));
      switch (below(4)) {
        case 0:
          guard.OpenAll();
          std::fill(needed.begin(), needed.end(), PageLevel::kAll);
          break;
        case 1: {
          std::uint64_t page = first;
          const auto value = static_cast<std::byte>(random());
          if (views.LevelOf(page) != PageLevel::kAll) break;
          views.WriteByProgram(page, value);
          EXPECT_EQ(views.engine(page)[7], value);
          break;
        }
        default: {
          const PageLevel level = below(2) == 0 ? PageLevel::kRead : PageLevel::kNothing;
          guard.Keep(views.Pages(first, count), level);
          for (std::uint64_t page = first; page < first + count; ++page)
            needed[page] = std::max(needed[page], level);
        }
      }
      for (int look = 0; look < 40; ++look) {
        const std::uint64_t page = below(TwoViews::kPages);
        const PageLevel level = views.LevelOf(page);
        EXPECT_GE(level, needed[page]) << "page " << page << " in step " << step;
        if (!guard.Keeps(views.Pages(page, 1).begin)) {
          EXPECT_EQ(level, PageLevel::kAll) << "page " << page;
        }
      }
    }
  }
}

// A ring of slots: the slot that is open is not touched by what happens to the others.
TEST(GuardedPages, LongSlotsStayApart) {
  TwoViews views;
  GuardedPages guard(views.all(), true);
  constexpr std::uint64_t kSlot = 256;
  for (std::uint64_t round = 0; round < 40; ++round) {
    const std::uint64_t open = round % 7 * kSlot;
    for (std::uint64_t slot = 0; slot < 7 * kSlot; slot += kSlot) {
      if (slot != open) guard.Keep(views.Pages(slot, kSlot), PageLevel::kRead);
    }
    guard.OpenUnneeded([&](const Range& pages) { return !pages.Touches(views.Pages(open, kSlot)); });
    for (std::uint64_t page = open; page < open + kSlot; ++page)
      ASSERT_EQ(views.LevelOf(page), PageLevel::kAll) << "page " << page << " in round " << round;
    EXPECT_EQ(views.LevelOf((open + kSlot) % (7 * kSlot)), PageLevel::kRead);
  }
}

/// Four pieces one behind the other, all of them open again at the end of a round.
class Runs {
 public:
  static constexpr std::uint64_t kFirst = 100, kPiece = 300, kPieces = 4;

  static std::uint64_t FirstOf(std::uint64_t piece) { return kFirst + piece * kPiece; }
  void Keep(std::uint64_t piece) { guard.Keep(views.Pages(FirstOf(piece), kPiece), PageLevel::kRead); }
  void Round() {
    for (std::uint64_t piece = 0; piece < kPieces; ++piece)
      Keep(piece);
    guard.OpenAll();
  }
  /// Rounds until the first Keep closes everything; 0: it does not.
  unsigned RoundsUntilAhead(unsigned limit) {
    for (unsigned round = 1; round <= limit; ++round) {
      Keep(0);
      const bool is_ahead = views.LevelOf(FirstOf(kPieces) - 1) == PageLevel::kRead;
      for (std::uint64_t piece = 1; piece < kPieces; ++piece)
        Keep(piece);
      guard.OpenAll();
      if (is_ahead) return round;
    }
    return 0;
  }

  TwoViews views;
  GuardedPages guard{views.all(), true};
};

TEST(GuardedPages, ARepeatedRunClosesWithItsFirstPiece) {
  Runs runs;
  ASSERT_NE(runs.RoundsUntilAhead(10), 0u);
  runs.Keep(0);
  EXPECT_EQ(runs.views.LevelOf(Runs::FirstOf(Runs::kPieces)), PageLevel::kAll);
  EXPECT_FALSE(runs.guard.Keeps(runs.views.Pages(Runs::FirstOf(1), 1).begin));
  runs.Keep(1);
  EXPECT_TRUE(runs.guard.Keeps(runs.views.Pages(Runs::FirstOf(1), 1).begin));
  runs.guard.OpenAll();  // the round is shorter
  for (std::uint64_t page = 0; page < TwoViews::kPages; ++page)
    ASSERT_EQ(runs.views.LevelOf(page), PageLevel::kAll) << page;
}

TEST(GuardedPages, WhatIsClosedAheadOpensForTheProgram) {
  Runs runs;
  ASSERT_NE(runs.RoundsUntilAhead(10), 0u);
  runs.Keep(0);
  runs.Keep(1);
  runs.guard.NoteAccess(runs.views.Pages(Runs::FirstOf(3) + 7, 1));
  EXPECT_EQ(runs.views.LevelOf(Runs::FirstOf(1)), PageLevel::kRead);
  EXPECT_EQ(runs.views.LevelOf(Runs::FirstOf(2)), PageLevel::kAll);
  runs.views.WriteByProgram(Runs::FirstOf(3) + 7, std::byte{0x6b});
  EXPECT_EQ(runs.views.engine(Runs::FirstOf(3) + 7)[7], std::byte{0x6b});
  runs.Keep(2);
  EXPECT_EQ(runs.views.LevelOf(Runs::FirstOf(3) - 1), PageLevel::kRead);
  runs.guard.OpenUnneeded([](const Range&) { return true; });
  EXPECT_EQ(runs.views.LevelOf(Runs::FirstOf(2)), PageLevel::kRead);
  runs.guard.OpenAll();
  runs.Keep(0);  // not ahead
  EXPECT_EQ(runs.views.LevelOf(Runs::FirstOf(1)), PageLevel::kAll);
  runs.guard.OpenAll();
  EXPECT_NE(runs.RoundsUntilAhead(40), 0u);
}

// The system may write into a part of the buffer for the program, which no handler could help.
TEST(GuardedPages, ARunThatTheProgramFillsMeanwhileIsNotClosedAhead) {
  Runs runs;
  for (unsigned round = 0; round < 40; ++round) {
    for (std::uint64_t piece = 0; piece < Runs::kPieces; ++piece) {
      ASSERT_EQ(runs.views.LevelOf(Runs::FirstOf(piece)), PageLevel::kAll) << round;
      runs.views.WriteByProgram(Runs::FirstOf(piece), static_cast<std::byte>(round));
      runs.Keep(piece);
    }
    runs.guard.OpenAll();
  }
}

TEST(GuardedPages, APieceThatOpensBeforeTheRunIsOverOpensWhatWasClosedAhead) {
  Runs runs;
  ASSERT_NE(runs.RoundsUntilAhead(10), 0u);
  runs.Keep(0);
  runs.Keep(1);
  const std::uint64_t first = runs.views.Pages(Runs::kFirst, 1).begin;
  runs.guard.OpenUnneeded([&](const Range& pages) { return pages.begin != first; });
  EXPECT_EQ(runs.views.LevelOf(Runs::kFirst), PageLevel::kAll);
  EXPECT_EQ(runs.views.LevelOf(Runs::FirstOf(1)), PageLevel::kRead);
  EXPECT_EQ(runs.views.LevelOf(Runs::FirstOf(2)), PageLevel::kAll);
}

// Runs of random pieces, with accesses and breaks in between, against a level for each page.
TEST(GuardedPages, RandomRunsKeepWhatIsAskedFor) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (int buffer = 0; buffer < 6; ++buffer) {
    TwoViews views;
    GuardedPages guard(views.all(), true);
    const std::uint64_t count = 1 + random() % 400;
    for (int round = 0; round < 60; ++round) {
      std::vector<PageLevel> needed(TwoViews::kPages, PageLevel::kAll);
      const auto keep = [&](std::uint64_t first, std::uint64_t pages) {
        guard.Keep(views.Pages(first, pages), PageLevel::kNothing);
        std::fill_n(needed.begin() + static_cast<std::ptrdiff_t>(first), pages, PageLevel::kNothing);
      };
      const std::uint64_t end = random() % 5 == 0 ? count * (1 + random() % 4) : 4 * count;
      for (std::uint64_t page = 0; page < end; page += count) {
        keep(page, count);
        if (random() % 40 == 0) {
          const std::uint64_t used = random() % TwoViews::kPages;
          guard.NoteAccess(views.Pages(used, 1));
          if (needed[used] == PageLevel::kAll) {
            ASSERT_EQ(views.LevelOf(used), PageLevel::kAll) << used;
          }
        }
        if (random() % 40 == 0) keep(random() % (TwoViews::kPages - 100), 1 + random() % 100);
        for (int look = 0; look < 40; ++look) {
          const std::uint64_t looked = random() % TwoViews::kPages;
          ASSERT_GE(views.LevelOf(looked), needed[looked]) << "page " << looked << " in round " << round;
        }
      }
      guard.OpenAll();
      for (int look = 0; look < 40; ++look)
        ASSERT_EQ(views.LevelOf(random() % TwoViews::kPages), PageLevel::kAll);
    }
  }
}

}  // namespace
}  // namespace sampan::check
