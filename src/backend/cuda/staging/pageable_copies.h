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

  // Execute the task before they return. The caller must have a use of the context. They return nothing if
  // the driver should copy: another kind of task, too short, or no pinned memory left.
  /// `driver_refuses`: does not ask whether the driver would be faster.
  std::optional<Status> TryCopy(const CopyTask& task, bool driver_refuses = false);
  std::optional<Status> TryCopy(const RowsTask& task);
  std::optional<Status> TryCopy(const BatchTask& batch);
  template <typename Other>
  std::optional<Status> TryCopy(const Other&) {
    return std::nullopt;
  }
  /// Frees idle buffers and streams.
  void DropIdle();

 private:
  /// How a copy is divided: the number of threads, and the size of parts.
  struct Plan {
    std::size_t threads, part_bytes;
  };
  /// `pieces`: rows or entries; 1 for a linear copy.
  Plan PlanFor(std::size_t bytes, std::size_t pieces) const;
  StagedCopy& StagedOf(Direction direction) { return direction == Direction::kHostToDevice ? in_ : out_; }

  const LaunchSite site_;
  StagedCopy in_, out_;
};

}  // namespace sampan::cuda
