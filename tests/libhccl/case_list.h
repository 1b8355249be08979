// Which calls a test makes.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>
#include <random>
#include <string_view>
#include <vector>

#include "hccl/dtype_common.h"
#include "random.h"
#include "tests/libhccl/operator_case.h"

namespace sampan::test {

/// The types of the profile's chip.
inline std::vector<HcclDataType> TypesOf(Op op) {
  std::vector<HcclDataType> types = {HCCL_DATA_TYPE_INT8, HCCL_DATA_TYPE_INT16, HCCL_DATA_TYPE_INT32,
                                     HCCL_DATA_TYPE_FP16, HCCL_DATA_TYPE_FP32,  HCCL_DATA_TYPE_BFP16};
  if (op != Op::kReduceScatterV) types.push_back(HCCL_DATA_TYPE_INT64);
  if (Reduces(op)) return types;
  types.insert(types.end(), {HCCL_DATA_TYPE_UINT8, HCCL_DATA_TYPE_UINT16, HCCL_DATA_TYPE_UINT32,
                             HCCL_DATA_TYPE_UINT64, HCCL_DATA_TYPE_FP64});
  return types;
}

inline std::vector<HcclReduceOp> OperationsOf(Op op, HcclDataType type) {
  if (!Reduces(op)) return {HCCL_REDUCE_SUM};
  std::vector<HcclReduceOp> operations = {HCCL_REDUCE_SUM, HCCL_REDUCE_MAX, HCCL_REDUCE_MIN};
  if (op != Op::kReduceScatterV && type != HCCL_DATA_TYPE_INT16 && type != HCCL_DATA_TYPE_BFP16)
    operations.push_back(HCCL_REDUCE_PROD);
  return operations;
}

/// Draws cases; each gets data of its own.
class CaseSource {
 public:
  CaseSource(u32 ranks, u64 seed) : ranks_(ranks), seed_(seed) {}

  u64 Random(u64 below) { return collectives::Mixed(seed_, drawn_++, 1) % below; }
  OperatorCase Make(Op op, HcclDataType type, HcclReduceOp operation, u64 count, Placing placing) {
    return {op, type, operation, count, static_cast<u32>(Random(ranks_)), placing, Random(UINT64_MAX)};
  }
  OperatorCase Make(Op op, HcclDataType type, HcclReduceOp operation, u64 count) {
    const auto placing = static_cast<Placing>(Random(3));
    return Make(op, type, operation, count, Allows(op, placing) ? placing : Placing::kApart);
  }
  OperatorCase Draw(u64 max_count) {
    const Op op = static_cast<Op>(Random(kOps));
    const auto types = TypesOf(op);
    const HcclDataType type = types[Random(types.size())];
    const auto operations = OperationsOf(op, type);
    return Make(op, type, operations[Random(operations.size())], Random(max_count + 1));
  }

 private:
  const u32 ranks_;
  const u64 seed_;
  u64 drawn_ = 0;
};

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

/// Every operator on every type with every operation and placing, and odd counts.
inline std::vector<OperatorCase> AllCases(u32 ranks, u64 seed) {
  CaseSource source(ranks, seed);
  std::vector<OperatorCase> cases;
  for (int i = 0; i < kOps; ++i) {
    const Op op = static_cast<Op>(i);
    for (const HcclDataType type : TypesOf(op)) {
      for (const HcclReduceOp operation : OperationsOf(op, type)) {
        for (const Placing placing : {Placing::kApart, Placing::kInPlace, Placing::kAtBeginning}) {
          if (Allows(op, placing))
            cases.push_back(source.Make(op, type, operation, source.Random(100) * 2 + 1, placing));
        }
      }
    }
  }
  return cases;
}

/// Every operator on every type with every operation, and counts where something changes: 0, 1, next to the
/// number of ranks and to a cache line, not divisible by either.
inline std::vector<OperatorCase> ManyCases(u32 ranks, u64 seed) {
  CaseSource source(ranks, seed);
  std::vector<OperatorCase> cases;
  if (TestsAll()) cases = AllCases(ranks, seed);
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
  if (TestsAll()) cases = AllCases(ranks, seed);
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

inline void ExpectNone(const std::vector<collectives::Ending>& failed) {
  for (const collectives::Ending& ending : failed)
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
