// Copies between pageable host memory and a GPU: which of them are staged through pinned memory, and how.
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

  /// Done on return. The caller has a use of the context. Returns nothing if the task is left to the driver:
  /// another kind of task, too short to gain, or no pinned memory left.
  std::optional<Status> TryRun(const Task& task);
  /// Lets go of what no copy is using.
  void DropIdle();

 private:
  std::optional<Status> TryCopy(const CopyTask& task);
  std::optional<Status> TryCopy(const RowsTask& task);
  std::optional<Status> TryCopy(const BatchTask& batch);
  template <typename Other>
  std::optional<Status> TryCopy(const Other&) {
    return std::nullopt;
  }
  /// How a copy is divided: among how many threads, and in parts of what size.
  struct Plan {
    std::size_t threads, part_bytes;
  };
  /// `pieces`: rows or entries; 1 for a linear copy.
  Plan PlanFor(std::size_t bytes, std::size_t pieces) const;
  /// `choice` and `what` go to the log and to observers.
  template <typename... What>
  std::optional<Status> Run(const StagedParts& parts, Direction direction, std::size_t threads,
                            const PathChoice& choice, const What&... what);

  const LaunchSite site_;
  StagedCopy in_, out_;
};

}  // namespace sampan::cuda
