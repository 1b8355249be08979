// Memory with a driver handle, which can be mapped at more addresses and shared with other processes.
#pragma once

#include <cstdint>
#include <memory>

#include "backend/api/virtual_memory.h"
#include "backend/cuda/driver.h"

namespace sampan::cuda {

/// Holds one reference to the memory. Thread-safe.
class GpuMemory final : public MemoryHandle {
 public:
  /// The handle of memory that is mapped at the address. `bytes` is the size of the whole mapping.
  static Result<std::shared_ptr<const MemoryHandle>> At(const Driver& driver, std::uintptr_t address,
                                                        std::size_t bytes);
  /// The handle of memory that another process has exported.
  static Result<std::shared_ptr<const MemoryHandle>> Import(const Driver& driver,
                                                            const Descriptor& descriptor, std::size_t bytes);

  GpuMemory(const Driver& driver, CuMemoryHandle handle, std::size_t all_bytes)
      : MemoryHandle(all_bytes), driver_(driver), handle_(handle) {}
  ~GpuMemory() override { driver_.MemRelease(handle_); }
  GpuMemory(const GpuMemory&) = delete;
  GpuMemory& operator=(const GpuMemory&) = delete;

  CuMemoryHandle get() const { return handle_; }
  Result<Descriptor> Export() const override;

 private:
  static Result<std::shared_ptr<const MemoryHandle>> Own(const Driver& driver, CuMemoryHandle handle,
                                                         std::size_t bytes);

  const Driver& driver_;
  const CuMemoryHandle handle_;
};

}  // namespace sampan::cuda
