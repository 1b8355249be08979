// Two processes with two communicators: launched_program MODE [NAMESPACE NAMESPACE]. It starts itself twice,
// as programs for ranks do, each in its network namespace. launched_test.py has the modes.
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "hccl/hccl.h"

namespace {

/// In a memory file that both processes inherit.
struct RootInfos {
  std::atomic<bool> ready;
  HcclRootInfo infos[2];
};

void Expect(bool right, const char* call) {
  if (right) return;
  const char* const message = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s: %s\n", call, message == nullptr ? "" : message);
  std::_Exit(1);
}
#define OK(call) Expect((call) == 0, #call)

struct Rank {
  std::string mode;
  uint32_t rank;
  HcclComm comms[2];
  aclrtStream stream;
  void* memory;

  void Reduce(int communicator) const {
    OK(HcclAllReduce(memory, memory, 4, HCCL_DATA_TYPE_INT8, HCCL_REDUCE_SUM, comms[communicator], stream));
  }
  void Run() const {
    const bool reversed = rank == 1 && (mode == "queued_reversed" || mode == "awaited_reversed");
    Reduce(reversed ? 1 : 0);
    if (mode == "awaited" || mode == "awaited_reversed") OK(aclrtSynchronizeStream(stream));
    if (mode == "late" && rank == 1) ::usleep(1'500'000);
    Reduce(reversed ? 0 : 1);
    OK(aclrtSynchronizeStream(stream));
  }
};

int RunRank(const std::string& mode, uint32_t rank, int file) {
  void* const shared = ::mmap(nullptr, sizeof(RootInfos), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  auto& root = *static_cast<RootInfos*>(shared);
  OK(aclrtSetDevice(static_cast<int32_t>(rank)));
  if (rank == 0) {
    for (HcclRootInfo& info : root.infos)
      OK(HcclGetRootInfo(&info));
    root.ready.store(true);
  }
  while (!root.ready.load())
    ::usleep(1000);
  Rank self{mode, rank, {}, nullptr, nullptr};
  HcclCommConfig config;
  HcclCommConfigInit(&config);
  if (mode == "settings") config.hcclDeterministic = rank;
  for (int each = 0; each < 2; ++each)
    OK(HcclCommInitRootInfoConfig(2, &root.infos[each], rank, &config, &self.comms[each]));
  OK(aclrtCreateStream(&self.stream));
  OK(aclrtMalloc(&self.memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  OK(aclrtMemset(self.memory, 64, 1, 64));
  self.Run();
  for (const HcclComm comm : self.comms)
    OK(HcclCommDestroy(comm));
  OK(aclrtFree(self.memory));
  OK(aclrtDestroyStream(self.stream));
  OK(aclrtResetDevice(static_cast<int32_t>(rank)));
  return 0;
}

/// The calling process lives on the host with that name from then on.
void GoTo(const std::string& host) {
  const int network = ::open(("/var/run/netns/" + host).c_str(), O_RDONLY | O_CLOEXEC);
  if (network < 0 || ::setns(network, CLONE_NEWNET) != 0) std::_Exit(126);
}

/// Returns the highest status of the ranks. `hosts` is empty, or has one for each rank.
int Launch(const char* mode, const std::vector<std::string>& hosts) {
  const int file = ::memfd_create("root infos", 0);
  Expect(file >= 0 && ::ftruncate(file, sizeof(RootInfos)) == 0, "memfd_create");
  for (const int rank : {0, 1}) {
    if (::fork() != 0) continue;
    if (!hosts.empty()) GoTo(hosts[static_cast<std::size_t>(rank)]);
    ::execl("/proc/self/exe", "launched_program", mode, std::to_string(rank).c_str(),
            std::to_string(file).c_str(), "rank", nullptr);
    std::_Exit(127);
  }
  int worst = 0;
  for (int state = 0; ::wait(&state) > 0;)
    worst = std::max(worst, WIFEXITED(state) ? WEXITSTATUS(state) : 128);
  return worst;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2) return Launch(argv[1], {});
  if (argc == 4) return Launch(argv[1], {argv[2], argv[3]});
  if (argc == 5) return RunRank(argv[1], static_cast<uint32_t>(std::atoi(argv[2])), std::atoi(argv[3]));
  return 2;
}
