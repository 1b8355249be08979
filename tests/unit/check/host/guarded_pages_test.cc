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

}  // namespace
}  // namespace sampan::check
