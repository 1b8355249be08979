// After the main thread has called pthread_exit, exits the process with the program's last thread.
#include "process/main_thread.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>

#include "base/threads/threads.h"
#include "observe/observers.h"
#include "process/process.h"

namespace sampan::process {
namespace {

/// The interval of counting threads after the main thread has exited. It delays the exit of the process.
constexpr std::chrono::milliseconds kLookInterval{20};

constinit std::atomic<bool> main_thread_left{false};
constinit std::atomic<bool> watching{false};

/// The mask as the system shows it, without signals that cannot be blocked.
std::uint64_t MaskAsNumber(const sigset_t& set) {
  std::uint64_t mask = 0;
  for (int signal = 1; signal <= 64; ++signal) {
    if (signal != SIGKILL && signal != SIGSTOP && ::sigismember(&set, signal) == 1)
      mask |= std::uint64_t{1} << (signal - 1);
  }
  return mask;
}

/// Returns true for a running thread that is not of the runtime. Threads of the runtime have a name and a
/// signal mask that a program's thread does not have together.
bool IsProgramThread(const std::filesystem::path& task) {
  constexpr std::string_view kName = "Name:\t", kState = "State:\t", kBlocked = "SigBlk:\t";
  static const std::uint64_t runtime_mask = MaskAsNumber(RuntimeThreadMask());
  bool named = false, blocks = false;
  std::ifstream status(task / "status");
  for (std::string line; std::getline(status, line);) {
    const std::string_view text(line);
    if (text.starts_with(kName)) named = text.substr(kName.size()).starts_with("sampan-");
    if (text.starts_with(kState) && text.substr(kState.size()).starts_with("Z")) return false;
    if (text.starts_with(kBlocked)) {
      std::uint64_t mask = 0;
      const std::string_view digits = text.substr(kBlocked.size());
      std::from_chars(digits.data(), digits.data() + digits.size(), mask, 16);
      blocks = (mask & runtime_mask) == runtime_mask;
    }
  }
  return !(named && blocks);
}

bool AnyProgramThread() {
  std::error_code failure;
  std::filesystem::directory_iterator task("/proc/self/task", failure);
  for (; !failure && task != std::filesystem::directory_iterator(); task.increment(failure)) {
    if (IsProgramThread(task->path())) return true;
  }
  return static_cast<bool>(failure) || ProgramCode::Running();
}

void WaitForLastThread() {
  for (;;) {
    try {
      if (!AnyProgramThread()) std::exit(0);  // NOLINT(concurrency-mt-unsafe): the program has no thread left
    } catch (const std::exception&) {
      // Out of memory: counts the threads again later.
    }
    std::this_thread::sleep_for(kLookInterval);
  }
}

/// The destructor of a pthread key. The C library calls it for the main thread too, unlike destructors of
/// thread_local objects.
void OnMainThreadExit(void*) noexcept {
  main_thread_left.store(true);
  if (TheRuntimeIfMade() == nullptr && !observe::On()) return;
  try {
    WatchForLastThread();
  } catch (const std::exception&) {
    WaitForLastThread();  // this thread has no other work
  }
}

/// Runs when the library is loaded, usually by the main thread.
[[gnu::constructor]] void NoteMainThread() {
  static pthread_key_t key;
  static char mark;
  if (::gettid() != ::getpid() || ::pthread_key_create(&key, &OnMainThreadExit) != 0) return;
  ::pthread_setspecific(key, &mark);
}

}  // namespace

void WatchForLastThread() {
  if (!main_thread_left.load() || watching.exchange(true)) return;
  try {
    StartThread("sampan-exit", [] { WaitForLastThread(); }).Detach();
  } catch (...) {
    watching.store(false);
    throw;
  }
}

}  // namespace sampan::process
