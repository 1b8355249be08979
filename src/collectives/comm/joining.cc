// How ranks get their communicators, and give them back.
#include "collectives/comm/joining.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "acl/acl.h"
#include "base/platform_bridge.h"
#include "base/threads/threads.h"
#include "collectives/operators/call_checks.h"
#include "hccl/report.h"

namespace sampan::collectives {

using hccl::Fail;

HcclResult CurrentDevice(const char* function, s32& device) {
  if (aclrtGetDevice(&device) == ACL_SUCCESS) return HCCL_SUCCESS;
  return Fail(function, HCCL_E_RUNTIME,
              "the calling thread has no current device: call aclrtSetDevice first");
}

HcclResult JoinCommunicator(const char* function, const JoinRequest& request, HcclComm* comm) {
  if (request.size > kMaxRanks) {
    return Fail(function, HCCL_E_NOT_SUPPORT,
                Text("a communicator of ", request.size, " ranks: one host has at most ", kMaxRanks));
  }
  if (!ChipHasCollectives())
    return Fail(function, HCCL_E_NOT_SUPPORT, Text(std::string(sampanChipName()), " has no collectives"));
  Communicator::Facts facts{.name = request.options.name.empty() ? request.meeting : request.options.name,
                            .rank = request.rank,
                            .size = request.size,
                            .device = request.device,
                            .options = request.options};
  NameReservation name(facts.name, facts.device, facts.rank);
  if (!name.is_held()) {
    return Fail(function, HCCL_E_PARA,
                Text("EI0003: device ", facts.device, " has a communicator '", facts.name, "' already"));
  }
  std::shared_ptr<Membership> membership;
  const Membership::Place place{request.meeting, request.token,  request.rank,
                                request.size,    request.device, request.hosts};
  if (const HcclResult joined = Membership::Join(function, place, request.options, membership);
      joined != HCCL_SUCCESS)
    return joined;
  const Region whole = membership->board()->whole();
  *comm = TheRegistry().Add(std::make_shared<Communicator>(std::move(facts), std::move(membership), whole));
  name.Keep();
  return HCCL_SUCCESS;
}

namespace {

/// A join on a thread of its own.
struct ThreadJoin {
  HcclResult result = HCCL_E_INTERNAL;
  std::string message;
  HcclComm comm = nullptr;
};

/// "[PID: 7] time title(code): function: reason" and lines behind it: the function and the reason.
std::string FirstReason(std::string_view messages) {
  const std::string_view line = messages.substr(0, messages.find('\n'));
  const std::size_t title = line.find("): ");
  return std::string(title == std::string_view::npos ? line : line.substr(title + 3));
}

void JoinOnDevice(const GroupJoin& join, ThreadJoin& made) {
  made.result = hccl::Guard(join.function, [&]() -> HcclResult {
    if (aclrtSetDevice(join.request.device) != ACL_SUCCESS) return HCCL_E_RUNTIME;
    return JoinCommunicator(join.function, join.request, &made.comm);
  });
  if (made.result == HCCL_SUCCESS) return;
  const char* const text = aclGetRecentErrMsg();
  made.message = FirstReason(text != nullptr ? text : "");
}

/// One that the program has not seen.
void Discard(HcclComm comm) {
  const std::shared_ptr<Communicator> made = TheRegistry().Find(comm);
  TheRegistry().Remove(comm);
  made->Leave();
}

}  // namespace

HcclResult JoinTogether(const char* function, const std::vector<GroupJoin>& joins) {
  std::vector<ThreadJoin> made(joins.size());
  std::vector<Thread> threads(joins.size());
  for (std::size_t i = 0; i < joins.size(); ++i)
    threads[i] = StartThread("sampan-join", [&, i] { JoinOnDevice(joins[i], made[i]); });
  for (Thread& thread : threads)
    thread.Join();
  const auto failed = std::find_if(made.begin(), made.end(),
                                   [](const ThreadJoin& each) { return each.result != HCCL_SUCCESS; });
  for (std::size_t i = 0; i < joins.size(); ++i) {
    if (failed == made.end())
      *joins[i].comm = made[i].comm;
    else if (made[i].comm != nullptr)
      Discard(made[i].comm);
  }
  if (failed == made.end()) return HCCL_SUCCESS;
  const GroupJoin& culprit = joins[static_cast<std::size_t>(failed - made.begin())];
  return Fail(function, failed->result,
              Text("device ", culprit.request.device, " could not join: ", failed->message));
}

namespace {

HcclResult CheckUnused(const char* function, Communicator& communicator) {
  const u32 pending = communicator.pending().load();
  if (pending == 0) return HCCL_SUCCESS;
  return Fail(function, HCCL_E_AGAIN,
              Text(communicator.Describe(), " has ", pending,
                   " operators that are not over: synchronize their streams"));
}

}  // namespace

HcclResult DestroyCommunicator(const char* function, HcclComm comm) {
  std::shared_ptr<Communicator> found;
  if (const HcclResult result = FindCommunicator(function, comm, found); result != HCCL_SUCCESS)
    return result;
  HcclResult result = CheckUnused(function, *found);
  if (result == HCCL_SUCCESS)
    result = TheRegistry().state_callbacks().Call(function, comm, HCCL_COMM_STATE_PHASE_DESTROY_PRE);
  if (result == HCCL_SUCCESS) result = CheckUnused(function, *found);  // the program's function may use it
  if (result != HCCL_SUCCESS) return result;
  TheRegistry().Remove(comm);
  found->Leave();
  TheRegistry().state_callbacks().Call(function, comm, HCCL_COMM_STATE_PHASE_DESTROY_POST);
  return HCCL_SUCCESS;
}

}  // namespace sampan::collectives
