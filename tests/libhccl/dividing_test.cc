// Communicators of some ranks of another one.
#include <gtest/gtest.h>

#include "tests/libhccl/case_list.h"

namespace sampan::test {
namespace {

HcclComm Divide(World& world, std::vector<uint32_t> ranks, uint64_t id, u32 own) {
  HcclCommConfig config = ConfigWithLimit(60);
  HcclComm made = nullptr;
  Check(HcclCreateSubCommConfig(&world.comm, static_cast<uint32_t>(ranks.size()), ranks.data(), id, own,
                                &config, &made));
  return made;
}

void Expect(HcclResult expected, HcclResult answer) {
  if (answer != expected)
    throw Failure("answered " + std::to_string(answer) + ", expected " + std::to_string(expected) + ": " +
                  aclGetRecentErrMsg());
}

/// Even and odd ranks add up apart, in one communicator after the other with the same name.
TEST(SubCommunicators, WorkApartAndAgain) {
  ExpectNone(RunWorlds(5, Form::kThreads, [](World& world) {
    for (int round = 0; round < 3; ++round) {
      const bool odd = world.rank % 2 == 1;
      const HcclComm half =
          odd ? Divide(world, {1, 3}, 7, world.rank / 2) : Divide(world, {0, 2, 4}, 8, world.rank / 2);
      const DeviceBlock block(std::vector<u8>(100, static_cast<u8>(1 + world.rank)));
      Check(HcclAllReduce(block.at(), block.at(), 100, HCCL_DATA_TYPE_INT8, HCCL_REDUCE_SUM, half,
                          world.stream));
      world.Synchronize();
      if (block.Read() != std::vector<u8>(100, odd ? 6 : 9)) throw Failure("a wrong sum");
      uint32_t rank = 9, size = 9;
      char name[128];
      Check(HcclGetRankId(half, &rank));
      Check(HcclGetRankSize(half, &size));
      Check(HcclGetCommName(half, name));
      if (rank != world.rank / 2 || size != (odd ? 2U : 3U)) throw Failure("a wrong rank or size");
      if (std::string(name).find(odd ? "_sub_7" : "_sub_8") == std::string::npos) throw Failure(name);
      Check(HcclCommDestroy(half));
    }
  }));
}

/// collective-23: rank 0 makes id 7 with rank 1, and later with rank 2, which has never made one.
TEST(SubCommunicators, OfOneIdMayHaveOtherMembersLater) {
  ExpectNone(RunWorlds(
      3, Form::kThreads,
      [](World& world) {
        for (const u32 other : {1U, 2U}) {
          if (world.rank == 0 || world.rank == other) {
            uint32_t members[] = {0, other};
            HcclCommConfig config = ConfigWithLimit(5);
            HcclComm made = nullptr;
            Check(
                HcclCreateSubCommConfig(&world.comm, 2, members, 7, world.rank == 0 ? 0 : 1, &config, &made));
            const DeviceBlock block(std::vector<u8>(100, static_cast<u8>(1 + world.rank)));
            Check(HcclAllReduce(block.at(), block.at(), 100, HCCL_DATA_TYPE_INT8, HCCL_REDUCE_SUM, made,
                                world.stream));
            world.Synchronize();
            if (block.Read() != std::vector<u8>(100, static_cast<u8>(2 + other)))
              throw Failure("a wrong sum");
            Check(HcclCommDestroy(made));
          }
          Check(HcclBarrier(world.comm, world.stream));
          world.Synchronize();
        }
      },
      5));
}

TEST(SubCommunicators, NameAMemberThatDidNotMakeIt) {
  ExpectNone(RunWorlds(2, Form::kThreads, [](World& world) {
    if (world.rank == 0) {
      uint32_t both[] = {0, 1};
      HcclCommConfig config = ConfigWithLimit(1);
      HcclComm made = nullptr;
      Check(HcclCreateSubCommConfig(&world.comm, 2, both, 5, 0, &config, &made));
      Check(HcclBarrier(made, world.stream));
      if (aclrtSynchronizeStream(world.stream) == ACL_SUCCESS) throw Failure("it did not fail");
      const std::string message = aclGetRecentErrMsg();
      if (message.find("rank 1 has not made its communicator") == std::string::npos) throw Failure(message);
      Check(HcclCommDestroy(made));
    }
  }));
}

TEST(SubCommunicators, RefuseWrongArgumentsInOrder) {
  ExpectNone(RunWorlds(2, Form::kThreads, [](World& world) {
    HcclCommConfig config = ConfigWithLimit(60);
    HcclComm made = nullptr;
    uint32_t both[] = {0, 1}, descending[] = {1, 0}, large[] = {0, 2}, own[] = {world.rank};
    const auto make = [&](uint32_t count, uint32_t* ranks, uint64_t id, u32 place) {
      return HcclCreateSubCommConfig(&world.comm, count, ranks, id, place, &config, &made);
    };
    Expect(HCCL_E_PTR, HcclCreateSubCommConfig(nullptr, 0, nullptr, 0xFFFFFFFF, 0, nullptr, nullptr));
    Expect(HCCL_SUCCESS, HcclCreateSubCommConfig(nullptr, 0, nullptr, 0xFFFFFFFF, 0, nullptr, &made));
    Expect(HCCL_E_PARA, make(2, nullptr, 1, 0));
    Expect(HCCL_E_PARA, make(2, both, 0xFFFFFFFF, 0));
    Expect(HCCL_E_PARA, make(0, both, 1, 0));
    Expect(HCCL_E_PARA, make(2, both, 1, 2));
    Expect(HCCL_E_PTR, HcclCreateSubCommConfig(nullptr, 2, both, 1, 0, &config, &made));
    Expect(HCCL_E_PTR, HcclCreateSubCommConfig(&world.comm, 2, both, 1, 0, nullptr, &made));
    Expect(HCCL_E_PARA, make(2, descending, 1, 1 - world.rank));
    Expect(HCCL_E_PARA, make(2, large, 1, 0));
    Expect(HCCL_E_PARA, make(2, both, 1, 1 - world.rank));
    Expect(HCCL_SUCCESS, make(1, own, 1, 0));
    HcclComm again = nullptr;
    Expect(HCCL_E_PARA, HcclCreateSubCommConfig(&world.comm, 1, own, 1, 0, &config, &again));
    Expect(HCCL_E_NOT_SUPPORT, HcclCreateSubCommConfig(&made, 1, own, 2, 0, &config, &again));
    Check(HcclCommDestroy(made));
  }));
}

}  // namespace
}  // namespace sampan::test
