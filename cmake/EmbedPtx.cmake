# Writes a C++ source that holds the text of a PTX file: cmake -DPTX=... -DOUTPUT=... -P EmbedPtx.cmake
file(READ ${PTX} text)
file(WRITE ${OUTPUT} "// Generated from the PTX of the CUDA kernels.
#include \"backend/cuda/kernel_image.h\"

namespace sampan::cuda {

const char* KernelImage() {
  return R\"ptx(${text})ptx\";
}

}  // namespace sampan::cuda
")
