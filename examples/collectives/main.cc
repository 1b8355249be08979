// Every operator of HCCL on every type, ranks as processes and then as threads. Each byte is compared with a
// scalar model. usage: collectives [seed] [ranks]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "operator_list.h"

namespace {

using namespace collectives;

constexpr u64 kMaxCount = 4099;

/// Runs all cases in one communicator. Returns false if a rank failed.
bool Show(u32 ranks, Form form, const std::vector<OperatorCase>& cases) {
  const char* const name = form == Form::kThreads ? "threads" : "processes";
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<Ending> failed = RunWorlds(ranks, form, [&](World& world) {
    for (const OperatorCase& what : cases)
      RunVerified(what, world);
  });
  for (const Ending& ending : failed)
    std::printf("  rank %u of %u %s failed: %s\n", ending.rank, ranks, name, ending.failure.c_str());
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (failed.empty())
    std::printf("  %u ranks as %-9s  %zu operators verified in %.2f s\n", ranks, name, cases.size(), seconds);
  return failed.empty();
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  const u64 seed = argc > 1 ? std::strtoull(argv[1], nullptr, 0) : std::random_device{}();
  const long asked = argc > 2 ? std::atol(argv[2]) : 4;
  const u32 ranks = asked >= 1 && asked <= 16 ? static_cast<u32>(asked) : 4;
  std::printf("seed %llu (repeat with: %s %llu %u)\n", seed, argv[0], seed, ranks);
  const std::vector<OperatorCase> cases = AllCases(ranks, seed, kMaxCount);
  // Processes first: they are forked, and this one has not used the runtime yet.
  for (const Form form : {Form::kProcesses, Form::kThreads}) {
    if (!Show(ranks, form, cases)) return 1;
  }
  std::printf("OK, %zu operators of %u ranks verified byte by byte, as processes and as threads\n",
              cases.size(), ranks);
  return 0;
}
