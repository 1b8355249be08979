// One rank's part of what is measured: with the runtime, without it, and the proof that it is right.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "plain_traffic.h"
#include "rank_plan.h"

namespace sampan::tool {

/// What the ranks of one measurement share. Made before they are.
struct RankStage {
  explicit RankStage(const RankPlan& plan);

  RankPlan plan;
  collectives::Room room;
  rank_timing::PlainTraffic plain;
  std::atomic<std::uint32_t> there{0}, back{0};  ///< signals of the alternative
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
