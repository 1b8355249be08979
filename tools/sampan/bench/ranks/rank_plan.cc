// The work of ranks that is measured.
#include "tools/sampan/bench/ranks/rank_plan.h"

namespace sampan::tool {

std::string CallOf(const RankPlan& plan) {
  return plan.kind == RankPlan::Kind::kSignal ? "Transport::PostReady" : "HcclD2DMemcpyAsync";
}

std::string PathName(const RankPlan& plan) {
  return plan.kind == RankPlan::Kind::kCopyLocal ? "within a rank" : "rank to rank";
}

}  // namespace sampan::tool
