// Lists of cases: every operator on every type, and random ones.
#include "operator_list.h"

namespace collectives {

std::vector<HcclDataType> TypesOf(Op op) {
  std::vector<HcclDataType> types = {HCCL_DATA_TYPE_INT8, HCCL_DATA_TYPE_INT16, HCCL_DATA_TYPE_INT32,
                                     HCCL_DATA_TYPE_FP16, HCCL_DATA_TYPE_FP32,  HCCL_DATA_TYPE_BFP16};
  if (op != Op::kReduceScatterV) types.push_back(HCCL_DATA_TYPE_INT64);
  if (Reduces(op)) return types;
  types.insert(types.end(), {HCCL_DATA_TYPE_UINT8, HCCL_DATA_TYPE_UINT16, HCCL_DATA_TYPE_UINT32,
                             HCCL_DATA_TYPE_UINT64, HCCL_DATA_TYPE_FP64});
  return types;
}

std::vector<HcclReduceOp> OperationsOf(Op op, HcclDataType type) {
  if (!Reduces(op)) return {HCCL_REDUCE_SUM};
  std::vector<HcclReduceOp> operations = {HCCL_REDUCE_SUM, HCCL_REDUCE_MAX, HCCL_REDUCE_MIN};
  if (op != Op::kReduceScatterV && type != HCCL_DATA_TYPE_INT16 && type != HCCL_DATA_TYPE_BFP16)
    operations.push_back(HCCL_REDUCE_PROD);
  return operations;
}

OperatorCase CaseSource::Make(Op op, HcclDataType type, HcclReduceOp operation, u64 count, Placing placing) {
  return {op, type, operation, count, static_cast<u32>(Random(ranks_)), placing, Random(UINT64_MAX)};
}

OperatorCase CaseSource::Make(Op op, HcclDataType type, HcclReduceOp operation, u64 count) {
  const auto placing = static_cast<Placing>(Random(3));
  return Make(op, type, operation, count, Allows(op, placing) ? placing : Placing::kApart);
}

OperatorCase CaseSource::Draw(u64 max_count) {
  const Op op = static_cast<Op>(Random(kOps));
  const auto types = TypesOf(op);
  const HcclDataType type = types[Random(types.size())];
  const auto operations = OperationsOf(op, type);
  return Make(op, type, operations[Random(operations.size())], Random(max_count + 1));
}

std::vector<OperatorCase> AllCases(u32 ranks, u64 seed, u64 max_count) {
  CaseSource source(ranks, seed);
  std::vector<OperatorCase> cases;
  for (int i = 0; i < kOps; ++i) {
    const Op op = static_cast<Op>(i);
    for (const HcclDataType type : TypesOf(op)) {
      for (const HcclReduceOp operation : OperationsOf(op, type)) {
        for (const Placing placing : {Placing::kApart, Placing::kInPlace, Placing::kAtBeginning}) {
          if (Allows(op, placing))
            cases.push_back(source.Make(op, type, operation, source.Random(max_count / 2) * 2 + 1, placing));
        }
      }
    }
  }
  return cases;
}

}  // namespace collectives
