// Copies between pageable host memory and a GPU: which of them are staged through pinned memory, and how.
#pragma once

#include <optional>

#include "backend/api/task.h"
#include "backend/cuda/staged_copy.h"

namespace sampan::cuda {

/// Thread-safe.
class PageableCopies {
 public:
  explicit PageableCopies(const LaunchSite& site)
      : site_(site), in_(site, Direction::kHostToDevice), out_(site, Direction::kDeviceToHost) {}

  /// Done on return; the caller has a use of the context. Nothing: the task is the driver's, because it is
  /// another kind of task, because the driver is faster with so few bytes, or because there is no pinned
  /// memory left.
  std::optional<Status> TryRun(const Task& task);
  /// Lets go of what no copy is using.
  void DropIdle();

 private:
  std::optional<Status> TryCopy(const CopyTask& task);
  std::optional<Status> TryCopy(const RowsTask& task);
  std::optional<Status> TryCopy(const BatchTask& task);
  template <typename Other>
  std::optional<Status> TryCopy(const Other&) {
    return std::nullopt;
  }
  template <typename... What>
  std::optional<Status> Run(const StagedParts& parts, Direction direction, std::size_t threads,
                            const What&... what);

  const LaunchSite site_;
  StagedCopy in_, out_;
};

}  // namespace sampan::cuda
