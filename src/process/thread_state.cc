// What the runtime knows of the calling thread.
#include "process/thread_state.h"

namespace sampan::process {

ThreadState& ThisThread() {
  thread_local ThreadState state;
  return state;
}

}  // namespace sampan::process
