// Lists of cases: every operator on every type, and random ones.
#pragma once

#include <vector>

#include "operator_case.h"
#include "random.h"

namespace collectives {

/// The types of the operator, and the operations of the type, on the 910B.
std::vector<HcclDataType> TypesOf(Op op);
std::vector<HcclReduceOp> OperationsOf(Op op, HcclDataType type);

/// Draws cases; each gets data of its own.
class CaseSource {
 public:
  CaseSource(u32 ranks, u64 seed) : ranks_(ranks), seed_(seed) {}

  u64 Random(u64 below) { return Mixed(seed_, drawn_++, 1) % below; }
  OperatorCase Make(Op op, HcclDataType type, HcclReduceOp operation, u64 count, Placing placing);
  OperatorCase Make(Op op, HcclDataType type, HcclReduceOp operation, u64 count);
  OperatorCase Draw(u64 max_count);

 private:
  const u32 ranks_;
  const u64 seed_;
  u64 drawn_ = 0;
};

/// Every operator on every type with every operation and placing. Counts are odd and below `max_count`.
std::vector<OperatorCase> AllCases(u32 ranks, u64 seed, u64 max_count);

}  // namespace collectives
