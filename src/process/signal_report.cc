// Says what each stream waits for before SIGINT, SIGTERM or SIGQUIT ends the process. Completes trace and
// summary before another signal ends it.
#include "process/signal_report.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <exception>
#include <string>
#include <string_view>

#include "base/error/text.h"
#include "base/log/log.h"
#include "base/threads/futex.h"
#include "base/threads/threads.h"
#include "base/time/clock.h"
#include "core/streams/stream_roster.h"
#include "process/deadlock_watch.h"
#include "process/exit_calls.h"
#include "trace/session.h"

namespace sampan::process {
namespace {

struct EndingSignal {
  int number;
  std::string_view name;
};
constexpr std::array kEndingSignals = {EndingSignal{SIGINT, "SIGINT"}, EndingSignal{SIGTERM, "SIGTERM"},
                                       EndingSignal{SIGQUIT, "SIGQUIT"}};

/// These end the process as well. They get a handler only for a summary.
constexpr std::array kOtherSignals = {SIGHUP,  SIGILL,  SIGABRT, SIGFPE, SIGUSR1,
                                      SIGUSR2, SIGPIPE, SIGALRM, SIGXCPU};
/// Stands for an end that no signal of the above announced.
constexpr std::uint32_t kOtherEnd = 1'000'000;

/// The maximum time from the signal to its default action.
constexpr std::chrono::seconds kMaxReportTime{1};
/// The same while there is a trace, whose rest has to be written.
constexpr std::chrono::seconds kMaxTraceTime{3};

constinit std::atomic<const core::Runtime*> reported_runtime{nullptr};
constinit std::atomic<pid_t> reporting_process{0};
/// The signal that came, or kOtherEnd; 0: none. The reporting thread sleeps on it.
constinit std::atomic<std::uint32_t> came{0};
/// Not 0: the report is made. The thread that got the signal sleeps on it.
constinit std::atomic<std::uint32_t> made{0};

std::string_view NameOf(int number) {
  for (const EndingSignal& signal : kEndingSignals) {
    if (signal.number == number) return signal.name;
  }
  return "a signal";
}

/// Empty if no stream stands at a wait: a program that only works is ended without a word.
std::string ReportText(const std::vector<core::StreamState>& states, int signal) {
  std::string text;
  std::size_t standing = 0;
  for (const core::StreamState& state : states) {
    standing += state.stand == core::StreamStand::kWorks ? 0 : 1;
    text += Text("Sampan:   ", Describe(state), "\n");
  }
  if (standing == 0) return {};
  std::string cycle;
  for (const std::size_t stream : FindCycle(states))
    cycle += Text(cycle.empty() ? "Sampan:   none can go on, each waits for the next: " : ", ", "stream ",
                  states[stream].stream, " of device ", states[stream].device);
  if (!cycle.empty()) cycle += "\n";
  return Text("Sampan: ", NameOf(signal), " while ", states.size(),
              states.size() == 1 ? " stream has" : " streams have", " work left:\n", text, cycle);
}

bool IsEndingSignal(std::uint32_t cause) {
  return std::any_of(kEndingSignals.begin(), kEndingSignals.end(), [cause](const EndingSignal& signal) {
    return static_cast<std::uint32_t>(signal.number) == cause;
  });
}

void MakeReport(std::uint32_t cause) {
  std::vector<trace::HeldStream> held;
  auto states = reported_runtime.load()->stream_roster().Look();
  std::string text;
  if (states.ok()) {
    if (IsEndingSignal(cause)) {
      text = ReportText(*states, static_cast<int>(cause));
      ReportInterruptedWait(*states);
    }
    for (const core::StreamState& state : *states) {
      if (state.stand == core::StreamStand::kWorks) continue;
      held.push_back({state.queue, Text(state.wait, state.signaller.empty() ? "" : "; ", state.signaller)});
    }
  } else {
    text = Text("Sampan: what the streams wait for cannot be told: ", states.error().message, "\n");
  }
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
  trace::FinishAtSignal(held);
}

void ReportLoop() {
  for (;;) {
    const std::uint32_t cause = came.load();
    if (cause == 0) {
      FutexSleep(std::array{FutexWait{&came, 0}}, kNever);
      continue;
    }
    try {
      MakeReport(cause);
    } catch (const std::exception&) {
      // Without memory there is no report.
    }
    made.store(1);
    FutexWake(made);
    return;
  }
}

/// Ends the process, unless something outside of it keeps the signal from doing so.
void TakeDefaultAction(int signal) {
  struct sigaction ours = {};
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  ::sigaction(signal, &standard, &ours);
  sigset_t only, before;
  ::sigemptyset(&only);
  ::sigaddset(&only, signal);
  ::pthread_sigmask(SIG_UNBLOCK, &only, &before);
  ::raise(signal);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::sigaction(signal, &ours, nullptr);
}

/// Async-signal-safe: atomic words and system calls alone. Waits for the report, which another thread makes.
void Report(std::uint32_t cause) {
  std::uint32_t none = 0;
  if (reporting_process.load() != ::getpid() || !came.compare_exchange_strong(none, cause)) return;
  FutexWake(came);
  const Deadline deadline = Clock::now() + (trace::IsOn() ? kMaxTraceTime : kMaxReportTime);
  while (made.load() == 0 && Clock::now() < deadline)
    FutexSleep(std::array{FutexWait{&made, 0}}, deadline);
}

/// The thread does not go on with the program: to the program, the signal ends it where it is, only a little
/// later.
void OnEndingSignal(int signal) {
  const int error = errno;
  Report(static_cast<std::uint32_t>(signal));
  TakeDefaultAction(signal);
  errno = error;
}

void Watch(int signal) {
  struct sigaction before = {};
  if (::sigaction(signal, nullptr, &before) != 0) return;
  if ((before.sa_flags & SA_SIGINFO) != 0 || before.sa_handler != SIG_DFL) return;
  struct sigaction action = {};
  action.sa_handler = OnEndingSignal;
  action.sa_flags = SA_RESTART | SA_ONSTACK;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

void ReportBeforeSignals(const core::Runtime& runtime) noexcept {
  // The system does not end the first process of a container by a signal without a handler.
  if (::getpid() == 1 || reported_runtime.exchange(&runtime) != nullptr) return;
  try {
    StartThread("sampan-signals", [] { ReportLoop(); }).Detach();
  } catch (const std::exception& refused) {
    Log(LogLevel::kWarning, "RUNTIME",
        Text("there is no report about streams before a signal ends the program: ",
             std::string_view(refused.what())));
    return;
  }
  reporting_process.store(::getpid());
  for (const EndingSignal& signal : kEndingSignals)
    Watch(signal.number);
  if (!trace::HasSummary()) return;
  for (const int signal : kOtherSignals)
    Watch(signal);
  WatchExitCalls();
}

void FinishBeforeEnd() noexcept {
  if (trace::HasSummary()) Report(kOtherEnd);
}

}  // namespace sampan::process
