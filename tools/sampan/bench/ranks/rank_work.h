// One rank's part of what is measured: with the runtime, without it, and the proof that it is right.
#pragma once

#include <memory>
#include <string>

#include "tools/sampan/bench/ranks/rank_alternative.h"
#include "tools/sampan/bench/ranks/rank_plan.h"

namespace sampan::tool {

/// What the ranks of one measurement share. Made before they are.
struct RankStage {
  /// With the alternative of that name.
  RankStage(const RankPlan& plan, std::string_view alternative);

  RankPlan plan;
  collectives::Room room;
  std::unique_ptr<RankAlternative> plain;
};

/// Used by the thread of its rank. All ranks make the same calls.
class RankWork {
 public:
  virtual ~RankWork() = default;

  /// So many runs; over when it returns.
  virtual void Run(u32 times) = 0;
  /// The same without the runtime.
  virtual void RunPlain(u32 times) = 0;
  /// Once more on new data: what is wrong with the result, and nothing when each byte is as it must be. The
  /// same answer on every rank.
  virtual std::string FindFault() = 0;
};

std::unique_ptr<RankWork> MakeRankWork(collectives::Rank& rank, RankStage& stage);

}  // namespace sampan::tool
