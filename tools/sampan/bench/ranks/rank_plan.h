// What ranks of HCCL's platform layer are measured doing.
#pragma once

#include <cstddef>
#include <string>

#include "case.h"

namespace sampan::tool {

struct RankPlan {
  enum class Kind {
    kCopyWithin,   ///< from a rank's memory to its own
    kCopyBetween,  ///< to its peer's
    kSignal,       ///< from stream to stream of two ranks
    kCollective,   ///< sums of single precision where it reduces
  };

  Kind kind;
  std::size_t bytes = 0;  ///< of a copy, or the larger one of a rank's input and output; a signal has none
  collectives::Collective collective{};

  /// As many as there are devices by default.
  static constexpr u32 kRanks = 2;

  bool is_copy() const { return kind == Kind::kCopyWithin || kind == Kind::kCopyBetween; }
  /// The collective with the number of elements that comes nearest to the size.
  collectives::Case collective_case() const;
};

std::string CallOf(const RankPlan& plan);
std::string PathName(const RankPlan& plan);

}  // namespace sampan::tool
