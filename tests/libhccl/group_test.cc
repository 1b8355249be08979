// Groups of calls: nothing waits for anything else in the group, and all of it begins at its end.
#include <gtest/gtest.h>

#include <list>

#include "tests/libhccl/case_list.h"
#include "tests/support/acl_expect.h"

namespace sampan::test {
namespace {

constexpr HcclDataType kByte = HCCL_DATA_TYPE_INT8;

void Expect(HcclResult expected, const std::string& message, HcclResult answer) {
  EXPECT_EQ(expected, answer) << RecentMessage();
  if (expected != HCCL_SUCCESS) {
    EXPECT_NE(RecentMessage().find(message), std::string::npos) << RecentMessage();
  }
}

bool HasGroup() {
  bool has = false;
  Check(HcclGroupStatusGet(&has));
  return has;
}

/// One thread is all three ranks: it makes their communicators, calls their operators and destroys them.
TEST(Group, OfOneThreadHasAllRanks) {
  HcclRootInfo info;
  HcclComm comms[3] = {};
  aclrtStream streams[3] = {};
  std::list<DeviceBlock> blocks;
  Check(aclrtSetDevice(0));
  Check(HcclGetRootInfo(&info));
  Check(HcclGroupStart());
  for (uint32_t rank = 0; rank < 3; ++rank) {
    Check(aclrtSetDevice(static_cast<int32_t>(rank)));
    Check(aclrtCreateStream(&streams[rank]));
    blocks.emplace_back(std::vector<u8>(100, static_cast<u8>(rank + 1)));
    Check(HcclCommInitRootInfo(3, &info, rank, &comms[rank]));
    EXPECT_EQ(comms[rank], nullptr);
  }
  Expect(HCCL_SUCCESS, "", HcclGroupEnd());
  Check(HcclGroupStart());
  auto block = blocks.begin();
  for (int32_t rank = 0; rank < 3; ++rank, ++block) {
    Check(aclrtSetDevice(rank));
    Check(HcclAllReduce(block->at(), block->at(), 100, kByte, HCCL_REDUCE_SUM, comms[rank], streams[rank]));
    Check(HcclBroadcast(block->at(), 50, kByte, 1, comms[rank], streams[rank]));
    Check(aclrtSynchronizeStream(streams[rank]));
    EXPECT_EQ(block->Read(), std::vector<u8>(100, static_cast<u8>(rank + 1)));
  }
  Expect(HCCL_SUCCESS, "", HcclGroupEnd());
  int32_t device = -1;
  Check(aclrtGetDevice(&device));
  EXPECT_EQ(device, 2);
  block = blocks.begin();
  for (int32_t rank = 0; rank < 3; ++rank, ++block) {
    Check(aclrtSetDevice(rank));
    Check(aclrtSynchronizeStream(streams[rank]));
    EXPECT_EQ(block->Read(), std::vector<u8>(100, 6));
    Check(aclrtDestroyStream(streams[rank]));
  }
  Check(HcclGroupStart());
  for (const HcclComm comm : comms)
    Check(HcclCommDestroy(comm));
  uint32_t size = 0;
  Expect(HCCL_SUCCESS, "", HcclGetRankSize(comms[0], &size));
  Expect(HCCL_SUCCESS, "", HcclGroupEnd());
  Expect(HCCL_E_PARA, "it was destroyed", HcclGetRankSize(comms[0], &size));
}

/// All ranks send first, which waits for ever outside of a group.
TEST(Group, OfMessagesHasNoOrder) {
  ExpectNone(RunWorlds(3, Form::kThreads, [](World& world) {
    std::vector<u8> expected(600, static_cast<u8>(world.rank + 1));
    const DeviceBlock block(expected);
    Check(HcclGroupStart());
    Check(HcclGroupStart());
    for (u32 peer = 0; peer < 3; ++peer) {
      if (peer == world.rank) continue;
      Check(HcclSend(block.at(), 100, kByte, peer, world.comm, world.stream));
      Check(HcclSend(block.at(), 7, kByte, peer, world.comm, world.stream));
    }
    for (u32 peer = 0; peer < 3; ++peer) {
      if (peer == world.rank) continue;
      const auto fill = [&](std::size_t at, std::size_t bytes) {
        std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(at), bytes, static_cast<u8>(peer + 1));
        return block.at(at);
      };
      Check(HcclRecv(fill(100 + 100 * peer, 100), 100, kByte, peer, world.comm, world.stream));
      Check(HcclRecv(fill(500 + 10 * peer, 7), 7, kByte, peer, world.comm, world.stream));
    }
    Check(HcclGroupEnd());
    if (!HasGroup()) throw Failure("the inner end ended the outer group");
    Check(HcclGroupEnd());
    if (HasGroup()) throw Failure("the group has not ended");
    world.Synchronize();
    if (block.Read() != expected) throw Failure("wrong contents");
  }));
}

/// collective-8: messages of a group are taken as they come, so the other rank may send one after the other.
TEST(Group, TakesAMessageBeforeTheNextOneComes) {
  ExpectNone(RunWorlds(
      3, Form::kThreads,
      [](World& world) {
        const DeviceBlock block(std::vector<u8>(64, static_cast<u8>(world.rank + 1)));
        const auto send = [&](u32 to) {
          Check(HcclSend(block.at(), 4, kByte, to, world.comm, world.stream));
        };
        const auto receive = [&](std::size_t at, u32 from) {
          Check(HcclRecv(block.at(at), 4, kByte, from, world.comm, world.stream));
        };
        if (world.rank == 0) {
          send(1);
          send(1);
        } else if (world.rank == 1) {
          Check(HcclGroupStart());
          receive(12, 2);  // the last one to come
          receive(4, 0);
          receive(8, 0);
          send(2);
          Check(HcclGroupEnd());
        } else {
          receive(4, 1);
          send(1);
        }
        world.Synchronize();
        std::vector<u8> expected(64, static_cast<u8>(world.rank + 1));
        if (world.rank == 1) {
          std::fill_n(expected.begin() + 4, 8, u8{1});
          std::fill_n(expected.begin() + 12, 4, u8{3});
        }
        if (world.rank == 2) std::fill_n(expected.begin() + 4, 4, u8{2});
        if (block.Read() != expected) throw Failure("wrong contents");
      },
      5));
}

/// collective-8: more receives of a batch than a pair of ranks can have messages under way.
TEST(Batch, TakesMoreMessagesThanFitOnTheBoard) {
  constexpr u32 kMessages = 150;
  ExpectNone(RunWorlds(
      2, Form::kThreads,
      [](World& world) {
        std::vector<u8> numbers(kMessages);
        for (u32 i = 0; i < kMessages; ++i)
          numbers[i] = static_cast<u8>(i + 1);
        const DeviceBlock block(world.rank == 0 ? numbers : std::vector<u8>(kMessages));
        if (world.rank == 0) {
          for (u32 i = 0; i < kMessages; ++i)
            Check(HcclSend(block.at(i), 1, kByte, 1, world.comm, world.stream));
        } else {
          std::vector<HcclSendRecvItem> items;
          for (u32 i = 0; i < kMessages; ++i)
            items.push_back({HCCL_RECV, block.at(i), 1, kByte, 0});
          Check(HcclBatchSendRecv(items.data(), kMessages, world.comm, world.stream));
        }
        world.Synchronize();
        if (block.Read() != numbers) throw Failure("wrong contents");
      },
      5));
}

TEST(Group, RefusesWhatCannotBeInIt) {
  Expect(HCCL_E_NOT_SUPPORT, "call HcclGroupStart first", HcclGroupEnd());
  Expect(HCCL_E_PTR, "isGroup is NULL", HcclGroupStatusGet(nullptr));
  ExpectNone(RunWorlds(2, Form::kThreads, [](World& world) {
    const DeviceBlock block(std::vector<u8>(64, 1)), received(64);
    const u32 peer = 1 - world.rank;
    HcclSendRecvItem item{HCCL_SEND, block.at(), 1, kByte, peer};
    Check(HcclGroupStart());
    Expect(HCCL_E_PTR, "comm is NULL", HcclBarrier(nullptr, world.stream));
    Check(HcclBarrier(world.comm, world.stream));
    Expect(HCCL_E_NOT_SUPPORT, "has collective operators",
           HcclSend(block.at(), 1, kByte, peer, world.comm, world.stream));
    Expect(HCCL_E_NOT_SUPPORT, "has collective operators", HcclCommDestroy(world.comm));
    Expect(HCCL_E_NOT_SUPPORT, "cannot have a batch", HcclBatchSendRecv(&item, 1, world.comm, world.stream));
    Check(HcclGroupEnd());
    Check(HcclGroupStart());
    for (int i = 0; i < 64; ++i)
      Check(HcclSend(block.at(), 1, kByte, peer, world.comm, world.stream));
    Expect(HCCL_E_NOT_SUPPORT, "more than 64 messages",
           HcclSend(block.at(), 1, kByte, peer, world.comm, world.stream));
    Expect(HCCL_E_NOT_SUPPORT, "has messages", HcclBarrier(world.comm, world.stream));
    for (int i = 0; i < 64; ++i)
      Check(HcclRecv(received.at(), 1, kByte, peer, world.comm, world.stream));
    Check(HcclGroupEnd());
    world.Synchronize();
  }));
}

/// collective-17: The call that fails ends the group, and the next group is a new one.
TEST(Group, EndsAtTheFirstFailure) {
  ExpectNone(RunWorlds(2, Form::kThreads, [](World& world) {
    const DeviceBlock block(std::vector<u8>(64, 1));
    Check(HcclGroupStart());
    Check(HcclAllReduce(block.at(), block.at(), 64, kByte, HCCL_REDUCE_SUM, world.comm, world.stream));
    Check(HcclBarrier(world.comm, block.at()));
    Check(HcclAllReduce(block.at(), block.at(), 64, kByte, HCCL_REDUCE_SUM, world.comm, world.stream));
    Expect(HCCL_E_RUNTIME, "stream", HcclGroupEnd());
    world.Synchronize();
    if (block.Read() != std::vector<u8>(64, 2)) throw Failure("wrong contents");
    Check(HcclBarrier(world.comm, world.stream));
    world.Synchronize();
  }));
  HcclRootInfo info;
  HcclComm made = nullptr, missing = nullptr;
  Check(aclrtSetDevice(0));
  Check(HcclGetRootInfo(&info));
  Check(HcclGroupStart());
  Check(HcclCommInitRootInfo(1, &info, 0, &made));
  HcclCommConfig config = ConfigWithLimit(60);
  std::strcpy(config.hcclCommName, "twice");
  HcclRootInfo second, third;
  Check(HcclGetRootInfo(&second));
  Check(HcclGetRootInfo(&third));
  Check(HcclCommInitRootInfoConfig(1, &second, 0, &config, &missing));
  Check(HcclCommInitRootInfoConfig(1, &third, 0, &config, &missing));
  Expect(HCCL_E_PARA, "has a communicator 'twice' already", HcclGroupEnd());
  EXPECT_EQ(made, nullptr);
  EXPECT_EQ(missing, nullptr);
}

}  // namespace
}  // namespace sampan::test
