// hccl::RankGroup: who gets in, what is exchanged, and what happens when ranks do not come or do not fit.
// Rules of docs/BEHAVIOUR.md: hccl-12.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <fstream>

#include "tests/hccl/rank_threads.h"
#include "tests/support/temporary_folder.h"

namespace sampan::test::group_test {
namespace {

using hccl::RankGroup;
using hccl::RankGroupConfig;
using std::chrono::milliseconds;

TEST(GroupTest, ConfigurationsAreChecked) {
  const RankGroupConfig good = GroupOf(1);
  EXPECT_HCCL(HCCL_SUCCESS, Join(good, 0));
  EXPECT_HCCL(HCCL_E_PARA, Join(good, 1));
  const auto refused = [&](auto change) {
    RankGroupConfig config = good;
    change(config);
    return Join(config, 0);
  };
  EXPECT_HCCL(HCCL_E_PARA, refused([](RankGroupConfig& config) { config.rankSize = 0; }));
  EXPECT_HCCL(HCCL_E_PARA, refused([](RankGroupConfig& config) { config.rankSize = 5000; }));
  EXPECT_HCCL(HCCL_E_PARA, refused([](RankGroupConfig& config) { config.name.clear(); }));
  EXPECT_HCCL(HCCL_E_PARA, refused([](RankGroupConfig& config) { config.name.assign(65, 'x'); }));
  EXPECT_HCCL(HCCL_E_PARA, refused([](RankGroupConfig& config) { config.token = "short"; }));
  EXPECT_TRUE(MessageHas("token has 5 characters"));
  EXPECT_HCCL(HCCL_E_PARA, refused([](RankGroupConfig& config) { config.timeout = milliseconds(0); }));
  EXPECT_HCCL(HCCL_E_PARA, refused([](RankGroupConfig& config) { config.file = "/nowhere"; }));
}

TEST(GroupTest, TokensAreRandom) {
  const std::string token = RankGroup::MakeToken();
  EXPECT_EQ(token.size(), 32u);
  EXPECT_NE(token, RankGroup::MakeToken());
}

TEST(GroupTest, ExchangesCarryTheBytesOfEveryRank) {
  RunRanks(5, [](RankWorld& world) {
    for (std::size_t round = 0; round < 20; ++round) {
      const std::vector<u8> mine(round * 1000 + world.rank, static_cast<u8>(world.rank + round));
      std::vector<std::vector<u8>> all;
      ASSERT_HCCL(HCCL_SUCCESS, world.group->Exchange(mine, all));
      ASSERT_EQ(all.size(), 5u);
      for (u32 rank = 0; rank < 5; ++rank)
        EXPECT_EQ(all[rank], std::vector<u8>(round * 1000 + rank, static_cast<u8>(rank + round)));
    }
  });
}

TEST(GroupTest, ExchangesHaveALimit) {
  RunRanks(5, [](RankWorld& world) {
    std::vector<std::vector<u8>> all;
    EXPECT_HCCL(HCCL_E_PARA, world.group->Exchange(std::vector<u8>(std::size_t{7} << 20), all));
    ASSERT_HCCL(HCCL_SUCCESS, world.group->Exchange(std::vector<u8>(std::size_t{6} << 20, 1), all));
    EXPECT_EQ(all[4].size(), std::size_t{6} << 20);
  });
}

TEST(GroupTest, ABarrierHoldsEveryRank) {
  std::atomic<int> arrived{0};
  RunRanks(4, [&](RankWorld& world) {
    for (int round = 1; round <= 10; ++round) {
      arrived.fetch_add(1);
      EXPECT_HCCL(HCCL_SUCCESS, world.group->Barrier());
      EXPECT_GE(arrived.load(), 4 * round);
      EXPECT_HCCL(HCCL_SUCCESS, world.group->Barrier());
    }
  });
}

TEST(GroupTest, RanksThatDoNotComeAreNamed) {
  RankGroupConfig config = GroupOf(4);
  config.timeout = milliseconds(300);
  std::thread other([&] {
    EXPECT_HCCL(HCCL_E_TIMEOUT, Join(config, 2));
    EXPECT_TRUE(MessageHas("missing: 1, 3"));
  });
  EXPECT_HCCL(HCCL_E_TIMEOUT, Join(config, 0));
  EXPECT_TRUE(MessageHas("missing: 1, 3"));
  other.join();
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_HCCL(HCCL_E_TIMEOUT, Join(config, 1));
  EXPECT_TRUE(MessageHas("did not find rank 0"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST(GroupTest, AnotherTokenIsAnotherGroup) {
  RankGroupConfig first = GroupOf(1), second = first;
  second.token = RankGroup::MakeToken();
  std::shared_ptr<RankGroup> one, two;
  first.rank = second.rank = 0;
  EXPECT_HCCL(HCCL_SUCCESS, RankGroup::Join(first, one));
  EXPECT_HCCL(HCCL_SUCCESS, RankGroup::Join(second, two)) << "the same name does not disturb";
}

TEST(GroupTest, ARankThatIsThereAlreadyIsRefused) {
  RankGroupConfig config = GroupOf(3);
  config.timeout = std::chrono::seconds(20);
  std::thread zero([&] { EXPECT_HCCL(HCCL_SUCCESS, Join(config, 0)); });
  std::atomic<int> joined{0}, refused{0};
  std::thread first([&] { (Join(config, 1) == HCCL_SUCCESS ? joined : refused).fetch_add(1); });
  std::thread second([&] { (Join(config, 1) == HCCL_SUCCESS ? joined : refused).fetch_add(1); });
  while (refused.load() == 0)
    std::this_thread::sleep_for(milliseconds(1));
  RankGroupConfig larger = config;
  larger.rankSize = 4;
  EXPECT_HCCL(HCCL_E_PARA, Join(larger, 2));
  EXPECT_TRUE(MessageHas("rank 2 says that the group has 4 ranks, rank 0 says 3"));
  EXPECT_HCCL(HCCL_SUCCESS, Join(config, 2)) << "the refused ones are not in the way";
  for (std::thread* each : {&zero, &first, &second})
    each->join();
  EXPECT_EQ(joined.load(), 1);
  EXPECT_EQ(refused.load(), 1);
}

TEST(GroupTest, OnlyOneRankZero) {
  RankGroupConfig config = GroupOf(2);
  config.timeout = std::chrono::seconds(20);
  std::thread zero([&] { EXPECT_HCCL(HCCL_SUCCESS, Join(config, 0)); });
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_HCCL(HCCL_E_UNAVAIL, Join(config, 0));
  EXPECT_HCCL(HCCL_SUCCESS, Join(config, 1));
  zero.join();
}

TEST(GroupTest, AFileCanBeTheMeetingPoint) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/ranks";
  ASSERT_HCCL(HCCL_SUCCESS, RankGroup::MakeFile(path));
  EXPECT_HCCL(HCCL_E_OPEN_FILE_FAILURE, RankGroup::MakeFile(path)) << "it is never written over";
  RankGroupConfig config;
  config.file = path;
  config.rankSize = 3;
  config.timeout = std::chrono::seconds(20);
  std::vector<std::thread> threads;
  for (u32 rank = 0; rank < 3; ++rank)
    threads.emplace_back([&, rank] { EXPECT_HCCL(HCCL_SUCCESS, Join(config, rank)); });
  for (std::thread& thread : threads)
    thread.join();
  ASSERT_EQ(::chmod(path.c_str(), 0644), 0);
  EXPECT_HCCL(HCCL_E_PARA, Join(config, 0)) << "others could read the token";
  config.file = path + ".gone";
  EXPECT_HCCL(HCCL_E_OPEN_FILE_FAILURE, Join(config, 0));
  config.file = path + ".empty";
  std::ofstream(config.file) << "x";
  ASSERT_EQ(::chmod(config.file.c_str(), 0600), 0);
  EXPECT_HCCL(HCCL_E_PARA, Join(config, 0));
}

TEST(GroupTest, LeavingIsNoFailureUntilOthersNeedTheRank) {
  std::atomic<int> looked{0};
  RunRanks(3, [&](RankWorld& world) {
    if (world.rank == 0) {
      world.group.reset();  // the one that keeps the others together
      return;
    }
    std::this_thread::sleep_for(milliseconds(20));
    EXPECT_HCCL(HCCL_SUCCESS, world.group->Status());
    looked.fetch_add(1);
    while (looked.load() < 2)
      std::this_thread::sleep_for(milliseconds(1));
    EXPECT_HCCL(HCCL_E_REMOTE, world.group->Barrier());
    EXPECT_TRUE(MessageHas("rank 0 has left the group"));
  });
}

TEST(GroupTest, APostToARankThatLeftNamesIt) {
  std::atomic<bool> left{false};
  RunRanks(2, [&](RankWorld& world) {
    hccl::MachinePara para;
    hccl::DeviceMem memory = hccl::DeviceMem::alloc(64);
    para.inputMem = para.outputMem = memory;
    world.Connect(para);
    if (world.rank == 1) {
      world.links.clear();
      left.store(true);
      return;
    }
    while (!left.load())
      std::this_thread::sleep_for(milliseconds(1));
    EXPECT_HCCL(HCCL_E_RUNTIME, world.links[1]->TxAck(world.stream));
    EXPECT_TRUE(MessageHas("rank 1 has left"));
    EXPECT_TRUE(MessageHas("from rank 0 to rank 1"));
  });
}

TEST(GroupTest, APostBehindAFailedTaskIsWithheld) {
  RunRanks(2, [](RankWorld& world) {
    hccl::MachinePara para;
    hccl::DeviceMem memory = hccl::DeviceMem::alloc(64);
    para.inputMem = para.outputMem = memory;
    world.Connect(para);
    hccl::Transport& link = *world.links[1 - world.rank];
    if (world.rank == 0) {
      aclrtNotify freed = nullptr;
      void* source = nullptr;
      ASSERT_ACL(ACL_SUCCESS, aclrtCreateNotify(&freed, 0));
      ASSERT_ACL(ACL_SUCCESS, aclrtMalloc(&source, 64, ACL_MEM_MALLOC_HUGE_FIRST));
      EXPECT_ACL(ACL_SUCCESS, aclrtWaitAndResetNotify(freed, world.stream.ptr(), 60));
      EXPECT_ACL(ACL_SUCCESS, aclrtMemcpyAsync(memory.ptr(), 64, source, 64, ACL_MEMCPY_DEVICE_TO_DEVICE,
                                               world.stream.ptr()));
      EXPECT_HCCL(HCCL_SUCCESS, link.TxDataSignal(world.stream));
      EXPECT_HCCL(HCCL_SUCCESS, world.group->Barrier());
      EXPECT_ACL(ACL_SUCCESS, aclrtFree(source));
      hccl::Stream other(hccl::StreamType::STREAM_TYPE_ONLINE, false);
      EXPECT_ACL(ACL_SUCCESS, aclrtRecordNotify(freed, other.ptr()));
      EXPECT_NE(aclrtSynchronizeStream(world.stream.ptr()), ACL_SUCCESS);
      EXPECT_ACL(ACL_SUCCESS, aclrtDestroyNotify(freed));
    } else {
      EXPECT_HCCL(HCCL_SUCCESS, link.RxDataSignal(world.stream));
      EXPECT_HCCL(HCCL_SUCCESS, world.group->Barrier());
      EXPECT_EQ(aclrtSynchronizeStream(world.stream.ptr()), ACL_ERROR_RT_TASK_TIMEOUT) << "there is no data";
      EXPECT_TRUE(MessageHas("rank 0: task "));
    }
    while (world.group->Status() == HCCL_SUCCESS)
      std::this_thread::sleep_for(milliseconds(1));
    EXPECT_HCCL(HCCL_E_REMOTE, world.group->Status());
    aclrtGetLastError(ACL_RT_THREAD_LEVEL);
    world.links.clear();
  });
}

TEST(GroupTest, AnExchangeThatARankMissesEnds) {
  RankGroupConfig config = GroupOf(2);
  config.timeout = milliseconds(500);
  config.rank = 0;
  std::atomic<bool> done{false};
  std::thread other([&] {
    std::shared_ptr<RankGroup> group;
    RankGroupConfig mine = config;
    mine.rank = 1;
    EXPECT_HCCL(HCCL_SUCCESS, RankGroup::Join(mine, group));
    while (!done.load())
      std::this_thread::sleep_for(milliseconds(1));
    std::string reason;
    EXPECT_HCCL(HCCL_E_TIMEOUT, group->Status(&reason));
    EXPECT_NE(reason.find("rank 0 waited 500 ms"), std::string::npos) << reason;
  });
  std::shared_ptr<RankGroup> group;
  EXPECT_HCCL(HCCL_SUCCESS, RankGroup::Join(config, group));
  EXPECT_HCCL(HCCL_E_TIMEOUT, group->Barrier());
  std::this_thread::sleep_for(milliseconds(100));
  done.store(true);
  other.join();
}

/// Each rank's call with its own change; all of them fail.
void ExpectNoLinks(const std::function<void(RankWorld&, hccl::MachinePara&, std::vector<u32>&)>& change,
                   HcclResult mine) {
  RunRanks(3, [&](RankWorld& world) {
    hccl::MachinePara para;
    hccl::DeviceMem memory = hccl::DeviceMem::alloc(64);
    para.inputMem = para.outputMem = memory;
    std::vector<u32> peers;
    for (u32 rank = 0; rank < 3; ++rank) {
      if (rank != world.rank) peers.push_back(rank);
    }
    change(world, para, peers);
    std::vector<LINK> links;
    const HcclResult answer = world.group->Connect(*world.dispatcher, para, peers, links);
    if (world.rank == 1) {
      EXPECT_HCCL(mine, answer);
    } else {
      EXPECT_NE(answer, HCCL_SUCCESS) << "rank " << world.rank;
    }
    EXPECT_TRUE(links.empty());
    EXPECT_HCCL(HCCL_SUCCESS, world.group->Status()) << "the group itself is whole";
    world.Connect(para = [&] {
      hccl::MachinePara again;
      again.inputMem = again.outputMem = memory;
      return again;
    }());
    EXPECT_HCCL(HCCL_SUCCESS, world.group->Barrier());
    world.links.clear();
  });
}

TEST(GroupTest, LinksAreMadeForAllOrNone) {
  ExpectNoLinks(
      [](RankWorld& world, hccl::MachinePara& para, std::vector<u32>&) {
        if (world.rank == 1) para.inputMem = hccl::DeviceMem();
      },
      HCCL_E_PTR);
  ExpectNoLinks(
      [](RankWorld& world, hccl::MachinePara& para, std::vector<u32>&) {
        if (world.rank == 1) para.linkAttribute = 0;
      },
      HCCL_E_PARA);
  ExpectNoLinks(
      [](RankWorld& world, hccl::MachinePara& para, std::vector<u32>&) {
        if (world.rank == 1) para.linkAttribute = 1;
      },
      HCCL_E_PARA);
  ExpectNoLinks(
      [](RankWorld& world, hccl::MachinePara& para, std::vector<u32>&) {
        if (world.rank == 1) para.notifyNum = 4;
      },
      HCCL_E_PARA);
  ExpectNoLinks(
      [](RankWorld& world, hccl::MachinePara&, std::vector<u32>& peers) {
        if (world.rank == 1) peers.push_back(1);
      },
      HCCL_E_PARA);
  ExpectNoLinks(
      [](RankWorld& world, hccl::MachinePara&, std::vector<u32>& peers) {
        if (world.rank == 0) peers = {2};  // rank 1 still names rank 0
      },
      HCCL_E_PARA);
}

TEST(GroupTest, LinksToSomePeersOnly) {
  RunRanks(4, [](RankWorld& world) {
    hccl::MachinePara para;
    hccl::DeviceMem memory = hccl::DeviceMem::alloc(64);
    para.inputMem = para.outputMem = memory;
    std::vector<LINK> links;
    const std::vector<u32> peers = {(world.rank + 1) % 4, (world.rank + 3) % 4};
    EXPECT_HCCL(HCCL_SUCCESS, world.group->Connect(*world.dispatcher, para, peers, links));
    ASSERT_EQ(links.size(), 4u);
    EXPECT_EQ(links[world.rank], nullptr);
    EXPECT_EQ(links[(world.rank + 2) % 4], nullptr);
    EXPECT_EQ(links[(world.rank + 1) % 4]->GetRemoteRank(), (world.rank + 1) % 4);
    EXPECT_HCCL(HCCL_SUCCESS, world.group->Barrier());
  });
}

}  // namespace
}  // namespace sampan::test::group_test
