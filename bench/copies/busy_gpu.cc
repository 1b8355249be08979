// Keeps the first GPU busy with kernels as a program has them.
#include "bench/copies/busy_gpu.h"

#include "bench/copies/busy_kernels.h"

namespace bench {
namespace {

constexpr unsigned kThreads = 256, kBlocksEach = 8;
constexpr std::size_t kMemoryBytes = std::size_t{1} << 30;

}  // namespace

BusyGpu::BusyGpu() : driver_(TheDriver()), context_(ContextOf(0)) {
  const CurrentContext current(context_);
  BENCH_DRIVER(driver_.StreamCreate(&stream_, sampan::cuda::cu::kStreamNonBlocking, 0));
  sampan::cuda::CuModule module = nullptr;
  BENCH_DRIVER(driver_.ModuleLoadData(&module, kBusyKernels));
  BENCH_DRIVER(driver_.ModuleGetFunction(&arithmetic_, module, "bench_fma"));
  BENCH_DRIVER(driver_.ModuleGetFunction(&memory_kernel_, module, "bench_memory"));
  int multiprocessors = 0;
  BENCH_DRIVER(driver_.DeviceGetAttribute(&multiprocessors, sampan::cuda::cu::kMultiprocessors, 0));
  blocks_ = kBlocksEach * static_cast<unsigned>(multiprocessors);
  BENCH_DRIVER(driver_.MemAlloc(&in_, kMemoryBytes));
  BENCH_DRIVER(driver_.MemAlloc(&out_, kMemoryBytes));
  for (sampan::cuda::CuEvent& event : events_)
    BENCH_DRIVER(driver_.EventCreate(&event, 0));
}

BusyGpu::~BusyGpu() {
  const CurrentContext current(context_);
  driver_.StreamSynchronize(stream_);
  driver_.MemFree(in_);
  driver_.MemFree(out_);
  for (sampan::cuda::CuEvent event : events_)
    driver_.EventDestroy(event);
  driver_.StreamDestroy(stream_);
}

void BusyGpu::Start(Load load, int kernels) {
  const CurrentContext current(context_);
  BENCH_DRIVER(driver_.EventRecord(events_[0], stream_));
  for (int i = 0; i < kernels; ++i)
    Launch(load);
  BENCH_DRIVER(driver_.EventRecord(events_[1], stream_));
}

bool BusyGpu::IsRunning() const {
  const CurrentContext current(context_);
  return driver_.EventQuery(events_[1]) == sampan::cuda::cu::kNotReady;
}

double BusyGpu::Milliseconds() const {
  const CurrentContext current(context_);
  BENCH_DRIVER(driver_.EventSynchronize(events_[1]));
  float milliseconds = 0;
  BENCH_DRIVER(driver_.EventElapsedTime(&milliseconds, events_[0], events_[1]));
  return milliseconds;
}

void BusyGpu::Launch(Load load) {
  sampan::cuda::CuAddress out = out_, in = in_;
  unsigned rounds = 17'000;
  unsigned long long vectors = kMemoryBytes / 16;
  std::array<void*, 2> arithmetic = {&out, &rounds};
  std::array<void*, 3> memory = {&out, &in, &vectors};
  const bool computes = load == Load::kArithmetic;
  BENCH_DRIVER(driver_.LaunchKernel(computes ? arithmetic_ : memory_kernel_, blocks_, 1, 1, kThreads, 1, 1, 0,
                                    stream_, computes ? arithmetic.data() : memory.data(), nullptr));
}

}  // namespace bench
