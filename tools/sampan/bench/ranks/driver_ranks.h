// The work of ranks by calls of the CUDA driver, on memory of the driver.
#pragma once

#include "backend/cuda/driver.h"
#include "tools/sampan/bench/ranks/rank_alternative.h"

namespace sampan::tool {

/// Each rank has a stream and buffers on the GPU of its device. Copies are cuMemcpyAsync. Signals are events
/// that one stream records and the other waits for.
class DriverRanks final : public RankAlternative {
 public:
  /// Starts the runtime to get its number of devices. Throws a Failure if a call of the driver fails.
  explicit DriverRanks(const collectives::Room& room);
  ~DriverRanks() override;
  DriverRanks(const DriverRanks&) = delete;
  DriverRanks& operator=(const DriverRanks&) = delete;

  const std::vector<bench::RankBuffers>& buffers() const override { return buffers_; }
  void Move(u32 rank, const bench::Transfers& transfers, u32 times) override;
  /// The first rank submits the work of both streams.
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
