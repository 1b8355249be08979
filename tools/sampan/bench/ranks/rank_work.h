// One rank's part of a measurement: with the runtime, without it, and the verification.
#pragma once

#include <memory>
#include <string>

#include "tools/sampan/bench/ranks/rank_alternative.h"
#include "tools/sampan/bench/ranks/rank_plan.h"

namespace sampan::tool {

/// What the ranks of one measurement share. Created before the ranks.
struct RankStage {
  /// `alternative` is the name of the alternative.
  RankStage(const RankPlan& plan, std::string_view alternative);

  RankPlan plan;
  collectives::Room room;
  std::unique_ptr<RankAlternative> plain;
};

/// Used by the thread of its rank. All ranks make the same calls.
class RankWork {
 public:
  virtual ~RankWork() = default;

  /// Executes `times` runs. Complete on return.
  virtual void Run(u32 times) = 0;
  /// The same without the runtime.
  virtual void RunPlain(u32 times) = 0;
  /// Runs once more on new data and checks each byte. Returns what is wrong, or an empty text. The same on
  /// every rank.
  virtual std::string FindFault() = 0;
};

std::unique_ptr<RankWork> MakeRankWork(collectives::Rank& rank, RankStage& stage);

}  // namespace sampan::tool
