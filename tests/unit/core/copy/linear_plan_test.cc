// Linear copies: a table of requests and what each is planned as.
#include "core/copy/linear_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "tests/unit/core/copy/plan_world.h"

namespace sampan::core::linear_plan_test {
namespace {

using namespace plan_tests;  // NOLINT(google-build-using-namespace)
using enum Memory;
using enum CopyKind;

constexpr CopyForm kAsync = CopyForm::kAsynchronous, kSync = CopyForm::kBlocking;

/// What a plan that succeeded holds.
struct Made {
  Direction direction = Direction::kHostToDevice;
  Timing timing = Timing::kQueued;
  std::size_t neighbours = 0;
  bool captured = false;
};
constexpr Made Queued(Direction direction, std::size_t neighbours = 0) {
  return {direction, Timing::kQueued, neighbours};
}
constexpr Made Drained(Direction direction) {
  return {direction, Timing::kDrainThenNow};
}
constexpr auto kToDevice = Direction::kHostToDevice, kToHost = Direction::kDeviceToHost,
               kOnDevice = Direction::kDeviceToDevice, kOnHost = Direction::kHostToHost;

struct Row {
  const char* name;
  Spot dst, src;
  std::size_t bytes;
  CopyKind kind;
  CopyForm form;
  Outcome outcome;
  Made made;
  Setting setting;
};

constexpr Outcome kNoHostCopies{Code::kFeatureNotSupport, "a host-to-host copy cannot be asynchronous"};
constexpr Setting kOnPeer{.device = 1}, kOpen{.peers_open = true}, kShared{.profile = "ascend310-rc"},
    kNowhere{.device = kNoDevice};

const Row kRows[] = {
    // Places that the runtime knows: every kind is taken for the real one.
    {"pinned to device", {kDevice}, {kPinned}, 64, kHostToDevice, kAsync, {}, Queued(kToDevice), {}},
    {"device to pinned", {kPinned}, {kDevice}, 64, kDeviceToHost, kAsync, {}, Queued(kToHost), {}},
    {"within a device", {kOther}, {kDevice}, 64, kDeviceToDevice, kAsync, {}, Queued(kOnDevice), {}},
    {"a wrong kind is corrected", {kDevice}, {kPinned}, 64, kDeviceToHost, kAsync, {}, Queued(kToDevice), {}},
    {"host to host is corrected", {kDevice}, {kPinned}, 64, kHostToHost, kAsync, {}, Queued(kToDevice), {}},
    {"default", {kPinned}, {kDevice}, 64, kDefault, kAsync, {}, Queued(kToHost), {}},
    {"inner", {kOther}, {kDevice}, 64, kInnerDeviceToDevice, kAsync, {}, Queued(kOnDevice), {}},
    {"inter", {kOther}, {kDevice}, 64, kInterDeviceToDevice, kAsync, {}, Queued(kOnDevice), {}},
    {"registered to device", {kDevice}, {kRegistered}, 64, kHostToDevice, kAsync, {}, Queued(kToDevice), {}},
    {"device to registered", {kRegistered}, {kDevice}, 64, kDeviceToHost, kAsync, {}, Queued(kToHost), {}},
    {"pinned to pinned", {kPinned}, {kPinned, kPage}, 64, kHostToHost, kAsync, kNoHostCopies, {}, {}},
    {"pinned to pinned by default", {kPinned}, {kRegistered}, 64, kDefault, kAsync, kNoHostCopies, {}, {}},
    {"pinned to pinned, blocking", {kPinned}, {kRegistered}, 64, kHostToHost, kSync, {}, Queued(kOnHost), {}},
    {"the same address",
     {kDevice, 64},
     {kDevice, 64},
     64,
     kDeviceToDevice,
     kAsync,
     {},
     {kOnDevice, Timing::kNothing},
     {}},
    {"the same address, blocking",
     {kDevice, 64},
     {kDevice, 64},
     64,
     kDeviceToDevice,
     kSync,
     {},
     Queued(kOnDevice),
     {}},
    {"overlapping", {kDevice, 1}, {kDevice}, 64, kDeviceToDevice, kAsync, {}, Queued(kOnDevice), {}},
    // Pageable memory: the kind has a say, and the copy is over on return.
    {"pageable to device", {kDevice}, {kPageable}, 64, kHostToDevice, kAsync, {}, Drained(kToDevice), {}},
    {"pageable to device by default",
     {kDevice},
     {kPageable},
     64,
     kDefault,
     kAsync,
     {},
     Drained(kToDevice),
     {}},
    {"pageable within a device",
     {kDevice},
     {kPageable},
     64,
     kDeviceToDevice,
     kAsync,
     {},
     Drained(kToDevice),
     {}},
    {"pageable, wrong way",
     {kDevice},
     {kPageable},
     64,
     kDeviceToHost,
     kAsync,
     Refused("DEVICE_TO_HOST contradicts the addresses: src"),
     {},
     {}},
    {"pageable, host to host",
     {kDevice},
     {kPageable},
     64,
     kHostToHost,
     kAsync,
     Refused("HOST_TO_HOST contradicts the addresses"),
     {},
     {}},
    {"pageable, inner",
     {kDevice},
     {kPageable},
     64,
     kInnerDeviceToDevice,
     kAsync,
     Refused("INNER_DEVICE_TO_DEVICE contradicts"),
     {},
     {}},
    {"device to pageable", {kPageable}, {kDevice}, 64, kDeviceToHost, kAsync, {}, Drained(kToHost), {}},
    {"device to pageable, wrong way",
     {kPageable},
     {kDevice},
     64,
     kHostToDevice,
     kAsync,
     Refused("HOST_TO_DEVICE contradicts"),
     {},
     {}},
    {"pageable to pinned", {kPinned}, {kPageable}, 64, kDefault, kAsync, kNoHostCopies, {}, {}},
    {"pageable to pinned as if from a device",
     {kPinned},
     {kPageable},
     64,
     kDeviceToHost,
     kAsync,
     {},
     Drained(kOnHost),
     {}},
    {"pinned to pageable as if to a device",
     {kPageable},
     {kPinned},
     64,
     kHostToDevice,
     kAsync,
     {},
     Drained(kOnHost),
     {}},
    {"pinned to pageable, wrong way",
     {kPageable},
     {kPinned},
     64,
     kDeviceToHost,
     kAsync,
     Refused("DEVICE_TO_HOST contradicts"),
     {},
     {}},
    {"pageable to pageable", {kPageable}, {kPageable, kPage}, 64, kDefault, kAsync, kNoHostCopies, {}, {}},
    {"pageable to pageable as if within a device",
     {kPageable},
     {kPageable, kPage},
     64,
     kDeviceToDevice,
     kAsync,
     {},
     Drained(kOnHost),
     {}},
    {"blocking forms do not look at the kind",
     {kDevice},
     {kPageable},
     64,
     kDeviceToHost,
     kSync,
     {},
     Drained(kToDevice),
     {}},
    // What the process itself cannot access.
    {"to a page that cannot be written",
     {kUnwritable},
     {kDevice},
     64,
     kDeviceToHost,
     kAsync,
     Refused("is host memory that the process cannot write"),
     {},
     {}},
    {"from a page that can only be read",
     {kDevice},
     {kUnwritable},
     64,
     kHostToDevice,
     kAsync,
     {},
     Drained(kToDevice),
     {}},
    {"from a page that cannot be read",
     {kDevice},
     {kInaccessible},
     64,
     kHostToDevice,
     kAsync,
     Refused("is host memory that the process cannot read"),
     {},
     {}},
    {"into a page that cannot be read",
     {kDevice},
     {kInaccessible, std::size_t{0} - 8},
     64,
     kHostToDevice,
     kAsync,
     Refused("cannot read"),
     {},
     {}},
    {"blocking, to a page that cannot be written",
     {kUnwritable},
     {kPinned},
     64,
     kDefault,
     kSync,
     Refused("cannot write"),
     {},
     {}},
    // Bounds.
    {"to the last byte", {kDevice}, {kPinned}, kBlock, kHostToDevice, kAsync, {}, Queued(kToDevice), {}},
    {"the last byte", {kDevice, kBlock - 1}, {kPinned}, 1, kHostToDevice, kAsync, {}, Queued(kToDevice), {}},
    {"a byte past the destination",
     {kDevice},
     {kPinned},
     kBlock + 1,
     kHostToDevice,
     kAsync,
     Refused("leaves its allocation by 1 bytes"),
     {},
     {}},
    {"a byte past the source",
     {kOther},
     {kDevice, 1},
     kBlock,
     kDeviceToDevice,
     kAsync,
     Refused("leaves its allocation by 1 bytes"),
     {},
     {}},
    {"as many bytes as there are addresses",
     {kDevice, 1},
     {kPinned},
     SIZE_MAX,
     kHostToDevice,
     kAsync,
     Refused("leaves its allocation"),
     {},
     {}},
    {"blocking forms have the same bounds",
     {kPinned, kLong - 1},
     {kDevice},
     2,
     kDeviceToHost,
     kSync,
     Refused("leaves its allocation by 1 bytes"),
     {},
     {}},
    {"to freed memory", {kFreed}, {kPinned}, 64, kHostToDevice, kAsync, Refused("freed already"), {}, {}},
    {"from freed memory", {kPinned}, {kFreed}, 64, kDeviceToHost, kAsync, Refused("src"), {}, {}},
    {"to reserved addresses",
     {kReserved},
     {kPinned},
     64,
     kHostToDevice,
     kAsync,
     Refused("reserved with nothing mapped there"),
     {},
     {}},
    // Neighbours: registrations, and pieces of a reservation.
    {"from one registration into the next",
     {kDevice},
     {kRegistered, kPage - 8},
     16,
     kHostToDevice,
     kAsync,
     {},
     Queued(kToDevice, 1),
     {}},
    {"out of registered memory",
     {kDevice},
     {kRegistered, kBlock - 8},
     16,
     kHostToDevice,
     kAsync,
     {},
     Drained(kToDevice),
     {}},
    {"from one piece into the next",
     {kMapped, kPiece - 8},
     {kPinned},
     16,
     kHostToDevice,
     kAsync,
     {},
     Queued(kToDevice, 1),
     {}},
    {"both ends with neighbours",
     {kMapped, kPiece - 8},
     {kRegistered, kPage - 8},
     16,
     kHostToDevice,
     kAsync,
     {},
     Queued(kToDevice, 2),
     {}},
    {"out of the mapped pieces",
     {kMapped, 3 * kPiece - 8},
     {kPinned},
     16,
     kHostToDevice,
     kAsync,
     Refused("leaves its allocation by 8 bytes"),
     {},
     {}},
    // Rights.
    {"to a mapped piece", {kMapped}, {kPinned}, 64, kHostToDevice, kAsync, {}, Queued(kToDevice), {}},
    {"to a piece without rights",
     {kMapped, 2 * kPiece},
     {kPinned},
     64,
     kHostToDevice,
     kAsync,
     Refused("device 0 has no right to write it (aclrtMemSetAccess)"),
     {},
     {}},
    {"from a piece without rights",
     {kPinned},
     {kMapped, 2 * kPiece},
     64,
     kDeviceToHost,
     kAsync,
     Refused("device 0 has no right to read it"),
     {},
     {}},
    {"into a piece without rights",
     {kMapped, 2 * kPiece - 8},
     {kPinned},
     16,
     kHostToDevice,
     kAsync,
     Refused("device 0 has no right to write it"),
     {},
     {}},
    {"another device has no rights",
     {kMapped},
     {kPinned},
     64,
     kHostToDevice,
     kAsync,
     Refused("device 1 has no right to write it"),
     {},
     kOnPeer},
    {"to a read-only registration",
     {kReadOnly},
     {kDevice},
     64,
     kDeviceToHost,
     kAsync,
     Refused("was registered as read-only, so nothing may be copied there"),
     {},
     {}},
    {"from a read-only registration",
     {kDevice},
     {kReadOnly},
     64,
     kHostToDevice,
     kAsync,
     {},
     Queued(kToDevice),
     {}},
    {"into a second read-only registration",
     {kReadOnly, kPage - 8},
     {kDevice},
     16,
     kDeviceToHost,
     kAsync,
     Refused("was registered as read-only"),
     {},
     {}},
    // Peers.
    {"to a peer that is not open",
     {kPeer},
     {kDevice},
     64,
     kDeviceToDevice,
     kAsync,
     Refused("call aclrtDeviceEnablePeerAccess(1, 0) on device 0 first"),
     {},
     {}},
    {"from a peer that is not open",
     {kDevice},
     {kPeer},
     64,
     kDeviceToDevice,
     kAsync,
     Refused("device 0 may not touch"),
     {},
     {}},
    {"to an open peer", {kPeer}, {kDevice}, 64, kDeviceToDevice, kAsync, {}, Queued(kOnDevice), kOpen},
    {"host to another device needs no permission",
     {kPeer},
     {kPinned},
     64,
     kHostToDevice,
     kAsync,
     {},
     Queued(kToDevice),
     {}},
    {"within another device",
     {kDevice},
     {kOther},
     64,
     kDeviceToDevice,
     kAsync,
     Refused("device 1 may not touch"),
     {},
     kOnPeer},
    {"within another device, blocking",
     {kDevice},
     {kOther},
     64,
     kDeviceToDevice,
     kSync,
     {},
     Queued(kOnDevice),
     kOnPeer},
    {"between devices, blocking",
     {kPeer},
     {kDevice},
     64,
     kDeviceToDevice,
     kSync,
     Refused("device 0 may not touch"),
     {},
     {}},
    {"bounds come before peers",
     {kPeer},
     {kDevice},
     kBlock + 1,
     kDeviceToDevice,
     kAsync,
     Refused("dst"),
     {},
     {}},
    // Captured: the source may be reused on return.
    {"captured",
     {kDevice},
     {kPinned},
     64,
     kHostToBufferToDevice,
     kAsync,
     {},
     {kToDevice, Timing::kQueued, 0, true},
     {}},
    {"captured from pageable memory",
     {kDevice},
     {kPageable},
     64,
     kHostToBufferToDevice,
     kAsync,
     {},
     {kToDevice, Timing::kQueued, 0, true},
     {}},
    {"captured, as long as a segment may be",
     {kOther},
     {kPinned},
     BatchTask::kMaxSegmentBytes,
     kHostToBufferToDevice,
     kAsync,
     {},
     {kToDevice, Timing::kQueued, 0, true},
     {}},
    {"captured, a byte longer",
     {kOther, 64},
     {kPinned, 1},
     BatchTask::kMaxSegmentBytes + 1,
     kHostToBufferToDevice,
     kAsync,
     {},
     {kToDevice, Timing::kQueued, 0, true},
     {}},
    {"captured, in many segments",
     {kOther},
     {kPinned},
     kLong,
     kHostToBufferToDevice,
     kAsync,
     {},
     {kToDevice, Timing::kQueued, 0, true},
     {}},
    {"captured from a device",
     {kPinned},
     {kDevice},
     64,
     kHostToBufferToDevice,
     kAsync,
     Refused("HOST_TO_BUF_TO_DEVICE copies from the host to a device"),
     {},
     {}},
    {"captured on the host",
     {kPinned},
     {kPageable},
     64,
     kHostToBufferToDevice,
     kAsync,
     Refused("copies from the host to a device"),
     {},
     {}},
    {"captured from what cannot be read",
     {kDevice},
     {kInaccessible},
     64,
     kHostToBufferToDevice,
     kAsync,
     Refused("cannot read"),
     {},
     {}},
    // Without a device: what the calling thread may do itself.
    {"no device, on the host", {kPinned}, {kRegistered}, 64, kDefault, kSync, {}, Queued(kOnHost), kNowhere},
    {"no device, ordinary memory",
     {kPageable},
     {kReadOnly},
     64,
     kDefault,
     kSync,
     {},
     Drained(kOnHost),
     kNowhere},
    {"no device, to a read-only registration",
     {kReadOnly, kPage - 8},
     {kPinned},
     16,
     kDefault,
     kSync,
     Refused("was registered as read-only, so nothing may be copied there"),
     {},
     kNowhere},
    {"no device, into a read-only registration",
     {kRegistered, 2 * kPage - 8},
     {kPinned},
     kPage + 16,
     kDefault,
     kSync,
     Refused("was registered as read-only"),
     {},
     kNowhere},
    {"no device, to a page that cannot be written",
     {kUnwritable},
     {kPinned},
     64,
     kDefault,
     kSync,
     Refused("cannot write"),
     {},
     kNowhere},
    {"no device, past the end",
     {kPinned, kLong - 8},
     {kPageable},
     16,
     kDefault,
     kSync,
     Refused("leaves its allocation by 8 bytes"),
     {},
     kNowhere},
    {"no device, between devices", {kPeer}, {kDevice}, 64, kDefault, kSync, {}, Queued(kOnDevice), kNowhere},
    // Where host and device share one memory, every direction is a copy on the device.
    {"shared memory, pinned to pinned",
     {kPinned},
     {kRegistered},
     64,
     kHostToHost,
     kAsync,
     {},
     Queued(kOnHost),
     kShared},
    {"shared memory, any kind",
     {kPinned},
     {kPageable},
     64,
     kInterDeviceToDevice,
     kAsync,
     {},
     Drained(kOnHost),
     kShared},
};

void ExpectMade(World& world, const Row& row, const Plan& plan) {
  EXPECT_EQ(plan.timing, row.made.timing);
  if (row.made.timing == Timing::kNothing) {
    EXPECT_TRUE(std::holds_alternative<NoTask>(plan.task));
    return;
  }
  std::size_t neighbours = 0;
  const Task& task = Inner(plan.task, neighbours);
  EXPECT_EQ(neighbours, row.made.neighbours);
  if (row.made.captured) {
    const auto* const batch = std::get_if<BatchTask>(&task);
    ASSERT_NE(batch, nullptr);
    constexpr std::size_t kMax = BatchTask::kMaxSegmentBytes;
    EXPECT_EQ(batch->segments.size(), (row.bytes - 1) / kMax + 1);
    std::size_t done = 0;
    for (const Segment& segment : batch->segments.all()) {
      EXPECT_EQ(segment.dst, world.EngineAt(row.dst) + done);
      EXPECT_EQ(segment.src, batch->captured.get() + done);
      EXPECT_EQ(segment.bytes, std::min(kMax, row.bytes - done));
      done += segment.bytes;
    }
    EXPECT_EQ(done, row.bytes);
    EXPECT_EQ(batch->bytes, row.bytes);
    EXPECT_EQ(batch->longest, std::min(kMax, row.bytes));
    EXPECT_EQ(std::memcmp(batch->captured.get(), world.EngineAt(row.src), row.bytes), 0);
    EXPECT_EQ(batch->direction, row.made.direction);
    return;
  }
  const auto* const copy = std::get_if<CopyTask>(&task);
  ASSERT_NE(copy, nullptr);
  EXPECT_EQ(copy->segment.dst, world.EngineAt(row.dst));
  EXPECT_EQ(copy->segment.src, world.EngineAt(row.src));
  EXPECT_EQ(copy->segment.bytes, row.bytes);
  EXPECT_EQ(copy->direction, row.made.direction);
  EXPECT_EQ(plan.timing == Timing::kQueued, copy->dst && copy->src) << "pageable memory has no use";
}

TEST(LinearPlan, Table) {
  World world;
  std::memset(world.EngineAt({kPinned}), 0x5A, kLong);
  std::memset(world.EngineAt({kPageable}), 0xA5, kBlock);
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.name);
    const LinearRequest request{world.At(row.dst), row.bytes, world.At(row.src), row.bytes, row.kind};
    Plan plan;
    const Status status = world.Under(row.setting, plan, [&](PlanContext context, Plan& made) {
      return PlanLinear(request, row.form, context, made);
    });
    if (Succeeds(status, row.outcome)) ExpectMade(world, row, plan);
  }
}

/// The plain ends are a short cut: both ways find the same.
TEST(LinearPlan, PlainEndsAreTheEndsInFull) {
  World world;
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.name);
    const CopyRanges ranges{world.At(row.dst), row.bytes, world.At(row.src), row.bytes};
    Plan plan;
    const Status status = world.Under(row.setting, plan, [&](PlanContext context, Plan&) -> Status {
      const PlainEnds plain = PlainEnds::Find(ranges, context);
      if (!plain) return {};
      const Ends short_cut = InFull(ranges, plain);
      auto resolved = ResolveEnds(ranges, row.form, context);
      if (!resolved.ok()) return resolved.TakeStatus();
      EXPECT_EQ(short_cut.dst.engine, resolved->dst.engine);
      EXPECT_EQ(short_cut.src.engine, resolved->src.engine);
      EXPECT_EQ(short_cut.dst.use.get(), resolved->dst.use.get());
      EXPECT_EQ(short_cut.src.use.get(), resolved->src.use.get());
      EXPECT_EQ(short_cut.dst.place, resolved->dst.place);
      EXPECT_EQ(short_cut.src.place, resolved->src.place);
      EXPECT_EQ(resolved->dst.neighbours, nullptr);
      EXPECT_EQ(resolved->src.neighbours, nullptr);
      EXPECT_EQ(resolved->timing(), Timing::kQueued);
      return {};
    });
    EXPECT_TRUE(status.ok());
  }
}

}  // namespace
}  // namespace sampan::core::linear_plan_test
