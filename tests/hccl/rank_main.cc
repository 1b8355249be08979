// The main program of the tests with processes: the tests, or, started with --rank, ranks that do as they are
// told.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "hccl/platform/rank_group.h"
#include "tests/hccl/rank_process.h"
#include "tests/support/applicability.h"

namespace sampan::test {
namespace {

using hccl::DeviceMem;
using hccl::UserMemType;

constexpr u64 kSlice = 20000;

std::mutex g_output;

void Say(const std::string& line) {
  const std::lock_guard lock(g_output);
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

/// The newest message of the thread, on one line.
std::string Message() {
  const char* text = aclGetRecentErrMsg();
  const std::string all = text != nullptr ? text : "";
  return all.substr(0, all.find('\n'));
}

unsigned char Content(std::uint64_t seed, std::uint32_t rank, u64 at) {
  return static_cast<unsigned char>((seed * 31 + rank * 131 + at * 17) >> 2);
}

/// One rank's whole life. Every failure is said, with its message, and ends it.
class Rank {
 public:
  Rank(const RankOrder& order, std::uint32_t rank) : order_(order), rank_(rank) {}
  ~Rank() {
    links_.clear();
    group_.reset();
    if (stream_) aclrtDestroyStreamForce(handle_);
    HcclDispatcherDestroy(dispatcher_);
  }

  int Run() {
    std::uint32_t devices = 1;
    if (aclrtGetDeviceCount(&devices) != ACL_SUCCESS ||
        aclrtSetDevice(static_cast<int>(rank_ % devices)) != ACL_SUCCESS ||
        aclrtCreateStream(&handle_) != ACL_SUCCESS)
      return Failed("setup", 0);
    stream_ = hccl::Stream(handle_);
    if (!Do("init", HcclDispatcherInit(DispatcherType::DISPATCHER_NORMAL, -1, &dispatcher_))) return 1;
    HcclSetNotifyWaitMode(dispatcher_, SyncMode::CONFIGURABLE_TIMEWAITSYNCMODE);
    HcclSetExecTimeOut(dispatcher_, static_cast<s32>(order_.wait_seconds));
    hccl::RankGroupConfig config;
    config.name = order_.name;
    config.token = order_.token;
    config.address = order_.address;
    config.rank = rank_;
    config.rankSize = order_.size;
    config.timeout = std::chrono::milliseconds(order_.join_ms);
    if (!Do("join", hccl::RankGroup::Join(config, group_))) return 1;
    if (HcclResult made = DeviceMem::alloc(output_, kSlice * order_.size); made != HCCL_SUCCESS)
      return Failed("alloc", made);
    hccl::MachinePara para;
    // A part of an allocation, at an odd place: what others see begins there.
    para.inputMem = output_.range(1, kSlice);
    para.outputMem = output_;
    if (order_.scenario == "write") para.linkAttribute = hccl::LINK_ATTRIBUTE_WRITE;
    if (!Do("connect", group_->Connect(dispatcher_, para, links_))) return 1;
    Say("connected");
    if (order_.scenario == "endless") return Endless();
    if (order_.scenario == "links") return SayLinks();
    if (order_.scenario == "exit") return 0;
    for (std::uint64_t round = 0; round < 20; ++round) {
      if (!Gather(order_.seed + round) || !Check(order_.seed + round)) return 1;
      if (!Do("barrier", group_->Barrier())) return 1;
    }
    Say("ok " + std::to_string(rank_));
    return 0;
  }

 private:
  int Failed(const std::string& where, int code) {
    Say("failed rank=" + std::to_string(rank_) + " at=" + where + " code=" + std::to_string(code) + " " +
        Message());
    return 1;
  }
  bool Do(const char* where, HcclResult code) {
    if (code != HCCL_SUCCESS) Failed(where, code);
    return code == HCCL_SUCCESS;
  }
  u8* at(u64 offset) const { return static_cast<u8*>(output_.ptr()) + offset; }

  int Endless() {
    for (std::uint64_t round = 0;; ++round) {
      if (!Gather(order_.seed + round) || (round % 8 == 0 && !Check(order_.seed + round))) return 1;
      // No rank fills its slice for the next round before all ranks have read this round's.
      if (!Do("barrier", group_->Barrier())) return 1;
    }
  }

  /// Which links go to other hosts, and what they can do.
  int SayLinks() {
    std::string kinds;
    for (const LINK& link : links_)
      kinds += link == nullptr ? '-' : link->GetLinkType() == hccl::LinkType::LINK_HCCS_SW ? 'w' : 'm';
    Say("links " + std::to_string(rank_) + " " + kinds);
    for (const LINK& link : links_) {
      if (link == nullptr || link->GetLinkType() != hccl::LinkType::LINK_HCCS_SW) continue;
      void* theirs = nullptr;
      if (!Do("memory", link->GetRemoteMem(UserMemType::OUTPUT_MEM, &theirs))) return 1;
      hccl::Transport::Buffer there(theirs, 64), here(output_.ptr(), 64);
      const HcclResult written =
          link->WriteReduceAsync(there, here, HCCL_DATA_TYPE_INT32, HCCL_REDUCE_SUM, stream_);
      Say("reduces " + std::to_string(written) + " " + Message());
    }
    return Do("barrier", group_->Barrier()) ? 0 : 1;
  }

  bool Gather(std::uint64_t seed) {
    std::vector<unsigned char> own(kSlice);
    for (u64 i = 0; i < kSlice; ++i)
      own[i] = Content(seed, rank_, i);
    if (aclrtMemcpy(at(rank_ * kSlice), kSlice, own.data(), kSlice, ACL_MEMCPY_HOST_TO_DEVICE) != ACL_SUCCESS)
      return Failed("fill", 0), false;
    const std::uint32_t n = order_.size;
    hccl::Transport& next = *links_[(rank_ + 1) % n];
    hccl::Transport& before = *links_[(rank_ + n - 1) % n];
    for (std::uint32_t step = 0; step + 1 < n; ++step) {
      const u64 send = (rank_ + n - step) % n * kSlice, receive = (rank_ + 2 * n - step - 1) % n * kSlice;
      if (!Do("TxAck", before.TxAck(stream_)) || !Do("RxAck", next.RxAck(stream_)) ||
          !Do("TxAsync", next.TxAsync(UserMemType::OUTPUT_MEM, send, at(send), kSlice, stream_)) ||
          !Do("RxAsync", before.RxAsync(UserMemType::OUTPUT_MEM, receive, at(receive), kSlice, stream_)))
        return false;
    }
    const aclError code = aclrtSynchronizeStream(handle_);
    return code == ACL_SUCCESS || (Failed("sync", code), false);
  }

  bool Check(std::uint64_t seed) {
    std::vector<unsigned char> all(kSlice * order_.size);
    if (aclrtMemcpy(all.data(), all.size(), output_.ptr(), all.size(), ACL_MEMCPY_DEVICE_TO_HOST) !=
        ACL_SUCCESS)
      return Failed("read", 0), false;
    for (std::uint32_t rank = 0; rank < order_.size; ++rank) {
      for (u64 i = 0; i < kSlice; ++i) {
        if (all[rank * kSlice + i] != Content(seed, rank, i)) return Failed("wrong-bytes", 0), false;
      }
    }
    return true;
  }

  const RankOrder& order_;
  const std::uint32_t rank_;
  aclrtStream handle_ = nullptr;
  hccl::Stream stream_{};
  HcclDispatcher dispatcher_ = nullptr;
  DeviceMem output_{};
  std::shared_ptr<hccl::RankGroup> group_;
  std::vector<LINK> links_;
};

int RunRanksHere(char** arguments) {
  RankOrder order;
  order.scenario = arguments[0];
  order.name = arguments[1];
  order.token = arguments[2];
  order.first_rank = static_cast<std::uint32_t>(std::stoul(arguments[3]));
  order.threads = static_cast<std::uint32_t>(std::stoul(arguments[4]));
  order.size = static_cast<std::uint32_t>(std::stoul(arguments[5]));
  order.seed = std::stoull(arguments[6]);
  order.join_ms = static_cast<std::uint32_t>(std::stoul(arguments[7]));
  order.wait_seconds = static_cast<std::uint32_t>(std::stoul(arguments[8]));
  order.address = arguments[9];
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < order.threads; ++i)
    threads.emplace_back([&, i] { failures += Rank(order, order.first_rank + i).Run(); });
  for (std::thread& thread : threads)
    thread.join();
  return failures.load();
}

}  // namespace
}  // namespace sampan::test

int main(int argc, char** argv) {
  if (argc == 12 && std::string(argv[1]) == "--rank") return sampan::test::RunRanksHere(argv + 2);
  ::testing::InitGoogleTest(&argc, argv);
  return sampan::test::RunTestsThatApply();
}
