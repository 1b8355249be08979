// Runs of entries against a plain loop, with every kind of instructions that the processor has.
#include "core/copy/batch_run.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "backend/api/task.h"

namespace sampan::core::batch_run_test {
namespace {

constexpr std::size_t kMaxBytes = BatchTask::kMaxSegmentBytes;
constexpr KnownRange kDst{0x7f00'0000'1000, 5 * kMaxBytes, 0x100'0000'0000},
    kSrc{0x1000, 3 * kMaxBytes, -0x800};

void* At(std::uintptr_t address) {
  return reinterpret_cast<void*>(address);
}

/// Entries within the ranges; tests spoil single ones.
struct Entries {
  std::vector<void*> dsts, srcs;
  std::vector<std::size_t> sizes;

  Entries(std::size_t count, std::mt19937_64& random) {
    for (std::size_t i = 0; i < count; ++i) {
      sizes.push_back(1 + random() % kMaxBytes);
      dsts.push_back(At(kDst.address + random() % (kDst.bytes - sizes[i] + 1)));
      srcs.push_back(At(kSrc.address + random() % (kSrc.bytes - sizes[i] + 1)));
    }
  }
  EntryRun run() const { return {dsts, srcs, sizes, kDst, kSrc}; }
  /// What single entries are judged by.
  bool Fits(std::size_t i) const {
    const auto holds = [&](const KnownRange& range, const void* address) {
      return RangeHolds(range.address, range.bytes, reinterpret_cast<std::uintptr_t>(address), sizes[i]);
    };
    return sizes[i] != 0 && sizes[i] <= kMaxBytes && holds(kDst, dsts[i]) && holds(kSrc, srcs[i]);
  }
};

class BatchRun : public ::testing::TestWithParam<BatchRunLevel> {
 protected:
  void SetUp() override {
    if (GetParam() == BatchRunLevel::kAvx2 && FastestBatchRunLevel() != BatchRunLevel::kAvx2)
      GTEST_SKIP() << "this processor has no such instructions";
  }

  /// The first `good` entries are described and no more.
  void ExpectDescribed(const Entries& entries, std::size_t good) {
    constexpr Segment kCanary{nullptr, nullptr, 0xCA9A};
    std::vector<Segment> segments(entries.sizes.size() + 1, kCanary);
    const RunTotals totals = WriteManySegments(entries.run(), segments.data(), GetParam());
    ASSERT_EQ(totals.entries, good);
    EXPECT_TRUE(good == entries.sizes.size() || !entries.Fits(good));
    std::size_t bytes = 0, longest = 0;
    for (std::size_t i = 0; i < good; ++i) {
      ASSERT_EQ(segments[i].dst, static_cast<std::byte*>(entries.dsts[i]) + kDst.engine_delta) << i;
      ASSERT_EQ(segments[i].src, static_cast<std::byte*>(entries.srcs[i]) + kSrc.engine_delta) << i;
      ASSERT_EQ(segments[i].bytes, entries.sizes[i]) << i;
      ASSERT_TRUE(entries.Fits(i)) << i;
      bytes += entries.sizes[i];
      longest = std::max(longest, entries.sizes[i]);
    }
    EXPECT_EQ(totals.bytes, bytes);
    EXPECT_GE(totals.longest, longest);
    EXPECT_TRUE(good == 0 || totals.longest < 2 * longest);
    EXPECT_EQ(segments.back().bytes, kCanary.bytes);
  }

  std::mt19937_64 random_{20261116};
};

TEST_P(BatchRun, OfAnyLengthIsDescribed) {
  for (std::size_t count = 0; count < 70; ++count)
    ExpectDescribed(Entries(count, random_), count);
  ExpectDescribed(Entries(5000, random_), 5000);
}

TEST_P(BatchRun, EndsBeforeTheFirstEntryThatIsWrong) {
  using Spoil = void (*)(Entries & entries, std::size_t at);
  const Spoil spoils[] = {
      [](Entries& entries, std::size_t at) { entries.sizes[at] = 0; },
      [](Entries& entries, std::size_t at) { entries.sizes[at] = kMaxBytes + 1; },
      [](Entries& entries, std::size_t at) { entries.sizes[at] = SIZE_MAX; },
      [](Entries& entries, std::size_t at) { entries.dsts[at] = nullptr; },
      [](Entries& entries, std::size_t at) { entries.srcs[at] = nullptr; },
      [](Entries& entries, std::size_t at) { entries.dsts[at] = At(kDst.address - 1); },
      [](Entries& entries, std::size_t at) { entries.srcs[at] = At(kSrc.address - 1); },
      [](Entries& entries, std::size_t at) {
        entries.dsts[at] = At(kDst.address + kDst.bytes - entries.sizes[at] + 1);
      },
      [](Entries& entries, std::size_t at) {
        entries.srcs[at] = At(kSrc.address + kSrc.bytes - entries.sizes[at] + 1);
      },
      // The sums go round, or nearly.
      [](Entries& entries, std::size_t at) { entries.dsts[at] = At(UINTPTR_MAX); },
      [](Entries& entries, std::size_t at) { entries.dsts[at] = At(kDst.address + (UINTPTR_MAX >> 1)); },
      [](Entries& entries, std::size_t at) { entries.srcs[at] = At(kSrc.address + (UINTPTR_MAX >> 1)); },
  };
  for (std::size_t spoil = 0; spoil < std::size(spoils); ++spoil) {
    for (const std::size_t count : {1, 15, 16, 40, 100}) {
      for (std::size_t at = 0; at < count; ++at) {
        SCOPED_TRACE(testing::Message() << "spoilt in way " << spoil << ": " << at << " of " << count);
        Entries entries(count, random_);
        spoils[spoil](entries, at);
        ExpectDescribed(entries, at);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(BatchRun, FitsToTheLastByte) {
  Entries entries(32, random_);
  for (std::size_t i = 0; i < entries.sizes.size(); ++i) {
    entries.sizes[i] = kMaxBytes;
    entries.dsts[i] = At(kDst.address + (i % 2 == 0 ? 0 : kDst.bytes - kMaxBytes));
    entries.srcs[i] = At(kSrc.address + (i % 2 == 0 ? kSrc.bytes - kMaxBytes : 0));
  }
  ExpectDescribed(entries, entries.sizes.size());
}

TEST_P(BatchRun, NothingFitsARangeThatIsTooShort) {
  Entries entries(20, random_);
  std::vector<Segment> segments(entries.sizes.size());
  EntryRun run = entries.run();
  run.dst.bytes = 16;
  for (const std::uintptr_t distance : {std::uintptr_t{0}, UINTPTR_MAX >> 1, UINTPTR_MAX}) {
    for (std::size_t i = 0; i < entries.sizes.size(); ++i) {
      entries.dsts[i] = At(kDst.address + distance);
      entries.srcs[i] = At(kSrc.address);
      entries.sizes[i] = kMaxBytes;
    }
    EXPECT_EQ(WriteManySegments(run, segments.data(), GetParam()).entries, 0U) << distance;
  }
  run.dst = {};
  EXPECT_EQ(WriteManySegments(run, segments.data(), GetParam()).entries, 0U);
}

TEST_P(BatchRun, SizesAreWithinTheirLimits) {
  constexpr std::size_t kHighest = ~(SIZE_MAX >> 1);
  for (std::size_t count = 0; count < 40; ++count) {
    std::vector<std::size_t> sizes, limits;
    for (std::size_t i = 0; i < count; ++i) {
      sizes.push_back(random_() >> (1 + random_() % 60));
      limits.push_back(sizes[i] + random_() % (kHighest - sizes[i]));
    }
    EXPECT_TRUE(ManySizesFit(sizes, limits, GetParam())) << count;
    EXPECT_TRUE(ManySizesFit(sizes, sizes, GetParam())) << count;
    for (std::size_t at = 0; at < count; ++at) {
      auto wrong = sizes;
      wrong[at] = limits[at] + 1;
      EXPECT_FALSE(ManySizesFit(wrong, limits, GetParam())) << at << " of " << count;
      auto none = limits;
      none[at] = 0;
      for (const std::size_t size : {std::size_t{1}, kHighest, SIZE_MAX}) {
        wrong[at] = size;
        EXPECT_FALSE(ManySizesFit(wrong, none, GetParam())) << size << ", " << at << " of " << count;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryLevel, BatchRun, testing::Values(BatchRunLevel::kPlain, BatchRunLevel::kAvx2),
                         [](const auto& each) {
                           return each.param == BatchRunLevel::kPlain ? "Plain" : "Avx2";
                         });

}  // namespace
}  // namespace sampan::core::batch_run_test
