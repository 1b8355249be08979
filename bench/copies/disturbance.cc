// What copies cost the kernels of a program beside them, and how fast they are there.
#include "bench/copies/disturbance.h"

#include <algorithm>

#include "bench/measure/timing.h"

namespace bench {

DisturbanceMeter::DisturbanceMeter()
    : arithmetic_ms_(AloneMs(BusyGpu::Load::kArithmetic)), memory_ms_(AloneMs(BusyGpu::Load::kMemory)) {}

Disturbance DisturbanceMeter::Measure(const CopyLoop& copies) {
  return {.arithmetic = MeasureBeside(BusyGpu::Load::kArithmetic, arithmetic_ms_, 60, copies),
          .memory = MeasureBeside(BusyGpu::Load::kMemory, memory_ms_, 20, copies)};
}

double DisturbanceMeter::AloneMs(BusyGpu::Load load) {
  constexpr int kKernels = 30;
  gpu_.Start(load, 5);
  gpu_.Milliseconds();
  gpu_.Start(load, kKernels);
  return gpu_.Milliseconds() / kKernels;
}

Beside DisturbanceMeter::MeasureBeside(BusyGpu::Load load, double alone_ms, int min_kernels,
                                       const CopyLoop& copies) {
  // Long copies need more kernels: a few copies must complete beside them.
  constexpr double kMinCopies = 8, kMaxKernels = 2000;
  const int kernels = std::max(
      min_kernels, static_cast<int>(std::min(kMinCopies * copies.seconds * 1e3 / alone_ms, kMaxKernels)));
  copies.submit(0);
  copies.drain();
  gpu_.Start(load, kernels);
  std::size_t completed = 0;
  double seconds = 0;
  const Stopwatch watch;
  for (std::size_t submitted = 0; gpu_.IsRunning(); ++submitted) {
    const int which = static_cast<int>(submitted % 2);
    if (submitted >= 2) {
      copies.await(which);
      if (!gpu_.IsRunning()) break;
      ++completed;
      seconds = watch.Seconds();
    }
    copies.submit(which);
    copies.record(which);
  }
  copies.drain();
  return {gpu_.Milliseconds() / kernels / alone_ms, Rate(completed * copies.bytes, seconds)};
}

}  // namespace bench
