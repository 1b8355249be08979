// The CUDA driver's own calls for what ranks do, over memory of the driver's own.
#pragma once

#include "backend/cuda/driver.h"
#include "tools/sampan/bench/ranks/rank_alternative.h"

namespace sampan::tool {

/// Each rank has a stream and its buffers on the GPU of its device. Copies are cuMemcpyAsync, of sums too:
/// the driver has no call that adds. Signals are events that one stream records and the other one waits for.
class DriverRanks final : public RankAlternative {
 public:
  /// Starts the runtime, to ask how many devices it has. Throws a Failure where the driver refuses something.
  explicit DriverRanks(const collectives::Room& room);
  ~DriverRanks() override;
  DriverRanks(const DriverRanks&) = delete;
  DriverRanks& operator=(const DriverRanks&) = delete;

  const std::vector<bench::RankBuffers>& buffers() const override { return buffers_; }
  void Move(u32 rank, const bench::Transfers& transfers, u32 times) override;
  /// The first rank gives both streams their work.
  void SignalThereAndBack(u32 rank, u32 times) override;

 private:
  struct Site {
    cuda::CuContext context = nullptr;
    cuda::CuStream stream = nullptr;
    cuda::CuEvent signal = nullptr;
    cuda::CuAddress memory = 0;
  };

  void Open(Site& site, int gpu, const collectives::Room& room);
  void AllowPeers();
  void Close() noexcept;

  std::vector<Site> sites_;
  std::vector<bench::RankBuffers> buffers_;
};

}  // namespace sampan::tool
