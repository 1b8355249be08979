// The ranks that joined together, as one of them knows them.
#include "collectives/comm/membership.h"

#include <unistd.h>

#include <exception>
#include <utility>

#include "acl/acl.h"
#include "base/error/text.h"
#include "base/platform_bridge.h"
#include "base/system/host_identity.h"
#include "collectives/far/note.h"
#include "hccl/group/byte_stream.h"
#include "hccl/report.h"

namespace sampan::collectives {

using hccl::ByteReader;
using hccl::ByteWriter;
using hccl::Fail;

HcclResult Membership::Join(const char* function, const Place& place, const CommOptions& options,
                            std::shared_ptr<Membership>& joined) {
  ::hccl::RankGroupConfig config;
  config.name = place.name;
  config.token = place.token;
  config.rank = place.rank;
  config.rankSize = place.size;
  config.timeout = options.connect_limit;
  config.address = place.hosts.address;
  config.isOnHostOfRank0 = !place.hosts.address.empty() && place.hosts.is_on_host_of_rank_0;
  auto membership = std::make_shared<Membership>();
  config.onPosted = [heard = membership.get()](u32 from, const std::vector<u8>& bytes) {
    heard->Hear(from, bytes);
  };
  HcclResult result = ::hccl::RankGroup::Join(config, membership->group_);
  std::vector<s32> devices;
  if (result == HCCL_SUCCESS && !place.hosts.address.empty())
    result = membership->FindHosts(function, place.hosts);
  if (result == HCCL_SUCCESS) result = membership->ShareBoard(function, place.device, options, devices);
  if (result == HCCL_SUCCESS && !HostReachesDevices()) result = membership->OpenDevices(function, devices);
  if (result == HCCL_SUCCESS) joined = std::move(membership);
  return result;
}

HcclResult Membership::FindHosts(const char* function, const HostPlan& plan) {
  auto host = ThisHost();
  if (!host.ok()) return Fail(function, HCCL_E_SYSCALL, host.error().message);
  ByteWriter mine;
  mine.Put(*host);
  mine.Put(plan.servers.empty() ? u32{0} : plan.servers[rank()]);
  mine.Put(static_cast<s64>(::getpid()));
  std::vector<std::vector<u8>> all;
  if (const HcclResult result = group_->Exchange(mine.Take(), all); result != HCCL_SUCCESS) return result;
  std::vector<FarRanks::Seat> seats;
  for (u32 other = 0; other < all.size(); ++other) {
    ByteReader in(all[other]);
    const auto its_host = in.Get<HostIdentity>();
    const u32 server = in.Get<u32>();
    seats.push_back({its_host, server, in.Get<s64>(), group_->HostOf(other)});
  }
  far_ranks_ = FarRanks(std::move(seats), rank());
  if (!far_ranks_.any()) return HCCL_SUCCESS;
  aclrtContext context = nullptr;
  if (aclrtGetCurrentContext(&context) != ACL_SUCCESS) return HCCL_E_RUNTIME;
  far_memory_ = std::make_unique<FarMemory>(context);
  return TryNetwork(function);
}

HcclResult Membership::TryNetwork(const char* function) {
  constexpr u64 kBytes = 64;
  void* memory = nullptr;
  if (aclrtMalloc(&memory, kBytes, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) return HCCL_E_MEMORY;
  const std::unique_ptr<void, aclError (*)(void*)> block(memory, aclrtFree);
  DeviceRange range;
  if (sampanFindRange(function, "memory", memory, kBytes, range) != ACL_SUCCESS) return HCCL_E_RUNTIME;
  FarRange mine;
  KeyedMemoryUse use;
  if (const Status shared = far_memory_->Export(range, kBytes, mine, use); !shared.ok())
    return Fail(function, HCCL_E_NETWORK, shared.error().message);
  ByteWriter out;
  out.Put(mine);
  std::vector<std::vector<u8>> all;
  if (const HcclResult result = group_->Exchange(out.Take(), all); result != HCCL_SUCCESS) return result;
  for (u32 other = 0; other < all.size(); ++other) {
    if (!far_ranks_.IsFirstOfItsHost(other) || !far_ranks_.IsFar(other)) continue;
    if (auto tried = far_memory_->Import(ByteReader(all[other]).Get<FarRange>()); !tried.ok()) {
      return Fail(function, HCCL_E_NETWORK,
                  Text("rank ", rank(), " cannot reach memory of rank ", other, " (process ",
                       far_ranks_.seat(other).process, " on ", far_ranks_.seat(other).address,
                       "): ", tried.error().message));
    }
  }
  far_memory_->ForgetImports();
  return group_->Barrier();  // until all have tried
}

void Membership::Tell(const std::vector<u32>& ranks, const std::vector<u8>& note) const {
  if (group_->Status() == HCCL_SUCCESS) static_cast<void>(group_->Post(ranks, note));
}

void Membership::Hear(u32 from, const std::vector<u8>& bytes) noexcept {
  try {
    if (board_ == nullptr) return;  // no rank tells before all have it
    if (!collectives::Hear(from, bytes, *board_, far_ranks_))
      hccl::LogError(Text("rank ", from, " tells what no rank may"));
  } catch (const std::exception& exception) {
    hccl::LogError(Text("a note of rank ", from, " is lost: ", exception.what()));
  }
}

HcclResult Membership::ShareBoard(const char* function, s32 device, const CommOptions& options,
                                  std::vector<s32>& devices) {
  const u32 size = group_->RankSize();
  const u32 owner = far_ranks_.BoardOwner();
  const bool is_creator = rank() == owner;
  ByteWriter mine;
  mine.Put(device);
  mine.Put(options.deterministic);
  mine.Put(static_cast<u64>(options.exec_limit.count()));
  if (is_creator) {
    auto created = Board::Create(size);
    if (!created.ok()) return Fail(function, HCCL_E_MEMORY, created.error().message);
    board_ = std::move(*created);
    mine.Put(board_->address());
  }
  std::vector<std::vector<u8>> all;
  if (const HcclResult result = group_->Exchange(mine.Take(), all); result != HCCL_SUCCESS) return result;
  for (const std::vector<u8>& each : all)
    devices.push_back(ByteReader(each).Get<s32>());
  ByteReader first(all[0]), of_owner(all[owner]);
  first.Get<s32>();
  const u32 deterministic = first.Get<u32>();
  const u64 limit = first.Get<u64>();
  of_owner.Get<s32>();
  of_owner.Get<u32>();
  of_owner.Get<u64>();
  const auto address = of_owner.Get<Board::Address>();
  if (deterministic != options.deterministic || limit != static_cast<u64>(options.exec_limit.count())) {
    hccl::LogWarning(Text(function, ": rank 0 has deterministic ", deterministic, " and a limit of ", limit,
                          " s, rank ", rank(), " has ", options.deterministic, " and ",
                          options.exec_limit.count(), " s"));
  }
  if (!is_creator) {
    auto opened = Board::Open(address, size);
    if (!opened.ok()) return Fail(function, HCCL_E_MEMORY, opened.error().message);
    board_ = std::move(*opened);
  }
  for (u32 other = 0; other < size; ++other) {
    if (other == rank())
      board_->whole().cell(other).process.store(::getpid());
    else if (far_ranks_.IsFar(other))
      board_->whole().cell(other).process.store(far_ranks_.seat(other).process);
  }
  if (const HcclResult result = group_->Barrier(); result != HCCL_SUCCESS) return result;
  if (is_creator) board_->CloseFile();
  return HCCL_SUCCESS;
}

HcclResult Membership::OpenDevices(const char* function, const std::vector<s32>& devices) {
  for (u32 other = 0; other < devices.size(); ++other) {
    const s64 process = board_->whole().cell(other).process.load();
    if (far_ranks_.IsFar(other) || process != ::getpid()) {
      return Fail(
          function, HCCL_E_NOT_SUPPORT,
          Text("rank ", other, " is process ", process,
               ": the host does not reach these devices' memory, so all ranks have to be threads of one "
               "process"));
    }
    if (devices[other] != devices[rank()] && aclrtDeviceEnablePeerAccess(devices[other], 0) != ACL_SUCCESS)
      return HCCL_E_RUNTIME;
  }
  const Status made = DeviceMoves::Make(device_moves_);
  return made.ok() ? HCCL_SUCCESS : Fail(function, HCCL_E_RUNTIME, made.error().message);
}

bool HostReachesDevices() {
  return sampanCopyHere(nullptr, nullptr, 0, false);
}

}  // namespace sampan::collectives
