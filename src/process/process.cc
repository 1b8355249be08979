// The process's runtime, created at the first use.
#include "process/process.h"

#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "backend/cuda/cuda_backend.h"
#include "backend/emulated/emulated_backend.h"
#ifdef SAMPAN_HAS_LIBFABRIC
#include "backend/fabric/wide_network.h"
#endif
#include "base/error/text.h"
#include "base/log/log.h"
#include "base/system/environment.h"
#include "base/system/file_size_signal.h"
#include "base/threads/fork_lock.h"
#include "base/threads/thread_sanitizer.h"
#include "check/host/host_aliases.h"
#include "check/session.h"
#include "observe/observers.h"
#include "process/deadlock_watch.h"
#include "process/fault_report.h"
#include "process/main_thread.h"
#include "process/settings.h"
#include "process/signal_report.h"
#include "trace/session.h"

namespace sampan::process {

constinit std::atomic<core::Runtime*> made_runtime{nullptr};
namespace {

constexpr std::int32_t kEmulatedDevices = 8;
/// Under check, a copy that misses its allocation does not hit the next one.
constexpr std::size_t kGapBytes = 4096;

template <typename Made>
Result<std::unique_ptr<Backend>> AsBackend(Result<Made> made) {
  if (!made.ok()) return made.TakeStatus();
  return std::unique_ptr<Backend>(std::move(*made));
}

Result<std::unique_ptr<Backend>> MakeBackend(const Settings& settings) {
  const std::size_t gap_bytes = settings.check || !settings.check_json.empty() ? kGapBytes : 0;
  if (settings.backend == BackendKind::kCuda) {
    races::Stop();  // ThreadSanitizer sees none of a GPU's accesses
    return AsBackend(cuda::CudaBackend::Create({.devices = settings.devices,
                                                .device_bytes = settings.device_bytes,
                                                .gap_bytes = gap_bytes,
                                                .paths = settings.copy_paths,
                                                .fresh_byte = settings.fresh_byte,
                                                .aliases = check::Aliases(),
                                                .faults = &Faults()}));
  }
  return AsBackend(emulated::EmulatedBackend::Create(
      {.devices = settings.devices != 0 ? settings.devices : kEmulatedDevices,
       .device_bytes = settings.device_bytes != 0 ? settings.device_bytes : settings.profile.memory_bytes,
       .host_bytes = settings.host_bytes,
       .engines = settings.engines,
       .schedule = settings.schedule,
       .gap_bytes = gap_bytes,
       .fresh_byte = settings.fresh_byte,
       .host_is_device = !settings.profile.attached,
       .faults = &Faults(),
       .registrar = check::Aliases()}));
}

/// The network of peers on other hosts. Null on GPUs, whose memory the processor cannot reach.
std::shared_ptr<PeerNetwork> MakeNetwork([[maybe_unused]] const Settings& settings) {
#ifdef SAMPAN_HAS_LIBFABRIC
  if (settings.backend != BackendKind::kEmulated) return nullptr;
  fabric::NetworkOptions options;
  options.interface = ReadInterfaceWish();
  options.limit = std::chrono::seconds(settings.peer_timeout_s);
  return std::make_shared<fabric::WideNetwork>(options);
#else
  return nullptr;
#endif
}

/// Held while the settings are read and the runtime is created. Both are created once and leaked on purpose,
/// because copies may run until the process exits.
ForkLock making(ForkLock::Rank::kRuntime);
constinit Result<Settings>* started_settings = nullptr;
constinit const Error* failure_to_make = nullptr;

Result<observe::Observer*> StartChecker(Result<Settings>& read) {
  if (!read.ok()) return nullptr;
  return check::Start({.on = read->check,
                       .findings = read->check_findings,
                       .json = read->check_json,
                       .guards_pages = !races::Watched(),
                       // Where the program's own code writes device memory, the checker does not see it.
                       .finds_unwritten = read->profile.attached &&
                                          read->check_unwritten.value_or(read->backend != BackendKind::kCuda),
                       .backend = std::string(Describe(read->backend))});
}

Result<Settings> StartSettings() {
  auto read = ReadSettings();
  const NoFileSizeSignal no_signal;  // while the trace's file is begun
  Result<observe::Observer*> tracer(nullptr);
  try {
    tracer = trace::Start(
        read.ok() ? trace::Options{.file = read->trace,
                                   .summary = read->summary,
                                   .kept = read->summary_kept,
                                   .backend = std::string(Describe(read->backend)),
                                   .profile = Text(read->profile.chip, ",", read->profile.release)}
                  : trace::Options());
  } catch (const std::exception& failure) {  // no memory, or no thread
    Log(LogLevel::kWarning, "RUNTIME",
        Text("there is no trace, the program goes on: ", std::string_view(failure.what())));
  }
  if (tracer.ok() && *tracer != nullptr) observe::Attach(**tracer);
  Result<observe::Observer*> checker = StartChecker(read);
  if (checker.ok() && *checker != nullptr) observe::Attach(**checker);
  observe::Settle();
  if (read.ok() && !tracer.ok()) return tracer.TakeStatus();
  if (read.ok() && !checker.ok()) return checker.TakeStatus();
  return read;
}

/// The settings as they were at the first call, with the observers that they ask for attached.
Result<Settings>& StartedSettings() {
  const std::lock_guard lock(making);
  if (started_settings == nullptr) started_settings = new Result<Settings>(StartSettings());
  return *started_settings;
}

/// Runs after the program's own exit handlers.
[[gnu::destructor]] void FinishObservers() {
  check::Finish();
  trace::Finish();
}

Result<core::Runtime*> MakeRuntime() {
  auto& settings = StartedSettings();
  if (!settings.ok()) return Error(settings.error());
  WatchForLastThread();
  if (settings->help) {
    const std::string help = SettingsHelp();
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, help.data(), help.size());
  }
  Faults().Arm(FaultKind::kMemory, settings->fail_memory_at);
  Faults().Arm(FaultKind::kQueue, settings->fail_queue_at);
  auto backend = MakeBackend(*settings);
  if (!backend.ok()) return backend.TakeStatus();
  auto visible_devices = ReadVisibleDevices((*backend)->device_count());
  auto runtime = std::make_unique<core::Runtime>(
      std::move(*backend), core::RuntimeOptions{.profile = settings->profile,
                                                .visible_devices = std::move(visible_devices),
                                                .with_backtraces = settings->backtrace,
                                                .network = MakeNetwork(*settings)});
  ReportHostFaults(runtime->memory());
  check::WatchHost();
  WatchForDeadlocks(*runtime);
  if (settings->signal_report) ReportBeforeSignals(*runtime);
  return runtime.release();
}

constinit std::atomic<bool> inherited{false};

/// A child has the parent's memory but none of its threads, so no task would ever execute. The lock above
/// prevents a fork between the creation of the runtime and its publication.
void AfterForkInChild() {
  if (made_runtime.exchange(nullptr) != nullptr) inherited.store(true);
}

[[gnu::constructor]] void WatchForks() {
  ::pthread_atfork(nullptr, nullptr, &AfterForkInChild);
}

/// A program may block signals before its first call.
[[gnu::constructor]] void PrepareChecker() {
  if (EnvironmentValue("SAMPAN_CHECK") == "1") check::WatchMasks();
}

[[gnu::constructor]] void LookForRaces() {
  races::Start();
}

}  // namespace

bool IsInherited() noexcept {
  return inherited.load(std::memory_order_relaxed);
}

Result<core::Runtime*> TheRuntime() {
  if (core::Runtime* runtime = TheRuntimeIfMade()) return runtime;
  if (inherited.load()) {
    return Error{
        Code::kDeviceSetupError,
        Text("process ", ::getpid(), " was forked from one that used the runtime already: fork before the ",
             "first call, or start a new program in the child (exec)")};
  }
  const std::lock_guard lock(making);
  if (core::Runtime* runtime = TheRuntimeIfMade()) return runtime;
  if (failure_to_make != nullptr) return Error(*failure_to_make);
  auto runtime = MakeRuntime();
  if (!runtime.ok()) {
    Status failure = runtime.TakeStatus();
    failure_to_make = new Error(failure.error());
    return failure;
  }
  made_runtime.store(*runtime, std::memory_order_release);
  return *runtime;
}

void StartObservers() noexcept {
  if (observe::state.load(std::memory_order_acquire) != observe::State::kUnasked) return;
  try {
    StartedSettings();
  } catch (...) {
    // Without memory for them there are none; the call says what else is missing.
    observe::Settle();
  }
}

FaultPlan& Faults() {
  static FaultPlan faults;
  return faults;
}

}  // namespace sampan::process
