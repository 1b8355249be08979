// What copies cost the kernels of a program beside them, and how fast they are there.
#pragma once

#include <cstddef>
#include <functional>

#include "bench/copies/busy_gpu.h"

namespace bench {

/// Copies, two submissions at a time: number 0 and number 1 in turn.
struct CopyLoop {
  std::size_t bytes;  ///< of one submission
  std::function<void(int which)> submit;
  std::function<void(int which)> record, await;  ///< an event behind the submission
  std::function<void()> drain;
  double seconds = 0;  ///< of one submission alone, if it is known
};

struct Beside {
  double kernel_times = 0;  ///< the kernels' time over their time alone
  double rate = 0;          ///< of the copies meanwhile, in GB/s
};

struct Disturbance {
  Beside arithmetic, memory;
};

/// Measures the kernels alone, once, and then beside copies. Not thread-safe.
class DisturbanceMeter {
 public:
  DisturbanceMeter();

  Disturbance Measure(const CopyLoop& copies);
  /// Of one kernel alone.
  double arithmetic_ms() const { return arithmetic_ms_; }
  double memory_ms() const { return memory_ms_; }

 private:
  double AloneMs(BusyGpu::Load load);
  Beside MeasureBeside(BusyGpu::Load load, double alone_ms, int min_kernels, const CopyLoop& copies);

  BusyGpu gpu_;
  const double arithmetic_ms_, memory_ms_;
};

}  // namespace bench
