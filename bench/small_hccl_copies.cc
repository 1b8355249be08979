// HcclD2DMemcpyAsync of 64 B against the aclrtMemcpyAsync below it, alternately.
#include <cstring>
#include <vector>

#include "bench/ratio.h"
#include "hccl/platform/dispatcher.h"

namespace bench::hccl_copies {
namespace {

constexpr std::size_t kCopies = 20000;
constexpr std::size_t kBytes = 64;

void CheckHccl(HcclResult code, const char* call) {
  if (code == HCCL_SUCCESS) return;
  const char* message = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s failed with %d\n%s\n", call, static_cast<int>(code),
               message != nullptr ? message : "");
  std::exit(1);
}
#define BENCH_CHECK_HCCL(call) CheckHccl((call), #call)

/// The same copies inside a device by both calls, on an idle stream.
class DeviceCopies {
 public:
  DeviceCopies() {
    BENCH_CHECK(aclrtSetDevice(0));
    stream_ = hccl::Stream(hccl::StreamType::STREAM_TYPE_ONLINE, true);
    BENCH_CHECK_HCCL(HcclDispatcherInit(DispatcherType::DISPATCHER_NORMAL, -1, &dispatcher_));
    BENCH_CHECK(aclrtMalloc(&dst_, kBytes * kCopies, ACL_MEM_MALLOC_HUGE_FIRST));
    BENCH_CHECK(aclrtMalloc(&src_, kBytes * kCopies, ACL_MEM_MALLOC_HUGE_FIRST));
    BENCH_CHECK(aclrtMemset(src_, kBytes * kCopies, 5, kBytes * kCopies));
    BENCH_CHECK(aclrtMemset(dst_, kBytes * kCopies, 6, kBytes * kCopies));
  }
  ~DeviceCopies() {
    stream_ = hccl::Stream();
    BENCH_CHECK_HCCL(HcclDispatcherDestroy(dispatcher_));
    BENCH_CHECK(aclrtFree(dst_));
    BENCH_CHECK(aclrtFree(src_));
    BENCH_CHECK(aclrtResetDevice(0));
  }
  DeviceCopies(const DeviceCopies&) = delete;
  DeviceCopies& operator=(const DeviceCopies&) = delete;

  void RunHccl(std::vector<hccl::DeviceMem>& dst, const std::vector<hccl::DeviceMem>& src) {
    for (std::size_t i = 0; i < kCopies; ++i)
      BENCH_CHECK_HCCL(HcclD2DMemcpyAsync(dispatcher_, dst[i], src[i], stream_));
    Synchronize();
  }
  void RunRuntime() const {
    for (std::size_t i = 0; i < kCopies; ++i) {
      BENCH_CHECK(aclrtMemcpyAsync(At(dst_, i), kBytes, At(src_, i), kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE,
                                   stream_.ptr()));
    }
    Synchronize();
  }
  std::vector<hccl::DeviceMem> Views(bool of_destination) const {
    std::vector<hccl::DeviceMem> views;
    for (std::size_t i = 0; i < kCopies; ++i)
      views.emplace_back(At(of_destination ? dst_ : src_, i), kBytes);
    return views;
  }

 private:
  static void* At(void* base, std::size_t i) { return static_cast<char*>(base) + i * kBytes; }
  void Synchronize() const { BENCH_CHECK(aclrtSynchronizeStream(stream_.ptr())); }

  HcclDispatcher dispatcher_ = nullptr;
  hccl::Stream stream_{};
  void* dst_ = nullptr;
  void* src_ = nullptr;
};

/// Reports the ns per copy of both, and their ratio: at most 2.
void HcclCopyAgainstRuntime(benchmark::State& state) {
  DeviceCopies copies;
  std::vector<hccl::DeviceMem> dst = copies.Views(true);
  const std::vector<hccl::DeviceMem> src = copies.Views(false);
  std::vector<double> hccl_ns, runtime_ns;
  const double ns_per_copy = 1e9 / kCopies;
  for (int warm_up = 0; warm_up < 5; ++warm_up) {
    copies.RunHccl(dst, src);
    copies.RunRuntime();
  }
  for ([[maybe_unused]] auto unused : state) {
    const double seconds = bench::SecondsOf([&] { copies.RunHccl(dst, src); });
    hccl_ns.push_back(seconds * ns_per_copy);
    runtime_ns.push_back(bench::SecondsOf([&] { copies.RunRuntime(); }) * ns_per_copy);
    state.SetIterationTime(seconds);
  }
  state.counters["hccl_ns"] = bench::Median(hccl_ns);
  state.counters["runtime_ns"] = bench::Median(runtime_ns);
  state.counters["times"] = bench::Median(hccl_ns) / bench::Median(runtime_ns);
}
BENCHMARK(HcclCopyAgainstRuntime)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace bench::hccl_copies
