// Catches calls that return before the work of a stream is over.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"

namespace sampan::test {

/// Keeps a stream busy from where it was placed: the call under test has time to return too early. A call
/// that waits always passes, one that does not is caught. Thread-safe.
class ReturnWatch {
 public:
  explicit ReturnWatch(aclrtStream stream) : state_(MakeState()) {
    EXPECT_ACL(ACL_SUCCESS, aclrtLaunchHostFunc(stream, &ReturnWatch::Watch, state_));
  }
  ~ReturnWatch() { WorkWasOver(); }
  ReturnWatch(const ReturnWatch&) = delete;
  ReturnWatch& operator=(const ReturnWatch&) = delete;

  /// Directly after the call: whether the stream's work was over by then.
  bool WorkWasOver() {
    const std::lock_guard lock(state_->mutex);
    state_->returned = true;
    state_->changed.notify_all();
    return state_->over;
  }

 private:
  static constexpr std::chrono::milliseconds kTimeout{40};

  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    bool returned = false;
    bool over = false;
  };

  static void Watch(void* argument) {
    State& state = *static_cast<State*>(argument);
    std::unique_lock lock(state.mutex);
    state.changed.wait_for(lock, kTimeout, [&] { return state.returned; });
    state.over = !state.returned;
  }
  /// States live as long as the process: a function that the runtime runs late must find its own.
  static State* MakeState() {
    static std::mutex& mutex = *new std::mutex;
    static std::vector<std::unique_ptr<State>>& states = *new std::vector<std::unique_ptr<State>>;
    const std::lock_guard lock(mutex);
    return states.emplace_back(std::make_unique<State>()).get();
  }

  State* state_;
};

}  // namespace sampan::test
