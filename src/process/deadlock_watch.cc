// Ends a program under check when nothing in it can go on any more.
#include "process/deadlock_watch.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "base/error/text.h"
#include "base/log/log.h"
#include "base/threads/threads.h"
#include "check/session.h"
#include "core/streams/stream_roster.h"

namespace sampan::process {
namespace {

/// How often the watch looks, while a call waits. Two looks with the same result make a deadlock.
constexpr std::chrono::milliseconds kStandstillInterval{100};
/// While more and more processes are found to stand, it looks sooner, until so many looks saw nothing new.
/// They take longer than the interval above: if another process looks that rarely, its news still comes in
/// time.
constexpr std::chrono::milliseconds kSpreadInterval{1};
constexpr int kPatientLooks = 150;
/// More processes than wait for one another. If ways of so many processes stand, they are circles.
constexpr std::uint32_t kMaxProcesses = 256;
/// The other processes of a circle report it too.
constexpr std::chrono::milliseconds kForOthers{50};

std::string FirstLine(const std::filesystem::path& file) {
  std::ifstream input(file);
  std::string line;
  std::getline(input, line);
  return line;
}

/// The names that the NVIDIA driver gives to its threads: cuda-EvtHandlr, and cuda with a hexadecimal number.
bool IsDriversThread(std::string_view name) {
  if (name.starts_with("cuda-")) return true;
  return name.size() > 8 && name.starts_with("cuda") &&
         name.find_first_not_of("0123456789abcdefABCDEF", 4) == std::string_view::npos;
}

/// The threads of the runtime and of the driver wait for work; those of host functions run the program's
/// code.
bool RunsProgram(const std::filesystem::path& task) {
  const std::string name = FirstLine(task / "comm");
  return name.starts_with("sampan-host") || !(name.starts_with("sampan-") || IsDriversThread(name));
}

/// True if the thread sleeps on a futex without a time limit: only another thread of the process can wake it.
bool WaitsForThreads(const std::filesystem::path& task) {
  constexpr long kFutex = 202;
  constexpr unsigned long kCommand = 0x7F, kWait = 0, kWaitBitset = 9;
  std::istringstream line(FirstLine(task / "syscall"));  // "running", or the number and the arguments
  long call = 0;
  unsigned long address = 0, operation = 0, value = 0, limit = 0;
  if (!(line >> call >> std::hex >> address >> operation >> value >> limit) || call != kFutex) return false;
  const unsigned long command = operation & kCommand;
  return (command == kWait || command == kWaitBitset) && limit == 0;
}

/// True if no thread that runs the program's code can go on by itself. `waiting`: threads in calls that wait.
bool AllThreadsWait(const std::vector<std::int64_t>& waiting) {
  const auto waits = [&](const std::filesystem::path& task) {
    const bool in_call = std::any_of(waiting.begin(), waiting.end(), [&](std::int64_t thread) {
      return task.filename() == std::to_string(thread);
    });
    return in_call || WaitsForThreads(task);
  };
  std::error_code failure;
  std::filesystem::directory_iterator task("/proc/self/task", failure);
  for (; !failure && task != std::filesystem::directory_iterator(); task.increment(failure)) {
    if (RunsProgram(task->path()) && !waits(task->path())) return false;
  }
  return !failure;
}

/// What was seen in one look. Empty: something can go on.
struct Standstill {
  std::vector<check::Checker::Standing> circle;
  std::string text;
  /// How long the ways are on which all processes stand, from this one on; kNotOutside: it waits for no
  /// other process.
  std::uint32_t ways = Gate::kNotOutside;
  std::shared_ptr<Gate> teller;  ///< a gate that tells them to other processes
};

bool Stands(const core::StreamState& state) {
  return state.stand == core::StreamStand::kEvent || state.stand == core::StreamStand::kGate;
}

/// The streams that wait for one another, or all, with the reasons.
Standstill StandstillOf(const std::vector<core::StreamState>& states) {
  std::vector<std::size_t> members = FindCycle(states);
  if (members.empty()) {
    for (std::size_t i = 0; i < states.size(); ++i)
      members.push_back(i);
  }
  Standstill standstill;
  for (const std::size_t member : members) {
    const core::StreamState& state = states[member];
    standstill.circle.push_back({state.queue, state.device, state.stream});
    standstill.text += Text(standstill.text.empty() ? "" : "; ", Describe(state));
  }
  return standstill;
}

Standstill Look(const core::Runtime& runtime, check::Checker& checker) {
  const std::vector<std::int64_t> waiting = checker.WaitingThreads();
  if (waiting.empty() || !AllThreadsWait(waiting)) return {};
  auto states = runtime.stream_roster().Look();
  if (!states.ok()) return {};
  const bool all_stand = std::all_of(states->begin(), states->end(), [&](const core::StreamState& state) {
    return Stands(state) && !checker.MayEndFromOutside(state.queue);
  });
  if (states->empty() || !all_stand) return {};
  Standstill standstill = StandstillOf(*states);
  for (const core::StreamState& state : *states) {
    const std::uint32_t behind = state.gate == nullptr ? Gate::kNotOutside : state.gate->OutsideStanding();
    if (behind == Gate::kNotOutside) continue;
    standstill.ways = std::min(standstill.ways, std::min(behind, kMaxProcesses) + 1);
    standstill.teller = state.gate;
  }
  return standstill;
}

void WatchLoop(const core::Runtime& runtime) {
  Standstill before;
  auto interval = kStandstillInterval;
  int looks_alike = 0;
  for (check::Checker* checker = check::TheChecker(); checker != nullptr; checker = check::TheChecker()) {
    std::this_thread::sleep_for(interval);
    Standstill now;
    try {
      now = Look(runtime, *checker);
    } catch (const std::exception&) {
      // Out of memory: looks again later.
    }
    const bool stands = !now.text.empty() && now.text == before.text;
    if (stands && now.ways > kMaxProcesses) {
      if (now.teller != nullptr) std::this_thread::sleep_for(kForOthers);
      checker->ReportDeadlock(now.circle, now.text);
      check::EndProcess("deadlock");
    }
    if (stands && now.teller != nullptr) now.teller->TellStanding(now.ways);
    if (!stands && before.teller != nullptr) before.teller->TellStanding(0);
    looks_alike = stands && now.ways == before.ways ? looks_alike + 1 : 0;
    const bool spreads = stands && now.teller != nullptr && now.ways > 1 && looks_alike < kPatientLooks;
    interval = spreads ? kSpreadInterval : kStandstillInterval;
    before = std::move(now);
  }
}

}  // namespace

void ReportInterruptedWait(const std::vector<core::StreamState>& states) {
  check::Checker* const checker = check::TheChecker();
  if (checker == nullptr || states.empty() || checker->WaitingThreads().empty()) return;
  if (!std::all_of(states.begin(), states.end(), Stands)) return;
  const Standstill standstill = StandstillOf(states);
  checker->ReportDeadlock(standstill.circle, standstill.text);
}

void WatchForDeadlocks(const core::Runtime& runtime) noexcept {
  if (check::TheChecker() == nullptr) return;
  try {
    StartThread("sampan-standing", [&runtime] { WatchLoop(runtime); }).Detach();
  } catch (const std::exception& refused) {
    Log(LogLevel::kWarning, "RUNTIME", Text("deadlocks are not found: ", std::string_view(refused.what())));
  }
}

}  // namespace sampan::process
