// A rank that writes nonsense into what the ranks share: the others refuse it, and stay in their memory.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <functional>

#include "world.h"

// Behind the namespace of the examples, which has the same name.
#include "collectives/board/region.h"

namespace sampan::test::nonsense_test {
namespace {

using namespace ::collectives;
using sampan::collectives::Region;

constexpr uint64_t kCount = 10'000;  // too long to be posted
constexpr HcclDataType kType = HCCL_DATA_TYPE_INT32;

/// The communicator's part of the only board of this process.
Region FindRegion(u32 ranks) {
  constexpr std::size_t kDirectoryBytes = 256 * sizeof(u64);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0;
    if (line.find("/memfd:sampan-communicator") != std::string::npos &&
        std::sscanf(line.c_str(), "%lx-", &begin) == 1)
      return {reinterpret_cast<std::byte*>(begin) + kDirectoryBytes, ranks};
  }
  throw Failure("no board is mapped");
}

struct Nonsense {
  const char* name;
  /// Both ranks make it, on blocks of their own.
  std::function<HcclResult(const World& world, const DeviceBlock& block)> call;
  /// What rank 1 writes behind its call. The last argument is the process of rank 0.
  std::function<void(const Region& region, s64 process)> write;
  const char* expected;
};

HcclResult SendOrReceive(const World& world, const DeviceBlock& block) {
  return world.rank == 1 ? HcclSend(block.at(), kCount, kType, 0, world.comm, world.stream)
                         : HcclRecv(block.at(), kCount, kType, 1, world.comm, world.stream);
}
HcclResult ReduceAll(const World& world, const DeviceBlock& block) {
  return HcclAllReduce(block.at(), block.at(), kCount, kType, HCCL_REDUCE_SUM, world.comm, world.stream);
}
HcclResult ExchangeAll(const World& world, const DeviceBlock& block) {
  const uint64_t counts[] = {100, 100}, places[] = {0, 100};
  return HcclAlltoAllV(block.at(), counts, places, kType, block.at(20'000), counts, places, kType, world.comm,
                       world.stream);
}

const std::vector<Nonsense>& AllNonsense() {
  static const std::vector<Nonsense> all = {
      {"MessageWithoutBytes", SendOrReceive,
       [](const Region& region, s64) { region.message(1, 0, 1).send.bytes = 0; },
       "shares 0 bytes for a message of 40000"},
      {"MessageOfFewerBytes", SendOrReceive,
       [](const Region& region, s64) { region.message(1, 0, 1).send.bytes = 39'999; },
       "shares 39999 bytes for a message of 40000"},
      {"MessageBehindTheFile", SendOrReceive,
       [](const Region& region, s64) { region.message(1, 0, 1).send.file_offset = ~u64{0} - 100; },
       "of a memory file of"},
      {"MessageAtAnAddress", SendOrReceive,
       [](const Region& region, s64 process) {
         region.message(1, 0, 1).send.engine = 0x1000;
         region.cell(1).process.store(process);
       },
       "no rank of this process shares 40000 bytes at 0x1000"},
      {"InputWithoutBytes", ReduceAll, [](const Region& region, s64) { region.entry(1, 1).send.bytes = 0; },
       "which shares 0 bytes"},
      {"OutputOfFewerBytes", ReduceAll,
       [](const Region& region, s64) { region.entry(1, 1).receive.bytes = 39'999; },
       "which shares 39999 bytes"},
      {"InputAtAnAddress", ReduceAll,
       [](const Region& region, s64 process) {
         region.entry(1, 1).send.engine = 0x1000;
         region.cell(1).process.store(process);
       },
       "no rank of this process shares 40000 bytes at 0x1000"},
      {"PieceOfAnotherLength", ExchangeAll,
       [](const Region& region, s64) { region.pieces(1, 1)[0].count = ~u64{0}; },
       "has 18446744073709551615 elements for rank 0"},
      {"PieceFarBehind", ExchangeAll,
       [](const Region& region, s64) { region.pieces(1, 1)[0].offset = u64{1} << 62; },
       "has 100 elements at 4611686018427387904"},
      {"PieceBehindTheBuffer", ExchangeAll,
       [](const Region& region, s64) { region.pieces(1, 1)[0].offset = 101; }, "which shares 800 bytes"},
      {"FailureWithoutAnEnd", ReduceAll,
       [](const Region& region, s64) {
         auto& failure = region.failure();
         std::memset(failure.text, 'x', sizeof(failure.text));
         failure.code.store(-3);
         failure.state.store(sampan::collectives::Failure::kSet);
       },
       "is broken: xxxx"},
  };
  return all;
}

class NonsenseOnTheBoard : public testing::TestWithParam<Nonsense> {};

/// collective-21
TEST_P(NonsenseOnTheBoard, IsRefused) {
  struct Shared {
    std::atomic<s64> process{0};
    std::atomic<bool> is_written{false};
  };
  void* const memory =
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* const shared = new (memory) Shared;
  const auto failed = RunWorlds(
      2, Form::kProcesses,
      [&](World& world) {
        const DeviceBlock block(std::vector<u8>(40'000, 7));
        if (world.rank == 1) {
          while (shared->process.load() == 0)
            ::usleep(200);
          Check(GetParam().call(world, block));
          GetParam().write(FindRegion(2), shared->process.load());
          shared->is_written.store(true);
          if (aclrtSynchronizeStream(world.stream) == ACL_SUCCESS) throw Failure("no failure");
          return;
        }
        shared->process.store(::getpid());
        while (!shared->is_written.load())
          ::usleep(200);
        const HcclResult called = GetParam().call(world, block);
        const aclError done = aclrtSynchronizeStream(world.stream);
        const std::string message = called == HCCL_SUCCESS && done == ACL_SUCCESS ? "" : aclGetRecentErrMsg();
        if (message.find(GetParam().expected) == std::string::npos)
          throw Failure("another message: " + message);
        HcclResult error = HCCL_SUCCESS;
        Check(HcclGetCommAsyncError(world.comm, &error));
        if (error == HCCL_SUCCESS) throw Failure("no asynchronous error");
      },
      20);
  for (const Ending& ending : failed)
    ADD_FAILURE() << "rank " << ending.rank << ": " << ending.failure;
  ::munmap(memory, sizeof(Shared));
}
INSTANTIATE_TEST_SUITE_P(All, NonsenseOnTheBoard, testing::ValuesIn(AllNonsense()),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace sampan::test::nonsense_test
