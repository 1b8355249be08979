// libFuzzer target: bytes become what a rank receives from its hub.
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/error/text.h"
#include "hccl/group/membership.h"
#include "tests/fuzz/fuzz_descriptors.h"
#include "tests/fuzz/hostile_hub.h"

namespace sampan::fuzz {
namespace {

constexpr u32 kRank = 1, kRanks = 2;

void FuzzRank(std::vector<u8> bytes) {
  const hccl::MeetingPoint meeting{"fuzz", Text("sampan-fuzz-rank-", ::getpid(), "-"),
                                   hccl::SecretOf("fuzz", "0123456789abcdef")};
  const HostileHub hub(meeting, std::move(bytes));
  ::hccl::RankGroupConfig config;
  config.rank = kRank;
  config.rankSize = kRanks;
  config.timeout = std::chrono::seconds(30);
  config.onPosted = [](u32 from, const std::vector<u8>&) {
    if (from >= kRanks) FailInput("a post of a rank that is not in the group", from);
  };
  std::shared_ptr<hccl::Membership> joined;
  const HcclResult result = hccl::Membership::Join("fuzz", meeting, config, joined);
  if ((result == HCCL_SUCCESS) != (joined != nullptr))
    FailInput("a code that does not fit the result", result);
  if (joined == nullptr) return;
  for (u32 rank = 0; rank < kRanks; ++rank) {
    if (joined->process_of(rank) <= 0) FailInput("a rank without a process", joined->process_of(rank));
  }
  for (int exchange = 0; exchange < 3; ++exchange) {
    std::vector<std::vector<u8>> all;
    const HcclResult exchanged = joined->Exchange("fuzz", {1, 2, 3}, all);
    if (exchanged == HCCL_SUCCESS && all.size() != kRanks)
      FailInput("an exchange with too few parts", static_cast<long long>(all.size()));
  }
  const auto health = joined->health();
  if (health->is_broken()) static_cast<void>(health->reason());
}

}  // namespace
}  // namespace sampan::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sampan::fuzz::FuzzRank({data, data + size});
  sampan::fuzz::CheckDescriptorCount();
  return 0;
}
