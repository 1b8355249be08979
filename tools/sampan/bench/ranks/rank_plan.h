// The work of ranks that is measured.
#pragma once

#include <cstddef>
#include <string>

#include "hccl/base.h"

namespace sampan::tool {

struct RankPlan {
  enum class Kind {
    kCopyLocal,   ///< inside a rank's memory
    kCopyToPeer,  ///< to the peer's memory
    kSignal,      ///< between the streams of two ranks
  };

  Kind kind;
  std::size_t bytes = 0;  ///< of a copy; 0 for a signal

  /// The default number of devices.
  static constexpr u32 kRanks = 2;
};

std::string CallOf(const RankPlan& plan);
std::string PathName(const RankPlan& plan);

}  // namespace sampan::tool
