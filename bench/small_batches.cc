// The time of a batch call on an idle stream, for 1 to 256 entries: from one entry to the next it must not
// jump.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

#include "bench/ratio.h"

namespace bench::small_batches {
namespace {

constexpr std::size_t kMaxEntries = 256;
constexpr std::size_t kMaxEntryBytes = 512;
/// The number of calls for each median.
constexpr std::size_t kRounds = 201;
/// Longer than engines spin before they sleep.
constexpr std::chrono::microseconds kUntilEnginesSleep{100};

/// The same batches of entries that do not adjoin, of each length.
class Batches {
 public:
  explicit Batches(std::size_t entry_bytes) {
    BENCH_CHECK(aclrtSetDevice(0));
    BENCH_CHECK(aclrtCreateStream(&stream_));
    BENCH_CHECK(aclrtMalloc(&device_, kMemoryBytes, ACL_MEM_MALLOC_HUGE_FIRST));
    BENCH_CHECK(aclrtMallocHost(&pinned_, kMemoryBytes));
    std::memset(pinned_, 5, kMemoryBytes);
    BENCH_CHECK(aclrtMemset(device_, kMemoryBytes, 6, kMemoryBytes));
    for (std::size_t i = 0; i < kMaxEntries; ++i) {
      dsts_.push_back(static_cast<char*>(device_) + 2 * i * kMaxEntryBytes);
      srcs_.push_back(static_cast<char*>(pinned_) + 2 * i * kMaxEntryBytes);
    }
    sizes_.assign(kMaxEntries, entry_bytes);
  }
  ~Batches() {
    BENCH_CHECK(aclrtDestroyStream(stream_));
    BENCH_CHECK(aclrtFree(device_));
    BENCH_CHECK(aclrtFreeHost(pinned_));
    BENCH_CHECK(aclrtResetDevice(0));
  }
  Batches(const Batches&) = delete;
  Batches& operator=(const Batches&) = delete;

  /// The time of the call. Afterwards the stream is idle, and the engines sleep.
  double NsOfCall(std::size_t entries) {
    aclrtMemcpyBatchAttr attr{{0, ACL_MEM_LOCATION_TYPE_DEVICE}, {0, ACL_MEM_LOCATION_TYPE_HOST}, {}};
    std::size_t first = 0, failed = 0;
    const double seconds = SecondsOf([&] {
      BENCH_CHECK(aclrtMemcpyBatchAsync(dsts_.data(), sizes_.data(), srcs_.data(), sizes_.data(), entries,
                                        &attr, &first, 1, &failed, stream_));
    });
    aclrtStreamStatus status = ACL_STREAM_STATUS_COMPLETE;
    BENCH_CHECK(aclrtStreamQuery(stream_, &status));
    const bool over = status == ACL_STREAM_STATUS_COMPLETE;
    if (!over) {
      BENCH_CHECK(aclrtSynchronizeStream(stream_));
      std::this_thread::sleep_for(kUntilEnginesSleep);
      ++handed_over_[entries - 1];
    }
    return seconds * 1e9;
  }
  /// Returns true if most calls with this many entries returned before the copies were complete.
  bool IsHandedOver(std::size_t entries) const { return handed_over_[entries - 1] > kRounds / 2; }

 private:
  static constexpr std::size_t kMemoryBytes = 2 * kMaxEntries * kMaxEntryBytes;

  aclrtStream stream_ = nullptr;
  void* device_ = nullptr;
  void* pinned_ = nullptr;
  std::vector<void*> dsts_, srcs_;
  std::vector<std::size_t> sizes_;
  std::vector<std::size_t> handed_over_ = std::vector<std::size_t>(kMaxEntries);
};

/// Prints the medians by the number of entries, sixteen a line; an asterisk: handed to an engine.
void Print(std::size_t entry_bytes, const std::vector<double>& medians_ns, const Batches& batches) {
  std::printf("ns of a call with n entries of %zu B on an idle stream (*: not over on return)\n",
              entry_bytes);
  for (std::size_t n = 1; n <= kMaxEntries; ++n) {
    if (n % 16 == 1) std::printf("%7zu:", n);
    std::printf(" %6.0f%c%s", medians_ns[n - 1], batches.IsHandedOver(n) ? '*' : ' ',
                n % 16 == 0 ? "\n" : "");
  }
}

/// Reports the times of a few lengths, and the largest ratio from n to n + 1 entries: at most 1.5.
void BatchCall(benchmark::State& state) {
  const auto entry_bytes = static_cast<std::size_t>(state.range(0));
  Batches batches(entry_bytes);
  std::vector<std::vector<double>> times_ns(kMaxEntries);
  for ([[maybe_unused]] auto unused : state) {
    // Round by round, so that changes over time affect all lengths.
    for (std::size_t round = 0; round < kRounds; ++round) {
      for (std::size_t n = 1; n <= kMaxEntries; ++n)
        times_ns[n - 1].push_back(batches.NsOfCall(n));
    }
  }
  std::vector<double> medians_ns;
  for (const std::vector<double>& each : times_ns)
    medians_ns.push_back(Median(each));
  std::size_t steepest = 1;
  double largest = 0;
  for (std::size_t n = 1; n < kMaxEntries; ++n) {
    const double ratio = medians_ns[n] / medians_ns[n - 1];
    if (ratio > largest) largest = ratio, steepest = n;
  }
  Print(entry_bytes, medians_ns, batches);
  state.counters["ns_1"] = medians_ns[0];
  state.counters["ns_8"] = medians_ns[7];
  state.counters["ns_9"] = medians_ns[8];
  state.counters["ns_256"] = medians_ns[kMaxEntries - 1];
  state.counters["largest_ratio"] = largest;
  state.counters["from_n"] = static_cast<double>(steepest);
}
BENCHMARK(BatchCall)->Arg(16)->Arg(64)->Arg(512)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace bench::small_batches
