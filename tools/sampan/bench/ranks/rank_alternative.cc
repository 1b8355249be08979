// The alternative to the runtime that ranks are compared with.
#include "tools/sampan/bench/ranks/rank_alternative.h"

#include <array>
#include <atomic>

#include "bench/copies/alternative.h"
#include "tools/sampan/bench/ranks/driver_ranks.h"
#include "tools/sampan/bench/ranks/rank_plan.h"

namespace sampan::tool {
namespace {

/// Shared memory, memcpy, and words that one thread changes while another sleeps on them.
class HostRanks final : public RankAlternative {
 public:
  explicit HostRanks(const collectives::Room& room)
      : shared_(RankPlan::kRanks, {room.input_bytes, room.output_bytes}) {}

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
    // When this is called, both ranks have sent the same number of signals.
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
    return "driver copies the same lengths, in a stream for each rank, without signals; for signals, the "
           "streams wait for events";
  return "memcpy between mappings that they share, without signals, and for signals std::atomic";
}

}  // namespace sampan::tool
