// Starts the threads of the runtime. No other file starts threads.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "base/error/system_error.h"
#include "base/error/text.h"
#include "base/threads/thread_sanitizer.h"
#include "base/threads/thread_stripe.h"

namespace sampan {

/// The system refuses another thread. The public call fails with 207005.
class ThreadStartError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The signal mask of every thread of the runtime, also in host functions and exception callbacks. All
/// signals are blocked, because they are meant for the program's threads. The five signals of faulty
/// instructions are not. If they were blocked, the system would kill the process without calling a handler.
inline sigset_t RuntimeThreadMask() {
  sigset_t mask;
  ::sigfillset(&mask);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP})
    ::sigdelset(&mask, fault);
  return mask;
}

/// While it exists, the calling thread executes the runtime's code, and pthread_cancel does not cancel it.
/// Cancellation would corrupt the runtime's state, and unwinding cannot leave a noexcept function.
class NoCancellation {
 public:
  NoCancellation() { ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~NoCancellation() { ::pthread_setcancelstate(before_, nullptr); }
  NoCancellation(const NoCancellation&) = delete;
  NoCancellation& operator=(const NoCancellation&) = delete;

 private:
  const races::RuntimeCode runtime_code_;
  int before_ = PTHREAD_CANCEL_ENABLE;
};

/// Exists while a thread of the runtime calls a function of the program. The process does not exit meanwhile,
/// even if all threads of the program have exited.
class ProgramCode {
 public:
  ProgramCode() { running.fetch_add(1); }
  ~ProgramCode() { running.fetch_sub(1); }
  ProgramCode(const ProgramCode&) = delete;
  ProgramCode& operator=(const ProgramCode&) = delete;

  static bool Running() { return running.load() != 0; }

 private:
  const races::CalledProgram called_program_;
  static constinit inline std::atomic<int> running{0};
};

/// Owns a thread of the runtime, or none. Move-only. Join or detach it before destruction.
class Thread {
 public:
  Thread() = default;
  bool joinable() const { return thread_.joinable(); }
  void Join() { thread_.join(); }
  void Detach() { thread_.detach(); }
  /// True on the thread itself.
  bool IsCaller() const { return thread_.get_id() == std::this_thread::get_id(); }

 private:
  template <typename Body>
  friend Thread StartThread(const char* name, Body body);

  std::thread thread_;
};

/// Starts a thread with this name and the mask above. A name has at most 15 characters and begins with
/// "sampan-". Throws ThreadStartError.
template <typename Body>
Thread StartThread(const char* name, Body body) {
  const sigset_t mask = RuntimeThreadMask();
  sigset_t before;
  ::pthread_sigmask(SIG_SETMASK, &mask, &before);
  Thread started;
  try {
    started.thread_ = std::thread([name, body = std::move(body)]() mutable {
      const races::RuntimeCode runtime_code;
      ShareStripe();
      ::pthread_setname_np(::pthread_self(), name);
      body();
    });
  } catch (const std::system_error& refused) {
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw ThreadStartError(Text("the runtime's thread ", std::string_view(name),
                                " cannot be started: ", SystemError(refused.code().value()),
                                "; raise the limits on processes (ulimit -u) and addresses (ulimit -v)"));
  } catch (...) {
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

}  // namespace sampan
