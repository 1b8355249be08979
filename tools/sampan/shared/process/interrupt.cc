// Ctrl-C stops a measurement early. Results so far are still shown.
#include "tools/sampan/shared/process/interrupt.h"

#include <signal.h>

#include <initializer_list>

namespace sampan::tool {
namespace {

volatile sig_atomic_t came = 0;

}  // namespace

void WatchForInterrupt() {
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction action = {};
    struct sigaction before = {};
    action.sa_handler = [](int number) { came = number; };
    action.sa_flags = SA_RESETHAND | SA_RESTART;
    ::sigemptyset(&action.sa_mask);
    ::sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) ::sigaction(signal, &action, nullptr);  // a background job ignores them
  }
}

int Interrupted() {
  return came;
}

void StopIfInterrupted() {
  if (came != 0) throw Interruption{came};
}

}  // namespace sampan::tool
