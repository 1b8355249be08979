// The trace of a process: its file, its writer, and the buffers of its threads.
#include "trace/session.h"

#include <pthread.h>
#include <unistd.h>

#include <array>
#include <condition_variable>
#include <ctime>
#include <filesystem>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "base/error/text.h"
#include "base/threads/futex.h"
#include "base/threads/threads.h"
#include "base/time/clock.h"
#include "observe/event_clock.h"
#include "observe/hooks.h"
#include "observe/observers.h"
#include "summary/kept_summary.h"
#include "summary/summary.h"
#include "trace/assembler.h"
#include "trace/trace_file.h"
#include "trace/tracer.h"

namespace sampan::trace {
namespace {

/// The maximum time that records stay in memory.
constexpr std::chrono::milliseconds kFlushInterval{50};
/// How late a record may arrive in its buffer. Later ones are taken too.
constexpr std::int64_t kSlackNs = 5'000'000;
/// The maximum time between two kept summaries of a program that hangs.
constexpr std::chrono::seconds kKeepInterval{1};

void Warn(std::string_view text) {
  const std::string line = Text("sampan: ", text, "\n");
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

std::string ProgramName() {
  std::error_code error;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::string("?") : path.string();
}

std::string HeadText(const Options& options, std::uint64_t process, const std::string& started,
                     FileState state) {
  const char* const word = state == FileState::kRunning   ? "running"
                           : state == FileState::kEnded   ? "ended"
                           : state == FileState::kStopped ? "stopped"
                                                          : "cut";
  EventLine line;
  line.Add("{\"name\":\"sampan_trace\",\"ph\":\"M\",\"pid\":", process * 128,
           ",\"tid\":0,\"args\":{\"format\":1,\"state\":\"", word, "\",\"process\":", process,
           ",\"program\":", Quoted{ProgramName()},
           ",\"version\":\"" SAMPAN_VERSION "\",\"backend\":", Quoted{options.backend},
           ",\"profile\":", Quoted{options.profile}, ",\"started\":\"", started, "\"}}");
  return std::string(line.text());
}

std::string NowText() {
  const std::time_t now = std::time(nullptr);
  tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

std::string ThreadName() {
  std::array<char, 16> name{};
  return ::pthread_getname_np(::pthread_self(), name.data(), name.size()) == 0 ? name.data() : "";
}

/// Thread-safe only where stated. Created once and never destroyed.
class Session {
 public:
  Session(std::unique_ptr<TraceFile> file, const Options& options)
      : process_(static_cast<std::uint64_t>(::getpid())),
        file_(std::move(file)),
        with_summary_(options.summary),
        kept_(options.summary ? options.kept : std::string(), ProgramName()),
        assembler_(file_.get(), summary_, process_) {}

  bool with_summary() const { return with_summary_; }

  void StartWriter() {
    writer_ = StartThread("sampan-trace", [this] { WriterLoop(); });
  }

  /// Thread-safe.
  std::shared_ptr<ThreadBuffer> AddThread(ThreadRole role) {
    auto buffer =
        std::make_shared<ThreadBuffer>(static_cast<std::uint64_t>(::gettid()), ThreadName(), role, bell_);
    const std::lock_guard lock(mutex_);
    buffers_.push_back(buffer);
    return buffer;
  }
  Tracer& tracer() { return tracer_; }

  /// Called once, by one thread: the one that detached the tracer.
  void Stop(FileState state, Assembler::Reasons reasons = {}) noexcept {
    if (static_cast<std::uint64_t>(::getpid()) != process_) return;  // a child has no writer
    end_state_ = state;
    reasons_ = std::move(reasons);
    stopping_.store(true);
    bell_.fetch_add(1);
    FutexWake(bell_);
    if (writer_.joinable()) writer_.Join();
    if (with_summary_) {
      const std::string text = summary::TerminalText(summary_.MakeReport());
      [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
      kept_.Drop();
    }
  }

 private:
  void WriterLoop() {
    Deadline next_flush = Clock::now() + kFlushInterval;
    for (bool last = false; !last;) {
      const std::uint32_t bell = bell_.load();
      last = stopping_.load();
      const std::int64_t before_ns = observe::NowNs();
      const std::size_t taken = TakeAll();
      unkept_ += taken;
      const Deadline now = Clock::now();
      if (last) {
        assembler_.Finish();
        assembler_.AddOpen(Buffers(), observe::NowNs(), Assembler::Open::kAll, reasons_);
        if (file_ != nullptr) file_->End(end_state_);
      } else if (now >= next_flush) {
        assembler_.Advance(before_ns - kSlackNs);
        assembler_.AddOpen(Buffers(), observe::NowNs(), Assembler::Open::kLong, {});
        if (file_ != nullptr) file_->Flush();
        KeepSummary(now);
        observe::event_clock.Adjust();
        next_flush = now + kFlushInterval;
      }
      if (file_ != nullptr && !file_->failure().empty() && !warned_) {
        Warn(Text("the trace ", file_->path(), " ends here, the program goes on: ", file_->failure()));
        warned_ = true;
      }
      if (last || taken >= kMuch) continue;
      const std::array wait = {FutexWait{&bell_, bell}};
      FutexSleep(wait, next_flush);
    }
    const std::lock_guard lock(mutex_);
    for (const auto& buffer : buffers_)
      buffer->Release();
  }

  std::vector<std::shared_ptr<ThreadBuffer>> Buffers() {
    const std::lock_guard lock(mutex_);
    return buffers_;
  }

  /// For the command that started the program, if this process ends without a word.
  void KeepSummary(Deadline now) {
    if (!kept_.on() || (unkept_ == 0 && now < next_keep_)) return;
    summary::Summary so_far = summary_;
    assembler_.CountOpen(Buffers(), observe::NowNs(), so_far);
    kept_.Keep(summary::TerminalText(so_far.MakeReport()));
    unkept_ = 0;
    next_keep_ = now + kKeepInterval;
  }

  /// Takes all records from the buffers. Returns their number.
  std::size_t TakeAll() {
    const auto buffers = Buffers();
    std::size_t taken = 0;
    for (const auto& buffer : buffers) {
      const bool left = buffer->left();
      taken += buffer->Drain([&](const RecordHead& record) {
        assembler_.Take(*buffer, record);
        if (file_ != nullptr) file_->FlushIfMuch();
      });
      if (!left) continue;
      const std::lock_guard lock(mutex_);
      std::erase(buffers_, buffer);
    }
    return taken;
  }

  /// So many records at once announce more.
  static constexpr std::size_t kMuch = 256;

  const std::uint64_t process_;
  const std::unique_ptr<TraceFile> file_;
  const bool with_summary_;
  summary::KeptSummary kept_;
  summary::Summary summary_;
  Assembler assembler_;
  Tracer tracer_;
  bool warned_ = false;
  std::size_t unkept_ = 0;  // records since the summary was kept
  Deadline next_keep_{};
  Thread writer_;
  std::atomic<std::uint32_t> bell_{0};
  FileState end_state_ = FileState::kEnded;  // set before the wish to stop
  Assembler::Reasons reasons_;
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;  // of the list
  std::vector<std::shared_ptr<ThreadBuffer>> buffers_;
};

constinit std::atomic<Session*> the_session{nullptr};

[[gnu::tls_model("initial-exec")]] constinit thread_local ThreadState* this_thread = nullptr;

/// Destroyed with the thread. The main thread's state is kept, because programs also call from exit handlers.
struct Leaver {
  ~Leaver() {
    if (this_thread == nullptr || ::gettid() == ::getpid()) return;
    this_thread->buffer->Leave();
    delete std::exchange(this_thread, nullptr);
  }
};

void LeaveWithTheThread() {
  thread_local const Leaver leaver;
  static_cast<void>(leaver);
}

/// If there is no memory for it, the trace ends.
ThreadState* MakeThreadState() noexcept {
  Session& session = *the_session.load(std::memory_order_acquire);
  try {
    LeaveWithTheThread();
    this_thread = new ThreadState(session.AddThread(observe::ThisThread().role));
  } catch (const std::exception&) {
    constexpr std::string_view kLine = "sampan: the trace ends here, the program goes on: out of memory\n";
    if (observe::Detach(session.tracer())) {
      [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kLine.data(), kLine.size());
    }
  }
  return this_thread;
}

/// A child has no writer, and the file belongs to its parent.
void AfterForkInChild() {
  observe::Detach(the_session.load(std::memory_order_acquire)->tracer());
}

Result<std::unique_ptr<TraceFile>> MakeFile(const Options& options) {
  const auto process = static_cast<std::uint64_t>(::getpid());
  const auto head = [options, process, started = NowText()](FileState state) {
    return HeadText(options, process, started, state);
  };
  const bool numbered = options.file.find("%p") != std::string::npos;
  const std::string with_process = NameWithProcess(options.file, process);
  auto file = TraceFile::Create(numbered ? with_process : options.file, head);
  if (file.ok() || numbered || file.code() != Code::kInvalidFile) return file;
  return TraceFile::Create(with_process, head);  // another process created the file first
}

}  // namespace

std::string NameWithProcess(const std::string& name, std::uint64_t process) {
  const std::string number = Text(process);
  std::string result = name;
  bool replaced = false;
  for (std::size_t at = result.find("%p"); at != std::string::npos;
       at = result.find("%p", at + number.size())) {
    result.replace(at, 2, number);
    replaced = true;
  }
  if (replaced) return result;
  const std::size_t base = name.rfind('/') == std::string::npos ? 0 : name.rfind('/') + 1;
  std::size_t end = name.ends_with(".gz") ? name.size() - 3 : name.size();
  const std::size_t dot = name.rfind('.', end == 0 ? 0 : end - 1);
  if (dot != std::string::npos && dot > base) end = dot;
  return result.insert(end, "." + number);
}

Result<observe::Observer*> Start(const Options& options) {
  if (options.file.empty() && !options.summary) return nullptr;
  std::unique_ptr<TraceFile> file;
  if (!options.file.empty()) {
    auto made = MakeFile(options);
    if (!made.ok()) {
      Status failure = made.TakeStatus();
      if (failure.code() != Code::kResourceAllocFail)
        return Error{Code::kDeviceSetupError, failure.error().message};
      Warn(Text(failure.error().message, ": the program goes on without it"));
      return nullptr;
    }
    file = std::move(*made);
  }
  observe::event_clock.Start();
  auto session = std::make_unique<Session>(std::move(file), options);
  session->StartWriter();
  the_session.store(session.get(), std::memory_order_release);
  ::pthread_atfork(nullptr, nullptr, &AfterForkInChild);
  return &session.release()->tracer();
}

void Finish() noexcept {
  Session* const session = the_session.load(std::memory_order_acquire);
  if (session != nullptr && observe::Detach(session->tracer())) session->Stop(FileState::kEnded);
}

void FinishAtSignal(const std::vector<HeldStream>& held) noexcept {
  Session* const session = the_session.load(std::memory_order_acquire);
  if (session == nullptr || !observe::Detach(session->tracer())) return;
  Assembler::Reasons reasons;
  try {
    for (const HeldStream& each : held)
      reasons.emplace(each.queue, each.reason);
  } catch (const std::exception&) {
    // Without the reasons.
  }
  session->Stop(FileState::kStopped, std::move(reasons));
}

bool IsOn() noexcept {
  return observe::On() && the_session.load(std::memory_order_acquire) != nullptr;
}

bool HasSummary() noexcept {
  return IsOn() && the_session.load(std::memory_order_acquire)->with_summary();
}

ThreadState* ThisThread() noexcept {
  return this_thread != nullptr ? this_thread : MakeThreadState();
}

}  // namespace sampan::trace
