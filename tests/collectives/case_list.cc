// Lists of collectives.
#include "case_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "random.h"
#include "verified_run.h"

namespace collectives {
namespace {

constexpr HcclDataType kTypes[] = {HCCL_DATA_TYPE_INT8, HCCL_DATA_TYPE_INT16, HCCL_DATA_TYPE_INT32,
                                   HCCL_DATA_TYPE_FP16, HCCL_DATA_TYPE_FP32,  HCCL_DATA_TYPE_BFP16};
constexpr HcclReduceOp kOperations[] = {HCCL_REDUCE_SUM, HCCL_REDUCE_MAX, HCCL_REDUCE_MIN};
constexpr u64 kGuardBytes = 96;

/// Collects cases; each gets data of its own.
class CaseList {
 public:
  CaseList(u32 ranks, u64 seed) : ranks_(ranks), seed_(seed) {}

  void Add(Collective collective, u64 count, Reduction reduction) {
    const u64 seed = Mixed(seed_, cases_.size(), 0);
    cases_.push_back({collective, count, reduction, static_cast<u32>(seed % ranks_), seed});
  }
  u64 Random(u64 below) { return Mixed(seed_, cases_.size(), 1) % below; }
  std::vector<Case> Take() { return std::move(cases_); }

 private:
  u32 ranks_;
  u64 seed_;
  std::vector<Case> cases_;
};

}  // namespace

std::vector<Case> ManyCases(u32 ranks, u64 seed) {
  CaseList list(ranks, seed);
  for (const Collective collective : AllCollectives()) {
    for (const u64 count : {u64{0}, u64{1}, u64{ranks - 1}, u64{ranks}, u64{ranks + 1}, 7 * u64{ranks} + 3}) {
      const Reduction reduction = {kTypes[list.Random(6)], kOperations[list.Random(3)]};
      list.Add(collective, count, reduction);
    }
    for (const HcclDataType type : kTypes) {
      for (const HcclReduceOp operation : kOperations) {
        // Types make no difference to collectives that only move.
        if (operation == HCCL_REDUCE_SUM || Reduces(collective))
          list.Add(collective, 1 + list.Random(300), {type, operation});
      }
    }
  }
  return list.Take();
}

std::vector<Case> SampleCases(u32 ranks, u64 seed) {
  CaseList list(ranks, seed);
  for (const Collective collective : AllCollectives()) {
    // The last one is beyond what a submitting thread copies by itself.
    for (const u64 count : {u64{0}, 1 + list.Random(ranks + 2), 5000 + list.Random(100)})
      list.Add(collective, count, {kTypes[list.Random(6)], kOperations[list.Random(3)]});
  }
  return list.Take();
}

Room RoomForAll(const std::vector<Case>& cases, u32 ranks) {
  Room largest = {0, 0};
  for (const Case& what : cases) {
    const Room room = RoomFor(what, ranks);
    largest = {std::max(largest.input_bytes, room.input_bytes),
               std::max(largest.output_bytes, room.output_bytes)};
  }
  return {largest.input_bytes + kGuardBytes, largest.output_bytes + kGuardBytes};
}

u64 FreshSeed() {
  return std::random_device{}();
}

void ExpectVerified(const Launch& launch, const std::vector<Case>& cases) {
  const Room room = RoomForAll(cases, launch.size);
  const std::vector<Ending> failed = RunRanks(launch, [&](const Seat& seat) {
    Rank rank(seat, room);
    for (const Case& what : cases)
      RunVerified(rank, what);
  });
  for (const Ending& ending : failed)
    ADD_FAILURE() << "rank " << ending.rank << " of " << launch.size << ": " << ending.failure;
}

}  // namespace collectives
