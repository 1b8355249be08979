// Callbacks for failed tasks, and the queries of a callback.
#include <cstdint>
#include <mutex>

#include "acl/acl_rt.h"
#include "acl/guard.h"
#include "process/process.h"

/// Opaque to programs.
struct rtExceptionInfo {
  sampan::core::TaskFailure failure;
};

namespace sampan::acl {
namespace {

constexpr std::uint32_t kUnknown = 0xFFFFFFFF;

void Tell(const core::TaskFailure& failure, void* function) {
  rtExceptionInfo info{failure};
  reinterpret_cast<aclrtExceptionInfoCallback>(function)(&info);
}

Status Add(aclrtExceptionInfoCallback callback) {
  auto runtime = process::TheRuntime();
  if (!runtime.ok()) return runtime.TakeStatus();
  (*runtime)->failure_reports().Add(&Tell, reinterpret_cast<void*>(callback));
  return {};
}

Status Remove(aclrtExceptionInfoCallback callback) {
  auto runtime = process::TheRuntime();
  if (!runtime.ok()) return runtime.TakeStatus();
  if ((*runtime)->failure_reports().Remove(reinterpret_cast<void*>(callback))) return {};
  return {Code::kParamInvalid, "callback is not registered"};
}

/// The single function that the older call registers.
struct OnlyCallback {
  std::mutex mutex;
  aclrtExceptionInfoCallback function = nullptr;

  static OnlyCallback& The() {
    static OnlyCallback& only = *new OnlyCallback;
    return only;
  }
};

std::uint32_t Read(const aclrtExceptionInfo* info, std::uint32_t core::TaskFailure::*field) {
  return info == nullptr ? kUnknown : info->failure.*field;
}

}  // namespace
}  // namespace sampan::acl

using namespace sampan;
using namespace sampan::acl;

aclError aclrtSetExceptionInfoCallback(aclrtExceptionInfoCallback callback) {
  return Guard("aclrtSetExceptionInfoCallback", [&]() -> Status {
    // A forked child answers here: a thread of its parent may have held the lock below.
    if (auto runtime = process::TheRuntime(); !runtime.ok()) return runtime.TakeStatus();
    OnlyCallback& only = OnlyCallback::The();
    const std::lock_guard lock(only.mutex);
    if (only.function != nullptr) {
      if (Status removed = Remove(only.function); !removed.ok()) return removed;
      only.function = nullptr;
    }
    if (callback == nullptr) return {};
    if (Status added = Add(callback); !added.ok()) return added;
    only.function = callback;
    return {};
  });
}

aclError aclrtExceptionInfoCallbackRegister(aclrtExceptionInfoCallback callback) {
  return Guard("aclrtExceptionInfoCallbackRegister", [&]() -> Status {
    if (callback == nullptr) return {Code::kParamInvalid, "callback is NULL"};
    return Add(callback);
  });
}

aclError aclrtExceptionInfoCallbackUnregister(aclrtExceptionInfoCallback callback) {
  return Guard("aclrtExceptionInfoCallbackUnregister", [&]() -> Status {
    if (callback == nullptr) return {Code::kParamInvalid, "callback is NULL"};
    return Remove(callback);
  });
}

uint32_t aclrtGetTaskIdFromExceptionInfo(const aclrtExceptionInfo* info) {
  return Read(info, &core::TaskFailure::task);
}

uint32_t aclrtGetStreamIdFromExceptionInfo(const aclrtExceptionInfo* info) {
  return Read(info, &core::TaskFailure::stream);
}

uint32_t aclrtGetThreadIdFromExceptionInfo(const aclrtExceptionInfo* info) {
  return Read(info, &core::TaskFailure::thread);
}

uint32_t aclrtGetDeviceIdFromExceptionInfo(const aclrtExceptionInfo* info) {
  return Read(info, &core::TaskFailure::device);
}

uint32_t aclrtGetErrorCodeFromExceptionInfo(const aclrtExceptionInfo* info) {
  return Read(info, &core::TaskFailure::code);
}
