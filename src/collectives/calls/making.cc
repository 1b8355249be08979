// Making and destroying communicators.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "acl/acl.h"
#include "base/network/interface.h"
#include "collectives/calls/call_group.h"
#include "collectives/comm/joining.h"
#include "collectives/comm/rank_table.h"
#include "collectives/comm/root_info.h"
#include "hccl/hccl_comm.h"
#include "hccl/report.h"

using namespace sampan::collectives;
using sampan::Text;
using sampan::ThisHost;
using sampan::hccl::Fail;
using sampan::hccl::Guard;

namespace {

/// In a group the joining is done at its end.
HcclResult JoinNowOrAtEnd(const char* function, const JoinRequest& request, HcclComm* comm) {
  CallGroup& group = CallGroup::OfThread();
  return group.is_open() ? group.Join(function, request, comm) : JoinCommunicator(function, request, comm);
}

/// Whether ranks may be on several hosts.
bool MayCrossHosts() {
  return std::string_view(sampanChipName()) == "ascend910c" && HostReachesDevices();
}
HcclResult CheckCrossing(const char* function, u32 rank) {
  if (MayCrossHosts()) return HCCL_SUCCESS;
  return Fail(
      function, HCCL_E_NOT_SUPPORT,
      Text("rank ", rank,
           " and rank 0 run on different hosts, or in different network namespaces: that needs emulated "
           "devices of SAMPAN_PROFILE=ascend910c for all ranks"));
}

HcclResult PlanHosts(const char* function, const RootInfo& info, JoinRequest& request) {
  auto here = ThisHost();
  request.hosts.address = info.address;
  request.hosts.is_on_host_of_rank_0 = here.ok() && info.host == *here;
  if (request.hosts.is_on_host_of_rank_0) return HCCL_SUCCESS;
  if (const HcclResult result = CheckCrossing(function, request.rank); result != HCCL_SUCCESS) return result;
  if (info.address.empty()) {
    return Fail(
        function, HCCL_E_NOT_SUPPORT,
        Text("rank ", request.rank,
             " is on another host than the root, whose root info is for one host: it was made without "
             "SAMPAN_PROFILE=ascend910c, on a GPU, or without a network"));
  }
  if (request.rank != 0) return HCCL_SUCCESS;
  return Fail(function, HCCL_E_NOT_SUPPORT,
              "rank 0 is on another host than the root: HcclGetRootInfo must be called by rank 0");
}

struct RootJoin {
  uint32_t ranks;
  const HcclRootInfo* root_info;
  uint32_t rank;
  const HcclCommConfig* config;
  bool has_config;
};

HcclResult CheckRootJoin(const char* function, const RootJoin& join, HcclComm* comm) {
  if (join.ranks == 0) return Fail(function, HCCL_E_PARA, "EI0003: nRanks is 0");
  if (join.rank >= join.ranks) {
    return Fail(function, HCCL_E_PARA,
                Text("EI0003: rank is ", join.rank, ", it must be less than nRanks ", join.ranks));
  }
  if (comm == nullptr) return Fail(function, HCCL_E_PTR, "EI0003: comm is NULL");
  if (join.root_info == nullptr) return Fail(function, HCCL_E_PTR, "EI0003: rootInfo is NULL");
  return HCCL_SUCCESS;
}

HcclResult InitByRootInfo(const char* function, const RootJoin& join, HcclComm* comm) {
  return Guard(function, [&]() -> HcclResult {
    JoinRequest request{
        .meeting = {}, .token = {}, .rank = join.rank, .size = join.ranks, .device = 0, .options = {}};
    HcclResult result = CurrentDevice(function, request.device);
    if (result == HCCL_SUCCESS) result = CheckRootJoin(function, join, comm);
    if (result == HCCL_SUCCESS) result = ReadEnvironment(function, request.options);
    if (result == HCCL_SUCCESS && join.has_config)
      result = ApplyConfig(function, join.config, request.options);
    if (result != HCCL_SUCCESS) return result;
    const auto info = Decode(*join.root_info);
    if (!info)
      return Fail(function, HCCL_E_PARA, "EI0003: rootInfo does not have the bytes of HcclGetRootInfo");
    if (result = PlanHosts(function, *info, request); result != HCCL_SUCCESS) return result;
    request.meeting = info->name;
    request.token = info->token;
    return JoinNowOrAtEnd(function, request, comm);
  });
}

struct TableJoin {
  const char* path;
  uint32_t rank;
  const HcclCommConfig* config;
  bool has_config;
};

HcclResult CheckTable(const char* function, const RankTable& table, const JoinRequest& request) {
  if (table.servers > 1 && !MayCrossHosts()) {
    return Fail(function, HCCL_E_NOT_SUPPORT,
                Text("the rank table names ", table.servers,
                     " servers: that needs emulated devices of SAMPAN_PROFILE=ascend910c"));
  }
  if (request.rank >= table.ranks.size()) {
    return Fail(
        function, HCCL_E_UNAVAIL,
        Text("EI0014: rank is ", request.rank, ", the rank table has ", table.ranks.size(), " ranks"));
  }
  int32_t physical = 0;
  if (aclrtGetPhyDevIdByLogicDevId(request.device, &physical) != ACL_SUCCESS) return HCCL_E_RUNTIME;
  const u32 device = table.ranks[request.rank].device;
  if (device != static_cast<u32>(physical)) {
    return Fail(function, HCCL_E_UNAVAIL,
                Text("EI0014: rank ", request.rank, " of the rank table has the device_id ", device,
                     ", the current device is ", physical));
  }
  return HCCL_SUCCESS;
}

HcclResult InitByTable(const char* function, const TableJoin& join, HcclComm* comm) {
  return Guard(function, [&]() -> HcclResult {
    if (join.path == nullptr) return Fail(function, HCCL_E_PTR, "EI0003: clusterInfo is NULL");
    if (comm == nullptr) return Fail(function, HCCL_E_PTR, "EI0003: comm is NULL");
    JoinRequest request{.meeting = {}, .token = {}, .rank = join.rank, .size = 0, .device = 0, .options = {}};
    HcclResult result = CurrentDevice(function, request.device);
    if (result == HCCL_SUCCESS) result = ReadEnvironment(function, request.options);
    if (result == HCCL_SUCCESS && join.has_config)
      result = ApplyConfig(function, join.config, request.options);
    RankTable table;
    if (result == HCCL_SUCCESS) result = ReadRankTable(function, join.path, table);
    if (result == HCCL_SUCCESS) result = CheckTable(function, table, request);
    if (result != HCCL_SUCCESS) return result;
    request.size = static_cast<u32>(table.ranks.size());
    if (table.servers > 1) {
      request.hosts.address = table.address;
      request.hosts.is_on_host_of_rank_0 = table.ranks[request.rank].server == table.ranks.front().server;
      for (const TableRank& each : table.ranks)
        request.hosts.servers.push_back(each.server);
    }
    // The system tells the user of each rank; the token only keeps different tables apart. Programs on other
    // devices meet elsewhere.
    request.meeting = Text("hccl_world_group_", table.ranks.front().device);
    request.token = Text("rank table ", sampan::Hex(static_cast<std::uintptr_t>(table.digest)));
    constexpr const char* kWorld = "hccl_world_group";
    if (request.options.name.empty()) {
      if (TheRegistry().FindByName(kWorld, request.device) != nullptr) {
        return Fail(function, HCCL_E_UNAVAIL,
                    Text("device ", request.device, " has the communicator of a rank table already"));
      }
      request.options.name = kWorld;
    }
    return JoinNowOrAtEnd(function, request, comm);
  });
}

}  // namespace

HcclResult HcclGetRootInfo(HcclRootInfo* rootInfo) {
  constexpr const char* kFunction = "HcclGetRootInfo";
  return Guard(kFunction, [&]() -> HcclResult {
    if (rootInfo == nullptr) return Fail(kFunction, HCCL_E_PTR, "EI0003: rootInfo is NULL");
    s32 device = 0;
    if (const HcclResult result = CurrentDevice(kFunction, device); result != HCCL_SUCCESS) return result;
    auto info = MakeRootInfo();
    if (!info.ok()) return Fail(kFunction, HCCL_E_SYSCALL, info.error().message);
    if (MayCrossHosts() && !sampan::UsableInterfaces().empty()) {
      const HcclResult reserved = ::hccl::RankGroup::ReserveAddress(info->address);
      if (reserved != HCCL_SUCCESS) return reserved;
    }
    *rootInfo = Encode(*info);
    return HCCL_SUCCESS;
  });
}

HcclResult HcclCommInitRootInfo(uint32_t nRanks, const HcclRootInfo* rootInfo, uint32_t rank,
                                HcclComm* comm) {
  return InitByRootInfo("HcclCommInitRootInfo", {nRanks, rootInfo, rank, nullptr, false}, comm);
}

HcclResult HcclCommInitRootInfoConfig(uint32_t nRanks, const HcclRootInfo* rootInfo, uint32_t rank,
                                      const HcclCommConfig* config, HcclComm* comm) {
  return InitByRootInfo("HcclCommInitRootInfoConfig", {nRanks, rootInfo, rank, config, true}, comm);
}

HcclResult HcclCommInitClusterInfo(const char* clusterInfo, uint32_t rank, HcclComm* comm) {
  return InitByTable("HcclCommInitClusterInfo", {clusterInfo, rank, nullptr, false}, comm);
}

HcclResult HcclCommInitClusterInfoConfig(const char* clusterInfo, uint32_t rank, HcclCommConfig* config,
                                         HcclComm* comm) {
  return InitByTable("HcclCommInitClusterInfoConfig", {clusterInfo, rank, config, true}, comm);
}

HcclResult HcclCommInitAll(uint32_t ndev, int32_t* devices, HcclComm* comms) {
  constexpr const char* kFunction = "HcclCommInitAll";
  return Guard(kFunction, [&]() -> HcclResult {
    if (ndev == 0) return Fail(kFunction, HCCL_E_PARA, "EI0003: ndev is 0");
    if (devices == nullptr) return Fail(kFunction, HCCL_E_PTR, "EI0003: devices is NULL");
    if (comms == nullptr) return Fail(kFunction, HCCL_E_PTR, "EI0003: comms is NULL");
    const std::vector<int32_t> all(devices, devices + ndev);
    std::vector<int32_t> sorted = all;
    std::sort(sorted.begin(), sorted.end());
    if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
      return Fail(kFunction, HCCL_E_PARA, Text("EI0003: devices names device ", *twice, " twice"));
    CommOptions options;
    if (const HcclResult result = ReadEnvironment(kFunction, options); result != HCCL_SUCCESS) return result;
    auto info = MakeRootInfo();
    if (!info.ok()) return Fail(kFunction, HCCL_E_SYSCALL, info.error().message);
    std::vector<GroupJoin> joins;
    for (u32 rank = 0; rank < ndev; ++rank)
      joins.push_back({kFunction, {info->name, info->token, rank, ndev, all[rank], options}, &comms[rank]});
    return JoinTogether(kFunction, joins);
  });
}

HcclResult HcclCommDestroy(HcclComm comm) {
  constexpr const char* kFunction = "HcclCommDestroy";
  return Guard(kFunction, [&]() -> HcclResult {
    if (comm == nullptr) {
      sampan::hccl::LogWarning("HcclCommDestroy: comm is NULL");
      return HCCL_SUCCESS;
    }
    CallGroup& group = CallGroup::OfThread();
    return group.is_open() ? group.Destroy(kFunction, comm) : DestroyCommunicator(kFunction, comm);
  });
}
