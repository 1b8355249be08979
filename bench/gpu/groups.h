// The groups of measurements that bench_gpu makes.
#pragma once

#include <array>
#include <string>

#include "bench/gpu/arrays.h"
#include "bench/gpu/caches.h"
#include "bench/gpu/driver_side.h"
#include "bench/gpu/report.h"

namespace bench {

/// What all groups work on.
struct World {
  World();
  DriverSide driver;
  Arrays ours, theirs;
  aclrtStream streams[2] = {};
  Report report;
  std::string machine;

  void Synchronize(int which = 0) const { BENCH_ACL(aclrtSynchronizeStream(streams[which])); }
  /// Flushes the first `bytes` of both sides' host memory from the processor's caches.
  void FlushHost(std::size_t bytes) const {
    FlushFromCaches(ours.host, bytes);
    FlushFromCaches(theirs.host, bytes);
  }
};

void RunLinear(World& world);
void RunSubmission(World& world);
void RunBatch(World& world);
void RunCounts(World& world);
void RunAdjacent(World& world);
void RunRows(World& world);
void RunIndirect(World& world);
void RunPageable(World& world);
void RunBothWays(World& world);
void RunBatchesBothWays(World& world);
void RunRowsSweep(World& world);
void RunCold(World& world);
void RunQuiet(World& world);
void RunKnee(World& world);

struct Group {
  const char* name;
  void (*run)(World& world);
};
inline constexpr std::array kGroups = {
    Group{"linear", RunLinear},        Group{"submission", RunSubmission},
    Group{"batch", RunBatch},          Group{"counts", RunCounts},
    Group{"adjacent", RunAdjacent},    Group{"rows", RunRows},
    Group{"indirect", RunIndirect},    Group{"pageable", RunPageable},
    Group{"both_ways", RunBothWays},   Group{"batches_both_ways", RunBatchesBothWays},
    Group{"rows_sweep", RunRowsSweep}, Group{"cold", RunCold},
    Group{"quiet", RunQuiet},          Group{"knee", RunKnee}};

}  // namespace bench
