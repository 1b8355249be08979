// Runs of entries that are adjacent on the host, and the parts in which they are copied.
#include "backend/cuda/paths/dense_runs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <random>
#include <vector>

namespace sampan::cuda::dense_runs_test {
namespace {

constexpr Direction kIn = Direction::kHostToDevice, kOut = Direction::kDeviceToHost;

/// Segments at these offsets of the host, and anywhere on the device.
std::vector<Segment> At(const std::vector<std::array<std::size_t, 2>>& on_host, Direction direction) {
  static std::byte host[4096], device[4096];
  std::vector<Segment> segments;
  std::size_t elsewhere = 4000;
  for (const auto& [at, bytes] : on_host) {
    elsewhere = (elsewhere * 7 + 13) % 4000;
    if (direction == kOut) {
      segments.push_back({host + at, device + elsewhere, bytes});
    } else {
      segments.push_back({device + elsewhere, host + at, bytes});
    }
  }
  return segments;
}

using Ranges = std::vector<std::array<std::size_t, 3>>;

Ranges Listed(const std::vector<SegmentRange>& ranges) {
  Ranges listed;
  for (const SegmentRange& range : ranges)
    listed.push_back({range.first, range.count, range.bytes});
  return listed;
}

DenseRuns Found(const std::vector<Segment>& segments, Direction direction, std::size_t min_bytes,
                std::size_t max_segment = 1000) {
  DenseRuns found;
  FindDenseRuns(segments, direction, {.min_bytes = min_bytes, .max_segment = max_segment}, found);
  return found;
}

TEST(DenseRuns, AreThoseOfTheHostsSide) {
  for (const Direction direction : {kIn, kOut}) {
    const auto segments = At({{0, 10},
                              {10, 20},
                              {30, 5},   // a run of 35
                              {40, 10},  // alone
                              {60, 9},
                              {69, 1},  // a run of 10
                              {69, 30},
                              {99, 30}},
                             direction);  // from where the last one began
    const DenseRuns found = Found(segments, direction, 11);
    EXPECT_EQ(Listed(found.runs), (Ranges{{0, 3, 35}, {6, 2, 60}}));
    EXPECT_EQ(Listed(found.others), (Ranges{{3, 3, 20}})) << "what is too short is one range";
    EXPECT_EQ(found.run_bytes, 95U);
    EXPECT_EQ(Found(segments, direction, 1).others.size(), 0U);
    EXPECT_EQ(Found(segments, direction, 61).run_bytes, 0U);
  }
  EXPECT_EQ(Found(At({{0, 10}, {10, 10}}, kOut), kIn, 20).run_bytes, 0U) << "adjacent on the device only";
}

TEST(DenseRuns, HaveNoSegmentThatFitsInNoBuffer) {
  const auto segments = At({{0, 50}, {50, 101}, {151, 50}, {201, 50}}, kOut);
  const DenseRuns found = Found(segments, kOut, 60, 100);
  EXPECT_EQ(Listed(found.runs), (Ranges{{2, 2, 100}}));
  EXPECT_EQ(Listed(found.others), (Ranges{{0, 2, 151}}));
}

TEST(DenseRuns, EndWhereAnotherAllocationBegins) {
  for (const Direction direction : {kIn, kOut}) {
    const auto segments = At({{0, 10}, {10, 10}, {20, 10}, {30, 10}, {40, 10}}, direction);
    const std::byte* const host = direction == kOut ? segments[0].dst : segments[0].src;
    const std::array<const std::byte*, 3> begins = {host, host + 15, host + 30};
    DenseRuns found;
    FindDenseRuns(segments, direction, {.min_bytes = 21, .max_segment = 100, .host_begins = begins}, found);
    EXPECT_EQ(Listed(found.runs), (Ranges{{0, 3, 30}}));
    EXPECT_EQ(Listed(found.others), (Ranges{{3, 2, 20}}));
  }
}

TEST(DenseParts, BeginShortFromTheDeviceAndEndShortToIt) {
  constexpr DensePartSizes kSizes{.shortest = 10, .longest = 40, .growth = 2};
  std::vector<SegmentRange> parts;
  for (const Direction direction : {kIn, kOut}) {
    std::vector<std::array<std::size_t, 2>> places;
    for (std::size_t i = 0; i < 10; ++i)
      places.push_back({10 * i, 10});
    const auto segments = At(places, direction);
    CutDenseRuns(segments, Found(segments, direction, 1).runs, direction, kSizes, parts);
    if (direction == kOut) {
      EXPECT_EQ(Listed(parts), (Ranges{{0, 1, 10}, {1, 2, 20}, {3, 4, 40}, {7, 3, 30}}));
    } else {
      EXPECT_EQ(Listed(parts), (Ranges{{0, 3, 30}, {3, 4, 40}, {7, 2, 20}, {9, 1, 10}}));
    }
  }
}

/// Every segment is in one run or one other range, and every run is cut completely.
TEST(DenseParts, ContainEverySegmentOnce) {
  std::mt19937 random(20261119);
  for (int round = 0; round < 500; ++round) {
    const Direction direction = round % 2 == 0 ? kIn : kOut;
    std::vector<std::array<std::size_t, 2>> places;
    for (std::size_t at = 0; places.size() < 60;) {
      if (random() % 4 == 0) at += 3;
      places.push_back({at, 1 + random() % 40});
      at += places.back()[1];
    }
    const auto segments = At(places, direction);
    const std::size_t min_bytes = 1 + random() % 80;
    const DenseRuns found = Found(segments, direction, min_bytes, 39);
    std::vector<int> seen(segments.size());
    const auto see = [&](const SegmentRange& range) {
      std::size_t bytes = 0;
      for (std::size_t i = range.first; i < range.first + range.count; ++i) {
        ++seen[i];
        bytes += segments[i].bytes;
      }
      EXPECT_EQ(bytes, range.bytes);
    };
    std::for_each(found.others.begin(), found.others.end(), see);
    std::vector<SegmentRange> parts;
    CutDenseRuns(segments, found.runs, direction, {.shortest = 50, .longest = 100}, parts);
    std::for_each(parts.begin(), parts.end(), see);
    EXPECT_EQ(seen, std::vector<int>(segments.size(), 1)) << "round " << round;
    for (const SegmentRange& part : parts) {
      EXPECT_LE(part.bytes, 100U);
      for (std::size_t i = part.first + 1; i < part.first + part.count; ++i) {
        const Segment &before = segments[i - 1], &here = segments[i];
        EXPECT_TRUE(direction == kOut ? here.dst == before.dst + before.bytes
                                      : here.src == before.src + before.bytes);
      }
    }
  }
}

}  // namespace
}  // namespace sampan::cuda::dense_runs_test
