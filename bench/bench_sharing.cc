// Sharing: pools against plain allocation, imports against one mmap, notifies between processes against
// futexes.
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <string>
#include <vector>

#include "acl/acl_rt_memory_soma.h"
#include "bench/ratio.h"

namespace {

using bench::MeasureRatio;

aclrtStream TheStream() {
  static aclrtStream stream = [] {
    aclrtStream made = nullptr;
    BENCH_CHECK(aclrtSetDevice(0));
    BENCH_CHECK(aclrtCreateStream(&made));
    return made;
  }();
  return stream;
}

/// Memory of a pool, freed in stream order, against aclrtMalloc and aclrtFree.
void PoolAgainstMalloc(benchmark::State& state) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  const bool written = state.range(1) != 0;
  const aclrtStream stream = TheStream();
  aclrtMemPoolProps props = {};
  props.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  aclrtMemPool pool = nullptr;
  BENCH_CHECK(aclrtMemPoolCreate(&pool, &props));
  constexpr int kRounds = 200;
  const auto write = [&](void* memory) {
    if (written) BENCH_CHECK(aclrtMemsetAsync(memory, bytes, 1, 4096, stream));
  };
  const auto from_pool = [&] {
    for (int i = 0; i < kRounds; ++i) {
      void* memory = nullptr;
      BENCH_CHECK(aclrtMemPoolMallocAsync(&memory, bytes, pool, stream));
      write(memory);
      BENCH_CHECK(aclrtMemPoolFreeAsync(memory, stream));
    }
  };
  const auto plain = [&] {
    for (int i = 0; i < kRounds; ++i) {
      void* memory = nullptr;
      BENCH_CHECK(aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
      write(memory);
      if (written) BENCH_CHECK(aclrtSynchronizeStream(stream));
      BENCH_CHECK(aclrtFree(memory));
    }
  };
  MeasureRatio(state, kRounds, from_pool, plain);
  BENCH_CHECK(aclrtMemPoolDestroy(pool));
}
BENCHMARK(PoolAgainstMalloc)
    ->ArgNames({"bytes", "written"})
    ->ArgsProduct({{4096, 1 << 20, 16 << 20}, {0, 1}})
    ->Iterations(40)
    ->UseManualTime();

/// Words that a child process and this one share.
struct Shared {
  std::atomic<std::uint32_t> ping{0}, pong{0}, ready{0}, stop{0};
  char text[512] = {};
};

Shared& SharedPage() {
  static Shared* page =
      new (::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Shared;
  return *page;
}

void FutexWait(std::atomic<std::uint32_t>& word, std::uint32_t value) {
  while (word.load() == value)
    ::syscall(SYS_futex, &word, FUTEX_WAIT, value, nullptr, nullptr, 0);
}
void FutexWake(std::atomic<std::uint32_t>& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

constexpr int kRoundTrips = 800;  // as many as a stream holds

/// One side of a ping-pong of two words: bare sleeps and wake-ups.
void FutexSide(std::atomic<std::uint32_t>& mine, std::atomic<std::uint32_t>& theirs, bool first) {
  static std::uint32_t seen = 0;
  const auto signal = [&] {
    mine.fetch_add(1);
    FutexWake(mine);
  };
  for (int i = 0; i < kRoundTrips; ++i) {
    if (first) signal();
    FutexWait(theirs, seen++);
    if (!first) signal();
  }
}

/// The other process. It starts before the runtime is initialized and executes commands. 1: futex ping-pong,
/// 2: notify ping-pong, 3: ends.
[[noreturn]] void RunOther(Shared& shared) {
  BENCH_CHECK(aclrtSetDevice(0));
  aclrtStream stream = nullptr;
  BENCH_CHECK(aclrtCreateStream(&stream));
  aclrtNotify own = nullptr, theirs = nullptr;
  BENCH_CHECK(aclrtCreateNotify(&own, 0));
  void* memory = nullptr;
  BENCH_CHECK(aclrtMalloc(&memory, 64 << 20, ACL_MEM_MALLOC_HUGE_FIRST));
  BENCH_CHECK(
      aclrtNotifyGetExportKey(own, shared.text, 65, ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION));
  BENCH_CHECK(aclrtIpcMemGetExportKey(memory, 64 << 20, shared.text + 128, 65,
                                      ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION));
  aclrtPhysicalMemProp prop = {};
  prop.memAttr = ACL_HBM_MEM_HUGE;
  prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  aclrtDrvMemHandle physical = nullptr;
  BENCH_CHECK(aclrtMallocPhysical(&physical, 64 << 20, &prop, 0));
  std::uint64_t number = 0;
  BENCH_CHECK(aclrtMemExportToShareableHandle(physical, ACL_MEM_HANDLE_TYPE_NONE,
                                              ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION, &number));
  std::memcpy(shared.text + 384, &number, sizeof(number));
  shared.ready.store(1);
  FutexWake(shared.ready);
  std::uint32_t served = 0;
  for (;;) {
    FutexWait(shared.stop, served);
    served = shared.stop.load();
    switch (served & 15) {
      case 1:
        FutexSide(shared.pong, shared.ping, false);
        break;
      case 2:
        if (theirs == nullptr) BENCH_CHECK(aclrtNotifyImportByKey(&theirs, shared.text + 256, 0));
        for (int i = 0; i < kRoundTrips; ++i) {
          BENCH_CHECK(aclrtWaitAndResetNotify(own, stream, 0));
          BENCH_CHECK(aclrtRecordNotify(theirs, stream));
        }
        BENCH_CHECK(aclrtSynchronizeStream(stream));
        break;
      default:
        _exit(0);
    }
  }
}

void Tell(Shared& shared, std::uint32_t what) {
  static std::uint32_t sequence = 0;
  shared.stop.store((++sequence << 4) | what);
  FutexWake(shared.stop);
}

/// Streams of two processes that record and wait for each other's notifies, against the system calls alone.
void NotifyAgainstFutex(benchmark::State& state) {
  Shared& shared = SharedPage();
  const aclrtStream stream = TheStream();
  static aclrtNotify own = nullptr, theirs = nullptr;
  if (own == nullptr) {
    BENCH_CHECK(aclrtCreateNotify(&own, 0));
    BENCH_CHECK(aclrtNotifyGetExportKey(own, shared.text + 256, 65,
                                        ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION));
    BENCH_CHECK(aclrtNotifyImportByKey(&theirs, shared.text, 0));
  }
  const auto notifies = [&] {
    Tell(shared, 2);
    for (int i = 0; i < kRoundTrips; ++i) {
      BENCH_CHECK(aclrtRecordNotify(theirs, stream));
      BENCH_CHECK(aclrtWaitAndResetNotify(own, stream, 0));
    }
    BENCH_CHECK(aclrtSynchronizeStream(stream));
  };
  const auto futexes = [&] {
    Tell(shared, 1);
    FutexSide(shared.ping, shared.pong, true);
  };
  MeasureRatio(state, 2 * kRoundTrips, notifies, futexes);
}
BENCHMARK(NotifyAgainstFutex)->Iterations(30)->UseManualTime();

/// Importing and unmapping another process's memory, against one mmap and munmap of a memory file.
void ImportAgainstMmap(benchmark::State& state) {
  const Shared& shared = SharedPage();
  TheStream();
  const bool by_handle = state.range(0) != 0;
  std::uint64_t number = 0;
  std::memcpy(&number, shared.text + 384, sizeof(number));
  constexpr std::size_t kBytes = 64 << 20;
  constexpr int kRounds = 50;
  void* reserved = nullptr;
  BENCH_CHECK(aclrtReserveMemAddress(&reserved, kBytes, 0, nullptr, 0));
  const auto import_key = [&] {
    for (int i = 0; i < kRounds; ++i) {
      void* memory = nullptr;
      BENCH_CHECK(aclrtIpcMemImportByKey(&memory, shared.text + 128, 0));
      BENCH_CHECK(aclrtIpcMemClose(shared.text + 128));
    }
  };
  const auto import_handle = [&] {
    for (int i = 0; i < kRounds; ++i) {
      aclrtDrvMemHandle handle = nullptr;
      BENCH_CHECK(aclrtMemImportFromShareableHandle(number, 0, &handle));
      BENCH_CHECK(aclrtMapMem(reserved, kBytes, 0, handle, 0));
      BENCH_CHECK(aclrtUnmapMem(reserved));
      BENCH_CHECK(aclrtFreePhysical(handle));
    }
  };
  const int file = ::memfd_create("bench", MFD_CLOEXEC);
  if (::ftruncate(file, kBytes) != 0) std::exit(1);
  const auto map = [&] {
    for (int i = 0; i < kRounds; ++i) {
      void* memory = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
      benchmark::DoNotOptimize(memory);
      ::munmap(memory, kBytes);
    }
  };
  if (by_handle) {
    MeasureRatio(state, kRounds, import_handle, map);
  } else {
    MeasureRatio(state, kRounds, import_key, map);
  }
  BENCH_CHECK(aclrtReleaseMemAddress(reserved));
  ::close(file);
}
BENCHMARK(ImportAgainstMmap)->ArgName("shareable_handle")->Arg(0)->Arg(1)->Iterations(50)->UseManualTime();

}  // namespace

int main(int argc, char** argv) {
  Shared& shared = SharedPage();
  const pid_t other = ::fork();  // before the first call, so that each process has a runtime of its own
  if (other == 0) RunOther(shared);
  FutexWait(shared.ready, 0);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  Tell(shared, 3);
  ::waitpid(other, nullptr, 0);
  return 0;
}
