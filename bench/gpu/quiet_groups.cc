// What copies cost the kernels beside them: rate and disturbance of batches while a program computes.
#include <array>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "bench/gpu/busy_kernels.h"
#include "bench/gpu/groups.h"
#include "bench/gpu/scattered.h"

namespace bench {
namespace {

using sampan::cuda::CuEvent;
using sampan::cuda::CuFunction;
using sampan::cuda::CuModule;

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
    for (CuEvent& event : events_)
      BENCH_DRIVER(driver_->EventCreate(&event, 0));
  }
  ~BusyGpu() {
    driver_->MemFree(reinterpret_cast<CuAddress>(in_));
    driver_->MemFree(reinterpret_cast<CuAddress>(out_));
    for (CuEvent event : events_)
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
  CuModule module_ = nullptr;
  CuFunction arithmetic_ = nullptr, memory_kernel_ = nullptr;
  unsigned blocks_ = 0;
  std::byte *in_ = nullptr, *out_ = nullptr;
  std::array<CuEvent, 2> events_{};
};

struct Beside {
  double kernel_times;  ///< the kernels' time over their time alone
  double rate;          ///< of the copies meanwhile, in GB/s
};

/// Submits batches, two at a time, while the kernels run.
Beside MeasureBeside(const World& world, BusyGpu& gpu, BusyGpu::Load load, double alone_ms, Scattered& batch,
                     Way way) {
  const int kernels = load == BusyGpu::Load::kArithmetic ? 60 : 20;
  std::array<aclrtEvent, 2> over{};
  for (aclrtEvent& event : over)
    BENCH_ACL(aclrtCreateEvent(&event));
  SubmitOurs(world, batch, way);
  world.Synchronize();
  gpu.Start(load, kernels);
  std::size_t completed = 0;
  double seconds = 0;
  const Stopwatch watch;
  for (std::size_t submitted = 0; gpu.IsRunning(); ++submitted) {
    aclrtEvent event = over[submitted % 2];
    if (submitted >= 2) {
      BENCH_ACL(aclrtSynchronizeEvent(event));
      if (!gpu.IsRunning()) break;
      ++completed;
      seconds = watch.Seconds();
    }
    SubmitOurs(world, batch, way);
    BENCH_ACL(aclrtRecordEvent(event, world.streams[0]));
  }
  world.Synchronize();
  const double milliseconds = gpu.Milliseconds();
  for (aclrtEvent event : over)
    BENCH_ACL(aclrtDestroyEvent(event));
  return {milliseconds / kernels / alone_ms,
          Rate(completed * batch.sizes.size() * batch.sizes.front(), seconds)};
}

double AloneMs(BusyGpu& gpu, BusyGpu::Load load) {
  constexpr int kKernels = 30;
  gpu.Start(load, 5);
  gpu.Milliseconds();
  gpu.Start(load, kKernels);
  return gpu.Milliseconds() / kKernels;
}

/// The least rates, and the kernels' longest times. 0: no bar.
struct QuietBars {
  double alone = 0, times_arithmetic = 0, rate_arithmetic = 0, times_memory = 0, rate_memory = 0;
};
struct QuietCase {
  const char* name;
  Places places;
  std::size_t entry_bytes, entries;
  QuietBars bars;
};

}  // namespace

void RunQuiet(World& world) {
  constexpr Places kRandom = Places::kRandom, kDense = Places::kHostDense;
  const char* const setting = std::getenv("SAMPAN_COPY_QUIET");
  const std::string_view mode = setting == nullptr ? "auto" : setting;
  const QuietBars usual{
      .alone = 47, .times_arithmetic = 1.15, .rate_arithmetic = 40, .times_memory = 1.15, .rate_memory = 30};
  const QuietBars dense{.alone = 52, .times_arithmetic = 1.03, .times_memory = 1.05};
  const QuietBars still{.alone = 40, .times_arithmetic = 1.02, .times_memory = 1.02};
  const QuietBars still_short{.times_arithmetic = 1.02, .times_memory = 1.02};
  const bool quiet = mode == "quiet";
  const QuietBars none;
  const bool speed = mode == "speed";
  const std::array cases = {QuietCase{"random", kRandom, 4 * kKiB, 8192,
                                      speed   ? none
                                      : quiet ? still_short
                                              : usual},
                            QuietCase{"random", kRandom, 36 * kKiB, 3500,
                                      speed   ? none
                                      : quiet ? still
                                              : usual},
                            QuietCase{"host dense", kDense, 4 * kKiB, 8192, quiet || speed ? none : dense},
                            QuietCase{"host dense", kDense, 36 * kKiB, 3500, quiet || speed ? none : dense},
                            QuietCase{"random", kRandom, kKiB, 32'768, none},
                            QuietCase{"random, one short batch", kRandom, kKiB, 64, none}};
  BusyGpu gpu(world.driver);
  const double arithmetic_ms = AloneMs(gpu, BusyGpu::Load::kArithmetic);
  const double memory_ms = AloneMs(gpu, BusyGpu::Load::kMemory);
  std::printf("\nSAMPAN_COPY_QUIET=%.*s; FMA kernel %.3f ms, memory kernel %.3f ms\n",
              static_cast<int>(mode.size()), mode.data(), arithmetic_ms, memory_ms);
  for (const QuietCase& each : cases) {
    for (const Way way : {Way::kIn, Way::kOut}) {
      VerifyBatch(world, world.ours, way, each.entry_bytes, each.entries, each.places);
      Scattered ours(world.ours, way, each.entry_bytes, each.entries, each.places);
      const auto times = MedianSeconds({[&] { SubmitOurs(world, ours, way), world.Synchronize(); }}, 15);
      const Beside arithmetic =
          MeasureBeside(world, gpu, BusyGpu::Load::kArithmetic, arithmetic_ms, ours, way);
      const Beside memory = MeasureBeside(world, gpu, BusyGpu::Load::kMemory, memory_ms, ours, way);
      Row row;
      row.direction = Name(way);
      row.entry_bytes = each.entry_bytes;
      row.entries = each.entries;
      row.bar_of_figure = true;
      const auto add = [&](const char* what, const char* unit, double figure, double bar) {
        Row added = row;
        added.group = std::string("quiet, ") + each.name + ": " + what;
        added.unit = unit;
        added.ours = figure;
        added.bar = bar;
        world.report.Add(added);
      };
      add("alone", "GB/s", Rate(each.entry_bytes * each.entries, times[0]), each.bars.alone);
      add("FMA kernel", "x", arithmetic.kernel_times, each.bars.times_arithmetic);
      add("beside FMA", "GB/s", arithmetic.rate, each.bars.rate_arithmetic);
      add("memory kernel", "x", memory.kernel_times, each.bars.times_memory);
      add("beside memory", "GB/s", memory.rate, each.bars.rate_memory);
    }
  }
}

}  // namespace bench
