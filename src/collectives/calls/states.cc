// Communicators by name, what state they are in, and who is told of it.
#include <cstring>
#include <string>

#include "collectives/calls/with_communicator.h"
#include "collectives/comm/joining.h"
#include "hccl/hccl_comm.h"
#include "hccl/report.h"

using namespace sampan::collectives;
using sampan::Text;
using sampan::hccl::Fail;
using sampan::hccl::Guard;

namespace {

/// Finds the communicator of the current device with that name.
HcclResult FindNamed(const char* function, const char* text, HcclComm& comm) {
  s32 device = 0;
  if (const HcclResult result = CurrentDevice(function, device); result != HCCL_SUCCESS) return result;
  const std::string name(text, ::strnlen(text, COMM_NAME_MAX_LENGTH));
  comm = TheRegistry().FindByName(name, device);
  if (comm != nullptr) return HCCL_SUCCESS;
  return Fail(function, HCCL_E_PARA, Text("EI0003: device ", device, " has no communicator '", name, "'"));
}

HcclCommStatus StatusOf(Communicator& communicator) {
  if (communicator.async_error() != HCCL_SUCCESS) return HCCL_COMM_STATUS_INVALID;
  return communicator.suspended().load() ? HCCL_COMM_STATUS_SUSPENDING : HCCL_COMM_STATUS_READY;
}

}  // namespace

HcclResult HcclCommGetHandleWithName(const char* commName, HcclComm* comm) {
  constexpr const char* kFunction = "HcclCommGetHandleWithName";
  return Guard(kFunction, [&]() -> HcclResult {
    HcclComm found = nullptr;
    HcclResult result = CheckPointers(kFunction, {{"commName", commName}, {"comm", comm}});
    if (result == HCCL_SUCCESS) result = FindNamed(kFunction, commName, found);
    if (result == HCCL_SUCCESS) *comm = found;
    return result;
  });
}

HcclResult HcclCommGetStatus(const char* commId, HcclCommStatus* status) {
  constexpr const char* kFunction = "HcclCommGetStatus";
  return Guard(kFunction, [&]() -> HcclResult {
    HcclComm named = nullptr;
    std::shared_ptr<Communicator> found;
    HcclResult result = CheckPointers(kFunction, {{"commId", commId}, {"status", status}});
    if (result == HCCL_SUCCESS) result = FindNamed(kFunction, commId, named);
    if (result == HCCL_SUCCESS) result = FindCommunicator(kFunction, named, found);
    if (result == HCCL_SUCCESS) *status = StatusOf(*found);
    return result;
  });
}

HcclResult HcclCommSuspend(HcclComm comm) {
  return WithCommunicator("HcclCommSuspend", comm, {}, [](Communicator& found) {
    found.suspended().store(true);
    return HCCL_SUCCESS;
  });
}

HcclResult HcclCommResume(HcclComm comm) {
  constexpr const char* kFunction = "HcclCommResume";
  return WithCommunicator(kFunction, comm, {}, [&](Communicator& found) {
    const HcclResult refused =
        TheRegistry().state_callbacks().Call(kFunction, comm, HCCL_COMM_STATE_PHASE_RESUME_PRE);
    if (refused != HCCL_SUCCESS) return refused;
    found.suspended().store(false);
    TheRegistry().state_callbacks().Call(kFunction, comm, HCCL_COMM_STATE_PHASE_RESUME_POST);
    return HCCL_SUCCESS;
  });
}

HcclResult HcclCommRegCommStateCallback(const char* regName, HcclCommStateCallback cb, void* args) {
  constexpr const char* kFunction = "HcclCommRegCommStateCallback";
  constexpr std::size_t kMaxNameBytes = 160;
  return Guard(kFunction, [&]() -> HcclResult {
    if (regName == nullptr) return Fail(kFunction, HCCL_E_PTR, "EI0003: regName is NULL");
    if (cb == nullptr) return Fail(kFunction, HCCL_E_PTR, "EI0003: cb is NULL");
    const std::string name(regName, ::strnlen(regName, kMaxNameBytes + 1));
    if (name.size() > kMaxNameBytes)
      return Fail(kFunction, HCCL_E_PARA, Text("EI0003: regName has more than ", kMaxNameBytes, " bytes"));
    TheRegistry().state_callbacks().Set(name, cb, args);
    return HCCL_SUCCESS;
  });
}
