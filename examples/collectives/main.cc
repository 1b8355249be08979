// Every collective on every type, ranks as processes and then as threads, each byte compared with a scalar
// model. usage: collectives [seed] [ranks]
#include <atomic>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "launch.h"
#include "verified_run.h"

namespace {

using namespace collectives;

constexpr u64 kCount = 4099;
constexpr HcclDataType kTypes[] = {HCCL_DATA_TYPE_INT8, HCCL_DATA_TYPE_INT16, HCCL_DATA_TYPE_INT32,
                                   HCCL_DATA_TYPE_FP16, HCCL_DATA_TYPE_FP32,  HCCL_DATA_TYPE_BFP16};
constexpr HcclReduceOp kOperations[] = {HCCL_REDUCE_SUM, HCCL_REDUCE_MAX, HCCL_REDUCE_MIN};

std::vector<Case> AllCases(u32 ranks, u64 seed) {
  std::vector<Case> cases;
  for (const Collective collective : AllCollectives()) {
    for (const HcclDataType type : kTypes) {
      for (const HcclReduceOp operation : kOperations) {
        if (operation != HCCL_REDUCE_SUM && !Reduces(collective)) continue;
        cases.push_back(
            {collective, kCount, {type, operation}, static_cast<u32>(seed % ranks), seed + cases.size()});
      }
    }
  }
  return cases;
}

/// Runs all cases; false when a rank failed.
bool Show(const Launch& launch, const std::vector<Case>& cases) {
  const char* const form = launch.form == Form::kThreads ? "threads" : "processes";
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<Ending> failed = RunRanks(launch, [&](const Seat& seat) {
    Rank rank(seat, {launch.size * kCount * 4, launch.size * kCount * 4});
    for (const Case& what : cases)
      RunVerified(rank, what);
  });
  for (const Ending& ending : failed)
    std::printf("  rank %u of %u %s failed: %s\n", ending.rank, launch.size, form, ending.failure.c_str());
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (failed.empty())
    std::printf("  %u ranks as %-9s  %zu collectives verified in %.2f s\n", launch.size, form, cases.size(),
                seconds);
  return failed.empty();
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  const u64 seed = argc > 1 ? std::strtoull(argv[1], nullptr, 0) : std::random_device{}();
  const long asked = argc > 2 ? std::atol(argv[2]) : 4;
  const u32 ranks = asked >= 1 && asked <= 16 ? static_cast<u32>(asked) : 4;
  std::printf("seed %llu (repeat with: %s %llu %u)\n", seed, argv[0], seed, ranks);
  const std::vector<Case> cases = AllCases(ranks, seed);
  // Processes first: they are forked, and this one has not used the runtime yet.
  for (const Form form : {Form::kProcesses, Form::kThreads}) {
    if (!Show({ranks, form}, cases)) return 1;
  }
  std::printf(
      "OK, %zu bytes verified: ring, mesh and tree collectives of %u ranks, as processes and as threads\n",
      static_cast<std::size_t>(2 * cases.size() * ranks * ranks * kCount * 4), ranks);
  return 0;
}
