// Memory with a driver handle, which can be mapped at more addresses and shared with other processes.
#include "backend/cuda/memory/gpu_memory.h"

#include "base/error/text.h"

namespace sampan::cuda {

Result<std::shared_ptr<const MemoryHandle>> GpuMemory::Own(const Driver& driver, CuMemoryHandle handle,
                                                           std::size_t bytes) {
  try {
    return std::shared_ptr<const MemoryHandle>(std::make_shared<GpuMemory>(driver, handle, bytes));
  } catch (...) {
    driver.MemRelease(handle);
    throw;
  }
}

Result<std::shared_ptr<const MemoryHandle>> GpuMemory::At(const Driver& driver, std::uintptr_t address,
                                                          std::size_t bytes) {
  CuMemoryHandle handle = 0;
  const CuResult retained = driver.MemRetainHandle(&handle, reinterpret_cast<void*>(address));
  if (retained != cu::kSuccess) return Failure(driver, retained, "cuMemRetainAllocationHandle");
  return Own(driver, handle, bytes);
}

Result<std::shared_ptr<const MemoryHandle>> GpuMemory::Import(const Driver& driver,
                                                              const Descriptor& descriptor,
                                                              std::size_t bytes) {
  CuMemoryHandle handle = 0;
  const auto system_handle = reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor.get()));
  const CuResult imported = driver.MemImport(&handle, system_handle, cu::kHandlePosix);
  if (imported != cu::kSuccess) {
    return Error{Code::kParamInvalid,
                 Text("what another process shares is no memory of a GPU: ", Describe(driver, imported))};
  }
  return Own(driver, handle, bytes);
}

Result<Descriptor> GpuMemory::Export() const {
  int descriptor = -1;
  const CuResult exported = driver_.MemExport(&descriptor, handle_, cu::kHandlePosix, 0);
  if (exported == cu::kSuccess) return Descriptor(descriptor);
  return Error{Code::kFeatureNotSupport,
               Text("the driver does not share this memory: ", Describe(driver_, exported))};
}

}  // namespace sampan::cuda
