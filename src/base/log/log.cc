// Writes log lines. Only errors are written, to standard error, unless the ASCEND_ variables say otherwise.
#include "base/log/log.h"

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error/system_error.h"
#include "base/error/text.h"
#include "base/log/log_files.h"
#include "base/system/environment.h"
#include "base/threads/fork_lock.h"
#include "base/time/local_time.h"

namespace sampan {
namespace {

/// Where lines go, and which levels. Read from the environment once. Never destroyed.
struct Sink {
  LogLevel threshold = LogLevel::kError;
  std::vector<std::pair<std::string, LogLevel>> module_thresholds;
  int descriptor = STDERR_FILENO;
  LogFiles* files = nullptr;  // if not null, used instead of the descriptor
};

std::optional<LogLevel> ParseLevel(std::string_view text) {
  if (text.size() != 1 || text.front() < '0' || text.front() > '4') return std::nullopt;
  return static_cast<LogLevel>(text.front() - '0');
}

/// Parses "MODULE=level:MODULE=level". Ignores invalid parts.
std::vector<std::pair<std::string, LogLevel>> ParseModuleLevels(std::string_view text) {
  std::vector<std::pair<std::string, LogLevel>> levels;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(':'));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const auto equals = part.find('=');
    if (equals == std::string_view::npos) continue;
    if (const auto level = ParseLevel(part.substr(equals + 1)))
      levels.emplace_back(part.substr(0, equals), *level);
  }
  return levels;
}

bool PrintsToStdout() {
  for (const char* name : {"ASCEND_LOG_PRINT_TO_STDOUT", "ASCEND_SLOG_PRINT_TO_STDOUT"}) {
    if (const auto value = EnvironmentValue(name)) return *value == "1";
  }
  return false;
}

std::string_view LevelName(LogLevel level) {
  constexpr std::array<std::string_view, 4> kNames = {"DEBUG", "INFO", "WARNING", "ERROR"};
  return kNames[static_cast<std::size_t>(level)];
}

std::string ProcessName() {
  std::array<char, 64> name{};
  const int file = ::open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return "?";
  const ssize_t length = ::read(file, name.data(), name.size() - 1);
  ::close(file);
  return length > 1 ? std::string(name.data(), static_cast<std::size_t>(length - 1)) : "?";
}

/// Includes milliseconds and microseconds.
std::string TimeOfDay() {
  const LocalTime now = LocalTime::Now();
  std::array<char, 24> fraction{};
  std::snprintf(fraction.data(), fraction.size(), ".%03d.%03d", now.microsecond / 1000,
                now.microsecond % 1000);
  return now.Text() + fraction.data();
}

/// Read once. Not a static local variable: if a fork happens during its initialisation, the child deadlocks.
const std::string& KnownProcessName() {
  static constinit std::atomic<const std::string*> known{nullptr};
  if (const std::string* const name = known.load(std::memory_order_acquire)) return *name;
  const std::string* const name = new std::string(ProcessName());
  const std::string* first = nullptr;
  if (known.compare_exchange_strong(first, name)) return *name;
  delete name;
  return *first;
}

/// Formats a line as CANN does, with a newline.
std::string Line(LogLevel level, std::string_view module, std::string_view position, std::string_view text) {
  return Text("[", LevelName(level), "] ", module, "(", ::getpid(), ",", KnownProcessName(),
              "):", TimeOfDay(), position, " ", ::gettid(), " ", text, "\n");
}

void WriteTo(int descriptor, std::string_view line) {
  // One write call per line keeps the lines of several threads apart. A failed write is ignored.
  [[maybe_unused]] const ssize_t written = ::write(descriptor, line.data(), line.size());
}

/// The number of files to keep. Ignores an invalid number.
std::size_t MaxFiles() {
  constexpr std::size_t kDefault = 10, kLimit = 1000;
  const std::string text = EnvironmentValue("ASCEND_HOST_LOG_FILE_NUM").value_or("");
  std::size_t files = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), files);
  const bool number = error == std::errc() && end == text.data() + text.size();
  return number && files >= 1 && files <= kLimit ? files : kDefault;
}

/// Uses the folder of the first of the two variables that is set. Null if none is set or no file can be
/// created.
LogFiles* OpenFiles(LogLevel threshold) {
  for (const char* name : {"ASCEND_PROCESS_LOG_PATH", "ASCEND_WORK_PATH"}) {
    const auto root = EnvironmentValue(name);
    if (!root || root->empty()) continue;
    auto files = std::make_unique<LogFiles>(*root, MaxFiles());
    if (files->error() == 0) return files.release();
    if (threshold < LogLevel::kOff) {
      WriteTo(STDERR_FILENO, Line(LogLevel::kError, "RUNTIME", "",
                                  Text(name, "='", *root, "': no log file can be made there (",
                                       SystemError(files->error()), "), lines go to standard error")));
    }
    return nullptr;
  }
  return nullptr;
}

Sink MakeSink() {
  Sink made;
  made.threshold =
      ParseLevel(EnvironmentValue("ASCEND_GLOBAL_LOG_LEVEL").value_or("")).value_or(LogLevel::kError);
  made.module_thresholds = ParseModuleLevels(EnvironmentValue("ASCEND_MODULE_LOG_LEVEL").value_or(""));
  if (PrintsToStdout()) {
    made.descriptor = STDOUT_FILENO;
  } else {
    made.files = OpenFiles(made.threshold);
  }
  return made;
}

constinit std::atomic<const Sink*> the_sink{nullptr};
ForkLock sink_lock(ForkLock::Rank::kLeaf);

const Sink& TheSink() {
  if (const Sink* const sink = the_sink.load(std::memory_order_acquire)) return *sink;
  const std::lock_guard lock(sink_lock);
  if (the_sink.load() == nullptr) the_sink.store(new Sink(MakeSink()), std::memory_order_release);
  return *the_sink.load();
}

void Write(LogLevel level, std::string_view module, std::string_view position, std::string_view text) {
  const std::string line = Line(level, module, position, text);
  if (TheSink().files != nullptr) return TheSink().files->Write(line);
  WriteTo(TheSink().descriptor, line);
}

}  // namespace

bool LogEnabled(LogLevel level, std::string_view module) {
  LogLevel threshold = TheSink().threshold;
  for (const auto& [name, its_threshold] : TheSink().module_thresholds) {
    if (name == module) threshold = its_threshold;
  }
  return level >= threshold && level < LogLevel::kOff;
}

void Log(LogLevel level, std::string_view module, std::string_view text) {
  if (LogEnabled(level, module)) Write(level, module, "", text);
}

void LogAt(LogLevel level, std::string_view module, const LogPosition& position, std::string_view text) {
  if (!LogEnabled(level, module)) return;
  Write(level, module, Text(" [", position.file, ":", position.line, "]"),
        Text(position.function, ": ", text));
}

}  // namespace sampan
