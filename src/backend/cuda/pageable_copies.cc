// Copies between pageable host memory and a GPU: which of them are staged through pinned memory, and how.
#include "backend/cuda/pageable_copies.h"

#include <algorithm>
#include <thread>

#include "backend/api/task_memory.h"
#include "backend/cuda/batch_copies.h"
#include "backend/cuda/copy_ends.h"
#include "backend/cuda/path_note.h"
#include "backend/cuda/row_copies.h"
#include "backend/cuda/staged_pieces.h"
#include "backend/cuda/staged_rows.h"
#include "backend/cuda/staging_plan.h"

namespace sampan::cuda {
namespace {

/// Shorter linear copies are the driver's. Measured on an H200.
constexpr std::size_t kLinearInFromBytes = std::size_t{32} << 10, kLinearOutFromBytes = std::size_t{16} << 10;

StagingPlan PlanFor(std::size_t bytes, std::size_t pieces) {
  static const std::size_t cores = std::max(std::thread::hardware_concurrency(), 2U);
  return PlanStaging(bytes, pieces, cores);
}

/// Between pageable memory and a device.
bool Stages(const AllocationUse& dst, const AllocationUse& src) {
  return (OnDevice(dst) && !src) || (OnDevice(src) && !dst);
}

}  // namespace

void PageableCopies::DropIdle() {
  in_.DropIdle();
  out_.DropIdle();
}

std::optional<Status> PageableCopies::TryRun(const Task& task) {
  return std::visit([&](const auto& body) { return TryCopy(body); }, task);
}

template <typename... What>
std::optional<Status> PageableCopies::Run(const StagedParts& parts, Direction direction, std::size_t threads,
                                          const What&... what) {
  Status status = (direction == Direction::kHostToDevice ? in_ : out_).Run(parts, threads);
  if (status.code() == Code::kMemoryAllocation) return std::nullopt;
  NotePath(direction, summary::Path::kStaged, "staged",
           threads == 1 ? "pageable memory: through pinned buffers, by the calling thread"
                        : "much pageable memory: through pinned buffers, by several threads",
           what...);
  return status;
}

std::optional<Status> PageableCopies::TryCopy(const CopyTask& task) {
  if (!Stages(task.dst, task.src)) return std::nullopt;
  const Direction direction = DirectionOf(OnDevice(task.dst), OnDevice(task.src));
  if (task.segment.bytes < (OnDevice(task.dst) ? kLinearInFromBytes : kLinearOutFromBytes))
    return std::nullopt;
  if (Status live = CheckLive(task.dst, task.src); !live.ok()) return live;
  const auto [threads, part_bytes] = PlanFor(task.segment.bytes, 1);
  return Run(LinearParts(task.segment, direction, part_bytes), direction, threads, task.segment.bytes,
             " bytes");
}

std::optional<Status> PageableCopies::TryCopy(const RowsTask& task) {
  if (!Stages(task.dst, task.src)) return std::nullopt;
  if (Status live = CheckLive(task.dst, task.src); !live.ok()) return live;
  const Rows& rows = task.rows;
  const Direction direction = DirectionOf(OnDevice(task.dst), OnDevice(task.src));
  const bool reachable = KernelReaches(site_.gpu, OnDevice(task.dst) ? task.dst : task.src);
  const auto [threads, part_bytes] = PlanFor(rows.width * rows.height, rows.height);
  const auto run = [&](const StagedParts& parts, std::size_t used_threads) {
    return Run(parts, direction, used_threads, rows.height, " rows of ", rows.width, " bytes");
  };
  if (rows.width <= part_bytes) {
    const Rows packed = RowParts::Packed(rows, direction, nullptr);
    const CopyPath path = ChooseRows(site_, packed, direction, reachable).path;
    return run(RowParts(rows, direction, path, part_bytes), threads);
  }
  std::vector<Segment> segments;
  segments.reserve(rows.height);
  for (std::size_t i = 0; i < rows.height; ++i)
    segments.push_back({rows.dst + i * rows.dst_pitch, rows.src + i * rows.src_pitch, rows.width});
  return run(PieceParts(segments, direction, reachable, {.bytes = part_bytes}), threads);
}

std::optional<Status> PageableCopies::TryCopy(const BatchTask& task) {
  const BatchTask::Content& content = *task.content;
  if (!content.pageable) return std::nullopt;
  for (const AllocationUse& use : content.memory) {
    if (Status live = CheckLive(use); !live.ok()) return live;
  }
  const Direction direction = DirectionOfBatch(content);
  const bool reachable = std::all_of(content.memory.begin(), content.memory.end(),
                                     [&](const AllocationUse& use) { return KernelReaches(site_.gpu, use); });
  const auto [threads, part_bytes] = PlanFor(content.bytes, content.segments.size());
  return Run(PieceParts(content.segments.all(), direction, reachable, {.bytes = part_bytes}), direction,
             threads, "a batch of ", content.segments.size(), " entries, ", content.bytes, " bytes");
}

}  // namespace sampan::cuda
