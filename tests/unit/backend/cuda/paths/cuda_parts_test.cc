// Parts of the CUDA backend that need no GPU: addresses, the ring, the choice of paths.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "backend/cuda/memory/pinned_ring.h"
#include "backend/cuda/memory/reserved_memory.h"
#include "backend/cuda/paths/batch_parts.h"
#include "backend/cuda/paths/copy_path.h"
#include "backend/cuda/paths/joined_segments.h"

namespace sampan::cuda::cuda_parts_test {
namespace {

constexpr std::size_t kUnit = ReservedMemory::kUnitBytes, kPage = ReservedMemory::kPageBytes;
constexpr std::uintptr_t kBase = std::uintptr_t{1} << 40;

/// Notes what has memory; fails on order.
class NotingBacking final : public Backing {
 public:
  struct Notes {
    std::map<std::uintptr_t, std::size_t> committed;
    bool fails = false;
  };
  explicit NotingBacking(Notes& notes) : notes_(notes) {}
  Status Commit(std::uintptr_t address, std::size_t bytes) override {
    if (notes_.fails) return {Code::kMemoryAllocation, "none is left"};
    EXPECT_TRUE(notes_.committed.emplace(address, bytes).second);
    return {};
  }
  void Decommit(std::uintptr_t address, std::size_t bytes) noexcept override {
    const auto found = notes_.committed.find(address);
    ASSERT_NE(found, notes_.committed.end());
    EXPECT_EQ(found->second, bytes);
    notes_.committed.erase(found);
  }

 private:
  Notes& notes_;
};

class ReservedMemoryTest : public ::testing::Test {
 protected:
  MemoryBlock Take(std::size_t bytes, Pages pages = Pages::kBySize) {
    auto block = memory.Allocate(bytes, pages);
    EXPECT_TRUE(block.ok());
    return block.ok() ? *block : MemoryBlock{};
  }

  NotingBacking::Notes notes;
  FaultPlan faults;
  ReservedMemory memory{{.name = "test memory",
                         .base = kBase,
                         .reserved_bytes = 64 * kUnit,
                         .capacity_bytes = 16 * kUnit,
                         .faults = &faults},
                        std::make_unique<NotingBacking>(notes)};
};

TEST_F(ReservedMemoryTest, SmallBlocksShareAUnitAndNoPage) {
  const MemoryBlock first = Take(100), second = Take(5000);
  EXPECT_EQ(notes.committed.size(), 1U);
  EXPECT_EQ(first.bytes, kPage);
  EXPECT_EQ(second.bytes, 2 * kPage);
  EXPECT_GE(second.address, first.address + first.bytes);
  EXPECT_EQ(memory.Info().free_bytes, 16 * kUnit - 3 * kPage);
  memory.Free(first);
  memory.Free(second);
  EXPECT_EQ(memory.Info().free_bytes, 16 * kUnit);
}

TEST_F(ReservedMemoryTest, LargeBlocksHaveUnitsOfTheirOwn) {
  const MemoryBlock block = Take(3 * kUnit + 1);
  EXPECT_EQ(block.address % kUnit, 0U);
  EXPECT_EQ(notes.committed.at(block.address), 4 * kUnit);
  EXPECT_EQ(block.page_bytes, kUnit);
  memory.Free(block);
  EXPECT_TRUE(notes.committed.empty());
}

TEST_F(ReservedMemoryTest, AddressesAreNotReusedAtOnce) {
  std::uintptr_t last = 0;
  for (int i = 0; i < 10; ++i) {
    const MemoryBlock block = Take(2 * kUnit);
    EXPECT_NE(block.address, last);
    last = block.address;
    memory.Free(block);
  }
}

TEST_F(ReservedMemoryTest, TheCapacityIsALimitThatNamesTheRequest) {
  const MemoryBlock block = Take(15 * kUnit);
  auto refused = memory.Allocate(2 * kUnit, Pages::kBySize);
  ASSERT_EQ(refused.code(), Code::kMemoryAllocation);
  EXPECT_NE(refused.TakeStatus().error().message.find(std::to_string(2 * kUnit)), std::string::npos);
  memory.Free(block);
  EXPECT_TRUE(memory.Allocate(2 * kUnit, Pages::kBySize).ok());
}

TEST_F(ReservedMemoryTest, AFailedCommitTakesNothing) {
  notes.fails = true;
  EXPECT_EQ(memory.Allocate(100, Pages::kBySize).code(), Code::kMemoryAllocation);
  EXPECT_EQ(memory.Allocate(4 * kUnit, Pages::kBySize).code(), Code::kMemoryAllocation);
  EXPECT_EQ(memory.Info().free_bytes, 16 * kUnit);
  notes.fails = false;
  EXPECT_TRUE(memory.Allocate(16 * kUnit, Pages::kBySize).ok());
}

TEST_F(ReservedMemoryTest, FreedMemoryStaysWhileItIsHeld) {
  const MemoryBlock first = Take(2 * kUnit), second = Take(2 * kUnit);
  auto early = memory.HoldFreed();
  memory.Free(first);
  auto late = memory.HoldFreed();  // begins after the first was freed: holds the second only
  memory.Free(second);
  EXPECT_EQ(notes.committed.size(), 2U);
  std::vector<ReservedMemory::Range> ranges;
  memory.CopyRanges(ranges);
  EXPECT_TRUE(ranges.empty()) << "held, but not accessible";
  late = nullptr;
  EXPECT_EQ(notes.committed.size(), 2U) << "an older table may name it";
  early = nullptr;
  Take(kPage);  // the next allocation releases it
  EXPECT_FALSE(notes.committed.contains(first.address));
  EXPECT_FALSE(notes.committed.contains(second.address));
}

TEST_F(ReservedMemoryTest, RangesAreSortedAndExact) {
  const MemoryBlock small = Take(96), large = Take(3 * kUnit + 32);
  std::vector<ReservedMemory::Range> ranges;
  const std::uint64_t version = memory.CopyRanges(ranges);
  ASSERT_EQ(ranges.size(), 2U);
  EXPECT_LT(ranges[0].begin, ranges[1].begin);
  for (const auto& [block, bytes] : {std::pair{small, std::size_t{96}}, {large, 3 * kUnit + 32}}) {
    const auto& range = ranges[ranges[0].begin == block.address ? 0 : 1];
    EXPECT_EQ(range.end - range.begin, bytes);
  }
  memory.Free(small);
  EXPECT_NE(memory.version(), version);
}

class PinnedRingTest : public ReservedMemoryTest {
 protected:
  std::uintptr_t TakeFrom(std::size_t bytes, std::uint64_t value) {
    auto taken = ring.Take(bytes, value);
    EXPECT_TRUE(taken.ok());
    return reinterpret_cast<std::uintptr_t>(*taken);
  }
  PinnedRing ring{memory};
};

TEST_F(PinnedRingTest, IsReusedOnlyWhenItsTasksAreOver) {
  const std::size_t quarter = PinnedRing::kBytes / 4;
  for (std::uint64_t value = 1; value <= 4; ++value) {
    EXPECT_EQ(ring.BusyUntil(quarter), 0U);
    TakeFrom(quarter, value);
  }
  EXPECT_EQ(ring.BusyUntil(quarter), 1U) << "the first has to be over";
  EXPECT_EQ(ring.BusyUntil(2 * quarter), 2U);
  ring.Retire(1);
  EXPECT_EQ(ring.BusyUntil(quarter), 0U);
}

TEST_F(PinnedRingTest, PiecesDoNotCrossTheEnd) {
  const std::uintptr_t base = TakeFrom(PinnedRing::kBytes / 4 * 3, 1);
  TakeFrom(1, 2);
  ring.Retire(1);
  const std::uintptr_t next = TakeFrom(PinnedRing::kBytes / 2, 3);
  EXPECT_EQ(next, base);
  EXPECT_EQ(ring.BusyUntil(PinnedRing::kBytes), 3U);
  ring.Retire(3);
  EXPECT_EQ(ring.BusyUntil(PinnedRing::kBytes), 0U);
}

TEST(CopyPaths, ChooseByCountAndLength) {
  const CopyPaths paths("NVIDIA H200", 132, {});
  constexpr auto kIn = Direction::kHostToDevice, kOut = Direction::kDeviceToHost;
  EXPECT_EQ(paths.ForBatch({kIn, 1, 64}).path, CopyPath::kEngine);
  EXPECT_EQ(paths.ForBatch({kIn, 2, 128}).path, CopyPath::kKernel);
  EXPECT_EQ(paths.ForBatch({kOut, 2, 2 * 4096}).path, CopyPath::kKernel);
  const CopyPaths unmeasured("unheard of", 10, {});
  EXPECT_EQ(unmeasured.ForBatch({kIn, 15, 15 * 64}).path, CopyPath::kBatchCall);
  EXPECT_EQ(unmeasured.ForBatch({kOut, 16, 16 * 64}).path, CopyPath::kKernel);
  EXPECT_EQ(unmeasured.ForBatch({kOut, 15, 15 * 4096}).path, CopyPath::kBatchCall);
  EXPECT_EQ(unmeasured.ForBatch({kIn, 16, 16 * 4096}).path, CopyPath::kKernel);
  EXPECT_EQ(paths.ForBatch({kIn, 8192, 8192 * 4096}).path, CopyPath::kKernel);
  EXPECT_EQ(paths.ForBatch({kIn, 64, std::size_t{64} << 20}).path, CopyPath::kBatchCall);
  constexpr std::size_t kMiddle = std::size_t{256} << 10;
  EXPECT_EQ(paths.ForBatch({kIn, 31, 31 * kMiddle}).path, CopyPath::kKernel);
  EXPECT_EQ(paths.ForBatch({kIn, 32, 32 * kMiddle}).path, CopyPath::kBatchCall) << "a long batch";
  EXPECT_FALSE(paths.BatchCallInParts(7, 7 * kMiddle));
  EXPECT_TRUE(paths.BatchCallInParts(8, 8 * kMiddle));
  EXPECT_FALSE(paths.BatchCallInParts(8, 8 * 64)) << "the driver takes longer over them than the link";
}

std::vector<std::size_t> PartsOf(std::size_t entries, std::size_t entry_bytes, bool in_parts = true) {
  BatchParts parts(entries, entries * entry_bytes, in_parts);
  std::vector<std::size_t> all;
  for (std::size_t left = entries; left != 0; left -= all.back())
    all.push_back(parts.Next());
  return all;
}

TEST(BatchParts, GrowAsFastAsTheLinkPermits) {
  using Parts = std::vector<std::size_t>;
  constexpr std::size_t kKiB = 1024;
  EXPECT_EQ(PartsOf(64, 64 * kKiB), (Parts{1, 2, 4, 8, 16, 33}));
  EXPECT_EQ(PartsOf(64, 128 * kKiB), (Parts{1, 4, 16, 43}));
  EXPECT_EQ(PartsOf(64, 256 * kKiB), (Parts{1, 8, 55}));
  EXPECT_EQ(PartsOf(64, 4096 * kKiB), (Parts{1, 8, 55}));
  EXPECT_EQ(PartsOf(8, 4096 * kKiB), (Parts{1, 7}));
  EXPECT_EQ(PartsOf(2, 64), (Parts{2})) << "two are not worth two calls";
}

/// More of them in one call make a driver crash.
TEST(BatchParts, AreNeverLongerThanTheDriverSurvives) {
  for (const bool in_parts : {false, true}) {
    for (const std::size_t entries : {1, 511, 512, 513, 1023, 1024, 1025, 20'000}) {
      const auto parts = PartsOf(entries, 100'000, in_parts);
      EXPECT_EQ(std::accumulate(parts.begin(), parts.end(), std::size_t{0}), entries);
      EXPECT_LE(*std::max_element(parts.begin(), parts.end()), BatchParts::kMaxEntries);
      EXPECT_GE(*std::min_element(parts.begin(), parts.end()), 1U);
    }
  }
  EXPECT_EQ(PartsOf(128, 64, false).size(), 1U);
  EXPECT_EQ(PartsOf(129, 64, false).size(), 2U);
}

/// More entries than those need not be joined: whether they are or not, a kernel takes them.
TEST(CopyPaths, SayHowManyEntriesAreWorthJoining) {
  for (const char* const gpu : {"NVIDIA H200", "unheard of"}) {
    const CopyPaths paths(gpu, 132, {});
    for (const std::size_t bytes : {std::size_t{100}, std::size_t{100'000}, std::size_t{64} << 20}) {
      for (const Direction direction : {Direction::kHostToDevice, Direction::kDeviceToHost}) {
        const std::size_t more = paths.MaxJoined(direction, bytes) + 1;
        EXPECT_EQ(paths.ForBatch({direction, more, bytes}).path, CopyPath::kKernel) << gpu << ", " << bytes;
        EXPECT_EQ(paths.ForBatch({direction, 10 * more, bytes}).path, CopyPath::kKernel)
            << gpu << ", " << bytes;
      }
    }
  }
  // And no more than it takes: of 64 MiB, so many pieces are an engine's yet.
  const CopyPaths paths("NVIDIA H200", 132, {});
  constexpr std::size_t kLong = std::size_t{64} << 20;
  constexpr Direction kIn = Direction::kHostToDevice;
  EXPECT_NE(paths.ForBatch({kIn, paths.MaxJoined(kIn, kLong), kLong}).path, CopyPath::kKernel);
  for (const CopyPath given : {CopyPath::kKernel, CopyPath::kDense})
    EXPECT_EQ(CopyPaths("NVIDIA H200", 132, {.path = given}).MaxJoined(kIn, 100), 1U);
  for (const CopyPath given : {CopyPath::kEngine, CopyPath::kBatchCall})
    EXPECT_EQ(CopyPaths("NVIDIA H200", 132, {.path = given}).MaxJoined(kIn, 100), SIZE_MAX);
  EXPECT_EQ(CopyPaths("NVIDIA H200", 132, {.quietness = Quietness::kQuiet}).MaxJoined(kIn, 100), SIZE_MAX);
}

std::vector<Segment> SegmentsAt(std::initializer_list<std::array<std::size_t, 3>> places) {
  static std::byte dst[1000], src[1000];
  std::vector<Segment> segments;
  for (const auto& [to, from, bytes] : places)
    segments.push_back({dst + to, src + from, bytes});
  return segments;
}

void ExpectSame(const std::vector<Segment>& expected, const std::vector<Segment>& got) {
  ASSERT_EQ(expected.size(), got.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(expected[i].dst, got[i].dst) << i;
    EXPECT_EQ(expected[i].src, got[i].src) << i;
    EXPECT_EQ(expected[i].bytes, got[i].bytes) << i;
  }
}

TEST(JoinedSegments, ContinueAtBothEnds) {
  const auto segments = SegmentsAt({{0, 100, 10},    // continued
                                    {10, 110, 5},    // ... to here
                                    {15, 116, 5},    // a gap at the source
                                    {21, 121, 4},    // and at the destination
                                    {25, 125, 1},    // continued
                                    {20, 120, 1},    // backwards
                                    {21, 121, 9}});  // continued
  const auto expected = SegmentsAt({{0, 100, 15}, {15, 116, 5}, {21, 121, 5}, {20, 120, 10}});
  std::vector<Segment> joined;
  EXPECT_TRUE(JoinUpTo(segments, expected.size(), joined));
  ExpectSame(expected, joined);
  EXPECT_FALSE(JoinUpTo(segments, expected.size() - 1, joined));
}

TEST(CopyPaths, ShortCopiesWithinADeviceGoByKernel) {
  const CopyPaths paths("NVIDIA H200", 132, {});
  EXPECT_EQ(paths.ForDeviceCopy(4096).path, CopyPath::kKernel);
  EXPECT_EQ(paths.ForDeviceCopy(std::size_t{64} << 20).path, CopyPath::kEngine);
  EXPECT_EQ(CopyPaths("NVIDIA H200", 132, {.path = CopyPath::kEngine}).ForDeviceCopy(4096).path,
            CopyPath::kEngine);
  EXPECT_EQ(CopyPaths("unheard of", 10, {}).ForDeviceCopy(4096).path, CopyPath::kEngine)
      << "it was not measured";
}

/// The choice for rows on an H200.
struct RowsChoice {
  Direction direction;
  RowsShape rows;
  CopyPath path;
};

TEST(CopyPaths, ChooseByTheShapeOfRows) {
  constexpr auto kIn = Direction::kHostToDevice, kOut = Direction::kDeviceToHost,
                 kOnDevice = Direction::kDeviceToDevice;
  constexpr auto kEngine = CopyPath::kEngine, kKernel = CopyPath::kKernel;
  constexpr std::size_t kFar = std::size_t{64} << 10;
  constexpr RowsChoice kChoices[] = {
      {kOut, {64, 16, true, true}, kKernel},
      {kOut, {80, 16, true, true}, kEngine},
      {kOut, {16, 16, false, true}, kKernel},
      {kOut, {32, 16, false, true}, kEngine},
      {kOut, {16, 4, false, true}, kEngine},
      {kOut, {4, 4, true, true}, kKernel},
      {kOut, {16, 1, false, true}, kEngine},
      {kOut, {17, 1, true, true}, kKernel},
      {kOut, {333, 1, true, true}, kEngine},
      {kOut, {72, 4, false, true, 8192}, kEngine},
      {kOut, {584, 4, true, true, 37'376}, kEngine},
      {kOut, {16, 16, true, true, kFar}, kKernel},
      {kOut, {16, 16, true, true, kFar + 1}, kEngine},
      {kIn, {32, 16, false, true}, kKernel},
      {kIn, {40, 4, true, true}, kEngine},
      {kIn, {24, 4, false, true}, kKernel},
      {kIn, {17, 1, false, true}, kEngine},
      {kIn, {17, 1, true, true}, kKernel},
      {kIn, {16, 16, true, true, kFar + 1}, kEngine},
      {kIn, {4096, 16, true, true}, kEngine},
      {kIn, {4096, 16, true, false}, kKernel},
      {kOnDevice, {333, 1, false, true}, kKernel},
      {kOnDevice, {1001, 1, false, true}, kEngine},
      {kOnDevice, {1001, 1, true, true}, kKernel},
      {kOnDevice, {64, 16, true, true, 2 * kFar}, kKernel},
      {kOut, {.width = 16, .unit = 16, .dense = true, .engine_takes = true, .reachable = false}, kEngine},
      {kIn, {.width = 16, .unit = 16, .dense = true, .engine_takes = false, .reachable = false}, kEngine},
  };
  const CopyPaths paths("NVIDIA H200", 132, {});
  for (const auto& [direction, rows, path] : kChoices) {
    EXPECT_EQ(paths.ForRows(direction, rows).path, path)
        << Describe(direction) << ", width " << rows.width << ", unit " << rows.unit << ", dense "
        << rows.dense << ", pitch " << rows.pitch;
  }
}

TEST(CopyPaths, ObeyTheSettings) {
  const CopyPaths paths("unheard of", 10, {.path = CopyPath::kEngine, .blocks = 7});
  EXPECT_EQ(paths.ForBatch({Direction::kHostToDevice, 8192, 8192 * 64}).path, CopyPath::kEngine);
  EXPECT_EQ(paths.ForRows(Direction::kDeviceToDevice, {16, 16, true, true}).path, CopyPath::kEngine);
  EXPECT_EQ(paths.BlocksForPieces(Direction::kHostToDevice, 1000), 7U);
}

TEST(CopyPaths, LeaveMostOfTheGpuFree) {
  constexpr Direction kIn = Direction::kHostToDevice, kOut = Direction::kDeviceToHost;
  const CopyPaths paths("NVIDIA H200", 132, {});
  for (const Direction direction : {kIn, kOut}) {
    EXPECT_LE(paths.BlocksForPieces(direction, 100'000), 3U);
    EXPECT_EQ(paths.BlocksForPieces(direction, 1), 1U);
    EXPECT_EQ(paths.BlocksForRows(direction, 100'000), paths.BlocksForPieces(direction, 100'000));
    EXPECT_GT(
        CopyPaths("NVIDIA H200", 132, {.quietness = Quietness::kSpeed}).BlocksForPieces(direction, 100'000),
        3U);
  }
  EXPECT_GT(paths.BlocksForBytes(std::size_t{1} << 30), 132U) << "within a device, memory is the limit";
  EXPECT_LE(paths.BlocksForGather(100'000), 16U);
}

/// The choice for a batch on an H200, by shape, density and settings.
struct BatchChoice {
  const char* name;
  BatchShape batch;
  CopyPath path;
  Quietness quietness = Quietness::kAuto;
  std::optional<CopyPath> forced = {};
};

void PrintTo(const BatchChoice& choice, std::ostream* out) {
  *out << choice.name;
}

class BatchChoices : public testing::TestWithParam<BatchChoice> {};

TEST_P(BatchChoices, AreThoseOfTheTable) {
  const BatchChoice& given = GetParam();
  const CopyPaths paths("NVIDIA H200", 132, {.path = given.forced, .quietness = given.quietness});
  const PathChoice choice = paths.ForBatch(given.batch);
  EXPECT_EQ(choice.path, given.path) << choice.why;
  EXPECT_GT(std::strlen(choice.why), 10U);
}

constexpr Direction kToDevice = Direction::kHostToDevice, kToHost = Direction::kDeviceToHost;
constexpr std::size_t kKiB = 1024, kMiB = 1024 * kKiB;

constexpr BatchChoice kBatchChoices[] = {
    {"one_copy", {kToDevice, 1, 64 * kMiB}, CopyPath::kEngine},
    {"one_copy_quiet", {kToDevice, 1, 64 * kMiB}, CopyPath::kEngine, Quietness::kQuiet},
    {"few_short", {kToDevice, 2, 128}, CopyPath::kKernel},
    {"few_short_out", {kToHost, 2, 128}, CopyPath::kKernel},
    {"many_short", {kToDevice, 8192, 8192 * kKiB}, CopyPath::kKernel},
    {"pages_in", {kToDevice, 8192, 32 * kMiB}, CopyPath::kKernel},
    {"pages_out", {kToHost, 8192, 32 * kMiB}, CopyPath::kKernel},
    {"blocks_of_a_cache_in", {kToDevice, 3500, 3500 * 36 * kKiB}, CopyPath::kBatchCall},
    {"blocks_of_a_cache_out", {kToHost, 3500, 3500 * 36 * kKiB}, CopyPath::kBatchCall},
    {"just_short_in", {kToDevice, 1024, 32 * kMiB - 1024}, CopyPath::kKernel},
    {"just_short_out", {kToHost, 1024, 32 * kMiB - 1024}, CopyPath::kKernel},
    {"long_in", {kToDevice, 1024, 32 * kMiB}, CopyPath::kBatchCall},
    {"long_out", {kToHost, 1024, 32 * kMiB}, CopyPath::kBatchCall},
    {"short_batch_of_long", {kToDevice, 64, 4 * kMiB}, CopyPath::kKernel},
    {"short_batch_of_longer", {kToDevice, 8, 4 * kMiB}, CopyPath::kBatchCall},
    {"dense_out", {kToHost, 8192, 32 * kMiB, 32 * kMiB}, CopyPath::kDense},
    {"dense_in", {kToDevice, 8192, 32 * kMiB, 32 * kMiB}, CopyPath::kDense},
    {"half_dense", {kToHost, 8192, 32 * kMiB, 16 * kMiB}, CopyPath::kDense},
    {"less_than_half_dense", {kToHost, 8192, 32 * kMiB, 16 * kMiB - 1}, CopyPath::kKernel},
    {"little_dense", {kToHost, 4096, 16 * kMiB, 8 * kMiB - 1}, CopyPath::kKernel},
    {"dense_for_speed", {kToHost, 8192, 32 * kMiB, 32 * kMiB}, CopyPath::kDense, Quietness::kSpeed},
    {"dense_quiet", {kToHost, 8192, 32 * kMiB, 32 * kMiB}, CopyPath::kBatchCall, Quietness::kQuiet},
    {"short_quiet", {kToDevice, 8192, 8192 * 64}, CopyPath::kBatchCall, Quietness::kQuiet},
    {"long_quiet", {kToHost, 1024, 64 * kMiB}, CopyPath::kBatchCall, Quietness::kQuiet},
    {"short_for_speed", {kToDevice, 8192, 8192 * 64}, CopyPath::kKernel, Quietness::kSpeed},
    {"forced_engine",
     {kToDevice, 8192, 32 * kMiB, 32 * kMiB},
     CopyPath::kEngine,
     Quietness::kAuto,
     CopyPath::kEngine},
    {"forced_kernel", {kToDevice, 2, 64 * kMiB}, CopyPath::kKernel, Quietness::kAuto, CopyPath::kKernel},
    {"forced_kernel_quiet",
     {kToDevice, 2, 64 * kMiB},
     CopyPath::kKernel,
     Quietness::kQuiet,
     CopyPath::kKernel},
    {"forced_dense", {kToDevice, 2, 100, 100}, CopyPath::kDense, Quietness::kAuto, CopyPath::kDense},
    {"forced_dense_without_runs", {kToDevice, 2, 100}, CopyPath::kKernel, Quietness::kAuto, CopyPath::kDense},
    {"forced_dense_without_room",
     {.direction = kToDevice, .entries = 2, .bytes = 100, .dense_bytes = 100, .dense_room = false},
     CopyPath::kKernel,
     Quietness::kAuto,
     CopyPath::kDense},
    {"dense_without_room",
     {.direction = kToHost,
      .entries = 8192,
      .bytes = 32 * kMiB,
      .dense_bytes = 32 * kMiB,
      .dense_room = false},
     CopyPath::kKernel},
    {"dense_of_long_entries_without_room",
     {.direction = kToDevice,
      .entries = 800,
      .bytes = 48 * kMiB,
      .dense_bytes = 48 * kMiB,
      .dense_room = false},
     CopyPath::kBatchCall},
    {"pageable",
     {.direction = kToDevice, .entries = 8192, .bytes = 32 * kMiB, .pageable = true},
     CopyPath::kEngine},
    {"pageable_forced_kernel",
     {.direction = kToDevice, .entries = 8192, .bytes = 32 * kMiB, .pageable = true},
     CopyPath::kEngine,
     Quietness::kAuto,
     CopyPath::kKernel},
    {"out_of_reach",
     {.direction = kToHost, .entries = 8192, .bytes = 32 * kMiB, .reachable = false},
     CopyPath::kEngine},
    {"out_of_reach_forced_kernel",
     {.direction = kToHost, .entries = 8192, .bytes = 32 * kMiB, .reachable = false},
     CopyPath::kEngine,
     Quietness::kAuto,
     CopyPath::kKernel},
    {"out_of_reach_and_long",
     {.direction = kToHost, .entries = 64, .bytes = 64 * kMiB, .reachable = false},
     CopyPath::kBatchCall},
    {"few_of_which_one_is_long",
     {.direction = kToDevice, .entries = 8, .bytes = kMiB, .listed = false, .balanced = false},
     CopyPath::kBatchCall},
    {"few_of_which_one_is_long_forced_kernel",
     {.direction = kToDevice, .entries = 8, .bytes = kMiB, .listed = false, .balanced = false},
     CopyPath::kKernel,
     Quietness::kAuto,
     CopyPath::kKernel},
    {"listed_of_which_one_is_long",
     {.direction = kToDevice, .entries = 8, .bytes = kMiB, .balanced = false},
     CopyPath::kKernel},
    {"few_that_are_alike",
     {.direction = kToDevice, .entries = 8, .bytes = kMiB, .listed = false},
     CopyPath::kKernel},
    {"long_without_a_batch_call",
     {.direction = kToHost, .entries = 64, .bytes = 64 * kMiB, .has_batch_call = false},
     CopyPath::kEngine},
    {"quiet_without_a_batch_call",
     {.direction = kToHost, .entries = 8192, .bytes = 32 * kMiB, .has_batch_call = false},
     CopyPath::kEngine,
     Quietness::kQuiet},
    {"short_without_a_batch_call",
     {.direction = kToHost, .entries = 8192, .bytes = 32 * kMiB, .has_batch_call = false},
     CopyPath::kKernel},
    {"one_is_long_without_a_batch_call",
     {.direction = kToHost,
      .entries = 8,
      .bytes = kMiB,
      .listed = false,
      .balanced = false,
      .has_batch_call = false},
     CopyPath::kEngine},
};
INSTANTIATE_TEST_SUITE_P(H200, BatchChoices, testing::ValuesIn(kBatchChoices),
                         [](const auto& instance) { return std::string(instance.param.name); });

/// Density is looked for only where it can matter: it takes a pass over all entries.
TEST(CopyPaths, AskForDensityOfLongBatchesOfShortEntries) {
  const CopyPaths paths("NVIDIA H200", 132, {});
  const BatchShape pages{kToHost, 8192, 32 * kMiB};
  EXPECT_TRUE(paths.AsksForDensity(pages));
  EXPECT_TRUE(paths.AsksForDensity({kToHost, 2048, 8 * kMiB}));
  EXPECT_FALSE(paths.AsksForDensity({kToHost, 2048, 8 * kMiB - 1})) << "short";
  EXPECT_FALSE(paths.AsksForDensity({kToHost, 512, 32 * kMiB})) << "entries of 64 KiB";
  EXPECT_FALSE(CopyPaths("NVIDIA H200", 132, {.quietness = Quietness::kQuiet}).AsksForDensity(pages));
  EXPECT_FALSE(CopyPaths("NVIDIA H200", 132, {.path = CopyPath::kKernel}).AsksForDensity(pages));
  for (const bool forces : {false, true}) {
    const CopyPaths asked("NVIDIA H200", 132,
                          {.path = forces ? std::optional(CopyPath::kDense) : std::nullopt});
    BatchShape pageable = pages, out_of_reach = pages, unlisted = pages;
    pageable.pageable = true;
    out_of_reach.reachable = unlisted.listed = false;
    EXPECT_FALSE(asked.AsksForDensity(pageable));
    EXPECT_FALSE(asked.AsksForDensity(out_of_reach));
    EXPECT_FALSE(asked.AsksForDensity(unlisted)) << "a kernel cannot read its entries";
  }
  const CopyPaths forced("NVIDIA H200", 132, {.path = CopyPath::kDense});
  EXPECT_TRUE(forced.AsksForDensity({kToDevice, 2, 100}));
  EXPECT_EQ(forced.MinDenseRun(), 1U);
  EXPECT_GE(paths.MinDenseRun(), kMiB);
}

TEST(CopyPaths, StartNoKernelWithinADeviceWhenQuiet) {
  const CopyPaths paths("NVIDIA H200", 132, {.quietness = Quietness::kQuiet});
  EXPECT_EQ(paths.ForDeviceCopy(4096).path, CopyPath::kEngine);
  EXPECT_EQ(paths.ForRows(kToHost, {16, 16, true, true}).path, CopyPath::kEngine);
  EXPECT_EQ(paths.ForRows(Direction::kDeviceToDevice, {16, 16, true, true}).path, CopyPath::kEngine);
  EXPECT_EQ(paths.ForRows(kToHost, {16, 16, true, false}).path, CopyPath::kKernel)
      << "the driver refuses the pitch";
}

}  // namespace
}  // namespace sampan::cuda::cuda_parts_test
