// Decides which copies of pageable host memory are staged through pinned memory, and how.
#include "backend/cuda/staging/pageable_copies.h"

#include <algorithm>
#include <thread>

#include "backend/api/task_memory.h"
#include "backend/cuda/paths/batch_copies.h"
#include "backend/cuda/paths/copy_ends.h"
#include "backend/cuda/paths/path_note.h"
#include "backend/cuda/paths/row_copies.h"
#include "backend/cuda/staging/staged_pieces.h"
#include "backend/cuda/staging/staged_rows.h"
#include "backend/cuda/staging/staging_plan.h"

namespace sampan::cuda {
namespace {

/// Returns true for a copy between pageable memory and a device.
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

PageableCopies::Plan PageableCopies::PlanFor(std::size_t bytes, std::size_t pieces) const {
  static const std::size_t cores = std::max(std::thread::hardware_concurrency(), 2U);
  const std::size_t threads = site_.paths.ThreadsForStaging(StagingWork(bytes, pieces), cores);
  return {threads, StagingPartBytes(bytes, threads)};
}

template <typename... What>
std::optional<Status> PageableCopies::Run(const StagedParts& parts, Direction direction, std::size_t threads,
                                          const PathChoice& choice, const What&... what) {
  Status status = (direction == Direction::kHostToDevice ? in_ : out_).Run(parts, threads);
  if (status.code() == Code::kMemoryAllocation) {
    NotePath(direction, {CopyPath::kBlocking, "no pinned buffer is left to stage it"}, what...);
    return std::nullopt;
  }
  NotePath(direction, choice, what...);
  return status;
}

std::optional<Status> PageableCopies::TryCopy(const CopyTask& task) {
  if (!Stages(task.dst, task.src)) return std::nullopt;
  const Direction direction = task.direction;
  if (Status live = CheckLive(task.dst, task.src); !live.ok()) return live;
  const std::size_t bytes = task.segment.bytes;
  const Plan plan = PlanFor(bytes, 1);
  const PathChoice choice = site_.paths.ForPageable(direction, bytes, plan.threads);
  if (choice.path != CopyPath::kBlocking) return Stage(task, plan, choice);
  NotePath(direction, choice, bytes, " bytes");
  return std::nullopt;
}

std::optional<Status> PageableCopies::Stage(const CopyTask& task) {
  const Plan plan = PlanFor(task.segment.bytes, 1);
  return Stage(task, plan, CopyPaths::Staged(plan.threads));
}

std::optional<Status> PageableCopies::Stage(const CopyTask& task, const Plan& plan,
                                            const PathChoice& choice) {
  return Run(LinearParts(task.segment, task.direction, plan.part_bytes), task.direction, plan.threads, choice,
             task.segment.bytes, " bytes");
}

std::optional<Status> PageableCopies::TryCopy(const RowsTask& task) {
  if (!Stages(task.dst, task.src)) return std::nullopt;
  if (Status live = CheckLive(task.dst, task.src); !live.ok()) return live;
  const Rows& rows = task.rows;
  const Direction direction = task.direction;
  const bool reachable = KernelReaches(site_.gpu, OnDevice(task.dst) ? task.dst : task.src);
  const auto [threads, part_bytes] = PlanFor(rows.width * rows.height, rows.height);
  const auto run = [&, used = threads](const StagedParts& parts) {
    return Run(parts, direction, used, CopyPaths::Staged(used), rows.height, " rows of ", rows.width,
               " bytes");
  };
  if (rows.width <= part_bytes) {
    const Rows packed = RowParts::Packed(rows, direction, nullptr);
    const CopyPath path = ChooseRows(site_, packed, direction, reachable).path;
    return run(RowParts(rows, direction, path, part_bytes));
  }
  std::vector<Segment> segments;
  segments.reserve(rows.height);
  for (std::size_t i = 0; i < rows.height; ++i)
    segments.push_back({rows.dst + i * rows.dst_pitch, rows.src + i * rows.src_pitch, rows.width});
  return run(PieceParts(segments, direction, reachable, {.bytes = part_bytes}));
}

std::optional<Status> PageableCopies::TryCopy(const BatchTask& batch) {
  if (!batch.pageable) return std::nullopt;
  if (Status live = CheckLive(batch); !live.ok()) return live;
  const bool reachable = std::all_of(batch.memory.begin(), batch.memory.end(),
                                     [&](const AllocationUse& use) { return KernelReaches(site_.gpu, use); });
  const auto [threads, part_bytes] = PlanFor(batch.bytes, batch.segments.size());
  return Run(PieceParts(batch.segments.all(), batch.direction, reachable, {.bytes = part_bytes}),
             batch.direction, threads, CopyPaths::Staged(threads), "a batch of ", batch.segments.size(),
             " entries, ", batch.bytes, " bytes");
}

}  // namespace sampan::cuda
