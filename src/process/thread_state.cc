// The state of the calling thread.
#include "process/thread_state.h"

#include <unistd.h>

#include <utility>

namespace sampan::process {

constinit thread_local ThreadState* this_thread = nullptr;

namespace {

struct Ender {
  ~Ender() {
    if (::gettid() != ::getpid()) delete std::exchange(this_thread, nullptr);
  }
};

}  // namespace

ThreadState& MakeThreadState() {
  thread_local const Ender ender;
  static_cast<void>(ender);
  this_thread = new ThreadState;
  return *this_thread;
}

}  // namespace sampan::process
