// Copies of pageable memory in parts: how a batch is cut, and among how many threads a copy is divided.
#include <gtest/gtest.h>

#include <vector>

#include "backend/cuda/staging/staged_pieces.h"
#include "backend/cuda/staging/staging_plan.h"
#include "tests/support/random_bytes.h"

namespace sampan::cuda::staged_parts_test {
namespace {

std::byte* Device(std::uintptr_t address) {
  return reinterpret_cast<std::byte*>(std::uintptr_t{1} << 40 | address);
}
std::byte* Host(std::uintptr_t address) {
  return reinterpret_cast<std::byte*>(std::uintptr_t{1} << 44 | address);
}

using Cuts = std::vector<PieceCut>;

TEST(CutIntoParts, AShortBatchIsOnePart) {
  const std::vector<Segment> segments = {{Device(0), Host(7), 100}, {Device(200), Host(0), 60}};
  EXPECT_EQ(CutIntoParts(segments, Direction::kHostToDevice, {}), (Cuts{{0, 0}, {2, 0}}));
}

TEST(CutIntoParts, ALongSegmentIsDivided) {
  const std::vector<Segment> segments = {{Device(0), Host(0), 2500}, {Device(4000), Host(4000), 700}};
  EXPECT_EQ(CutIntoParts(segments, Direction::kHostToDevice, {.bytes = 1000}),
            (Cuts{{0, 0}, {0, 1000}, {0, 1992}, {1, 472}, {2, 0}}))
      << "in the buffer the second and third part begin at 8, and the second segment at 528";
}

TEST(CutIntoParts, APartThatIsExactlyFullHasNoneEmptyBehindIt) {
  const std::vector<Segment> segments = {{Device(0), Host(0), 1024}, {Device(1024), Host(9000), 1024}};
  EXPECT_EQ(CutIntoParts(segments, Direction::kHostToDevice, {.bytes = 1024}),
            (Cuts{{0, 0}, {1, 0}, {2, 0}}));
}

TEST(CutIntoParts, TheNumberOfPiecesIsLimitedToo) {
  std::vector<Segment> segments;
  for (std::uintptr_t i = 0; i < 10; ++i)
    segments.push_back({Device(64 * i), Host(64 * i), 1});
  EXPECT_EQ(CutIntoParts(segments, Direction::kHostToDevice, {.pieces = 4}),
            (Cuts{{0, 0}, {4, 0}, {8, 0}, {10, 0}}));
}

/// Whatever the lengths and alignments: all bytes once, in order, and no part holds more than it may.
TEST(CutIntoParts, AnyBatchIsCoveredWithinTheLimits) {
  test::Random random;
  for (int round = 0; round < 200; ++round) {
    std::vector<Segment> segments;
    std::uintptr_t at = 0;
    const std::size_t longest = round % 2 == 0 ? 60 : 5000;
    for (std::size_t i = random.Between(1, 300); i > 0; --i) {
      at += random.Between(0, 40);
      segments.push_back({Device(at), Host(at), random.Between(0, longest)});
      at += segments.back().bytes;
    }
    const Direction direction = round % 3 == 0 ? Direction::kDeviceToHost : Direction::kHostToDevice;
    const PartLimits limits{.bytes = random.Between(17, 3000), .pieces = random.Between(1, 40)};
    const Cuts cuts = CutIntoParts(segments, direction, limits);
    ASSERT_EQ(cuts.front(), (PieceCut{0, 0}));
    ASSERT_EQ(cuts.back(), (PieceCut{segments.size(), 0}));
    for (std::size_t part = 0; part + 1 < cuts.size(); ++part) {
      std::size_t used = 0, pieces = 0;
      for (std::size_t i = cuts[part].segment; i <= cuts[part + 1].segment && i < segments.size(); ++i) {
        const std::size_t from = i == cuts[part].segment ? cuts[part].offset : 0;
        const std::size_t to = i == cuts[part + 1].segment ? cuts[part + 1].offset : segments[i].bytes;
        ASSERT_LE(from, to);
        if (from == to) continue;
        const std::byte* const device =
            (direction == Direction::kHostToDevice ? segments[i].dst : segments[i].src) + from;
        const std::size_t slot = SlotBehind(used, device);
        ASSERT_GE(slot, used);
        ASSERT_EQ(slot % 16, reinterpret_cast<std::uintptr_t>(device) % 16);
        used = slot + (to - from);
        ++pieces;
      }
      ASSERT_LE(used, limits.bytes);
      ASSERT_LE(pieces, limits.pieces);
      ASSERT_TRUE(pieces > 0 || cuts.size() == 2) << "an empty part";
    }
  }
}

const CopyPaths kShippedPaths("NVIDIA H200", 132, {});

TEST(StagingPlan, MoreBytesGetMoreThreadsEachWithAPart) {
  std::size_t threads_before = 1;
  for (std::size_t bytes = 1; bytes < std::size_t{1} << 34; bytes = bytes * 3 / 2 + 1) {
    const std::size_t threads = kShippedPaths.ThreadsForStaging(StagingWork(bytes, 1), 16);
    const std::size_t part_bytes = StagingPartBytes(bytes, threads);
    EXPECT_GE(threads, threads_before);
    EXPECT_LE(part_bytes, StagingBuffer::kBytes);
    EXPECT_TRUE(threads == 1 || DivideUp(bytes, part_bytes) >= threads) << bytes;
    threads_before = threads;
  }
  EXPECT_EQ(threads_before, 16U);
}

TEST(StagingPlan, ManyShortPiecesAreMuchWork) {
  const std::size_t threads = kShippedPaths.ThreadsForStaging(StagingWork(60'000 * 8, 60'000), 16);
  EXPECT_GT(threads, 1U);
  EXPECT_GE(60'000 * 8 / StagingPartBytes(60'000 * 8, threads) + 1, threads);
  EXPECT_EQ(kShippedPaths.ThreadsForStaging(StagingWork(60'000 * 8, 10), 16), 1U);
}

}  // namespace
}  // namespace sampan::cuda::staged_parts_test
