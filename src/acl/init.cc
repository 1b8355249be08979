// aclInit, aclFinalize and the callbacks around them.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "acl/acl_rt.h"
#include "acl/guard.h"
#include "acl/init_config.h"
#include "acl/init_state.h"
#include "base/threads/fork_lock.h"
#include "base/threads/futex.h"
#include "base/threads/thread_sanitizer.h"
#include "process/process.h"

namespace sampan::acl {
namespace {

struct InitCallback {
  aclRegisterCallbackType type;
  aclInitCallbackFunc function;
  void* user_data;
};
struct FinalizeCallback {
  aclRegisterCallbackType type;
  aclFinalizeCallbackFunc function;
  void* user_data;
};

/// The thread that runs aclInit or aclFinalize, and their callbacks.
struct Turn {
  std::thread::id thread;
  pid_t process = 0;  // 0: none
};

/// Never destroyed: threads may still call when the process exits.
struct InitState {
  ForkLock lock{ForkLock::Rank::kInit};  // never held while a callback runs
  Turn turn;
  std::atomic<std::uint32_t> turns_over{0};  // threads that wait for a turn sleep on it
  std::uint64_t references = 0;
  bool finalized = false;
  std::optional<std::string> first_config;  // the text of the first file that was used
  std::string config;
  std::optional<std::int32_t> default_device;
  bool sets_dump = false;  // the file of the first aclInit
  std::vector<InitCallback> init_callbacks;
  std::vector<FinalizeCallback> finalize_callbacks;
};

/// Created when the library is loaded, so that no fork can interrupt it.
InitState& the_state = *new InitState;

InitState& State() {
  return the_state;
}

using StateLock = std::unique_lock<ForkLock>;

/// Lets one thread at a time initialize or finalize, while other calls can take the lock. A callback that
/// calls aclInit or aclFinalize nests without waiting. Construct and destroy it with the lock held.
class TurnScope {
 public:
  explicit TurnScope(StateLock& lock) : lock_(lock) {
    InitState& state = State();
    // A forked child does not wait for a thread of its parent.
    while (state.turn.process == ::getpid() && state.turn.thread != std::this_thread::get_id()) {
      const std::array wait = {FutexWait{&state.turns_over, state.turns_over.load()}};
      lock_.unlock();
      FutexSleep(wait, kNever);
      lock_.lock();
    }
    outer_ = std::exchange(state.turn, Turn{std::this_thread::get_id(), ::getpid()});
  }
  ~TurnScope() {
    State().turn = outer_.process == ::getpid() ? outer_ : Turn{};
    State().turns_over.fetch_add(1);
    FutexWake(State().turns_over);
  }
  TurnScope(const TurnScope&) = delete;
  TurnScope& operator=(const TurnScope&) = delete;

  /// Releases the lock while it calls a function of the program.
  template <typename Call>
  aclError WithoutLock(Call call) {
    struct Relock {
      explicit Relock(StateLock& held) : lock(held) { lock.unlock(); }
      ~Relock() { lock.lock(); }
      StateLock& lock;
    } const relock(lock_);
    const races::CalledProgram called_program;
    return call();
  }

 private:
  StateLock& lock_;
  Turn outer_;
};

/// Undoes the changes of a call that fails.
template <typename Undo>
class Attempt {
 public:
  explicit Attempt(Undo undo) : undo_(std::move(undo)) {}
  ~Attempt() {
    if (!succeeded_) undo_();
  }
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;
  void Succeed() { succeeded_ = true; }

 private:
  Undo undo_;
  bool succeeded_ = false;
};

Status CallbackFailure(std::string_view which, aclError code) {
  return {static_cast<Code>(code), Text("a registered ", which, " callback failed with ", code)};
}

Status Init(const char* path) {
  auto runtime = process::TheRuntime();
  if (!runtime.ok()) return runtime.TakeStatus();
  InitState& state = State();
  StateLock lock(state.lock);
  TurnScope turn(lock);
  if (state.references > 0) {
    ++state.references;
    return {Code::kRepeatInitialize, Text("initialised already, ", state.references, " references now")};
  }
  auto config = ReadInitConfig(path);
  if (!config.ok()) return config.TakeStatus();
  if (!config->text.empty() && state.first_config && *state.first_config != config->text) {
    return InvalidArgument(
        Text("the file '", std::string_view(path), "' differs from the one of an earlier aclInit"));
  }
  if (config->default_device) {
    if (auto device = (*runtime)->FindDevice(*config->default_device); !device.ok())
      return device.TakeStatus();
  }
  const std::vector<InitCallback> callbacks = state.init_callbacks;
  state.config = config->text;
  state.default_device = config->default_device;
  state.sets_dump = config->sets_dump;
  // From here on the process is initialized, also for calls from callbacks.
  state.references = 1;
  Attempt attempt([&state, was_finalized = std::exchange(state.finalized, false)] {
    state.references = 0;
    state.default_device.reset();
    state.finalized = was_finalized;
  });
  for (const InitCallback& callback : callbacks) {
    const aclError code = turn.WithoutLock(
        [&] { return callback.function(config->text.c_str(), config->text.size(), callback.user_data); });
    if (code != ACL_SUCCESS) return CallbackFailure("init", code);
  }
  if (!config->text.empty()) state.first_config = std::move(config->text);
  attempt.Succeed();
  return {};
}

Status Finalize(TurnScope& turn) {
  InitState& state = State();
  if (state.finalized) return {Code::kRepeatFinalize, "finalised already"};
  const std::vector<FinalizeCallback> callbacks = state.finalize_callbacks;
  state.finalized = true;  // also for calls from callbacks
  Attempt attempt([&state] { state.finalized = false; });
  for (const FinalizeCallback& callback : callbacks) {
    const aclError code = turn.WithoutLock([&] { return callback.function(callback.user_data); });
    if (code != ACL_SUCCESS) return CallbackFailure("finalize", code);
  }
  state.references = 0;
  state.default_device.reset();
  if (core::Runtime* const runtime = process::TheRuntimeIfMade())
    runtime->compute_settings().dump_open = false;
  attempt.Succeed();
  return {};
}

template <typename Callbacks, typename Function>
Status Unregister(Callbacks& callbacks, aclRegisterCallbackType type, Function function) {
  const auto found = std::find_if(callbacks.begin(), callbacks.end(), [&](const auto& callback) {
    return callback.type == type && callback.function == function;
  });
  if (found == callbacks.end()) return InvalidArgument("cbFunc is not registered for this type");
  callbacks.erase(found);
  return {};
}

}  // namespace

std::optional<std::int32_t> DefaultDevice() {
  const StateLock lock(State().lock);
  return State().default_device;
}

DumpState DumpOfInit() {
  const StateLock lock(State().lock);
  return {State().references > 0, State().references > 0 && State().sets_dump};
}

}  // namespace sampan::acl

using namespace sampan;
using namespace sampan::acl;

aclError aclInit(const char* configPath) {
  return Guard("aclInit", [&] { return Init(configPath); });
}

aclError aclFinalize(void) {
  return Guard("aclFinalize", [] {
    StateLock lock(State().lock);
    TurnScope turn(lock);
    return Finalize(turn);
  });
}

aclError aclFinalizeReference(uint64_t* refCount) {
  return Guard("aclFinalizeReference", [&]() -> Status {
    InitState& state = State();
    StateLock lock(state.lock);
    TurnScope turn(lock);
    Status status;
    if (state.references == 0) {
      status = {Code::kRepeatFinalize, "the reference count is 0 already"};
    } else if (state.references == 1) {
      status = Finalize(turn);
    } else {
      --state.references;
    }
    if (refCount != nullptr) *refCount = state.references;
    return status;
  });
}

aclError aclInitCallbackRegister(aclRegisterCallbackType type, aclInitCallbackFunc cbFunc, void* userData) {
  return Guard("aclInitCallbackRegister", [&]() -> Status {
    if (cbFunc == nullptr) return InvalidArgument("cbFunc is NULL");
    InitState& state = State();
    StateLock lock(state.lock);
    // Registered after aclInit: calls it now, because its module still has to be initialized.
    if (state.references > 0) {
      const std::string config = state.config;
      lock.unlock();
      const aclError code = [&] {
        const races::CalledProgram called_program;
        return cbFunc(config.c_str(), config.size(), userData);
      }();
      if (code != ACL_SUCCESS) return CallbackFailure("init", code);
      lock.lock();
    }
    state.init_callbacks.push_back({type, cbFunc, userData});
    return {};
  });
}

aclError aclInitCallbackUnRegister(aclRegisterCallbackType type, aclInitCallbackFunc cbFunc) {
  return Guard("aclInitCallbackUnRegister", [&]() -> Status {
    if (cbFunc == nullptr) return InvalidArgument("cbFunc is NULL");
    const StateLock lock(State().lock);
    return Unregister(State().init_callbacks, type, cbFunc);
  });
}

aclError aclFinalizeCallbackRegister(aclRegisterCallbackType type, aclFinalizeCallbackFunc cbFunc,
                                     void* userData) {
  return Guard("aclFinalizeCallbackRegister", [&]() -> Status {
    if (cbFunc == nullptr) return InvalidArgument("cbFunc is NULL");
    const StateLock lock(State().lock);
    State().finalize_callbacks.push_back({type, cbFunc, userData});
    return {};
  });
}

aclError aclFinalizeCallbackUnRegister(aclRegisterCallbackType type, aclFinalizeCallbackFunc cbFunc) {
  return Guard("aclFinalizeCallbackUnRegister", [&]() -> Status {
    if (cbFunc == nullptr) return InvalidArgument("cbFunc is NULL");
    const StateLock lock(State().lock);
    return Unregister(State().finalize_callbacks, type, cbFunc);
  });
}
