// What ranks would do without the runtime: the alternative that they are measured against.
#include "tools/sampan/bench/ranks/rank_alternative.h"

#include <array>
#include <atomic>

#include "bench/copies/alternative.h"
#include "tools/sampan/bench/ranks/driver_ranks.h"
#include "tools/sampan/bench/ranks/rank_plan.h"

namespace sampan::tool {
namespace {

/// Memory that the ranks share, memcpy, and words that one thread changes and another one sleeps on.
class HostRanks final : public RankAlternative {
 public:
  explicit HostRanks(const collectives::Room& room) : shared_(RankPlan::kRanks, room) {}

  const std::vector<bench::RankBuffers>& buffers() const override { return shared_.all(); }

  void Move(u32 /*rank*/, const bench::Transfers& transfers, u32 times) override {
    for (u32 i = 0; i < times; ++i)
      bench::Perform(transfers);
  }

  void SignalThereAndBack(u32 rank, u32 times) override {
    auto& mine = signals_[rank];
    auto& theirs = signals_[1 - rank];
    const auto post = [&] {
      mine.fetch_add(1, std::memory_order_release);
      mine.notify_one();
    };
    // Both have sent as many when they are called.
    std::uint32_t seen = mine.load(std::memory_order_relaxed);
    for (u32 i = 0; i < times; ++i) {
      if (rank == 0) post();
      theirs.wait(seen++, std::memory_order_acquire);
      if (rank != 0) post();
    }
  }

 private:
  bench::SharedBuffers shared_;
  std::array<std::atomic<std::uint32_t>, 2> signals_{};  ///< how many that rank has sent
};

}  // namespace

std::unique_ptr<RankAlternative> MakeRankAlternative(std::string_view name, const collectives::Room& room) {
  if (name == bench::kDriver) return std::make_unique<DriverRanks>(room);
  return std::make_unique<HostRanks>(room);
}

std::string_view RankAlternativeMeaning(std::string_view name) {
  if (name == bench::kDriver)
    return "driver copies the same lengths, in a stream for each rank, without signals and without adding "
           "where sums are made; for signals, the streams wait for events";
  return "memcpy between mappings that they share, without signals, and for signals std::atomic";
}

}  // namespace sampan::tool
