// Decides which copies of pageable host memory are staged through pinned memory, and how.
#pragma once

#include <optional>

#include "backend/api/task.h"
#include "backend/cuda/staging/staged_copy.h"

namespace sampan::cuda {

/// Thread-safe.
class PageableCopies {
 public:
  explicit PageableCopies(const LaunchSite& site)
      : site_(site), in_(site, Direction::kHostToDevice), out_(site, Direction::kDeviceToHost) {}

  /// Executes the task before it returns. The caller must have a use of the context. Returns nothing if the
  /// driver should copy: another kind of task, too short, or no pinned memory left.
  std::optional<Status> TryRun(const Task& task);
  /// The same without asking whether the driver would be faster.
  std::optional<Status> Stage(const CopyTask& task);
  /// Frees idle buffers and streams.
  void DropIdle();

 private:
  std::optional<Status> TryCopy(const CopyTask& task);
  std::optional<Status> TryCopy(const RowsTask& task);
  std::optional<Status> TryCopy(const BatchTask& batch);
  template <typename Other>
  std::optional<Status> TryCopy(const Other&) {
    return std::nullopt;
  }
  /// How a copy is divided: the number of threads, and the size of parts.
  struct Plan {
    std::size_t threads, part_bytes;
  };
  /// `pieces`: rows or entries; 1 for a linear copy.
  Plan PlanFor(std::size_t bytes, std::size_t pieces) const;
  std::optional<Status> Stage(const CopyTask& task, const Plan& plan, const PathChoice& choice);
  /// `choice` and `what` go to the log and to observers.
  template <typename... What>
  std::optional<Status> Run(const StagedParts& parts, Direction direction, std::size_t threads,
                            const PathChoice& choice, const What&... what);

  const LaunchSite site_;
  StagedCopy in_, out_;
};

}  // namespace sampan::cuda
