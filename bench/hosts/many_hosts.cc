// What a process of another host costs: 2 to 16 hosts that all copy to each other, and many imports of one.
#include "bench/hosts/many_hosts.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "bench/hosts/two_networks.h"
#include "bench/measure/acl_call.h"
#include "bench/measure/timing.h"

namespace bench {
namespace {

constexpr std::size_t kBytes = std::size_t{4} << 20;
constexpr std::size_t kShort = 4096;
constexpr int kShortCopies = 200;
constexpr std::size_t kImports = 480;
constexpr double kTrafficSeconds = 1;

struct Usage {
  std::uint64_t resident_kib = 0, threads = 0, descriptors = 0;
};

Usage UsageNow() {
  Usage usage;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) usage.resident_kib = std::stoull(line.substr(6));
    if (line.starts_with("Threads:")) usage.threads = std::stoull(line.substr(8));
  }
  const std::filesystem::directory_iterator open("/proc/self/fd");
  usage.descriptors = static_cast<std::uint64_t>(std::distance(begin(open), end(open)));
  return usage;
}

/// The figures of one process.
struct Told {
  Usage alone, joined;
  double import_seconds = 0;  // of each
  double short_seconds = 0;   // of a copy of 4 KiB
  std::uint64_t copied = 0;   // bytes in kTrafficSeconds
};

aclrtMemFabricHandle Export() {
  aclrtPhysicalMemProp prop = {};
  prop.memAttr = ACL_HBM_MEM_HUGE;
  prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  aclrtDrvMemHandle physical = nullptr;
  BENCH_ACL(aclrtMallocPhysical(&physical, kBytes, &prop, 0));
  aclrtMemFabricHandle handle;
  BENCH_ACL(aclrtMemExportToShareableHandleV2(physical, ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION,
                                              ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, &handle));
  return handle;
}

std::byte* Import(aclrtMemFabricHandle handle) {
  aclrtDrvMemHandle imported = nullptr;
  BENCH_ACL(aclrtMemImportFromShareableHandleV2(&handle, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, 0, &imported));
  void* there = nullptr;
  BENCH_ACL(aclrtReserveMemAddress(&there, kBytes, 0, nullptr, 1));
  BENCH_ACL(aclrtMapMem(there, kBytes, 0, imported, 0));
  return static_cast<std::byte*>(there);
}

/// Copies from this host, each complete on return.
class Copier {
 public:
  Copier() {
    BENCH_ACL(aclrtSetDevice(0));
    BENCH_ACL(aclrtCreateStream(&stream_));
    BENCH_ACL(aclrtMallocHost(&here_, kBytes));
  }
  void Write(std::byte* there, std::size_t bytes) {
    BENCH_ACL(aclrtMemcpyAsync(there, bytes, here_, bytes, ACL_MEMCPY_HOST_TO_DEVICE, stream_));
    BENCH_ACL(aclrtSynchronizeStream(stream_));
  }
  /// The mean time of a short copy. The copies go to all hosts in turn.
  double ShortSeconds(const std::vector<std::byte*>& there) {
    return SecondsOf([&] {
             for (std::size_t i = 0; i < kShortCopies; ++i)
               Write(there[i % there.size()], kShort);
           }) /
           kShortCopies;
  }

 private:
  aclrtStream stream_ = nullptr;
  void* here_ = nullptr;
};

void BeMember(std::size_t index, std::size_t count, int socket) {
  Copier copier;
  const aclrtMemFabricHandle own = Export();
  Told told;
  told.alone = UsageNow();
  SendAll(socket, &own, sizeof(own));
  std::vector<aclrtMemFabricHandle> handles(count);
  ReceiveAll(socket, handles.data(), count * sizeof(own));
  std::vector<std::byte*> there;
  told.import_seconds = SecondsOf([&] {
                          for (std::size_t i = 1; i < count; ++i)
                            there.push_back(Import(handles[(index + i) % count]));
                        }) /
                        static_cast<double>(count - 1);
  SendAll(socket, &told, sizeof(told));
  char go = 0;
  ReceiveAll(socket, &go, 1);  // all have imported
  told.joined = UsageNow();
  if (index == 0) told.short_seconds = copier.ShortSeconds(there);
  SendAll(socket, &go, 1);
  ReceiveAll(socket, &go, 1);  // the other ones were silent so far
  double left = kTrafficSeconds;
  for (std::size_t i = 0; left > 0; ++i, told.copied += kBytes)
    left -= SecondsOf([&] { copier.Write(there[i % there.size()], kBytes); });
  SendAll(socket, &told, sizeof(told));
  ReceiveAll(socket, &go, 1);  // until it is killed
}

void MeasureGroup(std::size_t count) {
  const HostGroup group(count, [&](std::size_t index, int socket) { BeMember(index, count, socket); });
  std::vector<aclrtMemFabricHandle> handles(count);
  for (std::size_t i = 0; i < count; ++i)
    ReceiveAll(group.socket(i), &handles[i], sizeof(handles[i]));
  for (std::size_t i = 0; i < count; ++i)
    SendAll(group.socket(i), handles.data(), count * sizeof(handles[0]));
  std::vector<Told> told(count);
  char go = 1;
  const auto collect = [&](auto receive) {
    for (std::size_t i = 0; i < count; ++i)
      receive(i);
    for (std::size_t i = 0; i < count; ++i)
      SendAll(group.socket(i), &go, 1);
  };
  collect([&](std::size_t i) { ReceiveAll(group.socket(i), &told[i], sizeof(told[i])); });
  collect([&](std::size_t i) { ReceiveAll(group.socket(i), &go, 1); });
  for (std::size_t i = 0; i < count; ++i)
    ReceiveAll(group.socket(i), &told[i], sizeof(told[i]));
  std::uint64_t copied = 0;
  for (const Told& each : told)
    copied += each.copied;
  const Told& first = told.front();
  const double peers = static_cast<double>(count - 1);
  const auto each = [&](std::uint64_t Usage::*what) {
    return (static_cast<double>(first.joined.*what) - static_cast<double>(first.alone.*what)) / peers;
  };
  std::printf("%5zu %12.1f ms %12.1f us %10.2f GB/s %8llu %10.1f %10.0f KiB\n", count,
              first.import_seconds * 1e3, first.short_seconds * 1e6,
              static_cast<double>(copied) / kTrafficSeconds / 1e9,
              static_cast<unsigned long long>(first.joined.threads), each(&Usage::descriptors),
              each(&Usage::resident_kib));
}

/// One process imports the memory of another one many times: each time is a peer for the network.
void MeasureImports() {
  const HostGroup group(2, [](std::size_t index, int socket) {
    Copier copier;
    aclrtMemFabricHandle handle = Export();
    SendAll(socket, &handle, sizeof(handle));
    ReceiveAll(socket, &handle, sizeof(handle));
    if (index != 0) ReceiveAll(socket, &handle, 1);  // until it is killed
    std::vector<std::byte*> there;
    for (std::size_t wanted = 1; wanted <= kImports; wanted = wanted < 30 ? wanted * 30 : wanted * 4) {
      const std::size_t more = wanted - there.size();
      const double seconds = SecondsOf([&] {
        while (there.size() < wanted)
          there.push_back(Import(handle));
      });
      copier.ShortSeconds(there);
      std::printf(
          "%5zu imports: each %.2f ms, then 4 KiB in %.1f us to one of them, and %.1f us to all in turn\n",
          wanted, seconds * 1e3 / static_cast<double>(more), copier.ShortSeconds({there[0]}) * 1e6,
          copier.ShortSeconds(there) * 1e6);
    }
    std::fflush(stdout);
    SendAll(socket, "e", 1);
    ReceiveAll(socket, &handle, 1);
  });
  aclrtMemFabricHandle handles[2];
  for (std::size_t i = 0; i < 2; ++i)
    ReceiveAll(group.socket(i), &handles[i], sizeof(handles[i]));
  for (std::size_t i = 0; i < 2; ++i)
    SendAll(group.socket(i), &handles[1 - i], sizeof(handles[i]));
  char ended = 0;
  ReceiveAll(group.socket(0), &ended, 1);
}

}  // namespace

void MeasureManyHosts() {
  rlimit files = {};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
  std::printf("hosts  import of each  4 KiB alone   all at once   threads  for each peer: sockets, memory\n");
  for (const std::size_t count : {2, 4, 8, 16})
    MeasureGroup(count);
  std::fflush(stdout);
  MeasureImports();
}

}  // namespace bench
