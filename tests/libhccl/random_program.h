// Random programs: queued calls over several communicators and streams, against the scalar model.
#pragma once

#include <array>
#include <cstdlib>
#include <functional>
#include <list>
#include <numeric>
#include <utility>
#include <vector>

#include "tests/libhccl/case_list.h"

namespace sampan::test {

/// All ranks but the last one, if they are more than two; otherwise all.
inline Member MakePart(World& world) {
  const u32 size = world.size > 2 ? world.size - 1 : world.size;
  if (world.rank >= size) return {world.rank, size, nullptr};
  std::vector<uint32_t> ranks(size);
  std::iota(ranks.begin(), ranks.end(), 0U);
  HcclCommConfig config = ConfigWithLimit(60);
  HcclComm part = nullptr;
  Check(HcclCreateSubCommConfig(&world.comm, size, ranks.data(), 1, world.rank, &config, &part));
  return {world.rank, size, part};
}

/// Calls follow one another in three communicators and two streams without a wait. Each has memory of its
/// own.
inline void RunQueued(World& world, SharedRootInfo& second_root, u64 seed, std::size_t calls) {
  const HcclRootInfo info = second_root.Get(world.rank);
  HcclComm second = nullptr;
  Check(HcclCommInitRootInfo(world.size, &info, world.rank, &second));
  const std::array<Member, 3> members = {
      {{world.rank, world.size, world.comm}, {world.rank, world.size, second}, MakePart(world)}};
  aclrtStream side = nullptr;
  Check(aclrtCreateStream(&side));
  struct Queued {
    OperatorCase what;
    const Member& member;
    CaseMemory memory;
    DeviceBlock block;
  };
  std::list<Queued> queued;
  CaseSource source(world.size, seed);
  for (std::size_t i = 0; i < calls; ++i) {
    OperatorCase what = source.Draw(i % 10 == 9 ? 5000 : 100);
    const Member& member = members[source.Random(members.size())];
    const bool on_side = source.Random(2) != 0;
    if (member.comm == nullptr) continue;
    what.root %= member.ranks;
    CaseMemory memory = MemoryOf(what, member.rank, member.ranks);
    DeviceBlock block(memory.before);
    queued.push_back({what, member, std::move(memory), std::move(block)});
    Queue(what, member, on_side ? side : world.stream, queued.back().block, queued.back().memory);
  }
  world.Synchronize();
  Check(aclrtSynchronizeStream(side));
  for (const Queued& each : queued)
    Compare(each.what, each.member.rank, each.member.ranks, each.memory, each.block);
  if (members[2].comm != nullptr) Check(HcclCommDestroy(members[2].comm));
  Check(HcclCommDestroy(second));
  Check(aclrtDestroyStream(side));
}

/// TEST_COLLECTIVE_PROGRAMS says how many; `of_ci` without it. `run` runs what it gets on all ranks, and
/// returns what failed.
inline void RunRandomPrograms(
    int of_ci,
    const std::function<std::vector<Ending>(u64 seed, const std::function<void(World&)>& program)>& run) {
  const char* const wanted = std::getenv("TEST_COLLECTIVE_PROGRAMS");
  const int programs = wanted != nullptr ? std::atoi(wanted) : of_ci;
  for (int program = 0; program < programs; ++program) {
    const u64 seed = FreshSeed();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    SharedRootInfo second_root;
    ExpectNone(run(seed, [&](World& world) { RunQueued(world, second_root, seed, 60); }));
  }
}

}  // namespace sampan::test
