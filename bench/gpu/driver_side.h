// The same by calls of the CUDA driver, on memory of the driver.
#pragma once

#include <dlfcn.h>

#include <cstddef>

#include "bench/copies/driver_calls.h"

namespace bench {

using sampan::cuda::CuAddress;
using sampan::cuda::CuStream;

/// The driver with a stream, and the calls that only benchmarks need.
class DriverSide {
 public:
  DriverSide() {
    BENCH_DRIVER(driver_.ContextSetCurrent(ContextOf(0)));
    for (CuStream& stream : streams_)
      BENCH_DRIVER(driver_.StreamCreate(&stream, sampan::cuda::cu::kStreamNonBlocking, 0));
    void* const library = ::dlopen("libcuda.so.1", RTLD_NOW);
    allocate_host_ = reinterpret_cast<decltype(allocate_host_)>(::dlsym(library, "cuMemHostAlloc"));
    copy_blocking_ = reinterpret_cast<decltype(copy_blocking_)>(::dlsym(library, "cuMemcpy"));
  }

  const sampan::cuda::Driver& operator*() const { return driver_; }
  const sampan::cuda::Driver* operator->() const { return &driver_; }
  CuStream stream(int which = 0) const { return streams_[which]; }
  void Synchronize(int which = 0) const { BENCH_DRIVER(driver_.StreamSynchronize(streams_[which])); }

  std::byte* Allocate(std::size_t bytes) const {
    CuAddress address = 0;
    BENCH_DRIVER(driver_.MemAlloc(&address, bytes));
    return reinterpret_cast<std::byte*>(address);
  }
  std::byte* AllocateHost(std::size_t bytes) const {
    void* memory = nullptr;
    BENCH_DRIVER(allocate_host_(&memory, bytes, 1));
    return static_cast<std::byte*>(memory);
  }
  void CopyBlocking(void* dst, const void* src, std::size_t bytes) const {
    BENCH_DRIVER(copy_blocking_(reinterpret_cast<CuAddress>(dst), reinterpret_cast<CuAddress>(src), bytes));
  }

 private:
  const sampan::cuda::Driver& driver_ = TheDriver();
  CuStream streams_[2] = {};
  int (*allocate_host_)(void**, std::size_t, unsigned) = nullptr;
  int (*copy_blocking_)(CuAddress, CuAddress, std::size_t) = nullptr;
};

}  // namespace bench
