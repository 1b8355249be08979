// libFuzzer target: bytes become the table in which another rank offers its memory and its signals.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "acl/acl.h"
#include "base/error/text.h"
#include "hccl/group/byte_stream.h"
#include "hccl/link/link_making.h"
#include "hccl/platform/dispatcher.h"
#include "tests/fuzz/fuzz_descriptors.h"
#include "tests/fuzz/hostile_hub.h"
#include "tests/fuzz/peer_process.h"
#include "tests/fuzz/rank_table_keys.h"

namespace sampan::fuzz {
namespace {

using hccl::Bytes;
using hccl::ByteWriter;
using hccl::Encode;
using hccl::FrameKind;

constexpr u32 kRank = 1, kRanks = 2;
constexpr std::size_t kPeerBytes = 4096;
constexpr std::size_t kKeyBufferBytes = 65;  // that the calls ask for

/// The keys of what the peer shares, in the order of the marks.
using PeerKeys = std::array<std::array<char, kKeyBufferBytes>, kMarks.size()>;

pid_t peer = 0;
PeerKeys peer_keys;

/// In the peer: shares memory and notifies with every process of the user.
PeerKeys ShareAll() {
  PeerKeys keys{};
  bool is_made = aclrtSetDevice(0) == ACL_SUCCESS;
  for (std::size_t i = 0; i < keys.size() && is_made; ++i) {
    void* memory = nullptr;
    aclrtNotify notify = nullptr;
    is_made =
        kMarks[i].is_memory
            ? aclrtMalloc(&memory, kPeerBytes, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS &&
                  aclrtIpcMemGetExportKey(memory, kPeerBytes, keys[i].data(), keys[i].size(),
                                          ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION) == ACL_SUCCESS
            : aclrtCreateNotify(&notify, 0) == ACL_SUCCESS &&
                  aclrtNotifyGetExportKey(notify, keys[i].data(), keys[i].size(),
                                          ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION) == ACL_SUCCESS;
  }
  if (!is_made) ::_exit(1);
  return keys;
}

/// Seeds name the peer's objects by marks: its keys are different every time.
std::vector<u8> WithKeys(std::vector<u8> table) {
  for (std::size_t i = 0; i < kMarks.size(); ++i) {
    const std::string mark(kKeyTextBytes, kMarks[i].letter);
    for (auto at = table.begin();;) {
      at = std::search(at, table.end(), mark.begin(), mark.end());
      if (at == table.end()) break;
      at = std::copy_n(peer_keys[i].begin(), kKeyTextBytes, at);
    }
  }
  return table;
}

/// What an honest hub sends, around the table of rank 0.
std::vector<u8> HubBytes(const std::vector<u8>& table, bool same_process) {
  ByteWriter places, tables, results;
  auto own = ThisProcess();
  if (!own.ok()) FailInput("ThisProcess");
  ProcessIdentity other = *own;
  if (!same_process) other.process = peer;
  for (const ProcessIdentity& process : {other, *own}) {
    places.Put(process);
    places.PutBytes(std::string());
  }
  tables.PutBytes(table);
  tables.PutBytes(std::vector<u8>{});
  for (u32 rank = 0; rank < kRanks; ++rank)
    results.PutBytes(std::vector<u8>(sizeof(u32), 0));
  std::vector<u8> bytes;
  for (const auto& frame : {Encode({FrameKind::kWelcome, 0, 0, 0, places.Take()}),
                            Encode({FrameKind::kGathered, 0, 0, 0, tables.Take()}),
                            Encode({FrameKind::kGathered, 0, 0, 1, results.Take()})}) {
    bytes.insert(bytes.end(), frame->begin(), frame->end());
  }
  return bytes;
}

/// The memory of the link is what the peer shares, not what it says.
void UseLink(const ::hccl::Transport::Link& link) {
  for (const hccl::RemoteMemory& memory : link.memory) {
    if (memory.bytes() > kPeerBytes)
      FailInput("a link with more memory than the peer shares", static_cast<long long>(memory.bytes()));
    if (memory.bytes() == 0) continue;
    std::vector<u8> seen(memory.bytes());
    if (aclrtMemcpy(seen.data(), seen.size(), memory.address(), seen.size(), ACL_MEMCPY_DEVICE_TO_HOST) !=
        ACL_SUCCESS)
      FailInput("a link with memory that cannot be read", static_cast<long long>(memory.bytes()));
  }
}

struct Device {
  Device() {
    if (aclrtSetDevice(0) != ACL_SUCCESS ||
        HcclDispatcherInit(DispatcherType::DISPATCHER_NORMAL, 0, &dispatcher) != HCCL_SUCCESS)
      FailInput("no device");
    para.inputMem = ::hccl::DeviceMem::alloc(kPeerBytes);
    para.outputMem = ::hccl::DeviceMem::alloc(kPeerBytes);
    para.notifyNum = kNumberedNotifies;
  }
  HcclDispatcher dispatcher = nullptr;
  ::hccl::MachinePara para;
};

void FuzzTable(std::vector<u8> table) {
  static Device& device = *new Device;  // not destroyed: the runtime may be gone by then
  // The first byte says whether the other rank is a thread of this process.
  const bool same_process = !table.empty() && table.front() % 8 == 7;
  if (!table.empty()) table.erase(table.begin());
  const hccl::MeetingPoint meeting{"fuzz", Text("sampan-fuzz-table-", ::getpid(), "-"),
                                   hccl::SecretOf("fuzz", "0123456789abcdef")};
  const HostileHub hub(meeting, HubBytes(WithKeys(std::move(table)), same_process));
  ::hccl::RankGroupConfig config;
  config.rank = kRank;
  config.rankSize = kRanks;
  config.timeout = std::chrono::seconds(30);
  std::shared_ptr<hccl::Membership> joined;
  if (hccl::Membership::Join("fuzz", meeting, config, joined) != HCCL_SUCCESS) FailInput("no group");
  std::vector<std::shared_ptr<::hccl::Transport::Link>> links;
  hccl::LinkMaking making("fuzz", joined, device.dispatcher, device.para);
  const HcclResult made = making.Make({0}, links);
  if (made == HCCL_SUCCESS && (links.size() != kRanks || links[0] == nullptr))
    FailInput("success without a link");
  // An address of this process is the program's own business.
  if (made == HCCL_SUCCESS && !same_process) UseLink(*links[0]);
}

}  // namespace
}  // namespace sampan::fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  sampan::fuzz::peer_keys = sampan::fuzz::StartPeer(sampan::fuzz::ShareAll, &sampan::fuzz::peer);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sampan::fuzz::FuzzTable({data, data + size});
  sampan::fuzz::CheckDescriptorCount();
  return 0;
}
