// The cost of creating and destroying one object while many others exist: bench_growth [--max N] [KIND].
// The exit status is 1 if a kind grew too much.
#include <acl/acl_rt_memory_soma.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "bench/ratio.h"

namespace {

constexpr std::size_t kBytes = 4096;
constexpr std::size_t kPiece = std::size_t{2} << 20;  // granularity of mapped memory
/// Above this factor from 1,000 objects to the maximum, a kind is marked.
constexpr double kMaxGrowth = 2;

/// Objects of one kind. `make` returns false at the limit of the kind.
struct Kind {
  using Make = std::function<bool(void*& object)>;
  const char* name;
  Make make;
  std::function<void(void* object)> end;
  /// Every second object is destroyed before the measurement. It then measures in pairs, so that destroyed
  /// objects are in the caches.
  bool fragmented = false;
  bool in_pairs = false;            ///< each measured object is destroyed before the next is created
  std::function<void()> tidy = {};  ///< after each level
  Make make_measured = {};          ///< if measured objects differ from the existing ones
  std::size_t max = SIZE_MAX;       ///< a limit of the system
};

struct Measured {
  std::size_t alive = 0;
  double ns = 0;
};

constexpr std::size_t kRounds = 15;
/// More than one measurement creates.
constexpr std::size_t kExtra = 4096;

/// How many objects one round creates.
std::size_t EachRound(std::size_t alive) {
  return std::clamp<std::size_t>(alive / 64, 1, 128);
}

/// Creates as many objects as wanted, or up to the limit.
std::vector<void*> MakeAlive(const Kind& kind, std::size_t wanted) {
  std::vector<void*> alive;
  void* object = nullptr;
  const std::size_t made = kind.fragmented ? 2 * wanted : wanted;
  while (alive.size() < made && kind.make(object))
    alive.push_back(object);
  if (alive.size() < made) {  // at the limit: leave room for those that are measured
    for (std::size_t i = 2 * kRounds * EachRound(alive.size()); i > 0 && !alive.empty(); --i) {
      kind.end(alive.back());
      alive.pop_back();
    }
  }
  if (!kind.fragmented) return alive;
  std::vector<void*> kept;
  for (std::size_t i = 0; i < alive.size(); ++i) {
    if (i % 2 == 0) {
      kept.push_back(alive[i]);
    } else {
      kind.end(alive[i]);
    }
  }
  return kept;
}

/// The time to create one more object and to destroy it. The minimum of several rounds, because disturbances
/// only add time. All rounds create their objects before the first is destroyed, so that the number of
/// objects grows.
Measured MeasureWith(const Kind& kind, std::size_t wanted) {
  const std::vector<void*> alive = MakeAlive(kind, wanted);
  const std::size_t each_round = EachRound(alive.size());
  const Kind::Make& make = kind.make_measured ? kind.make_measured : kind.make;
  std::vector<void*> measured(kRounds * each_round);
  const auto make_at = [&](std::size_t place) {
    if (make(measured[place])) return;
    std::fprintf(stderr, "%s: none to be had with %zu alive\n%s\n", kind.name, alive.size() + place,
                 aclGetRecentErrMsg());
    std::exit(1);
  };
  double min_make = 1e9, min_end = 1e9;
  const auto time_rounds = [&](double& min_s, const auto& act) {
    for (std::size_t round = 0; round < kRounds; ++round) {
      const double seconds = bench::SecondsOf([&] {
        for (std::size_t i = 0; i < each_round; ++i)
          act(round * each_round + i);
      });
      min_s = std::min(min_s, seconds / static_cast<double>(each_round));
    }
  };
  if (kind.in_pairs || kind.fragmented) {
    min_end = 0;
    time_rounds(min_make, [&](std::size_t place) {
      make_at(place);
      kind.end(measured[place]);
    });
  } else {
    time_rounds(min_make, make_at);
    // The last one first, because some kinds are adjacent.
    time_rounds(min_end, [&](std::size_t place) { kind.end(measured[measured.size() - 1 - place]); });
  }
  for (auto each = alive.rbegin(); each != alive.rend(); ++each)
    kind.end(*each);
  if (kind.tidy) kind.tidy();
  return {alive.size(), (min_make + min_end) * 1e9};
}

bool Made(aclError code) {
  return code == ACL_SUCCESS;
}

/// Holds a stream until it is destroyed.
class Hold {
 public:
  explicit Hold(aclrtStream stream) : stream_(stream) {
    BENCH_CHECK(aclrtLaunchHostFunc(
        stream,
        [](void* self) {
          while (!static_cast<Hold*>(self)->open_.load())
            std::this_thread::yield();
        },
        this));
  }
  ~Hold() {
    open_.store(true);
    BENCH_CHECK(aclrtSynchronizeStream(stream_));
  }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

 private:
  const aclrtStream stream_;
  std::atomic<bool> open_{false};
};

class Growth {
 public:
  Growth(std::size_t max_objects, const char* only) : levels_{10, 1000, max_objects}, only_(only) {
    BENCH_CHECK(aclrtSetDevice(0));
    BENCH_CHECK(aclrtCreateStream(&stream_));
    BENCH_CHECK(aclrtMalloc(&device_, max_objects * kSmall, ACL_MEM_MALLOC_HUGE_FIRST));
    BENCH_CHECK(aclrtMallocHost(&pinned_, max_objects * kSmall));
    std::memset(pinned_, 0x5a, max_objects * kSmall);
    host_ = static_cast<char*>(::mmap(nullptr, (max_objects + kExtra) * kBytes, PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    BENCH_CHECK(aclrtReserveMemAddress(&addresses_, (max_objects + kExtra) * kPiece, 0, nullptr, 0));
    aclrtPhysicalMemProp properties = {};
    properties.allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED;
    properties.memAttr = ACL_HBM_MEM_HUGE;
    properties.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    BENCH_CHECK(aclrtMallocPhysical(&physical_, kPiece, &properties, 0));
    aclrtMemPoolProps pool = {};
    pool.allocType = ACL_MEM_ALLOCATION_TYPE_PINNED;
    pool.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    BENCH_CHECK(aclrtMemPoolCreate(&pool_, &pool));
    std::uint64_t all = UINT64_MAX;
    BENCH_CHECK(aclrtMemPoolSetAttr(pool_, ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, &all));
    keys_.resize(max_objects + kExtra);
  }

  /// Returns true if no kind grew too much.
  bool Print() {
    std::printf(
        "Making and ending one object while others are alive, in nanoseconds; the minimum of 15 rounds.\n\n");
    std::printf("%-28s", "kind");
    for (const std::size_t level : levels_)
      std::printf("%12zu", level);
    std::printf("   growth from 1000\n");
    const auto device_of = [](std::size_t bytes) {
      return [bytes](void*& object) { return Made(aclrtMalloc(&object, bytes, ACL_MEM_MALLOC_NORMAL_ONLY)); };
    };
    const auto pinned_of = [](std::size_t bytes) {
      return [bytes](void*& object) { return Made(aclrtMallocHost(&object, bytes)); };
    };
    const auto pool_of = [this](std::size_t bytes) {
      return [this, bytes](void*& object) {
        return Made(aclrtMemPoolMallocAsync(&object, bytes, pool_, stream_));
      };
    };
    const auto free_device = [](void* object) { BENCH_CHECK(aclrtFree(object)); };
    const auto free_pinned = [](void* object) { BENCH_CHECK(aclrtFreeHost(object)); };
    const auto free_pool = [this](void* object) { BENCH_CHECK(aclrtMemPoolFreeAsync(object, stream_)); };
    const auto trim = [this] { BENCH_CHECK(aclrtMemPoolTrimTo(pool_, 0)); };
    Row({.name = "device memory", .make = device_of(kBytes), .end = free_device});
    // Twice as large as the gaps, so that none of them has room.
    Row({.name = "device memory, fragmented",
         .make = device_of(kBytes),
         .end = free_device,
         .fragmented = true,
         .make_measured = device_of(2 * kBytes)});
    Row({.name = "pinned memory", .make = pinned_of(kBytes), .end = free_pinned});
    Row({.name = "pinned memory, fragmented",
         .make = pinned_of(kBytes),
         .end = free_pinned,
         .fragmented = true,
         .make_measured = pinned_of(2 * kBytes)});
    Row({.name = "pool memory, kept",
         .make = pool_of(kBytes),
         .end = free_pool,
         .in_pairs = true,
         .tidy = trim});
    // If freed at once, a block returns to the free ranges of the pool.
    Row({.name = "pool memory, newly cut", .make = pool_of(kBytes), .end = free_device, .tidy = trim});
    Row({.name = "pool memory, fragmented",
         .make = pool_of(kBytes),
         .end = free_device,
         .fragmented = true,
         .tidy = trim,
         .make_measured = pool_of(2 * kBytes)});
    Row({.name = "registrations",
         .make =
             [this](void*& object) {
               object = host_ + kBytes * next_++;
               return Made(aclrtHostRegisterV2(object, kBytes, ACL_HOST_REG_PINNED));
             },
         .end =
             [this](void* object) {
               --next_;
               BENCH_CHECK(aclrtHostUnregister(object));
             }});
    Row({.name = "streams",
         .make = [](void*& object) { return Made(aclrtCreateStream(&object)); },
         .end = [](void* object) { BENCH_CHECK(aclrtDestroyStream(object)); }});
    Row({.name = "events",
         .make = [](void*& object) { return Made(aclrtCreateEvent(&object)); },
         .end = [](void* object) { BENCH_CHECK(aclrtDestroyEvent(object)); }});
    Row({.name = "notifies",
         .make = [](void*& object) { return Made(aclrtCreateNotify(&object, 0)); },
         .end = [](void* object) { BENCH_CHECK(aclrtDestroyNotify(object)); }});
    Row({.name = "mappings",
         .make =
             [this](void*& object) {
               object = static_cast<char*>(addresses_) + kPiece * next_;
               if (!Made(aclrtMapMem(object, kPiece, 0, physical_, 0))) return false;
               ++next_;
               return true;
             },
         .end =
             [this](void* object) {
               --next_;
               BENCH_CHECK(aclrtUnmapMem(object));
             },
         .max = 20000});  // each is two mappings of the process, of 65,530
    // One allocation for each key, like a program that shares its buffers.
    Row({.name = "exported keys",
         .make = [this](void*& object) { return MakeKey(object); },
         .end = [this](void* object) { EndKey(object); }});
    Row({.name = "keys of one allocation",
         .make =
             [this](void*& object) {
               object = keys_[next_].data();
               if (!Made(aclrtIpcMemGetExportKey(device_, kBytes, keys_[next_].data(), kKeyBytes, 0)))
                 return false;
               ++next_;
               return true;
             },
         .end =
             [this](void* object) {
               --next_;
               BENCH_CHECK(aclrtIpcMemClose(static_cast<const char*>(object)));
             }});
    PrintRow("batch entries, each", [this](std::size_t count) { return BatchOf(count); });
    PrintRow("queued tasks, each", [this](std::size_t count) { return TasksOf(count); });
    std::printf(
        "\n* grew more than %.0f times. Where a number in brackets is given, that is the limit of the "
        "kind.\n",
        kMaxGrowth);
    return missed_ == 0;
  }

 private:
  static constexpr std::size_t kSmall = 64, kKeyBytes = 65;
  /// As many as a stream holds without blocking its caller.
  static constexpr std::size_t kMaxQueued = 1700;
  using Key = std::array<char, kKeyBytes>;

  void PrintRow(const char* name, const std::function<Measured(std::size_t)>& measure) {
    if (std::strstr(name, only_) == nullptr) return;
    std::printf("%-28s", name);
    std::vector<Measured> all;
    for (const std::size_t level : levels_) {
      all.push_back(measure(level));
      std::printf("%12.0f", all.back().ns);
      std::fflush(stdout);
    }
    const double growth = all[2].ns / all[1].ns;
    const bool missed = growth > kMaxGrowth;
    missed_ += missed ? 1 : 0;
    std::printf("%10.2f%s", growth, missed ? " *" : "");
    if (all[2].alive < levels_[2]) std::printf("  (%zu)", all[2].alive);
    std::printf("\n");
  }
  void Row(const Kind& kind) {
    next_ = 0;
    PrintRow(kind.name, [&](std::size_t count) { return MeasureWith(kind, std::min(count, kind.max)); });
  }

  struct Shared {
    void* memory = nullptr;
    Key key{};
  };
  bool MakeKey(void*& object) {
    auto shared = std::make_unique<Shared>();
    if (!Made(aclrtMalloc(&shared->memory, kBytes, ACL_MEM_MALLOC_NORMAL_ONLY))) return false;
    if (!Made(aclrtIpcMemGetExportKey(shared->memory, kBytes, shared->key.data(), kKeyBytes, 0))) {
      BENCH_CHECK(aclrtFree(shared->memory));
      return false;
    }
    object = shared.release();
    return true;
  }
  void EndKey(void* object) {
    const std::unique_ptr<Shared> shared(static_cast<Shared*>(object));
    if (++closed_ % 2 == 0) BENCH_CHECK(aclrtIpcMemClose(shared->key.data()));  // else freeing closes it
    BENCH_CHECK(aclrtFree(shared->memory));
  }

  Measured BatchOf(std::size_t count) {
    std::vector<void*> dsts(count), srcs(count);
    std::vector<std::size_t> sizes(count, kSmall);
    for (std::size_t i = 0; i < count; ++i) {
      dsts[i] = static_cast<char*>(device_) + i * kSmall;
      srcs[i] = static_cast<char*>(pinned_) + i * kSmall;
    }
    aclrtMemcpyBatchAttr attribute = {};
    attribute.dstLoc.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    attribute.srcLoc.type = ACL_MEM_LOCATION_TYPE_HOST;
    std::size_t first = 0, failed = 0;
    double min_s = 1e9;
    for (std::size_t round = 0; round < kRounds; ++round) {
      min_s =
          std::min(min_s, bench::SecondsOf([&] {
                     BENCH_CHECK(aclrtMemcpyBatchAsync(dsts.data(), sizes.data(), srcs.data(), sizes.data(),
                                                       count, &attribute, &first, 1, &failed, stream_));
                     BENCH_CHECK(aclrtSynchronizeStream(stream_));
                   }));
    }
    return {count, min_s * 1e9 / static_cast<double>(count)};
  }
  Measured TasksOf(std::size_t wanted) {
    const std::size_t count = std::min(wanted, kMaxQueued);
    double min_s = 1e9;
    for (std::size_t round = 0; round < kRounds; ++round) {
      const auto hold = std::make_unique<Hold>(stream_);
      min_s = std::min(min_s, bench::SecondsOf([&] {
                         for (std::size_t i = 0; i < count; ++i) {
                           const std::size_t at = i * kSmall;
                           BENCH_CHECK(aclrtMemcpyAsync(static_cast<char*>(device_) + at, kSmall,
                                                        static_cast<char*>(pinned_) + at, kSmall,
                                                        ACL_MEMCPY_HOST_TO_DEVICE, stream_));
                         }
                       }));
    }
    return {count, min_s * 1e9 / static_cast<double>(count)};
  }

  const std::array<std::size_t, 3> levels_;
  const char* const only_;
  aclrtStream stream_ = nullptr;
  void* device_ = nullptr;
  void* pinned_ = nullptr;
  char* host_ = nullptr;
  void* addresses_ = nullptr;
  aclrtDrvMemHandle physical_ = nullptr;
  aclrtMemPool pool_ = nullptr;
  std::vector<Key> keys_;
  std::size_t next_ = 0;  // the place of the next registration, mapping or key
  std::size_t closed_ = 0;
  int missed_ = 0;  // kinds that grew too much
};

}  // namespace

int main(int argc, char** argv) {
  std::size_t max_objects = 100000;
  const char* only = "";
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--max") == 0 && i + 1 < argc) {
      max_objects = std::strtoull(argv[++i], nullptr, 10);
    } else {
      only = argv[i];
    }
  }
  if (max_objects < 1000 || *only == '-') {
    std::fprintf(stderr, "bench_growth [--max N] [KIND]: N is at least 1000\n");
    return 2;
  }
  ::setenv("SAMPAN_DEVICES", "1", 0);           // all memory for one device
  ::setenv("ASCEND_GLOBAL_LOG_LEVEL", "4", 0);  // refusals at a limit are expected
  return Growth(max_objects, only).Print() ? 0 : 1;
}
