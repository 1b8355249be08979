// How much faster the copy kernels are than memcpy on one thread, measured in the same run.
// The kernels work on memory-file mappings, as the emulated device does, on one thread and on two that share
// chunks. usage: bench_copy_kernels [all|linear|segments|rows|fill] [rounds]
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "backend/emulated/kernels/copy_kernels.h"
#include "bench/measure/timing.h"

namespace sampan::emulated {
namespace {

constexpr std::size_t kKiB = 1024;
constexpr std::size_t kMiB = 1024 * kKiB;
constexpr std::size_t kRegionBytes =
    1024 * kMiB;  // far more than any cache, so that every repetition finds it cold

// Memory of the size of a region, written once. Never freed.
std::byte* TouchedRegion(void* memory) {
  if (memory == MAP_FAILED || memory == nullptr) std::abort();
  for (std::uint64_t at = 0; at < kRegionBytes; at += sizeof(at)) {
    const std::uint64_t value =
        at * 0x9E3779B97F4A7C15;  // no line of zeros: some machines write those faster
    std::memcpy(static_cast<std::byte*>(memory) + at, &value, sizeof(value));
  }
  return static_cast<std::byte*>(memory);
}

std::byte* FileRegion() {
  const int file = memfd_create("bench", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, kRegionBytes) != 0) std::abort();
  void* const memory = mmap(nullptr, kRegionBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return TouchedRegion(memory);
}

std::byte* HeapRegion() {
  return TouchedRegion(std::aligned_alloc(4096, kRegionBytes));
}

// A second thread that does the same work as the caller, at the same time. Sleeps in between, so that a busy
// machine schedules it at once.
class Partner {
 public:
  Partner() : thread_([this] { Serve(); }) {}
  ~Partner() {
    work_ = nullptr;
    Advance(Step::kCalled);
    thread_.join();
  }

  // Seconds from the moment when both threads are ready until both are done.
  double SecondsTogether(const std::function<void()>& work) {
    work_ = &work;
    Advance(Step::kCalled);
    while (step_.load(std::memory_order_acquire) != Step::kReady) {
    }
    const ::bench::Stopwatch watch;
    Advance(Step::kGo);
    work();
    while (step_.load(std::memory_order_acquire) != Step::kDone) {
    }
    return watch.Seconds();
  }

 private:
  enum class Step { kDone, kCalled, kReady, kGo };

  void Advance(Step step) {
    step_.store(step, std::memory_order_release);
    if (step == Step::kCalled) step_.notify_one();
  }

  void Serve() {
    for (;;) {
      for (Step step; (step = step_.load(std::memory_order_acquire)) != Step::kCalled;)
        step_.wait(step);
      if (work_ == nullptr) return;
      Advance(Step::kReady);
      while (step_.load(std::memory_order_acquire) != Step::kGo) {
      }
      (*work_)();
      Advance(Step::kDone);
    }
  }

  std::atomic<Step> step_{Step::kDone};
  const std::function<void()>* work_ = nullptr;
  std::thread thread_;
};

long Preemptions() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nivcsw;
}

// Returns the result of `measure`. Measures again if another process used the core meanwhile.
double Undisturbed(const std::function<double()>& measure) {
  double best = 0;
  for (int attempt = 0; attempt < 30; ++attempt) {
    const long preemptions = Preemptions();
    const double seconds = measure();
    if (Preemptions() == preemptions) return seconds;
    if (best == 0 || seconds < best) best = seconds;
    std::this_thread::sleep_for(std::chrono::milliseconds(attempt));
  }
  return best;
}

// One line of the table. `place` is 0 for heap memory and 1 for memory files.
struct Comparison {
  std::string name;
  std::size_t bytes;
  std::size_t chunks;
  // Chooses new addresses, so that no repetition finds its data in the caches. Not timed.
  std::function<void(std::size_t turn)> prepare;
  std::function<void(int place)> plain;
  std::function<void(std::size_t chunk)> kernel;
};

void PrintHeader(const char* title) {
  std::printf("\n%s\n%-34s %7s %7s | %7s %7s | %s\n", title, "", "heap", "memfd", "kernel", "kernel",
              "two threads over memcpy, median [p10..p90]");
  std::printf("%-34s %7s %7s | %7s %7s | %-20s %s\n", "GB/s", "memcpy", "memcpy", "1 thr", "2 thr", "on heap",
              "on memfd");
}

void Compare(const Comparison& comparison, Partner& partner, int rounds) {
  std::array<std::vector<double>, 4> seconds;
  std::vector<double> over_heap, over_file;
  std::size_t turn = 0;
  const auto measure = [&](std::size_t column, const std::function<void()>& work) {
    comparison.prepare(turn++);
    return seconds[column].emplace_back(Undisturbed([&] { return ::bench::SecondsOf(work); }));
  };
  const auto measure_together = [&](std::size_t column, const std::function<void(std::size_t chunk)>& work) {
    comparison.prepare(turn++);
    return seconds[column].emplace_back(Undisturbed([&] {
      std::atomic<std::size_t> next{0};
      return partner.SecondsTogether([&] {
        for (std::size_t chunk; (chunk = next.fetch_add(1, std::memory_order_relaxed)) < comparison.chunks;) {
          work(chunk);
        }
      });
    }));
  };
  for (int round = 0; round <= rounds; ++round) {
    const double heap = measure(0, [&] { comparison.plain(0); });
    const double file = measure(1, [&] { comparison.plain(1); });
    measure(2, [&] {
      for (std::size_t chunk = 0; chunk < comparison.chunks; ++chunk)
        comparison.kernel(chunk);
    });
    const double both = measure_together(3, comparison.kernel);
    if (round == 0) {  // only warms up
      for (auto& column : seconds)
        column.clear();
      continue;
    }
    over_heap.push_back(heap / both);
    over_file.push_back(file / both);
  }
  std::printf("%-34s", comparison.name.c_str());
  for (std::size_t column = 0; column < seconds.size(); ++column) {
    const double rate = static_cast<double>(comparison.bytes) / ::bench::Median(seconds[column]) / 1e9;
    std::printf("%s %7.2f", column == 2 ? " |" : "", rate);
  }
  std::printf(" |");
  for (const auto& ratios : {over_heap, over_file}) {
    std::printf(" %5.2f [%5.2f..%5.2f] ", ::bench::Median(ratios), ::bench::Quantile(ratios, 0.1),
                ::bench::Quantile(ratios, 0.9));
  }
  std::printf("\n");
  std::fflush(stdout);
}

struct Regions {
  std::array<std::byte*, 2> dst;  // heap, memory file
  std::array<std::byte*, 2> src;
};

void CompareLinear(const Regions& regions, Partner& partner, int rounds) {
  PrintHeader("linear, in chunks of 1 MiB");
  for (const std::size_t bytes : {16 * kMiB, 64 * kMiB, 256 * kMiB}) {
    std::size_t offset = 0;
    Compare({std::to_string(bytes / kMiB) + " MiB", bytes, bytes / kMiB,
             [&](std::size_t turn) { offset = turn * bytes % kRegionBytes; },
             [&](int place) { std::memcpy(regions.dst[place] + offset, regions.src[place] + offset, bytes); },
             [&](std::size_t chunk) {
               const std::size_t at = offset + chunk * kMiB;
               CopyBytes(regions.dst[1] + at, regions.src[1] + at, kMiB, Caching::kStream);
             }},
            partner, rounds);
  }
}

std::vector<std::size_t> Slots(std::size_t count, bool shuffled, std::uint32_t seed) {
  std::vector<std::size_t> slots(count);
  for (std::size_t i = 0; i < count; ++i)
    slots[i] = i;
  if (shuffled) std::shuffle(slots.begin(), slots.end(), std::mt19937(seed));
  return slots;
}

void CompareSegments(const Regions& regions, Partner& partner, int rounds) {
  PrintHeader("segments from random places in 1 GiB, in chunks of 256 KiB");
  for (const bool scatter : {true, false}) {
    for (const std::size_t bytes : {64 * kKiB, 16 * kKiB, 4 * kKiB, kKiB, kKiB / 4, kKiB / 16}) {
      const std::size_t count = std::min<std::size_t>(64 * kMiB / bytes, bytes < 4 * kKiB ? 32768 : 8192);
      const std::size_t per_chunk = 256 * kKiB / bytes;
      const std::size_t slots = kRegionBytes / bytes;
      const std::vector<std::size_t> dst_slots = Slots(slots, scatter, 1);
      const std::vector<std::size_t> src_slots = Slots(slots, true, 2);
      std::array<std::vector<Segment>, 2> segments;
      Compare(
          {std::to_string(count) + " x " + std::to_string(bytes) + (scatter ? " B to random" : " B to a run"),
           count * bytes, count / per_chunk,
           [&](std::size_t turn) {
             for (const std::size_t place : {0, 1}) {
               segments[place].clear();
               for (std::size_t i = turn * count; i < (turn + 1) * count; ++i) {
                 segments[place].push_back({regions.dst[place] + dst_slots[i % slots] * bytes,
                                            regions.src[place] + src_slots[i % slots] * bytes, bytes});
               }
             }
           },
           [&](int place) {
             for (const Segment& piece : segments[place])
               std::memcpy(piece.dst, piece.src, piece.bytes);
           },
           [&](std::size_t chunk) {
             CopySegments(std::span(segments[1]).subspan(chunk * per_chunk, per_chunk), Caching::kStream);
           }},
          partner, rounds);
    }
  }
}

struct RowShape {
  std::size_t width, src_pitch, dst_pitch;
};

std::vector<RowShape> RowShapes() {
  std::vector<RowShape> shapes;
  for (const std::size_t width : {16, 17, 32, 63, 64, 100, 128, 255, 256, 512, 1000, 1024}) {
    shapes.push_back({width, 2 * width, width});
    shapes.push_back({width, 2 * width, 2 * width});
  }
  for (const std::size_t width : {16, 17, 64, 100, 256, 1000, 1024}) {
    shapes.push_back({width, 4096, width});
    shapes.push_back({width, 4096, 4096});
    shapes.push_back({width, width, 4096});
    shapes.push_back({width, 3 * 4096, width});
    shapes.push_back({width, 4099, width});
    shapes.push_back({width, 4099, 4097});
  }
  return shapes;
}

void CompareRows(const Regions& regions, Partner& partner, int rounds) {
  PrintHeader("rows: width, source pitch -> destination pitch; in chunks of 4096 rows");
  for (const RowShape& shape : RowShapes()) {
    const std::size_t widest_pitch = std::max(shape.src_pitch, shape.dst_pitch);
    constexpr std::size_t kChunkRows = 4096;
    const std::size_t chunks = std::max<std::size_t>(
        2, std::min(32 * kMiB / shape.width, (kRegionBytes - kMiB) / widest_pitch) / kChunkRows);
    const std::size_t height = chunks * kChunkRows;
    // Each turn uses the next place for the block: first along the region, then along the pitch.
    const auto offset = [&](std::size_t pitch, std::size_t turn) {
      const std::size_t blocks = std::max<std::size_t>(1, (kRegionBytes - kMiB) / (height * pitch));
      const std::size_t cell = (shape.width + 63) / 64 * 64;
      const std::size_t columns = std::max<std::size_t>(1, pitch / cell);
      return turn % blocks * height * pitch + turn / blocks % columns * cell;
    };
    std::array<Rows, 2> rows;
    Compare({std::to_string(shape.width) + " B, " + std::to_string(shape.src_pitch) + " -> " +
                 std::to_string(shape.dst_pitch),
             shape.width * height, chunks,
             [&](std::size_t turn) {
               for (const std::size_t place : {0, 1}) {
                 rows[place] = {regions.dst[place] + offset(shape.dst_pitch, turn),
                                regions.src[place] + offset(shape.src_pitch, turn),
                                shape.dst_pitch,
                                shape.src_pitch,
                                shape.width,
                                height};
               }
             },
             [&](int place) {
               for (std::size_t i = 0; i < height; ++i) {
                 std::memcpy(rows[place].dst + i * shape.dst_pitch, rows[place].src + i * shape.src_pitch,
                             shape.width);
               }
             },
             [&](std::size_t chunk) {
               Rows part = rows[1];
               part.dst += chunk * kChunkRows * shape.dst_pitch;
               part.src += chunk * kChunkRows * shape.src_pitch;
               part.height = kChunkRows;
               CopyRows(part, Caching::kStream);
             }},
            partner, rounds);
  }
}

void CompareFill(const Regions& regions, Partner& partner, int rounds) {
  PrintHeader("fill against memset, in chunks of 1 MiB");
  for (const std::size_t bytes : {16 * kMiB, 256 * kMiB}) {
    std::size_t offset = 0;
    Compare({std::to_string(bytes / kMiB) + " MiB of 0x5A", bytes, bytes / kMiB,
             [&](std::size_t turn) { offset = turn * bytes % kRegionBytes; },
             [&](int place) { std::memset(regions.dst[place] + offset, 0x5A, bytes); },
             [&](std::size_t chunk) {
               FillBytes(regions.dst[1] + offset + chunk * kMiB, 0x5A5A5A5A, kMiB, Caching::kStream);
             }},
            partner, rounds);
  }
}

int Run(std::string_view what, int rounds) {
  const Regions regions{{HeapRegion(), FileRegion()}, {HeapRegion(), FileRegion()}};
  Partner partner;
  const bool all = what.empty() || what == "all";
  if (all || what == "linear") CompareLinear(regions, partner, rounds);
  if (all || what == "segments") CompareSegments(regions, partner, rounds);
  if (all || what == "rows") CompareRows(regions, partner, rounds);
  if (all || what == "fill") CompareFill(regions, partner, rounds);
  return 0;
}

}  // namespace
}  // namespace sampan::emulated

int main(int argc, char** argv) {
  return sampan::emulated::Run(argc > 1 ? argv[1] : "", argc > 2 ? std::atoi(argv[2]) : 15);
}
