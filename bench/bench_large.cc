// Large, batched and strided copies against one thread's memcpy over ordinary memory of the same shape.
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "bench/ratio.h"

namespace {

using bench::MeasureRatio;

constexpr std::size_t kKiB = std::size_t{1} << 10;
constexpr std::size_t kMiB = std::size_t{1} << 20;

/// A device with a stream, a pinned buffer, a device buffer, and two ordinary buffers for the comparison.
class Machine {
 public:
  explicit Machine(std::size_t bytes) : plain_dst_(Plain(bytes)), plain_src_(Plain(bytes)) {
    BENCH_CHECK(aclrtSetDevice(0));
    BENCH_CHECK(aclrtCreateStream(&stream));
    BENCH_CHECK(aclrtMalloc(&device, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    BENCH_CHECK(aclrtMallocHost(&pinned, bytes));
    std::mt19937_64 random(7);
    auto* words = static_cast<std::uint64_t*>(pinned);
    for (std::size_t i = 0; i < bytes / sizeof(*words); ++i)
      words[i] = random();
    std::memcpy(plain_src_.get(), pinned, bytes);
    std::memset(plain_dst_.get(), 1, bytes);
    BENCH_CHECK(aclrtMemcpy(device, bytes, pinned, bytes, ACL_MEMCPY_HOST_TO_DEVICE));
  }
  ~Machine() {
    BENCH_CHECK(aclrtDestroyStream(stream));
    BENCH_CHECK(aclrtFree(device));
    BENCH_CHECK(aclrtFreeHost(pinned));
    BENCH_CHECK(aclrtResetDevice(0));
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  void Sync() const { BENCH_CHECK(aclrtSynchronizeStream(stream)); }
  char* plain_dst() const { return plain_dst_.get(); }
  char* plain_src() const { return plain_src_.get(); }

  aclrtStream stream = nullptr;
  void* device = nullptr;
  void* pinned = nullptr;

 private:
  static std::unique_ptr<char[]> Plain(std::size_t bytes) {
    return std::make_unique_for_overwrite<char[]>(bytes);
  }

  std::unique_ptr<char[]> plain_dst_, plain_src_;
};

void LinearCopy(benchmark::State& state) {
  const auto bytes = static_cast<std::size_t>(state.range(0)) * kKiB;
  const bool to_device = state.range(1) == 0;
  const Machine machine(bytes);
  MeasureRatio(
      state, static_cast<double>(bytes),
      [&] {
        void* dst = to_device ? machine.device : machine.pinned;
        const void* src = to_device ? machine.pinned : machine.device;
        BENCH_CHECK(aclrtMemcpyAsync(dst, bytes, src, bytes,
                                     to_device ? ACL_MEMCPY_HOST_TO_DEVICE : ACL_MEMCPY_DEVICE_TO_HOST,
                                     machine.stream));
        machine.Sync();
      },
      [&] {
        std::memcpy(machine.plain_dst(), machine.plain_src(), bytes);
        benchmark::ClobberMemory();
      });
}
BENCHMARK(LinearCopy)
    ->ArgNames({"KiB", "d2h"})
    ->ArgsProduct({{16, 64, 256, 1024, 2048, 4096, 8192, 16384, 65536, 262144}, {0, 1}})
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

/// Entries at random places on both sides.
void ScatteredBatch(benchmark::State& state) {
  constexpr std::size_t kRegion = 512 * kMiB;
  const auto entry = static_cast<std::size_t>(state.range(0));
  const auto entries = static_cast<std::size_t>(state.range(1));
  const bool attribute_each = state.range(2) == 1;
  const bool to_device = state.range(3) == 0;
  const Machine machine(kRegion);
  std::vector<std::size_t> dst_places(kRegion / entry);
  for (std::size_t i = 0; i < dst_places.size(); ++i)
    dst_places[i] = i * entry;
  auto src_places = dst_places;
  std::mt19937_64 random(11);
  std::shuffle(dst_places.begin(), dst_places.end(), random);
  std::shuffle(src_places.begin(), src_places.end(), random);
  auto* const dst_base = static_cast<char*>(to_device ? machine.device : machine.pinned);
  auto* const src_base = static_cast<char*>(to_device ? machine.pinned : machine.device);
  std::vector<void*> dsts(entries);
  std::vector<void*> srcs(entries);
  std::vector<std::size_t> sizes(entries, entry);
  const aclrtMemLocation host{0, ACL_MEM_LOCATION_TYPE_HOST};
  const aclrtMemLocation device{0, ACL_MEM_LOCATION_TYPE_DEVICE};
  const aclrtMemcpyBatchAttr attribute{to_device ? device : host, to_device ? host : device, {}};
  std::vector<aclrtMemcpyBatchAttr> attributes(attribute_each ? entries : 1, attribute);
  std::vector<std::size_t> starts(attributes.size());
  for (std::size_t i = 0; i < starts.size(); ++i)
    starts[i] = i;
  std::size_t round = 0;  // both sides use other places each time, so that neither finds them in a cache
  const auto place = [&](const std::vector<std::size_t>& places, std::size_t i) {
    return places[(round * entries + i) % places.size()];
  };
  MeasureRatio(
      state, static_cast<double>(entry * entries),
      [&] {
        ++round;
        for (std::size_t i = 0; i < entries; ++i) {
          dsts[i] = dst_base + place(dst_places, i);
          srcs[i] = src_base + place(src_places, i);
        }
        std::size_t failed = 0;
        BENCH_CHECK(aclrtMemcpyBatchAsync(dsts.data(), sizes.data(), srcs.data(), sizes.data(), entries,
                                          attributes.data(), starts.data(), attributes.size(), &failed,
                                          machine.stream));
        machine.Sync();
      },
      [&] {
        for (std::size_t i = 0; i < entries; ++i) {
          std::memcpy(machine.plain_dst() + place(dst_places, i), machine.plain_src() + place(src_places, i),
                      entry);
        }
        benchmark::ClobberMemory();
      });
}
BENCHMARK(ScatteredBatch)
    ->ArgNames({"bytes", "entries", "attr_each", "d2h"})
    ->ArgsProduct({{4096}, {8192}, {0, 1}, {0, 1}})
    ->Args({584, 16384, 0, 0})
    ->Args({36864, 3904, 0, 0})
    ->Args({131072, 1024, 1, 1})
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

/// Rows of `width` bytes, `pitch` apart in the source, dense in the destination.
void RowsCopy(benchmark::State& state) {
  constexpr std::size_t kRegion = 256 * kMiB;
  const auto width = static_cast<std::size_t>(state.range(0));
  const auto pitch = static_cast<std::size_t>(state.range(1));
  const bool to_device = state.range(2) == 0;
  const Machine machine(kRegion);
  const std::size_t height = std::min(kRegion / pitch, 32 * kMiB / width);
  MeasureRatio(
      state, static_cast<double>(width * height),
      [&] {
        void* dst = to_device ? machine.device : machine.pinned;
        const void* src = to_device ? machine.pinned : machine.device;
        BENCH_CHECK(aclrtMemcpy2dAsync(dst, width, src, pitch, width, height,
                                       to_device ? ACL_MEMCPY_HOST_TO_DEVICE : ACL_MEMCPY_DEVICE_TO_HOST,
                                       machine.stream));
        machine.Sync();
      },
      [&] {
        for (std::size_t row = 0; row < height; ++row) {
          std::memcpy(machine.plain_dst() + row * width, machine.plain_src() + row * pitch, width);
        }
        benchmark::ClobberMemory();
      });
}
void RowsArguments(benchmark::internal::Benchmark* benchmark) {
  for (const std::int64_t width : {16, 17, 64, 100, 256, 512, 1000, 1024}) {
    for (const std::int64_t pitch : {2 * width, std::int64_t{4096}, 2 * width + 13})
      benchmark->Args({width, pitch, 0});
  }
  for (const std::int64_t width : {16, 64, 256, 1024})
    benchmark->Args({width, 2 * width, 1});
}
BENCHMARK(RowsCopy)
    ->ArgNames({"width", "pitch", "d2h"})
    ->Apply(RowsArguments)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
