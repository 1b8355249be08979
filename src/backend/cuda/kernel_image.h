// The kernels as the library carries them: PTX, which the driver compiles for the GPU it finds.
#pragma once

namespace sampan::cuda {

/// Text of src/backend/cuda/kernels/copy_kernels.ptx and reduce_kernels.ptx, ended by a zero.
const char* CopyKernelImage();
const char* ReduceKernelImage();

}  // namespace sampan::cuda
