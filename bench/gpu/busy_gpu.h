// Keeps the GPU busy with a program's kernels, and measures what copies beside them cost.
#pragma once

#include <array>
#include <functional>
#include <string>

#include "bench/gpu/busy_kernels.h"
#include "bench/gpu/groups.h"

namespace bench {

/// The two kernels fill the GPU: eight blocks of 256 threads on each multiprocessor.
class BusyGpu {
 public:
  enum class Load { kArithmetic, kMemory };
  static constexpr std::size_t kMemoryBytes = kGiB;

  explicit BusyGpu(const DriverSide& driver) : driver_(driver) {
    BENCH_DRIVER(driver_->ContextSetCurrent(ContextOf(0)));
    BENCH_DRIVER(driver_->ModuleLoadData(&module_, kBusyKernels));
    BENCH_DRIVER(driver_->ModuleGetFunction(&arithmetic_, module_, "bench_fma"));
    BENCH_DRIVER(driver_->ModuleGetFunction(&memory_kernel_, module_, "bench_memory"));
    int multiprocessors = 0;
    BENCH_DRIVER(driver_->DeviceGetAttribute(&multiprocessors, sampan::cuda::cu::kMultiprocessors, 0));
    blocks_ = 8 * static_cast<unsigned>(multiprocessors);
    in_ = driver_.Allocate(kMemoryBytes);
    out_ = driver_.Allocate(kMemoryBytes);
    for (sampan::cuda::CuEvent& event : events_)
      BENCH_DRIVER(driver_->EventCreate(&event, 0));
  }
  ~BusyGpu() {
    driver_->MemFree(reinterpret_cast<CuAddress>(in_));
    driver_->MemFree(reinterpret_cast<CuAddress>(out_));
    for (sampan::cuda::CuEvent event : events_)
      driver_->EventDestroy(event);
  }
  BusyGpu(const BusyGpu&) = delete;
  BusyGpu& operator=(const BusyGpu&) = delete;

  /// Launches so many kernels, one behind the other.
  void Start(Load load, int kernels) {
    BENCH_DRIVER(driver_->EventRecord(events_[0], driver_.stream(1)));
    for (int i = 0; i < kernels; ++i)
      Launch(load);
    BENCH_DRIVER(driver_->EventRecord(events_[1], driver_.stream(1)));
  }
  bool IsRunning() const { return driver_->EventQuery(events_[1]) == sampan::cuda::cu::kNotReady; }
  /// The time of all kernels of the last start.
  double Milliseconds() const {
    BENCH_DRIVER(driver_->EventSynchronize(events_[1]));
    float milliseconds = 0;
    BENCH_DRIVER(driver_->EventElapsedTime(&milliseconds, events_[0], events_[1]));
    return milliseconds;
  }

 private:
  static constexpr unsigned kThreads = 256;

  void Launch(Load load) {
    CuAddress out = reinterpret_cast<CuAddress>(out_), in = reinterpret_cast<CuAddress>(in_);
    unsigned rounds = 17'000;
    unsigned long long vectors = kMemoryBytes / 16;
    std::array<void*, 2> arithmetic = {&out, &rounds};
    std::array<void*, 3> memory = {&out, &in, &vectors};
    const bool computes = load == Load::kArithmetic;
    BENCH_DRIVER(driver_->LaunchKernel(computes ? arithmetic_ : memory_kernel_, blocks_, 1, 1, kThreads, 1, 1,
                                       0, driver_.stream(1), computes ? arithmetic.data() : memory.data(),
                                       nullptr));
  }

  const DriverSide& driver_;
  sampan::cuda::CuModule module_ = nullptr;
  sampan::cuda::CuFunction arithmetic_ = nullptr, memory_kernel_ = nullptr;
  unsigned blocks_ = 0;
  std::byte *in_ = nullptr, *out_ = nullptr;
  std::array<sampan::cuda::CuEvent, 2> events_{};
};

/// Copies, two submissions at a time: number 0 and number 1 in turn.
struct CopyLoop {
  std::size_t bytes;  ///< of one submission
  std::function<void(int which)> submit;
  std::function<void(int which)> record, await;  ///< an event behind the submission
  std::function<void()> drain;
};

struct Beside {
  double kernel_times;  ///< the kernels' time over their time alone
  double rate;          ///< of the copies meanwhile, in GB/s
};

inline double AloneMs(BusyGpu& gpu, BusyGpu::Load load) {
  constexpr int kKernels = 30;
  gpu.Start(load, 5);
  gpu.Milliseconds();
  gpu.Start(load, kKernels);
  return gpu.Milliseconds() / kKernels;
}

inline Beside MeasureBeside(BusyGpu& gpu, BusyGpu::Load load, double alone_ms, const CopyLoop& copies) {
  const int kernels = load == BusyGpu::Load::kArithmetic ? 60 : 20;
  copies.submit(0);
  copies.drain();
  gpu.Start(load, kernels);
  std::size_t completed = 0;
  double seconds = 0;
  const Stopwatch watch;
  for (std::size_t submitted = 0; gpu.IsRunning(); ++submitted) {
    const int which = static_cast<int>(submitted % 2);
    if (submitted >= 2) {
      copies.await(which);
      if (!gpu.IsRunning()) break;
      ++completed;
      seconds = watch.Seconds();
    }
    copies.submit(which);
    copies.record(which);
  }
  copies.drain();
  return {gpu.Milliseconds() / kernels / alone_ms, Rate(completed * copies.bytes, seconds)};
}

/// The least rates, and the kernels' longest times. 0: no bar.
struct QuietBars {
  double alone = 0, times_arithmetic = 0, rate_arithmetic = 0, times_memory = 0, rate_memory = 0;
  double over_call = 0;  ///< the rate alone over that of the driver's call
};

/// Both kernels alone, and then beside copies.
class Disturbance {
 public:
  explicit Disturbance(World& world) : report_(world.report), gpu_(world.driver) {
    std::printf("\nFMA kernel %.3f ms, memory kernel %.3f ms\n", arithmetic_ms_, memory_ms_);
  }

  /// `row` has the name of the group and the shape of the copies. `call`: the driver's, if there is one.
  void Measure(const Row& row, const CopyLoop& copies, const QuietBars& bars,
               const std::function<void()>& call = {}) {
    const auto times = MedianSeconds({[&] { copies.submit(0), copies.drain(); }, call}, 15);
    const Beside arithmetic = MeasureBeside(gpu_, BusyGpu::Load::kArithmetic, arithmetic_ms_, copies);
    const Beside memory = MeasureBeside(gpu_, BusyGpu::Load::kMemory, memory_ms_, copies);
    const double alone = Rate(copies.bytes, times[0]);
    std::printf("%-46s %s %6zu x %6zu  alone %6.2f  FMA %.3f x, %6.2f  memory %.3f x, %6.2f",
                row.group.c_str(), row.direction.c_str(), row.entry_bytes, row.entries, alone,
                arithmetic.kernel_times, arithmetic.rate, memory.kernel_times, memory.rate);
    const auto add = [&](const char* what, const char* unit, double figure, double bar) {
      Row added = row;
      added.group += std::string(": ") + what;
      added.unit = unit;
      added.ours = figure;
      added.bar = bar;
      added.bar_of_figure = true;
      if (!added.met()) std::printf("  NOT %s %.2f", what, bar);
      report_.Keep(added);
    };
    add("alone", "GB/s", alone, bars.alone);
    add("FMA kernel", "x", arithmetic.kernel_times, bars.times_arithmetic);
    add("beside FMA", "GB/s", arithmetic.rate, bars.rate_arithmetic);
    add("memory kernel", "x", memory.kernel_times, bars.times_memory);
    add("beside memory", "GB/s", memory.rate, bars.rate_memory);
    if (call) {
      Row against = row;
      against.group += ": against the batch call";
      against.ours = alone;
      against.call = Rate(copies.bytes, times[1]);
      against.bar = bars.over_call;
      std::printf("  call %6.2f%s", against.call, against.met() ? "" : " NOT");
      report_.Keep(against);
    }
    std::printf("\n");
    std::fflush(stdout);
  }

 private:
  Report& report_;
  BusyGpu gpu_;
  const double arithmetic_ms_ = AloneMs(gpu_, BusyGpu::Load::kArithmetic);
  const double memory_ms_ = AloneMs(gpu_, BusyGpu::Load::kMemory);
};

}  // namespace bench
