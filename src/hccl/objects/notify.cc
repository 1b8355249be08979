// hccl::LocalNotify and hccl::RemoteNotify.

#include <algorithm>

#include "acl/acl_rt.h"
#include "hccl/dispatcher/dispatcher_call.h"
#include "hccl/objects/notify_key.h"
#include "hccl/platform/local_notify.h"
#include "hccl/platform/remote_notify.h"

namespace hccl {

using sampan::Hex;
using sampan::Text;
using sampan::ThisProcess;
using namespace sampan::hccl;

namespace {

HcclResult RequireNotify(const char* function, HcclRtNotify notify) {
  if (notify != nullptr) return HCCL_SUCCESS;
  return Fail(function, HCCL_E_PTR, "the notify was not initialised, or was destroyed");
}

HcclResult PostThrough(const char* function, HcclRtNotify notify, Stream& stream, HcclDispatcher handle,
                       s32 stage) {
  return WithDispatcher(function, handle, [&](Dispatcher& dispatcher) -> HcclResult {
    if (const HcclResult result = RequireNotify(function, notify); result != HCCL_SUCCESS) return result;
    if (dispatcher.is_virtual())
      return HcclSignalRecord(handle, notify, stream, INVALID_VALUE_RANKID, INVALID_U64, stage, true, 0);
    if (const HcclResult result = RequirePointer(function, "stream.ptr()", stream.ptr());
        result != HCCL_SUCCESS)
      return result;
    SignalRecord record;
    record.stage = stage;
    return dispatcher.Submit(PostCommand{notify, record, nullptr}, stream);
  });
}

HcclResult PostNow(const char* function, HcclRtNotify notify, Stream& stream) {
  return Guard(function, [&]() -> HcclResult {
    if (const HcclResult result = RequireNotify(function, notify); result != HCCL_SUCCESS) return result;
    if (const HcclResult result = RequirePointer(function, "stream.ptr()", stream.ptr());
        result != HCCL_SUCCESS)
      return result;
    return aclrtRecordNotify(notify, stream.ptr()) == ACL_SUCCESS ? HCCL_SUCCESS : HCCL_E_RUNTIME;
  });
}

HcclResult FillInfo(const char* function, HcclRtNotify notify, HcclSignalInfo& info) {
  if (const HcclResult result = RequireNotify(function, notify); result != HCCL_SUCCESS) return result;
  s32 device = -1;
  static_cast<void>(aclrtGetDevice(&device));
  info = HcclSignalInfo();
  info.resId = NotifyOffset(notify);
  info.addr = reinterpret_cast<u64>(notify);
  info.devId = static_cast<u32>(device);
  return HCCL_SUCCESS;
}

HcclResult OffsetOf(const char* function, HcclRtNotify notify, u64& offset) {
  if (const HcclResult result = RequireNotify(function, notify); result != HCCL_SUCCESS) return result;
  offset = NotifyOffset(notify);
  return offset != INVALID_U64 ? HCCL_SUCCESS : HCCL_E_RUNTIME;
}

/// The notify of this process that an info describes; null if there is none.
HcclRtNotify NotifyOf(const HcclSignalInfo& info) {
  const auto notify = reinterpret_cast<HcclRtNotify>(info.addr);
  return notify != nullptr && NotifyOffset(notify) != INVALID_U64 ? notify : nullptr;
}

}  // namespace

LocalNotify::LocalNotify() : notifyId_(INVALID_UINT), notify_(nullptr), owner_(true), ipc_(false) {}

LocalNotify::~LocalNotify() {
  static_cast<void>(LocalNotify::Destroy());
}

HcclResult LocalNotify::Init(const NotifyLoadType) {
  constexpr const char* kFunction = "LocalNotify::Init";
  if (notify_ != nullptr) return Fail(kFunction, HCCL_E_INTERNAL, "the notify is initialised already");
  if (aclrtCreateNotify(&notify_, ACL_NOTIFY_DEFAULT) != ACL_SUCCESS) {
    notify_ = nullptr;
    return HCCL_E_RUNTIME;
  }
  owner_ = true;
  notifyId_ = static_cast<u32>(NotifyOffset(notify_));
  return HCCL_SUCCESS;
}

HcclResult LocalNotify::Init(const HcclSignalInfo& notifyInfo, const NotifyLoadType) {
  HcclSignalInfo info = notifyInfo;
  return SetNotifyData(info);
}

HcclResult LocalNotify::InitNotifyLite(const HcclSignalInfo&) {
  return Fail("LocalNotify::InitNotifyLite", HCCL_E_NOT_SUPPORT,
              "this form belongs to the device side, which is not there");
}

HcclResult LocalNotify::Wait(Stream& stream, HcclDispatcher dispatcher, s32 stage, u32 timeOut) {
  constexpr const char* kFunction = "LocalNotify::Wait";
  return WithDispatcher(kFunction, dispatcher, [&](Dispatcher& through) -> HcclResult {
    if (const HcclResult result = RequireNotify(kFunction, notify_); result != HCCL_SUCCESS) return result;
    if (through.is_virtual()) {
      return HcclSignalWait(dispatcher, notify_, stream, INVALID_VALUE_RANKID, INVALID_VALUE_RANKID, stage,
                            true);
    }
    if (const HcclResult result = RequirePointer(kFunction, "stream.ptr()", stream.ptr());
        result != HCCL_SUCCESS)
      return result;
    SignalRecord record;
    record.stage = stage;
    return through.Submit(WaitCommand{notify_, through.WaitSeconds(timeOut), record, nullptr}, stream);
  });
}

HcclResult LocalNotify::Wait(Stream& stream, u32 timeOut) {
  constexpr const char* kFunction = "LocalNotify::Wait";
  return Guard(kFunction, [&]() -> HcclResult {
    if (const HcclResult result = RequireNotify(kFunction, notify_); result != HCCL_SUCCESS) return result;
    if (const HcclResult result = RequirePointer(kFunction, "stream.ptr()", stream.ptr());
        result != HCCL_SUCCESS)
      return result;
    const bool given = timeOut > 0 && timeOut <= NOTIFY_MAX_WAIT_TIME_910_93;
    const u32 seconds = given ? timeOut : NOTIFY_DEFAULT_WAIT_TIME;
    return aclrtWaitAndResetNotify(notify_, stream.ptr(), seconds) == ACL_SUCCESS ? HCCL_SUCCESS
                                                                                  : HCCL_E_RUNTIME;
  });
}

HcclResult LocalNotify::Post(Stream& stream, HcclDispatcher dispatcher, s32 stage) {
  return PostThrough("LocalNotify::Post", notify_, stream, dispatcher, stage);
}

HcclResult LocalNotify::Post(Stream& stream) {
  return PostNow("LocalNotify::Post", notify_, stream);
}

HcclResult LocalNotify::Wait(Stream& stream, HcclDispatcher dispatcher,
                             const std::shared_ptr<LocalNotify>& notify, s32 stage, u32 timeOut) {
  if (notify == nullptr) return Fail("LocalNotify::Wait", HCCL_E_PTR, "notify is NULL");
  return notify->Wait(stream, dispatcher, stage, timeOut);
}

HcclResult LocalNotify::Post(Stream& stream, HcclDispatcher dispatcher,
                             const std::shared_ptr<LocalNotify>& notify, s32 stage) {
  if (notify == nullptr) return Fail("LocalNotify::Post", HCCL_E_PTR, "notify is NULL");
  return notify->Post(stream, dispatcher, stage);
}

HcclResult LocalNotify::Destroy() {
  const HcclRtNotify notify = std::exchange(notify_, nullptr);
  ipc_ = false;
  notifyId_ = INVALID_UINT;
  if (notify == nullptr || !owner_) return HCCL_SUCCESS;
  return aclrtDestroyNotify(notify) == ACL_SUCCESS ? HCCL_SUCCESS : HCCL_E_RUNTIME;
}

HcclResult LocalNotify::SetIpc() {
  if (const HcclResult result = RequireNotify("LocalNotify::SetIpc", notify_); result != HCCL_SUCCESS)
    return result;
  ipc_ = true;
  return HCCL_SUCCESS;
}

HcclResult LocalNotify::Grant(s64 recvPid) {
  if (const HcclResult result = RequireNotify("LocalNotify::Grant", notify_); result != HCCL_SUCCESS)
    return result;
  s32 process = static_cast<s32>(recvPid);
  return aclrtNotifySetImportPid(notify_, &process, 1) == ACL_SUCCESS ? HCCL_SUCCESS : HCCL_E_RUNTIME;
}

HcclResult LocalNotify::Serialize(std::vector<u8>& byteVector) {
  constexpr const char* kFunction = "LocalNotify::Serialize";
  return Guard(kFunction, [&]() -> HcclResult {
    if (const HcclResult result = RequireNotify(kFunction, notify_); result != HCCL_SUCCESS) return result;
    auto process = ThisProcess();
    if (!process.ok()) return Fail(kFunction, HCCL_E_SYSCALL, process.error().message);
    NotifyKey key{*process, reinterpret_cast<u64>(notify_)};
    if (ipc_ && aclrtNotifyGetExportKey(notify_, key.key.data(), key.key.size(), 0) != ACL_SUCCESS)
      return HCCL_E_RUNTIME;
    byteVector = key.Bytes();
    return HCCL_SUCCESS;
  });
}

HcclResult LocalNotify::GetNotifyData(HcclSignalInfo& notifyInfo) {
  return FillInfo("LocalNotify::GetNotifyData", notify_, notifyInfo);
}

HcclResult LocalNotify::SetNotifyData(HcclSignalInfo& notifyInfo) {
  constexpr const char* kFunction = "LocalNotify::SetNotifyData";
  const HcclRtNotify notify = NotifyOf(notifyInfo);
  if (notify == nullptr) {
    return Fail(kFunction, HCCL_E_PARA,
                Text("address ", Hex(static_cast<std::uintptr_t>(notifyInfo.addr)),
                     " is not the address of a notify of this process"));
  }
  if (const HcclResult result = Destroy(); result != HCCL_SUCCESS) return result;
  notify_ = notify;
  owner_ = false;
  notifyId_ = static_cast<u32>(NotifyOffset(notify));
  return HCCL_SUCCESS;
}

HcclResult LocalNotify::GetNotifyOffset(u64& notifyOffset) {
  return OffsetOf("LocalNotify::GetNotifyOffset", notify_, notifyOffset);
}

RemoteNotify::RemoteNotify() : notify_(nullptr), imported_(false) {}

RemoteNotify::~RemoteNotify() {
  static_cast<void>(Close());
}

HcclResult RemoteNotify::Init(const std::vector<u8>& byteVector) {
  constexpr const char* kFunction = "RemoteNotify::Init";
  return Guard(kFunction, [&]() -> HcclResult {
    if (!NotifyKey::From(byteVector)) {
      return Fail(kFunction, HCCL_E_PARA,
                  Text("byteVector has ", byteVector.size(), " bytes: LocalNotify::Serialize gives ",
                       sizeof(NotifyKey)));
    }
    if (const HcclResult result = Close(); result != HCCL_SUCCESS) return result;
    serialized_ = byteVector;
    return HCCL_SUCCESS;
  });
}

HcclResult RemoteNotify::Init(const HcclSignalInfo& notifyInfo, const NotifyLoadType) {
  constexpr const char* kFunction = "RemoteNotify::Init";
  return Guard(kFunction, [&]() -> HcclResult {
    auto process = ThisProcess();
    if (!process.ok()) return Fail(kFunction, HCCL_E_SYSCALL, process.error().message);
    const HcclResult result = Init(NotifyKey{*process, notifyInfo.addr}.Bytes());
    return result == HCCL_SUCCESS ? Open() : result;
  });
}

HcclResult RemoteNotify::Open() {
  constexpr const char* kFunction = "RemoteNotify::Open";
  if (notify_ != nullptr) return HCCL_SUCCESS;
  const auto key = NotifyKey::From(serialized_);
  if (!key) return Fail(kFunction, HCCL_E_PTR, "the notify was not initialised");
  if (key->here()) {
    if (NotifyOffset(key->notify()) == INVALID_U64)
      return Fail(kFunction, HCCL_E_NOT_FOUND, "the notify is gone");
    notify_ = key->notify();
    return HCCL_SUCCESS;
  }
  if (key->key[0] == 0) {
    return Fail(kFunction, HCCL_E_PARA,
                Text("the notify of process ", key->process.process, " was serialised before SetIpc"));
  }
  if (aclrtNotifyImportByKey(&notify_, key->key.data(), 0) != ACL_SUCCESS) {
    notify_ = nullptr;
    return HCCL_E_RUNTIME;
  }
  imported_ = true;
  return HCCL_SUCCESS;
}

HcclResult RemoteNotify::Close() {
  const HcclRtNotify notify = std::exchange(notify_, nullptr);
  if (notify == nullptr || !std::exchange(imported_, false)) return HCCL_SUCCESS;
  return aclrtDestroyNotify(notify) == ACL_SUCCESS ? HCCL_SUCCESS : HCCL_E_RUNTIME;
}

HcclResult RemoteNotify::Post(Stream& stream, HcclDispatcher dispatcher, s32 stage) {
  return PostThrough("RemoteNotify::Post", notify_, stream, dispatcher, stage);
}

HcclResult RemoteNotify::Post(Stream& stream) {
  return PostNow("RemoteNotify::Post", notify_, stream);
}

HcclResult RemoteNotify::GetNotifyOffset(u64& notifyOffset) {
  return OffsetOf("RemoteNotify::GetNotifyOffset", notify_, notifyOffset);
}

HcclResult RemoteNotify::GetNotifyData(HcclSignalInfo& notifyInfo) {
  return FillInfo("RemoteNotify::GetNotifyData", notify_, notifyInfo);
}

}  // namespace hccl
