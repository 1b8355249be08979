// Two builds of the library, turn by turn in one process: the ns of a short call on an idle stream.
//   bench_builds OLD/libacl_rt.so NEW/libacl_rt.so [ROUNDS]
//   bench_builds BUILD/libacl_rt.so CASE CALLS    only makes the calls, for a tool that counts instructions
#include <acl/acl.h>
#include <dlfcn.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "bench/measure/failure.h"
#include "bench/measure/timing.h"

namespace bench {
namespace {

constexpr std::size_t kMemoryBytes = std::size_t{1} << 20;
/// Entries and rows do not adjoin.
constexpr std::size_t kStride = 128;
constexpr std::size_t kCallsOfATurn = 400;
constexpr std::size_t kRounds = 201;

enum class Form { kCopy, kBatch, kRows, kFree };
struct Case {
  const char* name;
  Form form;
  std::size_t bytes;      ///< of each entry or row, or of the memory that is allocated and freed
  std::size_t count = 1;  ///< of entries or rows
};
constexpr Case kCases[] = {
    {"copy_64", Form::kCopy, 64},       {"copy_512", Form::kCopy, 512},   {"copy_4096", Form::kCopy, 4096},
    {"batch_1", Form::kBatch, 64, 1},   {"batch_2", Form::kBatch, 64, 2}, {"batch_4", Form::kBatch, 64, 4},
    {"batch_8", Form::kBatch, 64, 8},   {"batch_9", Form::kBatch, 64, 9}, {"batch_16", Form::kBatch, 64, 16},
    {"batch_64", Form::kBatch, 64, 64}, {"rows_16", Form::kRows, 64, 16}, {"free_4096", Form::kFree, 4096},
};

/// One build of the library, with a stream and memory of its own. It stays loaded.
class Build {
 public:
  explicit Build(const char* path) : library_(::dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr) throw Failure(::dlerror());
    Find("aclGetRecentErrMsg", recent_message_);
    Find("aclrtMemcpyAsync", copy_);
    Find("aclrtMemcpyBatchAsync", copy_batch_);
    Find("aclrtMemcpy2dAsync", copy_rows_);
    Find("aclrtSynchronizeStream", synchronize_);
    Check(Find<decltype(&aclrtSetDevice)>("aclrtSetDevice")(0), "aclrtSetDevice");
    Check(Find<decltype(&aclrtCreateStream)>("aclrtCreateStream")(&stream_), "aclrtCreateStream");
    Find("aclrtMalloc", allocate_);
    Find("aclrtFree", free_);
    Check(allocate_(&device_, kMemoryBytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
    Check(Find<decltype(&aclrtMallocHost)>("aclrtMallocHost")(&pinned_, kMemoryBytes), "aclrtMallocHost");
    std::memset(pinned_, 5, kMemoryBytes);
    Check(Find<decltype(&aclrtMemset)>("aclrtMemset")(device_, kMemoryBytes, 6, kMemoryBytes), "aclrtMemset");
    for (std::size_t at = 0; at < kMemoryBytes; at += kStride) {
      dsts_.push_back(static_cast<char*>(device_) + at);
      srcs_.push_back(static_cast<char*>(pinned_) + at);
    }
  }
  Build(const Build&) = delete;
  Build& operator=(const Build&) = delete;

  /// Makes the calls and waits until they are over.
  void Run(const Case& of, std::size_t calls) {
    switch (of.form) {
      case Form::kCopy:
        for (std::size_t i = 0; i < calls; ++i) {
          Check(copy_(device_, of.bytes, pinned_, of.bytes, ACL_MEMCPY_HOST_TO_DEVICE, stream_),
                "aclrtMemcpyAsync");
        }
        break;
      case Form::kBatch:
        RunBatches(of, calls);
        break;
      case Form::kRows:
        for (std::size_t i = 0; i < calls; ++i) {
          Check(copy_rows_(device_, kStride, pinned_, kStride, of.bytes, of.count, ACL_MEMCPY_HOST_TO_DEVICE,
                           stream_),
                "aclrtMemcpy2dAsync");
        }
        break;
      case Form::kFree:
        for (std::size_t i = 0; i < calls; ++i) {
          void* memory = nullptr;
          Check(allocate_(&memory, of.bytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
          Check(free_(memory), "aclrtFree");
        }
        break;
    }
    Check(synchronize_(stream_), "aclrtSynchronizeStream");
  }

 private:
  void RunBatches(const Case& of, std::size_t calls) {
    sizes_.assign(of.count, of.bytes);
    aclrtMemcpyBatchAttr attribute{{0, ACL_MEM_LOCATION_TYPE_DEVICE}, {0, ACL_MEM_LOCATION_TYPE_HOST}, {}};
    std::size_t first = 0, failed = 0;
    for (std::size_t i = 0; i < calls; ++i) {
      Check(copy_batch_(dsts_.data(), sizes_.data(), srcs_.data(), sizes_.data(), of.count, &attribute,
                        &first, 1, &failed, stream_),
            "aclrtMemcpyBatchAsync");
    }
  }
  template <typename Function>
  Function Find(const char* name) {
    void* const found = ::dlsym(library_, name);
    if (found == nullptr) throw Failure(std::string("the library has no ") + name);
    return reinterpret_cast<Function>(found);
  }
  template <typename Function>
  void Find(const char* name, Function& function) {
    function = Find<Function>(name);
  }
  void Check(aclError code, const char* call) {
    if (code == ACL_SUCCESS) [[likely]]
      return;
    const char* const message = recent_message_();
    throw Failure(std::string(call) + " returned " + std::to_string(code) + ": " +
                  (message != nullptr ? message : ""));
  }

  void* const library_;
  decltype(&aclGetRecentErrMsg) recent_message_ = nullptr;
  decltype(&aclrtMemcpyAsync) copy_ = nullptr;
  decltype(&aclrtMemcpyBatchAsync) copy_batch_ = nullptr;
  decltype(&aclrtMemcpy2dAsync) copy_rows_ = nullptr;
  decltype(&aclrtSynchronizeStream) synchronize_ = nullptr;
  decltype(&aclrtMalloc) allocate_ = nullptr;
  decltype(&aclrtFree) free_ = nullptr;
  aclrtStream stream_ = nullptr;
  void* device_ = nullptr;
  void* pinned_ = nullptr;
  std::vector<void*> dsts_, srcs_;
  std::vector<std::size_t> sizes_;
};

void CompareBuilds(const char* old_path, const char* new_path, std::size_t rounds) {
  std::array<Build, 2> builds{Build(old_path), Build(new_path)};
  // Round by round over all cases, so that changes over time affect all of them.
  std::array<std::vector<std::vector<double>>, std::size(kCases)> seconds;
  seconds.fill(std::vector<std::vector<double>>(builds.size()));
  for (std::size_t round = 0; round < rounds; ++round) {
    for (std::size_t c = 0; c < std::size(kCases); ++c) {
      const auto run = [&](Build& build) { return Timed([&] { build.Run(kCases[c], kCallsOfATurn); }); };
      const auto times =
          TakeTurns({run(builds[0]), run(builds[1])}, [](std::size_t turns) { return turns < 2; });
      for (std::size_t b = 0; b < builds.size(); ++b)
        seconds[c][b].insert(seconds[c][b].end(), times[b].begin(), times[b].end());
    }
  }
  std::printf("%-10s %8s %8s %7s   %s\n", "case", "old ns", "new ns", "new/old", "lower quartiles");
  for (std::size_t c = 0; c < std::size(kCases); ++c) {
    const double ns = 1e9 / kCallsOfATurn;
    const Timing before = Summarize(seconds[c][0]);
    const Timing now = Summarize(seconds[c][1]);
    std::printf("%-10s %8.1f %8.1f %7.3f   %.1f %.1f %.3f\n", kCases[c].name, before.median_seconds * ns,
                now.median_seconds * ns, now.median_seconds / before.median_seconds,
                before.lower_seconds * ns, now.lower_seconds * ns, now.lower_seconds / before.lower_seconds);
  }
}

void OnlyCall(const char* path, const std::string& name, std::size_t calls) {
  for (const Case& each : kCases) {
    if (each.name == name) return Build(path).Run(each, calls);
  }
  throw Failure("there is no case " + name);
}

int Run(int argc, char** argv) {
  if (argc == 4 && std::string_view(argv[2]).find('/') == std::string_view::npos) {
    OnlyCall(argv[1], argv[2], std::strtoul(argv[3], nullptr, 10));
  } else if (argc == 3 || argc == 4) {
    CompareBuilds(argv[1], argv[2], argc == 4 ? std::strtoul(argv[3], nullptr, 10) : kRounds);
  } else {
    std::fprintf(stderr,
                 "bench_builds OLD/libacl_rt.so NEW/libacl_rt.so [ROUNDS]\n"
                 "bench_builds BUILD/libacl_rt.so CASE CALLS\n");
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  try {
    return bench::Run(argc, argv);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
  }
}
