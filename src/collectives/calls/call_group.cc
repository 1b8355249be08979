// The calls of a thread between HcclGroupStart and the outermost HcclGroupEnd: they take effect at the end.
#include "collectives/calls/call_group.h"

#include <algorithm>
#include <array>
#include <utility>

#include "hccl/hccl_comm.h"
#include "hccl/report.h"

using namespace sampan::collectives;
using sampan::hccl::Fail;
using sampan::hccl::Guard;

namespace sampan::collectives {

CallGroup& CallGroup::OfThread() {
  thread_local CallGroup group;
  return group;
}

HcclResult CallGroup::TakeUse(const char* function, Use use) {
  if (use_ == use || use_ == Use::kNone) {
    use_ = use;
    return HCCL_SUCCESS;
  }
  static constexpr std::array<const char*, 4> kNames = {"", "makes or destroys communicators",
                                                        "has collective operators", "has messages"};
  return Fail(function, HCCL_E_NOT_SUPPORT,
              Text("EI0003: the group of this thread ", kNames[static_cast<std::size_t>(use_)],
                   ": this call cannot be in it"));
}

HcclResult CallGroup::Join(const char* function, const JoinRequest& request, HcclComm* comm) {
  if (const HcclResult taken = TakeUse(function, Use::kMaking); taken != HCCL_SUCCESS) return taken;
  joins_.push_back({function, request, comm});
  return HCCL_SUCCESS;
}

HcclResult CallGroup::Destroy(const char* function, HcclComm comm) {
  if (const HcclResult taken = TakeUse(function, Use::kMaking); taken != HCCL_SUCCESS) return taken;
  destructions_.push_back({function, comm});
  return HCCL_SUCCESS;
}

HcclResult CallGroup::Queue(const char* function, const std::shared_ptr<Communicator>& communicator,
                            CollectiveCall&& call, void* stream) {
  if (const HcclResult taken = TakeUse(function, Use::kCollectives); taken != HCCL_SUCCESS) return taken;
  aclrtContext context = nullptr;
  if (aclrtGetCurrentContext(&context) != ACL_SUCCESS) return HCCL_E_RUNTIME;
  queued_.push_back({function, communicator, stream, context, std::move(call)});
  return HCCL_SUCCESS;
}

HcclResult CallGroup::Queue(const char* function, const std::shared_ptr<Communicator>& communicator,
                            const CallFacts& facts, Parcel parcel, void* stream) {
  if (const HcclResult taken = TakeUse(function, Use::kMessages); taken != HCCL_SUCCESS) return taken;
  auto found = std::find_if(queued_.begin(), queued_.end(), [&](const Queued& each) {
    return each.communicator == communicator && each.stream == stream;
  });
  if (found == queued_.end()) {
    aclrtContext context = nullptr;
    if (aclrtGetCurrentContext(&context) != ACL_SUCCESS) return HCCL_E_RUNTIME;
    found = queued_.insert(queued_.end(), {function, communicator, stream, context, Messages{facts, {}}});
  }
  auto& [group_facts, parcels] = std::get<Messages>(found->what);
  const auto sends = std::count_if(parcels.begin(), parcels.end(), [&](const Parcel& each) {
    return each.is_send && each.peer == parcel.peer;
  });
  if (parcel.is_send && static_cast<u64>(sends) == kChannelSlots) {
    return Fail(function, HCCL_E_NOT_SUPPORT,
                Text("more than ", kChannelSlots, " messages of a group go to rank ", parcel.peer));
  }
  if (!parcels.empty()) group_facts = {.kind = static_cast<u32>(OperatorKind::kGroup), .place = facts.place};
  parcels.push_back(std::move(parcel));
  return HCCL_SUCCESS;
}

HcclResult CallGroup::Submit(Queued& queued) {
  if (const aclError code = aclrtSetCurrentContext(queued.context); code != ACL_SUCCESS)
    return HCCL_E_RUNTIME;
  if (auto* const call = std::get_if<CollectiveCall>(&queued.what))
    return collectives::Submit(queued.function, queued.communicator, std::move(*call), queued.stream);
  auto& [facts, parcels] = std::get<Messages>(queued.what);
  return collectives::Submit(queued.function, queued.communicator, facts, std::move(parcels), {},
                             queued.stream);
}

HcclResult CallGroup::SubmitAll(std::vector<Queued> all) {
  if (all.empty()) return HCCL_SUCCESS;
  aclrtContext own = nullptr;
  const bool has_own = aclrtGetCurrentContext(&own) == ACL_SUCCESS;
  HcclResult result = HCCL_SUCCESS;
  for (auto each = all.begin(); result == HCCL_SUCCESS && each != all.end(); ++each)
    result = Submit(*each);
  if (has_own) aclrtSetCurrentContext(own);
  return result;
}

HcclResult CallGroup::End(const char* function) {
  if (depth_ == 0)
    return Fail(function, HCCL_E_NOT_SUPPORT, "the calling thread has no group: call HcclGroupStart first");
  if (--depth_ != 0) return HCCL_SUCCESS;
  // The group is over whatever becomes of its calls.
  const auto joins = std::exchange(joins_, {});
  const auto destructions = std::exchange(destructions_, {});
  auto queued = std::exchange(queued_, {});
  use_ = Use::kNone;
  HcclResult result = JoinTogether(function, joins);
  for (const auto& [name, comm] : destructions) {
    const HcclResult destroyed = DestroyCommunicator(name, comm);
    if (result == HCCL_SUCCESS) result = destroyed;
  }
  return result == HCCL_SUCCESS ? SubmitAll(std::move(queued)) : result;
}

}  // namespace sampan::collectives

HcclResult HcclGroupStart() {
  return Guard("HcclGroupStart", []() -> HcclResult {
    CallGroup::OfThread().Start();
    return HCCL_SUCCESS;
  });
}

HcclResult HcclGroupEnd() {
  constexpr const char* kFunction = "HcclGroupEnd";
  return Guard(kFunction, []() -> HcclResult { return CallGroup::OfThread().End(kFunction); });
}

HcclResult HcclGroupStatusGet(bool* isGroup) {
  constexpr const char* kFunction = "HcclGroupStatusGet";
  return Guard(kFunction, [&]() -> HcclResult {
    if (isGroup == nullptr) return Fail(kFunction, HCCL_E_PTR, "EI0003: isGroup is NULL");
    *isGroup = CallGroup::OfThread().is_open();
    return HCCL_SUCCESS;
  });
}
