// Rows, fills and reductions: tables of requests and what each is planned as.
#include "core/copy/copy_plan.h"

#include <gtest/gtest.h>

#include "tests/unit/core/copy/plan_world.h"

namespace sampan::core::copy_plan_test {
namespace {

using namespace plan_tests;  // NOLINT(google-build-using-namespace)
using enum Memory;
using enum CopyKind;

constexpr CopyForm kAsync = CopyForm::kAsynchronous, kSync = CopyForm::kBlocking;
constexpr auto kToDevice = Direction::kHostToDevice, kToHost = Direction::kDeviceToHost,
               kOnDevice = Direction::kDeviceToDevice;
constexpr Setting kNewRelease{.profile = "ascend910b,cann9"};

struct Shape {
  std::size_t dst_pitch, src_pitch, width, height;
};
constexpr Shape kFew{256, 128, 100, 10};

struct Row {
  const char* name;
  Spot dst, src;
  Shape shape;
  CopyKind kind;
  CopyForm form;
  Outcome outcome;
  Direction direction = kToDevice;
  Timing timing = Timing::kQueued;
  std::size_t neighbours = 0;
  Setting setting = {};
};

const Row kRows[] = {
    {"pinned to device", {kDevice}, {kPinned}, kFew, kHostToDevice, kAsync, {}},
    {"device to pinned", {kPinned}, {kDevice}, kFew, kDeviceToHost, kAsync, {}, kToHost},
    {"blocking", {kPinned}, {kDevice}, kFew, kDeviceToHost, kSync, {}, kToHost},
    {"a wrong kind is corrected", {kDevice}, {kPinned}, kFew, kDeviceToHost, kAsync, {}},
    {"default", {kDevice}, {kRegistered}, kFew, kDefault, kAsync, {}},
    {"pageable to device",
     {kDevice},
     {kPageable},
     kFew,
     kHostToDevice,
     kAsync,
     {},
     kToDevice,
     Timing::kDrainThenNow},
    {"device to pageable",
     {kPageable},
     {kDevice},
     kFew,
     kDeviceToHost,
     kSync,
     {},
     kToHost,
     Timing::kDrainThenNow},
    {"pageable, wrong way",
     {kDevice},
     {kPageable},
     kFew,
     kDeviceToHost,
     kAsync,
     Refused("DEVICE_TO_HOST contradicts the addresses")},
    {"pageable, wrong way, blocking",
     {kDevice},
     {kPageable},
     kFew,
     kDeviceToHost,
     kSync,
     Refused("DEVICE_TO_HOST contradicts the addresses")},
    {"on the host",
     {kPinned},
     {kRegistered},
     kFew,
     kHostToHost,
     kAsync,
     Refused("a 2D copy goes between host and device, this one is ACL_MEMCPY_HOST_TO_HOST")},
    {"within a device",
     {kOther},
     {kDevice},
     kFew,
     kDeviceToDevice,
     kAsync,
     Refused("this one is ACL_MEMCPY_DEVICE_TO_DEVICE")},
    {"within a device, later release",
     {kOther},
     {kDevice},
     kFew,
     kDeviceToDevice,
     kAsync,
     {},
     kOnDevice,
     Timing::kQueued,
     0,
     kNewRelease},
    {"within a device, later release, blocking",
     {kOther},
     {kDevice},
     kFew,
     kDeviceToDevice,
     kSync,
     Refused("this one is ACL_MEMCPY_DEVICE_TO_DEVICE"),
     kOnDevice,
     Timing::kQueued,
     0,
     kNewRelease},
    {"to a closed peer, later release",
     {kPeer},
     {kDevice},
     kFew,
     kDeviceToDevice,
     kAsync,
     Refused("device 0 may not touch"),
     kOnDevice,
     Timing::kQueued,
     0,
     kNewRelease},
    // The extent ends with the last row's width, not with its pitch.
    {"to the last byte", {kDevice}, {kPinned}, {kPage, kPage, kPage, 2}, kHostToDevice, kAsync, {}},
    {"the last row needs no pitch",
     {kDevice, 100},
     {kPinned},
     {kBlock - 128, 128, 28, 2},
     kHostToDevice,
     kAsync,
     {}},
    {"a byte past the destination",
     {kDevice, 101},
     {kPinned},
     {kBlock - 128, 128, 28, 2},
     kHostToDevice,
     kAsync,
     Refused("leaves its allocation by 1 bytes")},
    {"a byte past the source",
     {kOther},
     {kDevice, 1},
     {kPage, kPage, kPage, 2},
     kDeviceToDevice,
     kAsync,
     Refused("leaves its allocation by 1 bytes")},
    {"one row needs no pitch",
     {kDevice},
     {kPinned},
     {SIZE_MAX, SIZE_MAX, kBlock, 1},
     kHostToDevice,
     kAsync,
     {}},
    {"the extent overflows by the product",
     {kDevice},
     {kPinned},
     {SIZE_MAX / 2, 128, 64, 4},
     kHostToDevice,
     kAsync,
     Refused("dpitch")},
    {"the extent overflows by the sum",
     {kDevice},
     {kPinned},
     {SIZE_MAX, 128, 64, 2},
     kHostToDevice,
     kAsync,
     Refused("is more than there are addresses")},
    {"the source's extent overflows",
     {kDevice},
     {kPinned},
     {128, SIZE_MAX, 64, 2},
     kHostToDevice,
     kAsync,
     Refused("spitch")},
    {"to freed memory", {kFreed}, {kPinned}, kFew, kHostToDevice, kAsync, Refused("freed already")},
    {"from reserved addresses",
     {kPinned},
     {kReserved},
     kFew,
     kDeviceToHost,
     kAsync,
     Refused("nothing mapped there")},
    {"from one registration into the next",
     {kDevice},
     {kRegistered, kPage - 64},
     {64, 64, 64, 2},
     kHostToDevice,
     kAsync,
     {},
     kToDevice,
     Timing::kQueued,
     1},
    {"from one piece into the next",
     {kMapped, kPiece - 64},
     {kPinned},
     {64, 64, 64, 2},
     kHostToDevice,
     kAsync,
     {},
     kToDevice,
     Timing::kQueued,
     1},
    {"into a piece without rights",
     {kMapped, 2 * kPiece - 64},
     {kPinned},
     {64, 64, 64, 2},
     kHostToDevice,
     kAsync,
     Refused("device 0 has no right to write it")},
    {"to a read-only registration",
     {kReadOnly},
     {kDevice},
     kFew,
     kDeviceToHost,
     kAsync,
     Refused("was registered as read-only")},
    {"from a page that cannot be read",
     {kDevice},
     {kInaccessible},
     kFew,
     kHostToDevice,
     kAsync,
     Refused("the process cannot read")},
    {"to a page that cannot be written",
     {kUnwritable},
     {kDevice},
     kFew,
     kDeviceToHost,
     kSync,
     Refused("the process cannot write")},
    // From the readable page before the inaccessible one to the readable one behind it.
    {"only rows are looked at",
     {kDevice},
     {kUnwritable},
     {64, 3 * kPage, 64, 2},
     kHostToDevice,
     kAsync,
     {},
     kToDevice,
     Timing::kDrainThenNow},
    {"but every row",
     {kDevice},
     {kUnwritable},
     {64, 2 * kPage, 64, 2},
     kHostToDevice,
     kAsync,
     Refused("the process cannot read")},
    {"and what lies between close ones",
     {kDevice},
     {kUnwritable, kPage},
     {2048, kPage + 64, 64, 2},
     kHostToDevice,
     kAsync,
     Refused("the process cannot read")},
};

TEST(RowsPlan, Table) {
  World world;
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.name);
    const RowsRequest request{world.At(row.dst), row.shape.dst_pitch, world.At(row.src), row.shape.src_pitch,
                              row.shape.width,   row.shape.height,    row.kind};
    Plan plan;
    const Status status = world.Under(row.setting, plan, [&](PlanContext context, Plan& made) {
      return PlanRows(request, row.form, context, made);
    });
    if (!Succeeds(status, row.outcome)) continue;
    EXPECT_EQ(plan.timing, row.timing);
    std::size_t neighbours = 0;
    const auto* const rows = std::get_if<RowsTask>(&Inner(plan.task, neighbours));
    ASSERT_NE(rows, nullptr);
    EXPECT_EQ(neighbours, row.neighbours);
    EXPECT_EQ(rows->rows.dst, world.EngineAt(row.dst));
    EXPECT_EQ(rows->rows.src, world.EngineAt(row.src));
    EXPECT_EQ(rows->rows.dst_pitch, row.shape.dst_pitch);
    EXPECT_EQ(rows->rows.src_pitch, row.shape.src_pitch);
    EXPECT_EQ(rows->rows.width, row.shape.width);
    EXPECT_EQ(rows->rows.height, row.shape.height);
    EXPECT_EQ(rows->direction, row.direction);
    EXPECT_EQ(plan.timing == Timing::kQueued, rows->dst && rows->src);
  }
}

TEST(FillPlan, Table) {
  struct FillRow {
    const char* name;
    Spot dst;
    std::size_t bytes;
    Outcome outcome;
    Timing timing = Timing::kQueued;
    std::size_t neighbours = 0;
    Setting setting = {};
  };
  const FillRow rows[] = {
      {"a device", {kDevice}, kBlock, {}},
      {"any other device", {kPeer}, 64, {}},
      {"pinned memory, now", {kPinned}, 64, {}, Timing::kNow},
      {"pageable memory, now", {kPageable}, 64, {}, Timing::kNow},
      {"a byte past the end", {kDevice, 1}, kBlock, Refused("devPtr")},
      {"past the end", {kDevice, 1}, kBlock, Refused("leaves its allocation by 1 bytes")},
      {"freed memory", {kFreed}, 64, Refused("freed already")},
      {"reserved addresses", {kReserved}, 64, Refused("nothing mapped there")},
      {"a page that cannot be written", {kUnwritable}, 64, Refused("the process cannot write")},
      {"a read-only registration", {kReadOnly}, 64, Refused("was registered as read-only")},
      {"a mapped piece", {kMapped}, 64, {}},
      {"two mapped pieces", {kMapped, kPiece - 8}, 16, {}, Timing::kQueued, 1},
      {"a piece without rights", {kMapped, 2 * kPiece}, 16, Refused("device 0 has no right to write it")},
      {"two registrations", {kRegistered, kPage - 8}, 16, {}, Timing::kNow, 1},
      {"out of registered memory", {kRegistered, kBlock - 8}, 16, {}, Timing::kNow},
  };
  World world;
  for (const FillRow& row : rows) {
    SCOPED_TRACE(row.name);
    Plan plan;
    const Status status = world.Under(row.setting, plan, [&](PlanContext context, Plan& made) {
      return PlanFill({"devPtr", world.At(row.dst), row.bytes, 0xA1B2C3D4, row.bytes}, context, made);
    });
    if (!Succeeds(status, row.outcome)) continue;
    EXPECT_EQ(plan.timing, row.timing);
    std::size_t neighbours = 0;
    const auto* const fill = std::get_if<FillTask>(&Inner(plan.task, neighbours));
    ASSERT_NE(fill, nullptr);
    EXPECT_EQ(neighbours, row.neighbours);
    EXPECT_EQ(fill->dst, world.EngineAt(row.dst));
    EXPECT_EQ(fill->bytes, row.bytes);
    EXPECT_EQ(fill->pattern, 0xA1B2C3D4);
  }
}

TEST(ReducePlan, Table) {
  struct ReduceRow {
    const char* name;
    Spot dst, src;
    std::size_t bytes;
    Outcome outcome;
    std::size_t neighbours = 0;
    Setting setting = {};
  };
  const ReduceRow rows[] = {
      {"within a device", {kDevice}, {kOther}, 64, {}},
      {"from an open peer", {kDevice}, {kPeer}, 64, {}, 0, {.peers_open = true}},
      {"from a closed peer", {kDevice}, {kPeer}, 64, Refused("device 0 may not touch")},
      {"from the host", {kDevice}, {kPinned}, 64, Refused("src")},
      {"to the host", {kPinned}, {kDevice}, 64, Refused("it must be device memory")},
      {"from pageable memory", {kDevice}, {kPageable}, 64, Refused("is pageable host memory, it must be")},
      {"past the end", {kDevice, 8}, {kOther}, kBlock, Refused("leaves its allocation by 8 bytes")},
      {"two pieces", {kDevice}, {kMapped, kPiece - 8}, 16, {}, 1},
      {"a piece without rights", {kDevice}, {kMapped, 2 * kPiece}, 16, Refused("no right to read it")},
  };
  World world;
  for (const ReduceRow& row : rows) {
    SCOPED_TRACE(row.name);
    Plan plan;
    const Status status = world.Under(row.setting, plan, [&](PlanContext context, Plan& made) {
      return PlanReduce({world.At(row.dst), world.At(row.src), row.bytes, {}, {}}, context, made);
    });
    if (!Succeeds(status, row.outcome)) continue;
    EXPECT_EQ(plan.timing, Timing::kQueued);
    std::size_t neighbours = 0;
    const auto* const reduce = std::get_if<ReduceTask>(&Inner(plan.task, neighbours));
    ASSERT_NE(reduce, nullptr);
    EXPECT_EQ(neighbours, row.neighbours);
    EXPECT_EQ(reduce->segment.dst, world.EngineAt(row.dst));
    EXPECT_EQ(reduce->segment.src, world.EngineAt(row.src));
    EXPECT_EQ(reduce->segment.bytes, row.bytes);
  }
}

}  // namespace
}  // namespace sampan::core::copy_plan_test
