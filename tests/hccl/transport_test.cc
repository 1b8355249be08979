// hccl::Transport between ranks that are threads.
// Rules of docs/BEHAVIOUR.md: hccl-6, hccl-7, hccl-8, hccl-9, hccl-10.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "hccl/platform/local_notify.h"
#include "tests/hccl/rank_threads.h"
#include "tests/support/child_process.h"

namespace sampan::test::transport_test {
namespace {

using hccl::DeviceMem;
using hccl::LinkType;
using hccl::UserMemType;
using Buffer = hccl::Transport::Buffer;

constexpr u64 kBytes = 4096;

/// Two ranks with an input and an output each, whose contents their rank determines.
struct PairWorld {
  PairWorld(RankWorld& of, hccl::MachinePara para)
      : world(of), input(DeviceBytes(Contents(world.rank, 1))), output(DeviceBytes(Contents(world.rank, 2))) {
    para.inputMem = input;
    para.outputMem = output;
    world.Connect(para);
    if (world.links.size() == world.size) link = world.links[1 - world.rank].get();
  }
  /// No rank frees its memory before all ranks are done.
  ~PairWorld() { EXPECT_HCCL(HCCL_SUCCESS, world.group->Barrier()); }

  static Bytes Contents(std::uint32_t rank, int which) {
    Bytes bytes(kBytes);
    for (std::size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<std::byte>(i * 7 + rank * 50 + static_cast<std::uint32_t>(which) * 111);
    return bytes;
  }
  u8* at(const DeviceMem& memory, u64 offset) const { return static_cast<u8*>(memory.ptr()) + offset; }

  RankWorld& world;
  DeviceMem input, output;
  hccl::Transport* link = nullptr;
};

void RunPair(const std::function<void(PairWorld&)>& body,
             const hccl::MachinePara& para = hccl::MachinePara()) {
  RunRanks(2, [&](RankWorld& world) {
    PairWorld pair(world, para);
    ASSERT_NE(pair.link, nullptr);
    body(pair);
  });
}

hccl::MachinePara WriteMode() {
  hccl::MachinePara para;
  para.linkAttribute = hccl::LINK_ATTRIBUTE_WRITE;
  return para;
}

Bytes Part(const Bytes& bytes, std::size_t offset, std::size_t length) {
  const auto first = bytes.begin() + static_cast<std::ptrdiff_t>(offset);
  return {first, first + static_cast<std::ptrdiff_t>(length)};
}

TEST(TransportTest, TellsItsFacts) {
  RunRanks(3, [](RankWorld& world) {
    hccl::MachinePara para;
    DeviceMem memory = DeviceMem::alloc(kBytes), larger = DeviceMem::alloc(2 * kBytes);
    para.inputMem = memory;
    para.outputMem = larger;
    para.localWorldRank = 100 + world.rank;
    para.notifyNum = 3;
    para.exchangeInfo = {static_cast<u8>(world.rank), 42};
    world.Connect(para);
    ASSERT_EQ(world.links.size(), 3u);
    EXPECT_EQ(world.links[world.rank], nullptr);
    for (std::uint32_t peer = 0; peer < 3; ++peer) {
      if (peer == world.rank) continue;
      hccl::Transport& link = *world.links[peer];
      EXPECT_EQ(link.GetRemoteRank(), 100 + peer) << "the world rank";
      EXPECT_EQ(link.GetLinkType(), LinkType::LINK_HCCS);
      EXPECT_TRUE(link.IsSpInlineReduce());
      EXPECT_FALSE(link.IsTransportRoce());
      EXPECT_FALSE(link.IsSupportTransportWithReduce());
      EXPECT_EQ(link.GetTransportType(), TransportType::TRANS_TYPE_P2P);
      EXPECT_EQ(link.GetNotifyNum(), 3u);
      EXPECT_EQ(link.GetExchangeInfo(), (std::vector<u8>{static_cast<u8>(peer), 42}));
      u64 size = 0;
      EXPECT_HCCL(HCCL_SUCCESS, link.GetRemoteMemSize(UserMemType::INPUT_MEM, size));
      EXPECT_EQ(size, kBytes);
      EXPECT_HCCL(HCCL_SUCCESS, link.GetRemoteMemSize(UserMemType::OUTPUT_MEM, size));
      EXPECT_EQ(size, 2 * kBytes);
      void* address = nullptr;
      EXPECT_HCCL(HCCL_SUCCESS, link.GetRemoteMem(UserMemType::INPUT_MEM, &address));
      EXPECT_NE(address, nullptr);
      EXPECT_HCCL(HCCL_E_NOT_SUPPORT, link.GetRemoteMem(UserMemType::MEM_RESERVED, &address));
      EXPECT_HCCL(HCCL_E_NOT_SUPPORT, link.GetRemoteMemSize(UserMemType::MEM_RESERVED, size));
      EXPECT_HCCL(HCCL_E_PTR, link.GetRemoteMem(UserMemType::INPUT_MEM, nullptr));
    }
    EXPECT_HCCL(HCCL_SUCCESS, world.group->Barrier());
    world.links.clear();
  });
}

TEST(TransportTest, RanksOfOneDeviceAreOnOneChip) {
  std::uint32_t devices = 0;
  ASSERT_ACL(ACL_SUCCESS, aclrtGetDeviceCount(&devices));
  RunRanks(devices + 1, [&](RankWorld& world) {
    hccl::MachinePara para;
    DeviceMem memory = DeviceMem::alloc(kBytes);
    para.inputMem = para.outputMem = memory;
    world.Connect(para);
    if (world.rank == 0) {
      EXPECT_EQ(world.links[devices]->GetLinkType(), LinkType::LINK_ONCHIP);
      EXPECT_FALSE(world.links[devices]->IsSpInlineReduce());
    }
    EXPECT_HCCL(HCCL_SUCCESS, world.group->Barrier());
    world.links.clear();
  });
}

TEST(TransportTest, ReadModeReads) {
  RunPair([](PairWorld& pair) {
    hccl::Stream& stream = pair.world.stream;
    if (pair.world.rank == 0) {
      EXPECT_HCCL(HCCL_SUCCESS, pair.link->RxAck(stream));
      EXPECT_HCCL(HCCL_SUCCESS, pair.link->TxAsync(UserMemType::INPUT_MEM, 0, nullptr, 0, stream));
      std::vector<hccl::TxMemoryInfo> none(2);
      EXPECT_HCCL(HCCL_SUCCESS, pair.link->RxAck(stream));
      EXPECT_HCCL(HCCL_SUCCESS, pair.link->TxAsync(none, stream)) << "what it says is not looked at";
    } else {
      EXPECT_HCCL(HCCL_SUCCESS, pair.link->TxAck(stream));
      EXPECT_HCCL(HCCL_SUCCESS,
                  pair.link->RxAsync(UserMemType::OUTPUT_MEM, 96, pair.at(pair.input, 32), 100, stream));
      EXPECT_HCCL(HCCL_SUCCESS, pair.link->TxAck(stream));
      std::vector<hccl::RxMemoryInfo> parts = {
          {UserMemType::INPUT_MEM, 0, pair.at(pair.output, 0), 10},
          {UserMemType::OUTPUT_MEM, 1, pair.at(pair.output, 20), 0},
          {UserMemType::INPUT_MEM, kBytes - 1, pair.at(pair.output, 10), 1}};
      EXPECT_HCCL(HCCL_SUCCESS, pair.link->RxAsync(parts, stream));
    }
    pair.world.Synchronize();
    if (pair.world.rank == 0) return;
    Bytes input = PairWorld::Contents(1, 1), output = PairWorld::Contents(1, 2);
    const Bytes their_input = PairWorld::Contents(0, 1), their_output = PairWorld::Contents(0, 2);
    std::copy_n(their_output.begin() + 96, 100, input.begin() + 32);
    std::copy_n(their_input.begin(), 10, output.begin());
    output[10] = their_input[kBytes - 1];
    EXPECT_TRUE(HostBytes(pair.input) == input);
    EXPECT_TRUE(HostBytes(pair.output) == output);
  });
}

TEST(TransportTest, WriteModeWrites) {
  RunPair(
      [](PairWorld& pair) {
        hccl::Stream& stream = pair.world.stream;
        if (pair.world.rank == 0) {
          EXPECT_HCCL(HCCL_SUCCESS, pair.link->RxAck(stream));
          EXPECT_HCCL(HCCL_SUCCESS,
                      pair.link->TxAsync(UserMemType::INPUT_MEM, 8, pair.at(pair.output, 4), 100, stream));
          std::vector<hccl::TxMemoryInfo> parts = {
              {UserMemType::OUTPUT_MEM, 0, pair.at(pair.input, 0), 16},
              {UserMemType::OUTPUT_MEM, 32, pair.at(pair.input, 16), 16}};
          EXPECT_HCCL(HCCL_SUCCESS, pair.link->RxAck(stream));
          EXPECT_HCCL(HCCL_SUCCESS, pair.link->TxAsync(parts, stream));
          EXPECT_HCCL(HCCL_SUCCESS, pair.link->RxAck(stream));
          EXPECT_HCCL(HCCL_SUCCESS, pair.link->TxAsync(UserMemType::INPUT_MEM, 0, nullptr, 5, stream));
          parts[1].src = nullptr;
          EXPECT_HCCL(HCCL_E_PTR, pair.link->TxAsync(parts, stream));
          parts[1] = {UserMemType::OUTPUT_MEM, kBytes, pair.at(pair.input, 0), 1};
          EXPECT_HCCL(HCCL_E_PARA, pair.link->TxAsync(parts, stream));
        } else {
          for (int i = 0; i < 3; ++i) {
            EXPECT_HCCL(HCCL_SUCCESS, pair.link->TxAck(stream));
            EXPECT_HCCL(HCCL_SUCCESS, pair.link->RxAsync(UserMemType::INPUT_MEM, 0, nullptr, 0, stream));
          }
        }
        pair.world.Synchronize();
        if (pair.world.rank == 0) return;
        Bytes input = PairWorld::Contents(1, 1), output = PairWorld::Contents(1, 2);
        const Bytes their_input = PairWorld::Contents(0, 1), their_output = PairWorld::Contents(0, 2);
        std::copy_n(their_output.begin() + 4, 100, input.begin() + 8);
        std::copy_n(their_input.begin(), 16, output.begin());
        std::copy_n(their_input.begin() + 16, 16, output.begin() + 32);
        EXPECT_TRUE(HostBytes(pair.input) == input);
        EXPECT_TRUE(HostBytes(pair.output) == output);
      },
      WriteMode());
}

TEST(TransportTest, OffsetsAreHeldAgainstThePeersMemory) {
  RunPair([](PairWorld& pair) {
    hccl::Stream& stream = pair.world.stream;
    void* const dst = pair.output.ptr();
    const auto receive = [&](u64 offset, u64 length) {
      return pair.link->RxAsync(UserMemType::INPUT_MEM, offset, dst, length, stream);
    };
    EXPECT_HCCL(HCCL_E_PARA, receive(0, kBytes + 1));
    EXPECT_TRUE(MessageHas("offset 0 and length 4097 are not inside the 4096 bytes of INPUT_MEM of rank"));
    EXPECT_HCCL(HCCL_E_PARA, receive(kBytes, 1));
    EXPECT_HCCL(HCCL_E_PARA, receive(~u64{0}, 2)) << "the sum wraps round";
    EXPECT_HCCL(HCCL_E_PARA, receive(2, ~u64{0}));
    EXPECT_HCCL(HCCL_E_NOT_SUPPORT, pair.link->RxAsync(UserMemType::MEM_RESERVED, 0, dst, 1, stream));
    std::vector<hccl::RxMemoryInfo> parts = {{UserMemType::INPUT_MEM, 0, dst, 1},
                                             {UserMemType::INPUT_MEM, 0, nullptr, 0}};
    EXPECT_HCCL(HCCL_E_PTR, pair.link->RxAsync(parts, stream));
    parts[1] = {UserMemType::OUTPUT_MEM, 1, dst, kBytes};
    EXPECT_HCCL(HCCL_E_PARA, pair.link->RxAsync(parts, stream));
    EXPECT_HCCL(HCCL_E_PARA, pair.link->RxData(UserMemType::INPUT_MEM, 1, dst, kBytes, stream));
    pair.world.Synchronize();  // nothing was queued, so no wait blocks without a post
    EXPECT_TRUE(HostBytes(pair.output) == PairWorld::Contents(pair.world.rank, 2));
  });
}

TEST(TransportTest, OneSidedCopiesAndReductions) {
  RunPair([](PairWorld& pair) {
    hccl::Stream& stream = pair.world.stream;
    if (pair.world.rank == 0) {
      void *input = nullptr, *output = nullptr;
      ASSERT_HCCL(HCCL_SUCCESS, pair.link->GetRemoteMem(UserMemType::INPUT_MEM, &input));
      ASSERT_HCCL(HCCL_SUCCESS, pair.link->GetRemoteMem(UserMemType::OUTPUT_MEM, &output));
      const auto remote = [&](u64 offset, u64 size) {
        return Buffer(static_cast<u8*>(output) + offset, size);
      };
      const auto local = [&](u64 offset, u64 size) { return Buffer(pair.at(pair.input, offset), size); };
      Buffer there = remote(0, 64), here = local(0, 64);
      EXPECT_HCCL(HCCL_SUCCESS, pair.link->WriteAsync(there, here, stream));
      there = remote(64, 64);
      EXPECT_HCCL(HCCL_SUCCESS, pair.link->WriteSync(there, here, stream));
      there = remote(128, 64), here = local(1024, 64);
      EXPECT_HCCL(HCCL_SUCCESS, pair.link->ReadAsync(here, there, stream));
      here = local(2048, 64);
      EXPECT_HCCL(HCCL_SUCCESS, pair.link->ReadSync(here, there, stream));
      there = remote(256, 64), here = local(0, 64);
      EXPECT_HCCL(HCCL_SUCCESS,
                  pair.link->WriteReduceAsync(there, here, HCCL_DATA_TYPE_INT8, HCCL_REDUCE_SUM, stream));
      there = remote(320, 64), here = local(3072, 64);
      EXPECT_HCCL(HCCL_SUCCESS,
                  pair.link->ReadReduceSync(here, there, HCCL_DATA_TYPE_INT8, HCCL_REDUCE_SUM, stream));
      there = remote(0, 0), here = local(0, 0);
      EXPECT_HCCL(HCCL_SUCCESS, pair.link->WriteAsync(there, here, stream));
      there = remote(kBytes - 1, 2), here = local(0, 2);
      EXPECT_HCCL(HCCL_E_PARA, pair.link->WriteAsync(there, here, stream));
      EXPECT_HCCL(HCCL_E_PARA, pair.link->ReadAsync(here, there, stream));
      EXPECT_HCCL(HCCL_E_PARA,
                  pair.link->WriteReduceAsync(there, here, HCCL_DATA_TYPE_INT8, HCCL_REDUCE_SUM, stream));
      there = Buffer(pair.input.ptr(), 8), here = local(0, 8);
      EXPECT_HCCL(HCCL_E_PARA, pair.link->WriteAsync(there, here, stream))
          << "its own memory is not the peer's";
      there = remote(0, 8), here = local(0, 4);
      EXPECT_HCCL(HCCL_E_PTR, pair.link->ReadAsync(here, there, stream)) << "as HcclD2DMemcpyAsync says it";
      EXPECT_HCCL(HCCL_E_PARA,
                  pair.link->ReadReduceSync(here, there, HCCL_DATA_TYPE_INT8, HCCL_REDUCE_SUM, stream));
      EXPECT_HCCL(HCCL_E_PARA,
                  pair.link->ReadReduceSync(here, there, HCCL_DATA_TYPE_RESERVED, HCCL_REDUCE_SUM, stream));
      there = Buffer();
      EXPECT_HCCL(HCCL_E_PTR, pair.link->ReadAsync(here, there, stream));
    }
    pair.world.Synchronize();
    EXPECT_HCCL(HCCL_SUCCESS, pair.world.group->Barrier());
    const Bytes mine = PairWorld::Contents(0, 1), theirs = PairWorld::Contents(1, 2);
    const auto sum = [](const Bytes& a, const Bytes& b) {
      Bytes result;
      for (std::size_t i = 0; i < a.size(); ++i)
        result.push_back(static_cast<std::byte>(std::to_integer<int>(a[i]) + std::to_integer<int>(b[i])));
      return result;
    };
    if (pair.world.rank == 0) {
      const Bytes input = HostBytes(pair.input);
      EXPECT_TRUE(Part(input, 1024, 64) == Part(theirs, 128, 64));
      EXPECT_TRUE(Part(input, 2048, 64) == Part(theirs, 128, 64));
      EXPECT_TRUE(Part(input, 3072, 64) == sum(Part(mine, 3072, 64), Part(theirs, 320, 64)));
    } else {
      const Bytes output = HostBytes(pair.output);
      EXPECT_TRUE(Part(output, 0, 64) == Part(mine, 0, 64));
      EXPECT_TRUE(Part(output, 64, 64) == Part(mine, 0, 64));
      EXPECT_TRUE(Part(output, 256, 64) == sum(Part(theirs, 256, 64), Part(mine, 0, 64)));
      EXPECT_TRUE(Part(output, 320, 1000) == Part(theirs, 320, 1000));
    }
  });
}

TEST(TransportTest, EverySignalHasItsCounterpart) {
  hccl::MachinePara para;
  para.notifyNum = 2;
  RunPair(
      [](PairWorld& pair) {
        hccl::Transport& link = *pair.link;
        hccl::Stream& stream = pair.world.stream;
        using Signal = HcclResult (hccl::Transport::*)(hccl::Stream&);
        const std::pair<Signal, Signal> pairs[] = {
            {&hccl::Transport::TxAck, &hccl::Transport::RxAck},
            {&hccl::Transport::TxPrepare, &hccl::Transport::RxPrepare},
            {&hccl::Transport::PostFin, &hccl::Transport::WaitFin},
            {&hccl::Transport::TxDataSignal, &hccl::Transport::RxDataSignal},
            {&hccl::Transport::RxDone, &hccl::Transport::TxDone},
            {&hccl::Transport::PostReady, &hccl::Transport::WaitReady}};
        for (const auto& [post, wait] : pairs) {
          EXPECT_HCCL(HCCL_SUCCESS, (link.*post)(stream));
          EXPECT_HCCL(HCCL_SUCCESS, (link.*wait)(stream));
          pair.world.Synchronize();
          EXPECT_HCCL(HCCL_SUCCESS, pair.world.group->Barrier());
        }
        EXPECT_HCCL(HCCL_SUCCESS, link.DataReceivedAck(stream));
        EXPECT_HCCL(HCCL_SUCCESS, link.TxWaitDone(stream));
        EXPECT_HCCL(HCCL_SUCCESS, link.RxWaitDone(stream));
        for (u32 i = 0; i < 2; ++i) {
          EXPECT_HCCL(HCCL_SUCCESS, link.Wait(i, stream, 60));
          hccl::Stream side(hccl::StreamType::STREAM_TYPE_ONLINE);
          EXPECT_HCCL(HCCL_SUCCESS, link.Post(i, side));
        }
        EXPECT_HCCL(HCCL_E_INTERNAL, link.Post(2, stream));
        EXPECT_HCCL(HCCL_E_INTERNAL, link.Wait(2, stream));
        EXPECT_TRUE(MessageHas("notifyIdx is 2, the link has 2"));
        hccl::Stream no_stream{};
        EXPECT_HCCL(HCCL_E_PTR, link.TxAck(no_stream));
        EXPECT_HCCL(HCCL_E_PTR, link.RxAck(no_stream));
        EXPECT_HCCL(HCCL_E_NOT_SUPPORT, link.TxWithReduce(UserMemType::INPUT_MEM, 0, pair.input.ptr(), 4,
                                                          HCCL_DATA_TYPE_INT8, HCCL_REDUCE_SUM, stream));
        EXPECT_HCCL(HCCL_E_NOT_SUPPORT,
                    link.RxWithReduce({}, HCCL_DATA_TYPE_INT8, HCCL_REDUCE_SUM, stream, 0));
        pair.world.Synchronize();
      },
      para);
}

TEST(TransportTest, DataWithoutItsSignal) {
  RunPair([](PairWorld& pair) {
    hccl::Stream& stream = pair.world.stream;
    EXPECT_HCCL(HCCL_SUCCESS, pair.link->TxData(UserMemType::INPUT_MEM, kBytes, nullptr, 9, stream));
    EXPECT_HCCL(HCCL_SUCCESS, pair.link->RxData(UserMemType::INPUT_MEM, 5, pair.output.ptr(), 50, stream));
    pair.world.Synchronize();
    EXPECT_TRUE(Part(HostBytes(pair.output), 0, 50) ==
                Part(PairWorld::Contents(1 - pair.world.rank, 1), 5, 50));
  });
}

TEST(TransportTest, WorkOfALinkWaitsForTheLaunchToo) {
  RunPair([](PairWorld& pair) {
    hccl::Stream& stream = pair.world.stream;
    const HcclDispatcher d = *pair.world.dispatcher;
    EXPECT_HCCL(HCCL_SUCCESS, InitTask(d, stream, false, ""));
    EXPECT_HCCL(HCCL_SUCCESS, pair.link->TxAck(stream));
    EXPECT_HCCL(HCCL_SUCCESS, pair.link->RxAck(stream));
    EXPECT_HCCL(HCCL_SUCCESS, pair.link->TxDataSignal(stream));
    EXPECT_HCCL(HCCL_SUCCESS,
                pair.link->RxAsync(UserMemType::INPUT_MEM, 0, pair.output.ptr(), kBytes, stream));
    pair.world.Synchronize();
    EXPECT_TRUE(HostBytes(pair.output) == PairWorld::Contents(pair.world.rank, 2));
    EXPECT_HCCL(HCCL_SUCCESS, LaunchTask(d, stream));
    pair.world.Synchronize();
    EXPECT_TRUE(HostBytes(pair.output) == PairWorld::Contents(1 - pair.world.rank, 1));
  });
}

TEST(TransportTest, RecordsNameTheRanks) {
  RunRanks(2, [](RankWorld& world) {
    hccl::MachinePara para;
    DeviceMem memory = DeviceMem::alloc(kBytes);
    para.inputMem = para.outputMem = memory;
    para.localWorldRank = 30 + world.rank;
    para.localUserrank = 20 + world.rank;
    world.Connect(para);
    std::vector<hccl::TaskPara> records;
    EXPECT_HCCL(
        HCCL_SUCCESS, RegisterLoadTaskCallBack(*world.dispatcher, &records, [](void* user, void* param, u32) {
          static_cast<std::vector<hccl::TaskPara>*>(user)->push_back(*static_cast<hccl::TaskPara*>(param));
        }));
    hccl::Transport& link = *world.links[1 - world.rank];
    EXPECT_HCCL(HCCL_SUCCESS, link.TxDataSignal(world.stream));
    EXPECT_HCCL(HCCL_SUCCESS, link.RxAsync(UserMemType::INPUT_MEM, 0, memory.ptr(), 8, world.stream));
    world.Synchronize();
    ASSERT_EQ(records.size(), 3u);
    EXPECT_EQ(records[0].notify.notifyID >> 32, 31 - world.rank) << "a post has the peer's world rank";
    EXPECT_EQ(records[1].notify.notifyID >> 32, 20 + world.rank) << "a wait has this side's user rank";
    EXPECT_EQ(records[2].dma.remoteUserRank, 31 - world.rank);
    EXPECT_EQ(records[2].dma.linkType, LinkType::LINK_HCCS);
    EXPECT_HCCL(HCCL_SUCCESS, world.group->Barrier());
    world.links.clear();
  });
}

TEST(TransportTest, AWaitPastItsLimitEndsTheGroupForEveryRank) {
  RunRanks(3, [](RankWorld& world) {
    hccl::MachinePara para;
    DeviceMem memory = DeviceMem::alloc(kBytes);
    para.inputMem = para.outputMem = memory;
    world.Connect(para);
    EXPECT_HCCL(HCCL_SUCCESS,
                HcclSetNotifyWaitMode(*world.dispatcher, SyncMode::CONFIGURABLE_TIMEWAITSYNCMODE));
    EXPECT_HCCL(HCCL_SUCCESS, HcclSetExecTimeOut(*world.dispatcher, world.rank == 0 ? 1 : 60));
    const auto begin = std::chrono::steady_clock::now();
    if (world.rank == 0) {  // waits for rank 1, which never posts; then posts to rank 2
      EXPECT_HCCL(HCCL_SUCCESS, world.links[1]->RxDataSignal(world.stream));
      EXPECT_HCCL(HCCL_SUCCESS, world.links[2]->TxDataSignal(world.stream));
    } else if (world.rank == 2) {
      EXPECT_HCCL(HCCL_SUCCESS, world.links[0]->RxDataSignal(world.stream));
    }
    const aclError code = aclrtSynchronizeStream(world.stream.ptr());
    if (world.rank != 1) {
      EXPECT_EQ(code, ACL_ERROR_RT_TASK_TIMEOUT);
      EXPECT_TRUE(MessageHas("'ready' from rank 1 to rank 0"));
      EXPECT_TRUE(MessageHas("notify "));
      EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
    }
    std::string reason;
    while (world.group->Status() == HCCL_SUCCESS)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_HCCL(HCCL_E_TIMEOUT, world.group->Status(&reason));
    EXPECT_NE(reason.find("rank 0: a wait for notify"), std::string::npos) << reason;
    EXPECT_HCCL(HCCL_E_TIMEOUT, world.links[(world.rank + 1) % 3]->TxAck(world.stream));
    EXPECT_TRUE(MessageHas("'done' from rank "));
    EXPECT_HCCL(HCCL_E_TIMEOUT, world.group->Barrier());
    aclrtGetLastError(ACL_RT_THREAD_LEVEL);
    world.links.clear();
  });
}

TEST(TransportTest, ALinkTypeThatTheAddressesContradictIsToldOnce) {
  if (!InChild()) {
    const ChildResult child = RunInChild({{"ASCEND_GLOBAL_LOG_LEVEL", "2"}});
    EXPECT_TRUE(child.Passed()) << child;
    const std::string all = child.output + child.errors;
    const std::string told = "is said to go over PCIE, but by its addresses it goes over ONCHIP";
    const std::size_t first = all.find(told);
    ASSERT_NE(first, std::string::npos) << child;
    EXPECT_EQ(all.find(told, first + 1), std::string::npos) << "once";
    EXPECT_NE(all.find("is said to go over ONCHIP, but by its addresses it goes over HCCS"),
              std::string::npos);
    return;
  }
  RunPair([](PairWorld& pair) {
    if (pair.world.rank != 0) return;
    DeviceMem dst = pair.output;
    void* theirs = nullptr;
    ASSERT_HCCL(HCCL_SUCCESS, pair.link->GetRemoteMem(UserMemType::INPUT_MEM, &theirs));
    const HcclDispatcher d = *pair.world.dispatcher;
    for (int i = 0; i < 3; ++i) {
      EXPECT_HCCL(HCCL_SUCCESS,
                  HcclD2DMemcpyAsync(d, dst, pair.input, pair.world.stream, 9, LinkType::LINK_PCIE));
      EXPECT_HCCL(HCCL_SUCCESS, HcclD2DMemcpyAsync(d, dst, DeviceMem(theirs, kBytes), pair.world.stream));
    }
    pair.world.Synchronize();
    EXPECT_TRUE(HostBytes(dst) == PairWorld::Contents(1, 1)) << "the bytes go where the addresses say";
  });
}

}  // namespace
}  // namespace sampan::test::transport_test
