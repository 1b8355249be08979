// The work of ranks that is measured.
#pragma once

#include <cstddef>
#include <string>

#include "case.h"

namespace sampan::tool {

struct RankPlan {
  enum class Kind {
    kCopyLocal,   ///< inside a rank's memory
    kCopyToPeer,  ///< to the peer's memory
    kSignal,      ///< between the streams of two ranks
    kCollective,  ///< reductions are sums in single precision
  };

  Kind kind;
  std::size_t bytes = 0;  ///< of a copy, or the larger of a rank's input and output; 0 for a signal
  collectives::Collective collective{};

  /// The default number of devices.
  static constexpr u32 kRanks = 2;

  bool is_copy() const { return kind == Kind::kCopyLocal || kind == Kind::kCopyToPeer; }
  /// The collective with the number of elements that is closest to the size.
  collectives::Case collective_case() const;
};

std::string CallOf(const RankPlan& plan);
std::string PathName(const RankPlan& plan);

}  // namespace sampan::tool
