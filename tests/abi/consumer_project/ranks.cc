// A user's program on HCCL's platform layer: two ranks, as threads, that read from each other.
#include <dispatcher.h>
#include <rank_group.h>

#include <cstdio>
#include <string>
#include <thread>

#include "acl/acl.h"

namespace {

constexpr u64 kBytes = 4096;
int failures = 0;

#define CHECK(call)                                       \
  if ((call) != 0) {                                      \
    std::printf("%s: %s\n", #call, aclGetRecentErrMsg()); \
    ++failures;                                           \
    return;                                               \
  }

void Run(hccl::RankGroupConfig config, unsigned rank) {
  config.rank = rank;
  CHECK(aclrtSetDevice(static_cast<int>(rank)));
  HcclDispatcher dispatcher = nullptr;
  CHECK(HcclDispatcherInit(DispatcherType::DISPATCHER_NORMAL, -1, &dispatcher));
  {
    hccl::Stream stream(hccl::StreamType::STREAM_TYPE_ONLINE, true);
    hccl::DeviceMem input = hccl::DeviceMem::alloc(kBytes), output = hccl::DeviceMem::alloc(kBytes);
    const std::string mine(kBytes, static_cast<char>('a' + rank));
    CHECK(aclrtMemcpy(input.ptr(), kBytes, mine.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
    std::shared_ptr<hccl::RankGroup> group;
    CHECK(hccl::RankGroup::Join(config, group));
    hccl::MachinePara para;
    para.inputMem = input;
    para.outputMem = output;
    std::vector<LINK> links;
    CHECK(group->Connect(dispatcher, para, links));
    const LINK& link = links[1 - rank];
    CHECK(link->TxDataSignal(stream));
    CHECK(link->RxAsync(hccl::UserMemType::INPUT_MEM, 0, output.ptr(), kBytes, stream));
    CHECK(aclrtSynchronizeStream(stream.ptr()));
    std::string theirs(kBytes, ' ');
    CHECK(aclrtMemcpy(&theirs[0], kBytes, output.ptr(), kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
    if (theirs != std::string(kBytes, static_cast<char>('b' - rank))) ++failures;
    CHECK(group->Barrier());
  }
  CHECK(HcclDispatcherDestroy(dispatcher));
}

}  // namespace

int main() {
  hccl::RankGroupConfig config;
  config.name = "consumer";
  config.token = hccl::RankGroup::MakeToken();
  config.rankSize = 2;
  std::thread other([&] { Run(config, 1); });
  Run(config, 0);
  other.join();
  return failures;
}
