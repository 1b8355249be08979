// Which calls a test makes.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>
#include <random>
#include <string_view>
#include <vector>

#include "operator_list.h"

namespace sampan::test {

using namespace ::collectives;

/// TEST_COLLECTIVES=all: every number of ranks up to 16, and every placing of every case. CI has a part of
/// it.
inline bool TestsAll() {
  const char* const wanted = std::getenv("TEST_COLLECTIVES");
  return wanted != nullptr && std::string_view(wanted) == "all";
}
inline std::vector<u32> RankNumbers(std::vector<u32> of_ci) {
  if (!TestsAll()) return of_ci;
  std::vector<u32> all(16);
  std::iota(all.begin(), all.end(), 1U);
  return all;
}

/// Every operator on every type with every operation, and counts where something changes: 0, 1, next to the
/// number of ranks and to a cache line, not divisible by either.
inline std::vector<OperatorCase> ManyCases(u32 ranks, u64 seed) {
  CaseSource source(ranks, seed);
  std::vector<OperatorCase> cases;
  if (TestsAll()) cases = AllCases(ranks, seed, 200);
  for (int i = 0; i < kOps; ++i) {
    const Op op = static_cast<Op>(i);
    for (const HcclDataType type : TypesOf(op)) {
      for (const HcclReduceOp operation : OperationsOf(op, type))
        cases.push_back(source.Make(op, type, operation, 1 + source.Random(200)));
    }
    for (const u64 count : {u64{0}, u64{1}, u64{ranks} + 1, u64{63}, u64{65}, u64{1024}, u64{1025}})
      cases.push_back(source.Make(op, HCCL_DATA_TYPE_INT32, HCCL_REDUCE_SUM, count));
  }
  return cases;
}

/// A few of each operator.
inline std::vector<OperatorCase> SampleCases(u32 ranks, u64 seed) {
  CaseSource source(ranks, seed);
  std::vector<OperatorCase> cases;
  if (TestsAll()) cases = AllCases(ranks, seed, 200);
  for (int i = 0; i < kOps; ++i) {
    const Op op = static_cast<Op>(i);
    for (const u64 count : {u64{0}, 1 + source.Random(ranks + 2), 3000 + source.Random(100)}) {
      const auto types = TypesOf(op);
      const HcclDataType type = types[source.Random(types.size())];
      const auto operations = OperationsOf(op, type);
      cases.push_back(source.Make(op, type, operations[source.Random(operations.size())], count));
    }
  }
  return cases;
}

inline u64 FreshSeed() {
  return std::random_device{}();
}

inline void ExpectNone(const std::vector<Ending>& failed) {
  for (const Ending& ending : failed)
    ADD_FAILURE() << "rank " << ending.rank << ": " << ending.failure;
}

/// Runs all cases in one communicator, one after the other.
inline void ExpectVerified(u32 ranks, Form form, const std::vector<OperatorCase>& cases) {
  ExpectNone(RunWorlds(ranks, form, [&](World& world) {
    for (const OperatorCase& what : cases)
      RunVerified(what, world);
  }));
}

}  // namespace sampan::test
