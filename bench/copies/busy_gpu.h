// Keeps the first GPU busy with kernels as a program has them.
#pragma once

#include <array>

#include "bench/copies/driver_calls.h"

namespace bench {

/// Two kernels, each of which fills the GPU: eight blocks of 256 threads on each multiprocessor. Owns a
/// stream and 2 GiB of the GPU's memory. Not thread-safe.
class BusyGpu {
 public:
  enum class Load { kArithmetic, kMemory };

  /// Throws a Failure if there is no driver, no GPU or no memory.
  BusyGpu();
  ~BusyGpu();
  BusyGpu(const BusyGpu&) = delete;
  BusyGpu& operator=(const BusyGpu&) = delete;

  /// Launches so many kernels, one behind the other.
  void Start(Load load, int kernels);
  bool IsRunning() const;
  /// The time of all kernels of the last start, when they are done.
  double Milliseconds() const;

 private:
  void Launch(Load load);

  const sampan::cuda::Driver& driver_;
  const sampan::cuda::CuContext context_;
  sampan::cuda::CuStream stream_ = nullptr;
  sampan::cuda::CuFunction arithmetic_ = nullptr, memory_kernel_ = nullptr;
  unsigned blocks_ = 0;
  sampan::cuda::CuAddress in_ = 0, out_ = 0;
  std::array<sampan::cuda::CuEvent, 2> events_{};
};

}  // namespace bench
