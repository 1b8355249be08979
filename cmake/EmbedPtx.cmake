# Writes a C++ source that holds the text of a PTX file: cmake -DPTX=... -DKERNELS=copy|reduce -DOUTPUT=... -P EmbedPtx.cmake
file(READ ${PTX} text)
if(KERNELS STREQUAL "copy")
  set(function CopyKernelImage)
else()
  set(function ReduceKernelImage)
endif()
file(WRITE ${OUTPUT} "// Generated from the PTX of the CUDA kernels.
#include \"backend/cuda/kernel_image.h\"

namespace sampan::cuda {

const char* ${function}() {
  return R\"ptx(${text})ptx\";
}

}  // namespace sampan::cuda
")
