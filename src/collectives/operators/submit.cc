// The last step of a call: numbers the operator and puts it into the stream.
#include "collectives/operators/submit.h"

#include <mutex>
#include <utility>

#include "base/error/text.h"
#include "hccl/report.h"

namespace sampan::collectives {
namespace {

/// If the stream refuses the operator, no part of it was queued, and it has no number.
HcclResult Queue(const char* function, Communicator& communicator, const std::shared_ptr<StreamWork>& work,
                 void* stream) {
  auto& operation = static_cast<Operation&>(*work);
  // First: once the operator is queued, the stream's threads may tell other hosts of it.
  communicator.TellPlace(operation.facts().place);
  if (const Status shared = operation.ShareWithFar(); !shared.ok()) {
    operation.Abandon();
    return hccl::Fail(
        function, HCCL_E_NOT_SUPPORT,
        Text("ranks of other hosts can access memory of aclrtMalloc only: ", shared.error().message));
  }
  if (sampanSubmitWork(function, stream, work, communicator.facts().options.exec_limit) != 0) {
    operation.Abandon();
    return HCCL_E_RUNTIME;
  }
  if (operation.is_over()) communicator.NoteMet();
  return HCCL_SUCCESS;
}

/// For others that wait for this rank. `number` is that of the last collective.
void NoteCall(const Communicator& communicator, const CallFacts& facts, u64 number) {
  const u64 packed = PackedCall(facts);
  communicator.own_cell().last_call.store(packed, std::memory_order_relaxed);
  communicator.own_cell().last_place.store(facts.place, std::memory_order_relaxed);
  communicator.own_cell().called.store(number, std::memory_order_release);
  if (!communicator.has_far()) return;
  communicator.Tell({.kind = NoteKind::kCalled, .number = number, .packed_call = packed, .facts = facts});
}

}  // namespace

HcclResult Submit(const char* function, const std::shared_ptr<Communicator>& communicator,
                  CollectiveCall&& call, void* stream) {
  const std::lock_guard lock(communicator->call_mutex());
  const u64 number = communicator->next_collective;
  const CallFacts facts = call.facts;
  const std::shared_ptr<StreamWork> work =
      std::make_shared<Collective>(communicator, std::move(call), number);
  const HcclResult queued = Queue(function, *communicator, work, stream);
  if (queued != HCCL_SUCCESS) return queued;
  ++communicator->next_collective;
  NoteCall(*communicator, facts, number);
  return HCCL_SUCCESS;
}

HcclResult Submit(const char* function, const std::shared_ptr<Communicator>& communicator,
                  const CallFacts& facts, std::vector<Parcel> parcels, std::vector<OwnParcel> own,
                  void* stream) {
  const std::lock_guard lock(communicator->call_mutex());
  std::vector<u64> sends = communicator->next_send, receives = communicator->next_receive;
  for (Parcel& parcel : parcels)
    parcel.number = parcel.is_send ? sends[parcel.peer]++ : receives[parcel.peer]++;
  const std::shared_ptr<StreamWork> work =
      std::make_shared<Exchange>(communicator, facts, std::move(parcels), std::move(own));
  const HcclResult queued = Queue(function, *communicator, work, stream);
  if (queued != HCCL_SUCCESS) return queued;
  communicator->next_send = std::move(sends);
  communicator->next_receive = std::move(receives);
  NoteCall(*communicator, facts, communicator->next_collective - 1);
  return HCCL_SUCCESS;
}

}  // namespace sampan::collectives
