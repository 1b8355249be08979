// Copies rows on a CUDA stream: by the driver's 2D copy, or by a kernel.
#pragma once

#include "backend/api/task.h"
#include "backend/cuda/queue/cuda_stream.h"

namespace sampan::cuda {

/// Chooses engine or kernel. `reachable`: kernels may access both sides.
PathChoice ChooseRows(const LaunchSite& site, const Rows& rows, Direction direction, bool reachable);
Status CopyRows(CudaStream& stream, const Rows& rows, Direction direction, CopyPath path);

/// The task's memory must be live.
Status LaunchRows(CudaStream& stream, const RowsTask& task);

}  // namespace sampan::cuda
