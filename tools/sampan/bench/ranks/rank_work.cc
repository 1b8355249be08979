// One rank's part of a measurement: with the runtime, without it, and the verification.
#include "tools/sampan/bench/ranks/rank_work.h"

#include <cstring>

#include "bench/copies/memory.h"
#include "bench/ranks/ranks_together.h"
#include "check.h"

namespace sampan::tool {
namespace {

using collectives::Check;
using collectives::Rank;

/// Bytes around a copy that must not change.
constexpr std::size_t kRankMargin = 256;
constexpr int kUntouched = 0xA5;
/// The number of words in a test of signals.
constexpr std::size_t kWords = 16;

collectives::Room RoomOf(const RankPlan& plan) {
  const u64 bytes =
      plan.kind == RankPlan::Kind::kSignal ? kWords * sizeof(u64) : plan.bytes + 2 * kRankMargin;
  return {bytes, bytes};
}

void Upload(const hccl::DeviceMem& to, const bench::Bytes& contents) {
  Check(aclrtMemcpy(to.ptr(), to.size(), contents.data(), contents.size(), ACL_MEMCPY_HOST_TO_DEVICE));
}

bench::Bytes Download(const hccl::DeviceMem& from) {
  bench::Bytes contents(from.size());
  Check(aclrtMemcpy(contents.data(), contents.size(), from.ptr(), from.size(), ACL_MEMCPY_DEVICE_TO_HOST));
  return contents;
}

void Clear(const hccl::DeviceMem& memory) {
  Check(aclrtMemset(memory.ptr(), memory.size(), kUntouched, memory.size()));
}

hccl::DeviceMem PeersOutput(Rank& rank) {
  const u32 peer = rank.RankAt(1);
  void* address = nullptr;
  u64 bytes = 0;
  Check(rank.link(peer).GetRemoteMem(hccl::UserMemType::OUTPUT_MEM, &address));
  Check(rank.link(peer).GetRemoteMemSize(hccl::UserMemType::OUTPUT_MEM, bytes));
  return hccl::DeviceMem(address, bytes);
}

/// The first message of any rank.
std::string Agree(Rank& rank, const std::string& mine) {
  for (const std::string& text : bench::Tell(rank.group(), mine)) {
    if (!text.empty()) return text;
  }
  return "";
}

std::string FaultText(const bench::Bytes& found, const bench::Bytes& expected) {
  const auto at = bench::FirstDifference(found, expected);
  if (!at) return "";
  return "byte " + std::to_string(*at) + " of the destination " +
         bench::DifferenceText(found[*at], expected[*at]);
}

/// The first rank copies. Each call is followed by a synchronization of its stream.
class CopyWork final : public RankWork {
 public:
  CopyWork(Rank& rank, RankStage& stage)
      : rank_(rank), stage_(stage), between_(stage.plan.kind == RankPlan::Kind::kCopyToPeer) {
    if (rank.rank() != 0) return;
    src_ = rank.input().range(kRankMargin, stage.plan.bytes);
    dst_ = (between_ ? PeersOutput(rank) : rank.output()).range(kRankMargin, stage.plan.bytes);
    const auto& plain = stage.plain->buffers();
    plain_ = {{plain[between_ ? 1 : 0].output + kRankMargin, plain[0].input + kRankMargin, stage.plan.bytes}};
  }

  void Run(u32 times) override {
    if (rank_.rank() != 0) return;
    const u32 peer = between_ ? rank_.RankAt(1) : 0;
    const hccl::LinkType link = between_ ? rank_.link(peer).GetLinkType() : hccl::LinkType::LINK_ONCHIP;
    for (u32 i = 0; i < times; ++i) {
      Check(HcclD2DMemcpyAsync(rank_.dispatcher(), dst_, src_, rank_.stream(), peer, link));
      rank_.Synchronize();
    }
  }

  void RunPlain(u32 times) override {
    if (rank_.rank() != 0) return;
    for (u32 i = 0; i < times; ++i)
      stage_.plain->Move(0, plain_, 1);
  }

  std::string FindFault() override {
    const bench::Bytes contents = bench::RandomBytes(rank_.input().size(), 3);
    const bool owns = rank_.rank() == (between_ ? 1U : 0U);
    if (rank_.rank() == 0) Upload(rank_.input(), contents);
    if (owns) Clear(rank_.output());
    Check(rank_.group().Barrier());
    Run(1);
    Check(rank_.group().Barrier());
    std::string fault;
    if (owns) {
      bench::Bytes expected(contents.size(), std::byte{kUntouched});
      std::memcpy(expected.data() + kRankMargin, contents.data() + kRankMargin, stage_.plan.bytes);
      fault = FaultText(Download(rank_.output()), expected);
    }
    return Agree(rank_, fault);
  }

 private:
  Rank& rank_;
  RankStage& stage_;
  const bool between_;
  hccl::DeviceMem src_, dst_;
  bench::Transfers plain_;
};

/// A run is one signal in each direction.
class SignalWork final : public RankWork {
 public:
  SignalWork(Rank& rank, RankStage& stage)
      : rank_(rank), stage_(stage), link_(rank.link(rank.RankAt(1))), first_(rank.rank() == 0) {}

  void Run(u32 times) override {
    for (u32 i = 0; i < times; ++i)
      ThereAndBack([] {});
    rank_.Synchronize();
  }

  void RunPlain(u32 times) override { stage_.plain->SignalThereAndBack(rank_.rank(), times); }

  /// The first rank writes words before each signal, and the second rank reads them after it.
  std::string FindFault() override {
    const bench::Bytes words = bench::RandomBytes(kWords * sizeof(u64), 4);
    if (first_) Upload(rank_.input(), words);
    Clear(rank_.output());
    Check(rank_.group().Barrier());
    const hccl::DeviceMem& mine = rank_.output();
    const hccl::DeviceMem theirs = PeersOutput(rank_);
    for (std::size_t i = 0; i < kWords; ++i) {
      const u64 at = i * sizeof(u64);
      if (first_) Copy(mine.range(0, sizeof(u64)), rank_.input().range(at, sizeof(u64)));
      ThereAndBack([&] { Copy(mine.range(at, sizeof(u64)), theirs.range(0, sizeof(u64))); });
    }
    rank_.Synchronize();
    return Agree(rank_, first_ ? "" : FaultText(Download(mine), words));
  }

 private:
  /// The second rank calls `between` before it answers.
  template <typename Between>
  void ThereAndBack(Between between) {
    if (first_) {
      Check(link_.PostReady(rank_.stream()));
      Check(link_.WaitFin(rank_.stream()));
    } else {
      Check(link_.WaitReady(rank_.stream()));
      between();
      Check(link_.PostFin(rank_.stream()));
    }
  }

  void Copy(hccl::DeviceMem dst, const hccl::DeviceMem& src) {
    Check(HcclD2DMemcpyAsync(rank_.dispatcher(), dst, src, rank_.stream(), link_.GetRemoteRank(),
                             link_.GetLinkType()));
  }

  Rank& rank_;
  RankStage& stage_;
  hccl::Transport& link_;
  const bool first_;
};

}  // namespace

RankStage::RankStage(const RankPlan& wanted, std::string_view alternative)
    : plan(wanted), room(RoomOf(wanted)), plain(MakeRankAlternative(alternative, room)) {}

std::unique_ptr<RankWork> MakeRankWork(Rank& rank, RankStage& stage) {
  if (stage.plan.kind == RankPlan::Kind::kSignal) return std::make_unique<SignalWork>(rank, stage);
  return std::make_unique<CopyWork>(rank, stage);
}

}  // namespace sampan::tool
