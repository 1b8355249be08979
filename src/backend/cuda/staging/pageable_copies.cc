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

/// Tells the log and observers how a copy was done. Returns nothing if there was no room to stage it.
template <typename... What>
std::optional<Status> Noted(Status staged, Direction direction, const PathChoice& choice,
                            const What&... what) {
  const bool has_room = staged.code() != Code::kMemoryAllocation;
  NotePath(direction,
           has_room ? choice : PathChoice{CopyPath::kBlocking, "no pinned buffer is left to stage it"},
           what...);
  return has_room ? std::optional(std::move(staged)) : std::nullopt;
}

}  // namespace

void PageableCopies::DropIdle() {
  in_.DropIdle();
  out_.DropIdle();
}

PageableCopies::Plan PageableCopies::PlanFor(std::size_t bytes, std::size_t pieces) const {
  static const std::size_t cores = std::max(std::thread::hardware_concurrency(), 2U);
  const std::size_t threads = site_.paths.ThreadsForStaging(StagingWork(bytes, pieces), cores);
  return {threads, StagingPartBytes(bytes, threads)};
}

std::optional<Status> PageableCopies::TryCopy(const CopyTask& task, bool driver_refuses) {
  if (!Stages(task.dst, task.src)) return std::nullopt;
  const Direction direction = task.direction;
  if (Status live = CheckLive(task.dst, task.src); !live.ok()) return live;
  const std::size_t bytes = task.segment.bytes;
  const auto [threads, part_bytes] = PlanFor(bytes, 1);
  const PathChoice choice =
      driver_refuses ? CopyPaths::Staged(threads) : site_.paths.ForPageable(direction, bytes, threads);
  if (choice.path == CopyPath::kBlocking) {
    NotePath(direction, choice, bytes, " bytes");
    return std::nullopt;
  }
  return Noted(StagedOf(direction).Run(LinearParts(task.segment, direction, part_bytes), threads), direction,
               choice, bytes, " bytes");
}

std::optional<Status> PageableCopies::TryCopy(const RowsTask& task) {
  if (!Stages(task.dst, task.src)) return std::nullopt;
  if (Status live = CheckLive(task.dst, task.src); !live.ok()) return live;
  const Rows& rows = task.rows;
  const Direction direction = task.direction;
  const bool reachable = KernelReaches(site_.gpu, OnDevice(task.dst) ? task.dst : task.src);
  const auto [threads, part_bytes] = PlanFor(rows.width * rows.height, rows.height);
  const auto noted = [&, choice = CopyPaths::Staged(threads)](Status status) {
    return Noted(std::move(status), direction, choice, rows.height, " rows of ", rows.width, " bytes");
  };
  StagedCopy& staged = StagedOf(direction);
  if (rows.width <= part_bytes) {
    const Rows packed = RowParts::Packed(rows, direction, nullptr);
    const CopyPath path = ChooseRows(site_, packed, direction, reachable).path;
    return noted(staged.Run(RowParts(rows, direction, path, part_bytes), threads));
  }
  std::vector<Segment> segments;
  segments.reserve(rows.height);
  for (std::size_t i = 0; i < rows.height; ++i)
    segments.push_back({rows.dst + i * rows.dst_pitch, rows.src + i * rows.src_pitch, rows.width});
  return noted(staged.Run(PieceParts(segments, direction, reachable, {.bytes = part_bytes}), threads));
}

std::optional<Status> PageableCopies::TryCopy(const BatchTask& batch) {
  if (!batch.pageable) return std::nullopt;
  if (Status live = CheckLive(batch); !live.ok()) return live;
  const bool reachable = std::all_of(batch.memory.begin(), batch.memory.end(),
                                     [&](const AllocationUse& use) { return KernelReaches(site_.gpu, use); });
  const auto [threads, part_bytes] = PlanFor(batch.bytes, batch.segments.size());
  const PieceParts parts(batch.segments.all(), batch.direction, reachable, {.bytes = part_bytes});
  return Noted(StagedOf(batch.direction).Run(parts, threads), batch.direction, CopyPaths::Staged(threads),
               "a batch of ", batch.segments.size(), " entries, ", batch.bytes, " bytes");
}

}  // namespace sampan::cuda
