// Streams for tests: owned, blocked by a gate, of another context, or dead.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"

namespace sampan::test {

/// Owns a stream of the current context. Destroying it waits for its work.
class Stream {
 public:
  Stream() { EXPECT_ACL(ACL_SUCCESS, aclrtCreateStream(&stream_)); }
  explicit Stream(std::uint32_t flags) {
    EXPECT_ACL(ACL_SUCCESS, aclrtCreateStreamWithConfig(&stream_, 0, flags));
  }
  ~Stream() {
    if (stream_ == nullptr) return;
    EXPECT_ACL(ACL_SUCCESS, aclrtDestroyStream(stream_));
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  aclrtStream get() const { return stream_; }
  operator aclrtStream() const { return stream_; }
  /// Gives the handle up; the caller destroys it.
  aclrtStream Release() { return std::exchange(stream_, nullptr); }

 private:
  aclrtStream stream_ = nullptr;
};

/// Owns an event.
class Event {
 public:
  Event() { EXPECT_ACL(ACL_SUCCESS, aclrtCreateEvent(&event_)); }
  ~Event() { EXPECT_ACL(ACL_SUCCESS, aclrtDestroyEvent(event_)); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  operator aclrtEvent() const { return event_; }

 private:
  aclrtEvent event_ = nullptr;
};

/// Holds a stream back, from where it was placed, until it is opened. Opens when it goes away, so declare it
/// after the stream. Gives up after kLongestHold, so that a call which wrongly waits fails its test instead
/// of hanging it. Thread-safe.
class Gate {
 public:
  explicit Gate(aclrtStream stream) : state_(MakeState()) {
    EXPECT_ACL(ACL_SUCCESS, aclrtLaunchHostFunc(stream, &Gate::Hold, state_));
  }
  ~Gate() { Open(); }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  void Open() {
    const std::lock_guard lock(state_->mutex);
    EXPECT_TRUE(state_->open || !state_->passed) << "something waited for a stream that was held";
    state_->open = true;
    state_->changed.notify_all();
  }
  /// The stream has gone through.
  bool passed() const {
    const std::lock_guard lock(state_->mutex);
    return state_->passed;
  }

 private:
  static constexpr std::chrono::seconds kLongestHold{10};

  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    bool open = false;
    bool passed = false;
  };

  static void Hold(void* argument) {
    State& state = *static_cast<State*>(argument);
    std::unique_lock lock(state.mutex);
    state.changed.wait_for(lock, kLongestHold, [&] { return state.open; });
    state.passed = true;
  }
  /// States live as long as the process: a function that the runtime drops or runs late must find its own.
  static State* MakeState() {
    static std::mutex mutex;
    static std::vector<std::unique_ptr<State>>& states = *new std::vector<std::unique_ptr<State>>;
    const std::lock_guard lock(mutex);
    return states.emplace_back(std::make_unique<State>()).get();
  }

  State* state_;
};

/// Runs it on a new thread, which has no context, and waits for its end.
template <typename Function>
void OnNewThread(Function&& function) {
  std::thread(std::forward<Function>(function)).join();
}

/// A stream of a second context on the device; the calling thread's context stays what it is.
class ForeignStream {
 public:
  explicit ForeignStream(std::int32_t device = 0) {
    OnNewThread([&] {
      EXPECT_ACL(ACL_SUCCESS, aclrtCreateContext(&context_, device));
      EXPECT_ACL(ACL_SUCCESS, aclrtCreateStream(&stream_));
    });
  }
  ~ForeignStream() {
    OnNewThread([&] {
      EXPECT_ACL(ACL_SUCCESS, aclrtSetCurrentContext(context_));
      EXPECT_ACL(ACL_SUCCESS, aclrtDestroyStream(stream_));
      EXPECT_ACL(ACL_SUCCESS, aclrtDestroyContext(context_));
    });
  }
  ForeignStream(const ForeignStream&) = delete;
  ForeignStream& operator=(const ForeignStream&) = delete;
  operator aclrtStream() const { return stream_; }
  aclrtContext context() const { return context_; }

 private:
  aclrtContext context_ = nullptr;
  aclrtStream stream_ = nullptr;
};

/// A handle that was a stream once.
inline aclrtStream DeadStream() {
  aclrtStream stream = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtCreateStream(&stream));
  EXPECT_ACL(ACL_SUCCESS, aclrtDestroyStream(stream));
  return stream;
}

}  // namespace sampan::test
