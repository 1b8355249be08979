// Contexts, and the options that belong to them or to the process.
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "acl/acl_rt.h"
#include "acl/caller.h"
#include "acl/guard.h"
#include "base/platform_bridge.h"
#include "observe/hooks.h"
#include "process/process.h"
#include "process/thread_state.h"

namespace sampan::acl {
namespace {

using process::ThisThread;

Result<std::atomic<std::int64_t>*> FindOption(core::SystemOptions& options, aclSysParamOpt option) {
  const auto index = static_cast<std::size_t>(option);
  if (index >= options.size()) {
    return Error{Code::kParamInvalid, Text("opt is ", index, ", it must be less than ", options.size())};
  }
  return &options[index];
}

Status ReadOption(Result<std::atomic<std::int64_t>*> option, std::int64_t* value) {
  if (!option.ok()) return option.TakeStatus();
  *value = (*option)->load();
  return {};
}

Status WriteOption(Result<std::atomic<std::int64_t>*> option, std::int64_t value) {
  if (!option.ok()) return option.TakeStatus();
  (*option)->store(value);
  return {};
}

/// For parts of collective operators. Gives the thread its earlier contexts back at its end.
class EnteredContext {
 public:
  explicit EnteredContext(std::shared_ptr<core::Context> context)
      : explicit_(std::exchange(ThisThread().explicit_context, std::move(context))),
        primary_(std::exchange(ThisThread().primary_context, nullptr)),
        served_(std::exchange(observe::ThisThread().serves_operator, true)) {}
  ~EnteredContext() {
    observe::ThisThread().serves_operator = served_;
    ThisThread().explicit_context = std::move(explicit_);
    ThisThread().primary_context = std::move(primary_);
  }
  EnteredContext(const EnteredContext&) = delete;
  EnteredContext& operator=(const EnteredContext&) = delete;

 private:
  std::shared_ptr<core::Context> explicit_, primary_;
  const bool served_;
};

/// The options of the process.
core::SystemOptions process_options{};

}  // namespace
}  // namespace sampan::acl

using namespace sampan;
using namespace sampan::acl;

aclError aclrtCreateContext(aclrtContext* context, int32_t deviceId) {
  return Guard("aclrtCreateContext", [&]() -> Status {
    if (Status present = RequireNonNull("context", context); !present.ok()) return present;
    auto runtime = process::TheRuntime();
    if (!runtime.ok()) return runtime.TakeStatus();
    auto made = (*runtime)->CreateContext(deviceId);
    if (!made.ok()) return made.TakeStatus();
    *context = (*made)->own_handle;
    ThisThread().explicit_context = std::move(*made);
    ThisThread().primary_context = nullptr;
    return {};
  });
}

aclError aclrtDestroyContext(aclrtContext context) {
  return Guard("aclrtDestroyContext", [&]() -> Status {
    if (Status present = RequireNonNull("context", context); !present.ok()) return present;
    auto runtime = process::TheRuntime();
    if (!runtime.ok()) return runtime.TakeStatus();
    if (Status destroyed = (*runtime)->DestroyContext(context); !destroyed.ok()) return destroyed;
    auto& current = ThisThread().explicit_context;
    if (current != nullptr && !current->alive()) current = nullptr;
    return {};
  });
}

aclError aclrtSetCurrentContext(aclrtContext context) {
  return Guard("aclrtSetCurrentContext", [&]() -> Status {
    if (Status present = RequireNonNull("context", context); !present.ok()) return present;
    auto runtime = process::TheRuntime();
    if (!runtime.ok()) return runtime.TakeStatus();
    auto found = (*runtime)->FindContext(context);
    if (found == nullptr) {
      return {Code::kParamInvalid, Text("context ", Hex(context), " is not a living context")};
    }
    ThisThread().explicit_context = std::move(found);
    ThisThread().primary_context = nullptr;
    return {};
  });
}

void sampanEnterContext(void* context, std::shared_ptr<void>& scope) {
  core::Runtime* const runtime = process::TheRuntimeIfMade();
  auto found = runtime == nullptr ? nullptr : runtime->FindContext(context);
  if (found != nullptr) scope = std::make_shared<EnteredContext>(std::move(found));
}

aclError aclrtGetCurrentContext(aclrtContext* context) {
  return Guard("aclrtGetCurrentContext", [&]() -> Status {
    if (Status present = RequireNonNull("context", context); !present.ok()) return present;
    *context = nullptr;
    auto caller = CallerWithContext();
    if (!caller.ok()) {
      Status failure = caller.TakeStatus();
      failure.error().unrecorded = true;
      return failure;
    }
    *context = caller->context->own_handle;
    return {};
  });
}

aclError aclrtCtxGetCurrentDefaultStream(aclrtStream* stream) {
  return Guard("aclrtCtxGetCurrentDefaultStream", [&]() -> Status {
    if (Status present = RequireNonNull("stream", stream); !present.ok()) return present;
    auto caller = CallerWithContext();
    if (!caller.ok()) return caller.TakeStatus();
    *stream = caller->context->default_stream_handle;
    return {};
  });
}

aclError aclrtGetPrimaryCtxState(int32_t deviceId, uint32_t* flags, int32_t* active) {
  return Guard("aclrtGetPrimaryCtxState", [&]() -> Status {
    if (flags != nullptr) return InvalidArgument("flags must be NULL");
    if (Status present = RequireNonNull("active", active); !present.ok()) return present;
    auto runtime = process::TheRuntime();
    if (!runtime.ok()) return runtime.TakeStatus();
    auto device = (*runtime)->FindDevice(deviceId);
    if (!device.ok()) return device.TakeStatus();
    const std::lock_guard lock((*device)->mutex);
    *active = (*device)->primary != nullptr ? 1 : 0;
    return {};
  });
}

aclError aclrtCtxGetSysParamOpt(aclSysParamOpt opt, int64_t* value) {
  return Guard("aclrtCtxGetSysParamOpt", [&]() -> Status {
    if (Status present = RequireNonNull("value", value); !present.ok()) return present;
    auto caller = CallerWithContext();
    if (!caller.ok()) return caller.TakeStatus();
    return ReadOption(FindOption(caller->context->options, opt), value);
  });
}

aclError aclrtCtxSetSysParamOpt(aclSysParamOpt opt, int64_t value) {
  return Guard("aclrtCtxSetSysParamOpt", [&]() -> Status {
    auto caller = CallerWithContext();
    if (!caller.ok()) return caller.TakeStatus();
    return WriteOption(FindOption(caller->context->options, opt), value);
  });
}

aclError aclrtGetSysParamOpt(aclSysParamOpt opt, int64_t* value) {
  return Guard("aclrtGetSysParamOpt", [&]() -> Status {
    if (Status present = RequireNonNull("value", value); !present.ok()) return present;
    return ReadOption(FindOption(process_options, opt), value);
  });
}

aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value) {
  return Guard("aclrtSetSysParamOpt", [&] { return WriteOption(FindOption(process_options, opt), value); });
}
