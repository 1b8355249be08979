// Calls of the program that end the process without its exit handlers.
#include "process/exit_calls.h"

#include <unistd.h>

#include <array>
#include <cstdlib>

#include "check/host/symbol_slots.h"
#include "process/signal_report.h"

namespace sampan::process {
namespace {

[[noreturn]] void EndAtOnce(int status) {
  FinishBeforeEnd();
  ::_exit(status);
}

[[noreturn]] void EndQuickly(int status) {
  FinishBeforeEnd();
  std::quick_exit(status);
}

}  // namespace

void WatchExitCalls() noexcept {
  static constinit check::CallRedirector redirector;
  const std::array redirections = {check::To("_exit", &EndAtOnce), check::To("_Exit", &EndAtOnce),
                                   check::To("quick_exit", &EndQuickly)};
  redirector.Redirect({redirections});
}

}  // namespace sampan::process
