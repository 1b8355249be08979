// Copies rows on a CUDA stream: by the driver's 2D copy, or by a kernel.
#pragma once

#include "backend/api/task.h"
#include "backend/cuda/cuda_stream.h"

namespace sampan::cuda {

/// Its memory is live.
Status LaunchRows(CudaStream& stream, const RowsTask& task);

}  // namespace sampan::cuda
