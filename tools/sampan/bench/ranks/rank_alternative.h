// What ranks would do without the runtime: the alternative that they are measured against.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "bench/ranks/plain_traffic.h"

namespace sampan::tool {

/// Made before the ranks, and shared by them. Has buffers of its own, with the ranks' sizes.
class RankAlternative {
 public:
  virtual ~RankAlternative() = default;

  /// By rank.
  virtual const std::vector<bench::RankBuffers>& buffers() const = 0;
  /// So many times, without waiting for the other rank; over when it returns. Called by the thread of that
  /// rank, or for its sake.
  virtual void Move(u32 rank, const bench::Transfers& transfers, u32 times) = 0;
  /// A signal from rank 0 to rank 1 and one back, so many times. Both ranks call it.
  virtual void SignalThereAndBack(u32 rank, u32 times) = 0;
};

/// Of that name (alternative.h), for two ranks.
std::unique_ptr<RankAlternative> MakeRankAlternative(std::string_view name, const collectives::Room& room);

/// In half a sentence, of that name.
std::string_view RankAlternativeMeaning(std::string_view name);

}  // namespace sampan::tool
