// Descriptors and cells of addresses: tables of requests and what each is planned as.
#include <gtest/gtest.h>

#include <cstring>

#include "core/copy/copy_plan.h"
#include "tests/unit/core/copy/plan_world.h"

namespace sampan::core::indirect_plan_test {
namespace {

using namespace plan_tests;  // NOLINT(google-build-using-namespace)
using enum Memory;

constexpr Setting kOpen{.peers_open = true};
constexpr Outcome kHostMemory = Refused("it must be device memory");

TEST(DescriptorPlan, Table) {
  struct Row {
    const char* name;
    Spot descriptor;
    Outcome outcome;
    Setting setting = {};
  };
  const Row rows[] = {
      {"on the device", {kDevice}, {}},
      {"at the end", {kDevice, kBlock - 64}, {}},
      {"on a mapped piece", {kMapped, 64}, {}},
      {"on an open peer", {kPeer}, {}, kOpen},
      {"on a closed peer", {kPeer}, Refused("device 0 may not touch")},
      {"32 bytes off", {kDevice, 32}, Refused("must be aligned to 64 bytes")},
      {"a byte off", {kDevice, 1}, Refused("must be aligned to 64 bytes")},
      {"past the end", {kDevice, kBlock - 16}, Refused("desc")},
      {"pinned", {kPinned}, kHostMemory},
      {"pageable", {kPageable}, kHostMemory},
      {"freed", {kFreed}, Refused("freed already")},
      {"reserved", {kReserved}, Refused("nothing mapped there")},
      {"without rights", {kMapped, 2 * kPiece}, Refused("device 0 has no right to read it")},
  };
  World world;
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Plan plan;
    const Status status = world.Under(row.setting, plan, [&](PlanContext context, Plan& made) {
      return PlanDescriptor({world.At(row.descriptor)}, context, made);
    });
    if (!Succeeds(status, row.outcome)) continue;
    EXPECT_EQ(plan.timing, Timing::kQueued);
    const auto* const task = std::get_if<IndirectTask>(&plan.task);
    ASSERT_NE(task, nullptr);
    EXPECT_EQ(task->content->form, IndirectTask::Content::Form::kDescriptor);
    EXPECT_EQ(task->content->operands[0], world.EngineAt(row.descriptor));
    EXPECT_TRUE(task->content->operands_memory[0]);
    EXPECT_EQ(task->content->length_at, 12U);
    EXPECT_EQ(task->content->src_at, 16U);
    EXPECT_EQ(task->content->dst_at, 24U);
    EXPECT_EQ(task->content->device, 0);
    EXPECT_EQ(task->content->resolver, &world.registry());
  }
}

TEST(DescriptorWritePlan, Table) {
  struct Row {
    const char* name;
    Spot descriptor, dst, src;
    std::size_t bytes;
    Outcome outcome;
  };
  constexpr Spot kAt{kDevice, 128};
  const Row rows[] = {
      {"within a device", kAt, {kOther}, {kOther, kPage}, 64, {}},
      {"to the last byte", kAt, {kOther}, {kDevice}, kBlock, {}},
      {"of a peer", kAt, {kPeer}, {kPeer, 64}, 64, {}},
      {"4 GiB are 0", kAt, {kOther}, {kDevice}, std::size_t{1} << 32, {}},
      {"two pieces", kAt, {kMapped, kPiece - 8}, {kOther}, 16, {}},
      {"a byte past the source", kAt, {kOther}, {kDevice}, kBlock + 1, Refused("srcAddr")},
      {"a byte past the destination", kAt, {kDevice, 1}, {kOther}, kBlock, Refused("dstAddr")},
      {"between devices", kAt, {kPeer}, {kOther}, 64, Refused("srcAddr and dstAddr must be of one device")},
      {"from the host", kAt, {kOther}, {kPinned}, 64, kHostMemory},
      {"to pageable memory", kAt, {kPageable}, {kOther}, 64, kHostMemory},
      {"the descriptor on the host", {kPinned}, {kOther}, {kDevice}, 64, kHostMemory},
      {"the descriptor off", {kDevice, 8}, {kOther}, {kDevice}, 64, Refused("must be aligned to 64 bytes")},
      {"the descriptor without rights",
       {kMapped, 2 * kPiece},
       {kOther},
       {kDevice},
       64,
       Refused("device 0 has no right to write it")},
  };
  World world;
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Plan unused;
    std::memset(world.EngineAt({kDevice}), 0xC7, kBlock);
    const Status status = world.Under({}, unused, [&](PlanContext context, Plan&) -> Status {
      auto write = PlanDescriptorWrite(
          {world.At(row.descriptor), world.At(row.src), world.At(row.dst), row.bytes}, context);
      if (!write.ok()) return write.TakeStatus();
      return std::move(*write).Apply(world.device(0));
    });
    if (!Succeeds(status, row.outcome)) continue;
    const std::byte* const written = world.EngineAt(row.descriptor);
    std::uint64_t src = 0, dst = 0;
    std::uint32_t length = 0;
    std::memcpy(&length, written + 12, sizeof(length));
    std::memcpy(&src, written + 16, sizeof(src));
    std::memcpy(&dst, written + 24, sizeof(dst));
    EXPECT_EQ(length, static_cast<std::uint32_t>(row.bytes));
    EXPECT_EQ(src, reinterpret_cast<std::uintptr_t>(world.At(row.src)));
    EXPECT_EQ(dst, reinterpret_cast<std::uintptr_t>(world.At(row.dst)));
    EXPECT_EQ(written[-1], std::byte{0xC7});
    EXPECT_EQ(written[32], std::byte{0xC7});
  }
}

TEST(OffsetPlan, Table) {
  struct Row {
    const char* name;
    Spot dst, src;
    Outcome outcome;
    std::size_t neighbours = 0;
    Setting setting = {};
  };
  const Row rows[] = {
      {"cells on the device", {kDevice}, {kDevice, 8}, {}},
      {"one cell for both", {kDevice}, {kDevice}, {}},
      {"cells of two allocations", {kDevice}, {kOther}, {}},
      {"the last cell", {kDevice, kBlock - 8}, {kOther}, {}},
      {"a cell at any address", {kDevice, 3}, {kOther}, {}},
      {"a cell on two pieces", {kMapped, kPiece - 4}, {kDevice}, {}, 1},
      {"both on two pieces", {kMapped, kPiece - 4}, {kMapped, kPiece - 1}, {}, 2},
      {"cells of an open peer", {kPeer}, {kDevice}, {}, 0, kOpen},
      {"cells of a closed peer", {kPeer}, {kDevice}, Refused("device 0 may not touch")},
      {"the source's cell on a closed peer", {kDevice}, {kPeer}, Refused("device 0 may not touch")},
      {"a byte past the end", {kDevice, kBlock - 7}, {kOther}, Refused("leaves its allocation by 1 bytes")},
      {"the destination's cell on the host", {kPinned}, {kDevice}, Refused("dst")},
      {"the source's cell on the host", {kDevice}, {kPinned}, Refused("src")},
      {"a pageable cell", {kDevice}, {kPageable}, kHostMemory},
      {"a freed cell", {kFreed}, {kDevice}, Refused("freed already")},
      {"a reserved cell", {kDevice}, {kReserved}, Refused("nothing mapped there")},
      {"a cell that may not be read", {kDevice}, {kMapped, 2 * kPiece}, Refused("no right to read it")},
      {"half of it may not be read", {kMapped, 2 * kPiece - 4}, {kDevice}, Refused("no right to read it")},
  };
  World world;
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const OffsetRequest request{.dst = reinterpret_cast<void**>(world.At(row.dst)),
                                .dst_max = 4096,
                                .dst_offset = 24,
                                .src = reinterpret_cast<const void**>(world.At(row.src)),
                                .bytes = 100,
                                .src_offset = 72,
                                .kind = CopyKind::kInnerDeviceToDevice};
    Plan plan;
    const Status status = world.Under(row.setting, plan, [&](PlanContext context, Plan& made) {
      return PlanOffset(request, context, made);
    });
    if (!Succeeds(status, row.outcome)) continue;
    EXPECT_EQ(plan.timing, Timing::kQueued);
    std::size_t neighbours = 0;
    const auto* const task = std::get_if<IndirectTask>(&Inner(plan.task, neighbours));
    ASSERT_NE(task, nullptr);
    EXPECT_EQ(neighbours, row.neighbours);
    const IndirectTask::Content& content = *task->content;
    EXPECT_EQ(content.form, IndirectTask::Content::Form::kPointerCells);
    EXPECT_EQ(content.operands[0], world.EngineAt(row.dst));
    EXPECT_EQ(content.operands[1], world.EngineAt(row.src));
    EXPECT_TRUE(content.operands_memory[0] && content.operands_memory[1]);
    EXPECT_EQ(content.dst_offset, 24U);
    EXPECT_EQ(content.src_offset, 72U);
    EXPECT_EQ(content.bytes, 100U);
    EXPECT_EQ(content.device, 0);
  }
}

}  // namespace
}  // namespace sampan::core::indirect_plan_test
