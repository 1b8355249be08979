// The work of ranks that is measured.
#include "tools/sampan/bench/ranks/rank_plan.h"

#include "tools/sampan/bench/ranks/collective_traffic.h"

namespace sampan::tool {

collectives::Case RankPlan::collective_case() const {
  const collectives::Case what{collective, 1, {HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM}};
  return SizedCase(what, bytes, kRanks);
}

std::string CallOf(const RankPlan& plan) {
  switch (plan.kind) {
    case RankPlan::Kind::kCopyLocal:
    case RankPlan::Kind::kCopyToPeer:
      return "HcclD2DMemcpyAsync";
    case RankPlan::Kind::kSignal:
      return "Transport::PostReady";
    case RankPlan::Kind::kCollective:
      break;
  }
  return "collectives of " + std::to_string(RankPlan::kRanks) + " ranks";
}

std::string PathName(const RankPlan& plan) {
  switch (plan.kind) {
    case RankPlan::Kind::kCopyLocal:
      return "within a rank";
    case RankPlan::Kind::kCopyToPeer:
    case RankPlan::Kind::kSignal:
      return "rank to rank";
    case RankPlan::Kind::kCollective:
      break;
  }
  return collectives::NameOf(plan.collective);
}

}  // namespace sampan::tool
