// The signals by which the checker learns of the host's accesses, and the program's own handlers of them.
#include "check/host/host_faults.h"

#include <pthread.h>
#include <ucontext.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>

#include "check/host/host_aliases.h"
#include "check/host/instruction_access.h"
#include "check/host/page_guard.h"
#include "check/host/signal_calls.h"
#include "check/session.h"

namespace sampan::check {
namespace {

/// A signal that the checker uses, and what the program does with it.
struct WatchedSignal {
  int number;
  std::atomic<bool> watched{false};
  struct sigaction program {};
};
constinit std::array<WatchedSignal, 2> watched_signals = {{{SIGSEGV}, {SIGTRAP}}};

WatchedSignal* Watched(int signal) {
  for (WatchedSignal& each : watched_signals) {
    if (each.number == signal && each.watched.load(std::memory_order_acquire)) return &each;
  }
  return nullptr;
}

#if defined(__x86_64__)

/// Blocks what the system would block while the program's handler runs. Our signals stay open: its accesses
/// are judged as well. The mask ends with our handler.
void EnterHandler(const struct sigaction& program, const ucontext_t& context) {
  sigset_t blocked = context.uc_sigmask;
  ::sigorset(&blocked, &blocked, &program.sa_mask);
  LeaveOurSignals(blocked);
  ::pthread_sigmask(SIG_SETMASK, &blocked, nullptr);
}

/// What would happen without the checker.
void CallProgram(WatchedSignal& signal, siginfo_t* info, void* context) {
  const struct sigaction program = signal.program;
  const bool has_handler = (program.sa_flags & SA_SIGINFO) != 0
                               ? program.sa_sigaction != nullptr
                               : program.sa_handler != SIG_DFL && program.sa_handler != SIG_IGN;
  if (has_handler) EnterHandler(program, *static_cast<const ucontext_t*>(context));
  if (has_handler && (program.sa_flags & static_cast<int>(SA_RESETHAND)) != 0) {
    signal.program = {};
    signal.program.sa_handler = SIG_DFL;
  }
  if ((program.sa_flags & SA_SIGINFO) != 0 && program.sa_sigaction != nullptr)
    return program.sa_sigaction(signal.number, info, context);
  if (program.sa_handler != SIG_DFL && program.sa_handler != SIG_IGN)
    return program.sa_handler(signal.number);
  const bool sent = info->si_code <= 0;
  if (sent && program.sa_handler == SIG_IGN) return;
  // After this returns, the access faults again, and the default action ends the process.
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  SystemSigaction(signal.number, &standard, nullptr);
  if (sent || signal.number == SIGTRAP) ::raise(signal.number);
}

constexpr std::int64_t kTrapFlag = 0x100;
constexpr std::int64_t kWriteFault = 2, kFetchFault = 16;

/// A fault at the same instruction and address again and again, while no page changes, is not the checker's.
struct LastFault {
  std::uintptr_t instruction = 0, address = 0;
  std::uint64_t changes = 0;
  unsigned count = 0;
};
[[gnu::tls_model("initial-exec")]] constinit thread_local LastFault last_fault;
constexpr unsigned kMaxRetries = 64;

bool Repeats(std::uintptr_t instruction, std::uintptr_t address) {
  const std::uint64_t changes = PageChanges();
  if (last_fault.instruction != instruction || last_fault.address != address ||
      last_fault.changes != changes) {
    last_fault = {instruction, address, changes, 0};
    return false;
  }
  return ++last_fault.count > kMaxRetries;
}

void OnAccess(int number, siginfo_t* info, void* argument) {
  const int error = errno;
  auto& context = *static_cast<ucontext_t*>(argument);
  Checker* const checker = TheChecker();
  const bool fetches = (context.uc_mcontext.gregs[REG_ERR] & kFetchFault) != 0;
  if (checker != nullptr && info->si_code > 0 && !fetches) {
    const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
    if (HostAliases::WaitForMove(address)) {
      errno = error;
      return;
    }
    const auto instruction = static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RIP]);
    const bool writes = (context.uc_mcontext.gregs[REG_ERR] & kWriteFault) != 0;
    const InstructionAccess access = AccessOfInstruction(context, address);
    switch (checker->OnFault({access.address, access.bytes, writes}, instruction)) {
      case Checker::Fault::kRetry:
        errno = error;
        if (!Repeats(instruction, address)) return;
        break;
      case Checker::Fault::kStep:
        last_fault = {};
        context.uc_mcontext.gregs[REG_EFL] |= kTrapFlag;
        errno = error;
        return;
      case Checker::Fault::kFatal:
        EndProcess("access");
      case Checker::Fault::kForeign:
        break;
    }
  }
  errno = error;
  if (WatchedSignal* const signal = Watched(number)) CallProgram(*signal, info, argument);
}

void OnStep(int number, siginfo_t* info, void* argument) {
  auto& context = *static_cast<ucontext_t*>(argument);
  if (ThisThreadsStep().is_open()) {
    context.uc_mcontext.gregs[REG_EFL] &= ~kTrapFlag;
    if (Checker* const checker = TheChecker()) checker->CloseAfterStep();
    return;
  }
  if (WatchedSignal* const signal = Watched(number)) CallProgram(*signal, info, argument);
}

void Install(WatchedSignal& signal, void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction action = {};
  SystemSigaction(signal.number, nullptr, &signal.program);
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  // A handler of another signal may access kept pages. It waits: a fault within our handlers would be fatal.
  ::sigfillset(&action.sa_mask);
  signal.watched.store(true, std::memory_order_release);
  SystemSigaction(signal.number, &action, nullptr);
}

#endif

}  // namespace

bool CanWatchHostFaults() noexcept {
#if defined(__x86_64__)
  return true;
#else
  return false;
#endif
}

void WatchHostFaults() noexcept {
#if defined(__x86_64__)
  Install(watched_signals[0], &OnAccess);
  Install(watched_signals[1], &OnStep);
#endif
}

bool ReplaceHandler(int signal, const struct sigaction* action, struct sigaction* before) noexcept {
  WatchedSignal* const watched = Watched(signal);
  if (watched == nullptr) return false;
  const struct sigaction was = watched->program;
  if (action != nullptr) watched->program = *action;
  if (before != nullptr) *before = was;
  return true;
}

void OpenOurSignals() noexcept {
  sigset_t ours;
  ::sigemptyset(&ours);
  for (const WatchedSignal& each : watched_signals)
    ::sigaddset(&ours, each.number);
  ::pthread_sigmask(SIG_UNBLOCK, &ours, nullptr);
}

void LeaveOurSignals(sigset_t& set) noexcept {
  for (const WatchedSignal& each : watched_signals)
    ::sigdelset(&set, each.number);
}

}  // namespace sampan::check
