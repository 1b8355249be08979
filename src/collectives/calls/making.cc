// Making and destroying communicators.
#include <algorithm>
#include <string>
#include <vector>

#include "acl/acl.h"
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
    if (auto here = ThisHost(); !here.ok() || info->host != *here) {
      return Fail(function, HCCL_E_NOT_SUPPORT,
                  Text("rank ", join.rank,
                       " runs on another host, or in another network namespace, than the root: a "
                       "communicator has ranks of one host. hccl::RankGroup has ranks of several hosts"));
    }
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
  if (table.servers > 1) {
    return Fail(
        function, HCCL_E_NOT_SUPPORT,
        Text("the rank table names ", table.servers, " servers: ranks on several hosts are not supported"));
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
