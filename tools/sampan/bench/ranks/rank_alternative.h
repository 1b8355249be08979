// The alternative to the runtime that ranks are compared with.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "bench/ranks/plain_traffic.h"
#include "rank.h"

namespace sampan::tool {

/// Created before the ranks, which share it. Has its own buffers of the ranks' sizes.
class RankAlternative {
 public:
  virtual ~RankAlternative() = default;

  /// By rank.
  virtual const std::vector<bench::RankBuffers>& buffers() const = 0;
  /// Moves the data `times` times, without waiting for the other rank. Complete on return. Called by the
  /// rank's thread or on its behalf.
  virtual void Move(u32 rank, const bench::Transfers& transfers, u32 times) = 0;
  /// Sends a signal from rank 0 to rank 1 and one back, `times` times. Both ranks call it.
  virtual void SignalThereAndBack(u32 rank, u32 times) = 0;
};

/// Creates the alternative of this name (alternative.h) for two ranks.
std::unique_ptr<RankAlternative> MakeRankAlternative(std::string_view name, const collectives::Room& room);

/// The meaning of the name, in half a sentence.
std::string_view RankAlternativeMeaning(std::string_view name);

}  // namespace sampan::tool
