// What the runtime knows of the calling thread.
#include "process/thread_state.h"

#include <unistd.h>

#include <utility>

namespace sampan::process {
namespace {

/// The state is behind a plain pointer, because programs also call from static destructors and exit handlers,
/// when the main thread's thread_local objects are gone: the main thread's state is therefore kept to the
/// end.
[[gnu::tls_model("initial-exec")]] thread_local ThreadState* this_thread = nullptr;

struct Ender {
  ~Ender() {
    if (::gettid() != ::getpid()) delete std::exchange(this_thread, nullptr);
  }
};

ThreadState& MakeThreadState() {
  thread_local const Ender ender;
  static_cast<void>(ender);
  this_thread = new ThreadState;
  return *this_thread;
}

}  // namespace

ThreadState& ThisThread() {
  return this_thread != nullptr ? *this_thread : MakeThreadState();
}

}  // namespace sampan::process
