// The kernels as PTX, which the driver compiles for the GPU.
#pragma once

namespace sampan::cuda {

/// The text of src/backend/cuda/kernels/copy_kernels.ptx and reduce_kernels.ptx, zero-terminated.
const char* CopyKernelImage();
const char* ReduceKernelImage();

}  // namespace sampan::cuda
