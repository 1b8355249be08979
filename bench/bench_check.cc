// What the checker costs: each measurement runs in a process without it and in one with it, in turn.
//
//   bench_check            ratios of the time and of the processor's time, which other programs disturb less.
//   bench_check --run CASE one case in this process: seconds, the processor's seconds, the growth of its
//   memory.
//   bench_check --pages    what keeping 1 MiB from the program costs by itself, without the runtime: no
//   checker that protects pages costs less.
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "bench/measure/acl_call.h"
#include "bench/measure/failure.h"
#include "bench/measure/timing.h"

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20, kBufferBytes = 64 * kMiB;

/// A stream, and a buffer on each side.
struct Buffers {
  Buffers() {
    bench::Require(aclrtSetDevice(0), "aclrtSetDevice");
    bench::Require(aclrtMallocHost(&host, kBufferBytes), "aclrtMallocHost");
    bench::Require(aclrtMalloc(&device, kBufferBytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
    bench::Require(aclrtCreateStream(&stream), "aclrtCreateStream");
    std::mt19937_64 random(1);
    for (std::size_t i = 0; i < kBufferBytes; i += sizeof(std::uint64_t)) {
      const std::uint64_t word = random();
      std::memcpy(static_cast<char*>(host) + i, &word, sizeof word);
    }
  }
  void Copy(std::size_t offset, std::size_t bytes) const {
    bench::Require(
        aclrtMemcpyAsync(static_cast<char*>(device) + offset, bytes, static_cast<const char*>(host) + offset,
                         bytes, ACL_MEMCPY_HOST_TO_DEVICE, stream),
        "aclrtMemcpyAsync");
  }
  void Synchronize() const { bench::Require(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream"); }

  void* host = nullptr;
  void* device = nullptr;
  aclrtStream stream = nullptr;
};

/// `rounds` times `count` copies, the stream synchronized behind each round.
void CopyRounds(const Buffers& buffers, std::size_t rounds, std::size_t count, std::size_t bytes) {
  for (std::size_t round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < count; ++i)
      buffers.Copy(i * bytes % kBufferBytes, bytes);
    buffers.Synchronize();
  }
}

/// The same, and the host writes all bytes before each round.
void FillAndCopyRounds(const Buffers& buffers, std::size_t rounds, std::size_t count, std::size_t bytes) {
  for (std::size_t round = 0; round < rounds; ++round) {
    std::memset(buffers.host, static_cast<int>(round), count * bytes);
    CopyRounds(buffers, 1, count, bytes);
  }
}

/// The host fills one slot after the other, while the copies of the others are in flight.
void FillInTurns(const Buffers& buffers, std::size_t slots, std::size_t count, std::size_t bytes) {
  std::vector<aclrtEvent> copied(slots);
  for (aclrtEvent& event : copied)
    bench::Require(aclrtCreateEvent(&event), "aclrtCreateEvent");
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t slot = i % slots;
    if (i >= slots) bench::Require(aclrtSynchronizeEvent(copied[slot]), "aclrtSynchronizeEvent");
    std::memset(static_cast<char*>(buffers.host) + slot * bytes, static_cast<int>(i), bytes);
    buffers.Copy(slot * bytes, bytes);
    bench::Require(aclrtRecordEvent(copied[slot], buffers.stream), "aclrtRecordEvent");
  }
  buffers.Synchronize();
}

void CopyBatch(const Buffers& buffers) {
  constexpr std::size_t kEntries = 8192, kBytes = 4096, kRounds = 8;
  std::vector<void*> dsts(kEntries), srcs(kEntries);
  std::vector<std::size_t> sizes(kEntries, kBytes);
  for (std::size_t i = 0; i < kEntries; ++i) {
    dsts[i] = static_cast<char*>(buffers.device) + i * kBytes;
    srcs[i] = static_cast<char*>(buffers.host) + (kEntries - 1 - i) * kBytes;
  }
  aclrtMemcpyBatchAttr attribute{};
  attribute.dstLoc.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  attribute.srcLoc.type = ACL_MEM_LOCATION_TYPE_HOST;
  std::size_t index = 0, failed = 0;
  for (std::size_t round = 0; round < kRounds; ++round) {
    bench::Require(aclrtMemcpyBatchAsync(dsts.data(), sizes.data(), srcs.data(), sizes.data(), kEntries,
                                         &attribute, &index, 1, &failed, buffers.stream),
                   "aclrtMemcpyBatchAsync");
    buffers.Synchronize();
  }
}

struct Case {
  std::string_view name;
  std::size_t operations;
  void (*run)(const Buffers& buffers);
};
constexpr std::array kCases = {
    Case{"1-MiB-copies", 4096, [](const Buffers& buffers) { CopyRounds(buffers, 512, 8, kMiB); }},
    Case{"1-MiB-refilled", 4096, [](const Buffers& buffers) { FillAndCopyRounds(buffers, 512, 8, kMiB); }},
    Case{"1-MiB-in-2-slots", 4096, [](const Buffers& buffers) { FillInTurns(buffers, 2, 4096, kMiB); }},
    Case{"1-MiB-in-16-slots", 4096, [](const Buffers& buffers) { FillInTurns(buffers, 16, 4096, kMiB); }},
    Case{"4-MiB-in-4-slots", 1024, [](const Buffers& buffers) { FillInTurns(buffers, 4, 1024, 4 * kMiB); }},
    Case{"16-MiB-in-3-slots", 256, [](const Buffers& buffers) { FillInTurns(buffers, 3, 256, 16 * kMiB); }},
    Case{"16-MiB-copies", 256, [](const Buffers& buffers) { CopyRounds(buffers, 64, 4, 16 * kMiB); }},
    Case{"10000-copies-of-4-KiB", 10000, [](const Buffers& buffers) { CopyRounds(buffers, 1, 10000, 4096); }},
    Case{"batch-of-8192-entries", 8, [](const Buffers& buffers) { CopyBatch(buffers); }},
    Case{"million-copies", 1000000, [](const Buffers& buffers) { CopyRounds(buffers, 100, 10000, 64); }},
};

/// Bytes of the process that are in memory.
std::uint64_t ResidentBytes() {
  std::ifstream status("/proc/self/statm");
  std::uint64_t all = 0, resident = 0;
  status >> all >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

double ProcessorSeconds() {
  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

int RunCase(std::string_view name) {
  for (const Case& each : kCases) {
    if (each.name != name) continue;
    const Buffers buffers;
    buffers.Copy(0, kBufferBytes);
    buffers.Synchronize();
    const std::uint64_t before = ResidentBytes();
    const double processor_before = ProcessorSeconds();
    const double seconds = bench::SecondsOf([&] { each.run(buffers); });
    const double processor = ProcessorSeconds() - processor_before;
    const std::uint64_t after = ResidentBytes();
    std::printf("%.9f %.9f %llu\n", seconds, processor,
                static_cast<unsigned long long>(after - std::min(before, after)));
    return 0;
  }
  std::fprintf(stderr, "bench_check: there is no case %s\n", std::string(name).c_str());
  return 2;
}

struct Outcome {
  double seconds = 0;
  double processor = 0;  // seconds
  double grown_mib = 0;
};

/// The case in a process of its own. The checker's text goes to standard error.
Outcome Measure(const Case& each, bool checked) {
  const std::string command = std::string("SAMPAN_CHECK=") + (checked ? "1" : "0") + " /proc/" +
                              std::to_string(::getpid()) + "/exe --run " + std::string(each.name) +
                              " 2>/dev/null";
  FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) throw bench::Failure("popen failed");
  Outcome outcome;
  unsigned long long grown = 0;
  const int fields = std::fscanf(pipe, "%lf %lf %llu", &outcome.seconds, &outcome.processor, &grown);
  const int status = ::pclose(pipe);
  if (fields != 3 || status != 0) throw bench::Failure("a measurement failed: " + command);
  outcome.grown_mib = static_cast<double>(grown) / 1048576;
  return outcome;
}

double Median(std::vector<Outcome> outcomes, double Outcome::*what) {
  std::sort(outcomes.begin(), outcomes.end(),
            [&](const Outcome& one, const Outcome& other) { return one.*what < other.*what; });
  return outcomes[outcomes.size() / 2].*what;
}

void Compare(const Case& each) {
  constexpr int kTurns = 5;
  std::vector<Outcome> plain, checked;
  for (int turn = 0; turn < kTurns; ++turn) {
    plain.push_back(Measure(each, false));
    checked.push_back(Measure(each, true));
  }
  const auto operations = static_cast<double>(each.operations);
  const double with = Median(checked, &Outcome::seconds), without = Median(plain, &Outcome::seconds);
  const double work = Median(checked, &Outcome::processor) / Median(plain, &Outcome::processor);
  std::printf("%-24s %10.2f us %10.2f us %7.2fx %9.2fx %9.1f MiB\n", std::string(each.name).c_str(),
              without / operations * 1e6, with / operations * 1e6, with / without, work,
              checked.back().grown_mib);
  std::fflush(stdout);
}

/// Shared memory at two addresses, as pinned memory has under check, and a place for page table entries.
class TwoViews {
 public:
  TwoViews() {
    const int file = ::memfd_create("bench_check", MFD_CLOEXEC);
    if (file < 0 || ::ftruncate(file, kBufferBytes) != 0) throw bench::Failure("memfd_create failed");
    program = Map(kBufferBytes, MAP_SHARED, file);
    engine = Map(kBufferBytes, MAP_SHARED, file);
    device = Map(kBufferBytes, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    char* const reserved = Map(kBufferBytes + kTableBytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
    const auto distance =
        reinterpret_cast<std::uintptr_t>(program) - reinterpret_cast<std::uintptr_t>(reserved);
    away = reserved + distance % kTableBytes;
    for (char* const each : {program, engine, device})
      std::memset(each, 1, kBufferBytes);
    ::close(file);
  }
  /// As the checker does it: the entries move away, then the empty addresses are protected.
  void Keep(std::size_t offset) const {
    Move(program + offset, away + offset);
    if (::mprotect(program + offset, kMiB, PROT_NONE) != 0) throw bench::Failure("mprotect failed");
  }
  void Open(std::size_t offset) const { Move(away + offset, program + offset); }

  char *program, *engine, *device, *away;

 private:
  static constexpr std::size_t kTableBytes = 2 * kMiB;  // that one page table maps

  static char* Map(std::size_t bytes, int flags, int file) {
    void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, file, 0);
    if (memory == MAP_FAILED) throw bench::Failure("mmap failed");
    return static_cast<char*>(memory);
  }
  static void Move(char* from, char* to) {
    if (::mremap(from, kMiB, kMiB, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, to) == MAP_FAILED)
      throw bench::Failure("mremap failed");
  }
};

/// `neighbour`: another thread of the process runs meanwhile. It has to forget each change as well.
void MeasurePages(bool neighbour) {
  constexpr int kTurns = 2000;
  const TwoViews views;
  std::atomic<bool> is_over{false};
  std::thread other([&] {
    while (neighbour && !is_over.load(std::memory_order_relaxed)) {
    }
  });
  enum Part : std::size_t { kFill, kKeep, kCopy, kOpen, kPlainFill, kParts };
  std::array<std::vector<double>, kParts> times;
  for (int turn = 0; turn < kTurns; ++turn) {
    const std::size_t offset = static_cast<std::size_t>(turn) % 16 * kMiB;
    const auto measure = [&](Part part, auto work) { times[part].push_back(bench::SecondsOf(work) * 1e6); };
    measure(kFill, [&] { std::memset(views.program + offset, turn, kMiB); });
    measure(kKeep, [&] { views.Keep(offset); });
    measure(kCopy, [&] { std::memcpy(views.device + offset, views.engine + offset, kMiB); });
    measure(kOpen, [&] { views.Open(offset); });
    const std::size_t unkept = offset + 32 * kMiB;
    measure(kPlainFill, [&] { std::memset(views.program + unkept, turn, kMiB); });
  }
  is_over.store(true);
  other.join();
  constexpr std::array kNames = {"fill what was kept", "keep", "copy", "open", "fill what never was"};
  std::printf("%s\n", neighbour ? "beside a thread that runs" : "alone");
  for (std::size_t part = 0; part < kParts; ++part) {
    std::sort(times[part].begin(), times[part].end());
    std::printf("  %-24s %10.2f us\n", kNames[part], times[part][kTurns / 2]);
  }
}

}  // namespace

int main(int count, char** arguments) {
  try {
    if (count == 3 && std::string_view(arguments[1]) == "--run") return RunCase(arguments[2]);
    if (count == 2 && std::string_view(arguments[1]) == "--pages") {
      for (const bool neighbour : {false, true})
        MeasurePages(neighbour);
      return 0;
    }
    std::printf("%-24s %13s %13s %8s %10s %13s\n", "case", "without", "checked", "ratio", "processor",
                "memory");
    for (const Case& each : kCases)
      Compare(each);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "bench_check: %s\n", failure.what());
    return 1;
  }
  return 0;
}
