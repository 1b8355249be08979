// Sampan on a GPU against the driver's own calls: bench_gpu [--json FILE] [GROUP...]. Every group is verified
// on random contents outside the timed part. Exits with 1 if bytes are wrong, not if a bar is missed.
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "bench/gpu/groups.h"

namespace {

int Run(int argc, char** argv) {
  ::setenv("SAMPAN_BACKEND", "cuda", 0);
  ::setenv("SAMPAN_PROFILE", "ascend910b,cann9", 0);  // rows within a device
  const char* json = nullptr;
  std::vector<std::string> wanted;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--json") == 0 && i + 1 < argc) {
      json = argv[++i];
    } else {
      wanted.emplace_back(argv[i]);
    }
  }
  bench::World world;
  world.report.WriteTo(json, world.machine);
  for (const bench::Group& group : bench::kGroups) {
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), group.name) == wanted.end()) continue;
    group.run(world);
    if (!world.report.WriteJson()) {
      std::fprintf(stderr, "cannot write %s\n", json);
      return 1;
    }
  }
  world.report.PrintMissed();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return Run(argc, argv);
  } catch (const bench::Failure& failure) {
    std::fprintf(stderr, "bench_gpu: %s\n", failure.what());
    return 1;
  }
}
