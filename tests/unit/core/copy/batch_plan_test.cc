// Batches: a table of requests and what each is planned as.
#include <gtest/gtest.h>

#include <vector>

#include "core/copy/copy_plan.h"
#include "tests/unit/core/copy/plan_world.h"

namespace sampan::core::batch_plan_test {
namespace {

using namespace plan_tests;  // NOLINT(google-build-using-namespace)
using enum Memory;

constexpr auto kToDevice = Direction::kHostToDevice, kToHost = Direction::kDeviceToHost;
constexpr ClaimedPlace kHost{}, kFirst{0}, kSecond{1}, kNowhere{ClaimedPlace::kNowhere};

struct Entry {
  Spot dst, src;
  std::size_t bytes;
};

struct Row {
  const char* name;
  std::vector<Entry> entries;
  std::vector<BatchAttribute> attributes;
  Outcome outcome;
  // What a plan that succeeded holds.
  Direction direction = kToDevice;
  Timing timing = Timing::kQueued;
  std::size_t segments = 0;  ///< 0: as many as entries
  std::size_t uses = 2;      ///< of allocations
  bool zero_sizes_allowed = false;
  Setting setting = {};
};

const std::vector<BatchAttribute> kIn{{kFirst, kHost, 0}}, kOut{{kHost, kFirst, 0}};

std::vector<Entry> Many(std::size_t entries) {
  std::vector<Entry> all;
  for (std::size_t i = 0; i < entries; ++i)
    all.push_back({{kOther, 64 * i}, {kPinned, 64 * (entries - i)}, 64});
  return all;
}
std::vector<Entry> ManyBut(std::size_t entries, std::size_t at, const Entry& other) {
  std::vector<Entry> all = Many(entries);
  all[at] = other;
  return all;
}

const Row kRows[] = {
    {"one entry", {{{kDevice}, {kPinned}, 64}}, kIn, {}},
    {"to the host", {{{kPinned}, {kDevice}, 64}}, kOut, {}, kToHost},
    {"two entries", {{{kDevice}, {kPinned}, 64}, {{kDevice, 64}, {kPinned, 64}, 32}}, kIn, {}},
    {"eight entries", Many(8), kIn, {}},
    {"nine entries", Many(9), kIn, {}},
    {"two hundred entries", Many(200), kIn, {}},
    {"entries of two allocations",
     {{{kDevice}, {kPinned}, 64}, {{kOther}, {kPinned}, 64}},
     kIn,
     {},
     kToDevice,
     Timing::kQueued,
     0,
     3},
    {"back and forth between allocations",
     {{{kDevice}, {kPinned}, 64}, {{kOther}, {kRegistered}, 64}, {{kDevice, 64}, {kPinned}, 64}},
     kIn,
     {},
     kToDevice,
     Timing::kQueued,
     0,
     6},
    {"the same entry twice", {{{kDevice}, {kPinned}, 64}, {{kDevice}, {kPinned}, 64}}, kIn, {}},
    // Long entries are cut.
    {"of one segment", {{{kOther}, {kPinned}, BatchTask::kMaxSegmentBytes}}, kIn, {}},
    {"a byte more",
     {{{kOther}, {kPinned}, BatchTask::kMaxSegmentBytes + 1}},
     kIn,
     {},
     kToDevice,
     Timing::kQueued,
     2},
    {"three segments between others",
     {{{kOther}, {kPinned}, 64}, {{kOther}, {kPinned}, kLong}, {{kOther}, {kPinned}, 64}},
     kIn,
     {},
     kToDevice,
     Timing::kQueued,
     5},
    {"more segments than lie inside a task",
     {{{kOther}, {kPinned}, kLong}, {{kOther}, {kPinned}, kLong}, {{kOther}, {kPinned}, kLong}},
     kIn,
     {},
     kToDevice,
     Timing::kQueued,
     9},
    // Bounds.
    {"to the last byte", {{{kDevice}, {kPinned}, kBlock}}, kIn, {}},
    {"a byte past the destination", {{{kDevice}, {kPinned}, kBlock + 1}}, kIn, RefusedAt(0, "entry 0: dst")},
    {"the second is a byte past the source",
     {{{kOther}, {kPinned}, 64}, {{kOther}, {kPinned, kLong - 63}, 64}},
     kIn,
     RefusedAt(1, "leaves its allocation by 1 bytes")},
    {"the last of many is past its end", ManyBut(40, 39, {{kOther, kLong - 8}, {kPinned}, 16}), kIn,
     RefusedAt(39, "entry 39: dst")},
    {"one of many is freed", ManyBut(40, 17, {{kFreed}, {kPinned}, 16}), kIn, RefusedAt(17, "freed already")},
    {"reserved addresses", {{{kReserved}, {kPinned}, 16}}, kIn, RefusedAt(0, "nothing mapped there")},
    {"the first that is wrong is named",
     {{{kOther}, {kPinned}, 64}, {{kFreed}, {kPinned}, 64}, {{kFreed}, {kPinned}, 64}},
     kIn,
     RefusedAt(1, "entry 1: dst")},
    // Sizes of 0.
    {"a size of 0",
     {{{kDevice}, {kPinned}, 64}, {{kDevice}, {kPinned}, 0}},
     kIn,
     RefusedAt(1, "entry 1: its size is 0")},
    {"a size of 0 in the middle of many", ManyBut(40, 20, {{kOther}, {kPinned}, 0}), kIn,
     RefusedAt(20, "its size is 0")},
    {"a size of 0 where it is skipped",
     {{{kDevice}, {kPinned}, 0}, {{kDevice}, {kPinned}, 64}},
     kIn,
     {},
     kToDevice,
     Timing::kQueued,
     1,
     2,
     true},
    {"only sizes of 0",
     {{{kDevice}, {kPinned}, 0}, {{kDevice}, {kPinned}, 0}},
     kIn,
     {},
     kToDevice,
     Timing::kNothing,
     0,
     0,
     true},
    // Attributes say where the entries lie.
    {"the destination is elsewhere",
     {{{kPinned}, {kDevice}, 64}},
     kIn,
     RefusedAt(0, "its attribute says memory of device 0")},
    {"the source is elsewhere",
     {{{kDevice}, {kPinned}, 64}},
     {{kFirst, kFirst, 0}},
     RefusedAt(0, "its attribute says memory of device 0")},
    {"the host, said of a device",
     {{{kDevice}, {kPinned}, 64}},
     {{kHost, kHost, 0}},
     RefusedAt(0, "its attribute says host memory")},
    {"another device",
     {{{kDevice}, {kPinned}, 64}},
     {{kSecond, kHost, 0}},
     RefusedAt(0, "its attribute says memory of device 1")},
    {"that other device", {{{kPeer}, {kPinned}, 64}}, {{kSecond, kHost, 0}}, {}},
    {"a type that no memory has",
     {{{kDevice}, {kPinned}, 64}},
     {{kFirst, kNowhere, 0}},
     RefusedAt(0, "a location type that no memory has")},
    {"two attributes that say the same", Many(20), {{kFirst, kHost, 0}, {kFirst, kHost, 7}}, {}},
    {"a second attribute",
     {{{kDevice}, {kPinned}, 64}, {{kPeer}, {kPinned}, 64}},
     {{kFirst, kHost, 0}, {kSecond, kHost, 1}},
     {},
     kToDevice,
     Timing::kQueued,
     0,
     3},
    {"a second attribute that does not fit",
     Many(20),
     {{kFirst, kHost, 0}, {kSecond, kHost, 13}},
     RefusedAt(13, "its attribute says memory of device 1")},
    // One direction, between host and device.
    {"within a device",
     {{{kDevice}, {kOther}, 64}},
     {{kFirst, kFirst, 0}},
     RefusedAt(0, "a batch copies between host and device: src")},
    {"on the host",
     {{{kPinned}, {kRegistered}, 64}},
     {{kHost, kHost, 0}},
     RefusedAt(0, "a batch copies between host and device: src")},
    {"two directions",
     {{{kDevice}, {kPinned}, 64}, {{kPinned}, {kDevice}, 64}},
     {{kFirst, kHost, 0}, {kHost, kFirst, 1}},
     RefusedAt(1, "a batch has one direction: this entry is ACL_MEMCPY_DEVICE_TO_HOST")},
    // Pageable memory.
    {"pageable", {{{kDevice}, {kPageable}, 64}}, kIn, {}, kToDevice, Timing::kDrainThenNow, 0, 1},
    {"one of many is pageable",
     ManyBut(40, 30, {{kOther}, {kPageable}, 64}),
     kIn,
     {},
     kToDevice,
     Timing::kDrainThenNow},
    {"a page that cannot be read", ManyBut(40, 30, {{kOther}, {kInaccessible}, 64}), kIn,
     RefusedAt(30, "the process cannot read")},
    {"a page that cannot be written",
     {{{kUnwritable}, {kDevice}, 64}},
     kOut,
     RefusedAt(0, "the process cannot write")},
    {"out of registered memory",
     {{{kDevice}, {kRegistered, kBlock - 8}, 16}},
     kIn,
     {},
     kToDevice,
     Timing::kDrainThenNow,
     0,
     1},
    // Neighbours, rights and peers.
    {"from one registration into the next",
     {{{kDevice}, {kRegistered, kPage - 8}, 16}},
     kIn,
     {},
     kToDevice,
     Timing::kQueued,
     0,
     3},
    {"from one piece into the next",
     {{{kMapped, kPiece - 8}, {kPinned}, 16}},
     kIn,
     {},
     kToDevice,
     Timing::kQueued,
     0,
     3},
    {"mapped pieces, each with one use",
     {{{kMapped}, {kPinned}, 64}, {{kMapped, 64}, {kPinned}, 64}, {{kMapped, kPiece}, {kPinned}, 64}},
     kIn,
     {},
     kToDevice,
     Timing::kQueued,
     0,
     3},
    {"a piece without rights",
     {{{kMapped}, {kPinned}, 64}, {{kMapped, 2 * kPiece}, {kPinned}, 64}},
     kIn,
     RefusedAt(1, "device 0 has no right to write it")},
    {"into a piece without rights",
     {{{kMapped, 2 * kPiece - 8}, {kPinned}, 16}},
     kIn,
     RefusedAt(0, "device 0 has no right to write it")},
    {"a piece that may not be read",
     {{{kPinned}, {kMapped, 2 * kPiece}, 64}},
     kOut,
     RefusedAt(0, "device 0 has no right to read it")},
    {"a device without rights",
     {{{kMapped}, {kPinned}, 64}},
     kIn,
     RefusedAt(0, "device 1 has no right to write it"),
     kToDevice,
     Timing::kQueued,
     0,
     0,
     false,
     {.device = 1}},
    {"to a read-only registration",
     {{{kReadOnly}, {kDevice}, 64}},
     kOut,
     RefusedAt(0, "was registered as read-only")},
    {"from a read-only registration", {{{kDevice}, {kReadOnly}, 64}}, kIn, {}},
};

struct Arrays {
  Arrays(const World& world, const Row& row) {
    for (const Entry& entry : row.entries) {
      dsts.push_back(world.At(entry.dst));
      srcs.push_back(world.At(entry.src));
      sizes.push_back(entry.bytes);
    }
  }
  BatchRequest Request(const Row& row) const {
    return {dsts, srcs, sizes, row.attributes, row.zero_sizes_allowed};
  }
  std::vector<void*> dsts, srcs;
  std::vector<std::size_t> sizes;
};

/// The segments are those of the entries, in order and cut where they are long.
void ExpectSegments(const World& world, const Row& row, const BatchTask& batch) {
  std::size_t next = 0, bytes = 0;
  for (const Entry& entry : row.entries) {
    for (std::size_t done = 0; done < entry.bytes; done += batch.segments.all()[next++].bytes) {
      ASSERT_LT(next, batch.segments.size());
      const Segment& segment = batch.segments.all()[next];
      EXPECT_EQ(segment.dst, world.EngineAt(entry.dst) + done);
      EXPECT_EQ(segment.src, world.EngineAt(entry.src) + done);
      EXPECT_EQ(segment.bytes, std::min(entry.bytes - done, BatchTask::kMaxSegmentBytes));
      EXPECT_LE(segment.bytes, batch.longest);
    }
    bytes += entry.bytes;
  }
  EXPECT_EQ(next, batch.segments.size());
  EXPECT_EQ(batch.bytes, bytes);
  if (row.timing != Timing::kNothing) {
    EXPECT_EQ(next, row.segments == 0 ? row.entries.size() : row.segments);
  }
}

TEST(BatchPlan, Table) {
  World world;
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.name);
    const Arrays arrays(world, row);
    Plan plan;
    const Status status = world.Under(row.setting, plan, [&](PlanContext context, Plan& made) {
      return PlanBatch(arrays.Request(row), context, made);
    });
    if (!Succeeds(status, row.outcome)) continue;
    EXPECT_EQ(plan.timing, row.timing);
    const auto* const batch = std::get_if<BatchTask>(&plan.task);
    ASSERT_NE(batch, nullptr);
    ExpectSegments(world, row, *batch);
    EXPECT_EQ(batch->segments.in_store(), batch->segments.room() > SegmentList::kInside);
    EXPECT_EQ(batch->pageable, row.timing == Timing::kDrainThenNow);
    EXPECT_EQ(batch->memory.size(), row.uses);
    if (row.timing != Timing::kNothing) {
      EXPECT_EQ(batch->direction, row.direction);
    }
  }
}

TEST(BatchPlan, NullAddresses) {
  World world;
  for (const bool zero_sizes_allowed : {false, true}) {
    for (const std::size_t bytes : {std::size_t{64}, std::size_t{0}}) {
      if (bytes == 0 && !zero_sizes_allowed) continue;
      void* const memory[] = {world.At({kDevice}), nullptr};
      void* const host[] = {world.At({kPinned}), world.At({kPinned})};
      const std::size_t sizes[] = {64, bytes};
      for (const bool at_dst : {true, false}) {
        Plan plan;
        const Status status = world.Under({}, plan, [&](PlanContext context, Plan& made) {
          return at_dst ? PlanBatch({memory, host, sizes, kIn, zero_sizes_allowed}, context, made)
                        : PlanBatch({host, memory, sizes, kOut, zero_sizes_allowed}, context, made);
        });
        Succeeds(status, RefusedAt(1, at_dst ? "its dst is NULL" : "its src is NULL"));
        EXPECT_FALSE(status.ok());
      }
    }
  }
}

TEST(BatchAttributes, Table) {
  struct AttributeRow {
    std::vector<std::size_t> first_entries;
    std::size_t entries;
    Outcome outcome;
  };
  const AttributeRow rows[] = {
      {{0}, 1, {}},
      {{0}, 9, {}},
      {{0, 8}, 9, {}},
      {{0, 1, 2}, 3, {}},
      {{}, 1, Refused("numAttrs is 0")},
      {{0, 1}, 1, Refused("numAttrs 2 is more than numBatches 1")},
      {{1}, 2, Refused("attrsIndexes[0] is 1, it must be 0")},
      {{0, 0}, 2, Refused("attrsIndexes[1] is 0, not more than the one before")},
      {{0, 3, 2}, 9, Refused("attrsIndexes[2] is 2, not more than the one before")},
      {{0, 9}, 9, Refused("attrsIndexes[1] is 9, numBatches is 9")},
  };
  for (const AttributeRow& row : rows) {
    SCOPED_TRACE(testing::PrintToString(row.first_entries));
    std::vector<BatchAttribute> attributes;
    for (const std::size_t first : row.first_entries)
      attributes.push_back({kFirst, kHost, first});
    Status checked = CheckAttributeCount(attributes.size(), row.entries);
    if (checked.ok()) checked = CheckAttributeStarts(attributes, row.entries);
    Succeeds(checked, row.outcome);
  }
}

}  // namespace
}  // namespace sampan::core::batch_plan_test
