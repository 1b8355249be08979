// Ways to copy rows on a CUDA stream: the driver's 2D copy, or a kernel.
#pragma once

#include <array>
#include <span>

#include "backend/api/task.h"
#include "backend/cuda/queue/cuda_stream.h"

namespace sampan::cuda {

/// Chooses engine or kernel. `reachable`: kernels may access both sides.
PathChoice ChooseRows(const LaunchSite& site, const Rows& rows, Direction direction, bool reachable);

/// The kernel for these rows, with its arguments.
class RowsKernel {
 public:
  RowsKernel(const LaunchSite& site, const Rows& rows, Direction direction);
  RowsKernel(const RowsKernel&) = delete;
  RowsKernel& operator=(const RowsKernel&) = delete;

  CuFunction function() const { return function_; }
  const Grid& grid() const { return grid_; }
  std::span<void*> arguments() { return arguments_; }

 private:
  CuFunction function_ = nullptr;
  Grid grid_{};
  RowsArgument argument_;
  unsigned team_bits_ = 0;  // only for the kernel of any alignment
  std::array<void*, 2> arguments_ = {&argument_, &team_bits_};
};

Status CopyRowsByDriver(CudaStream& stream, const Rows& rows, Direction direction);

}  // namespace sampan::cuda
