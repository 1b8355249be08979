// The one sink of log lines. Errors go to standard error unless the ASCEND_ variables say otherwise.
#include "base/log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/environment.h"
#include "base/text.h"

namespace sampan {
namespace {

/// Where lines go and which of them; read from the environment once. Immutable, never destroyed.
struct Sink {
  LogLevel threshold = LogLevel::kError;
  std::vector<std::pair<std::string, LogLevel>> module_thresholds;
  int descriptor = STDERR_FILENO;
};

std::optional<LogLevel> ParseLevel(std::string_view text) {
  if (text.size() != 1 || text.front() < '0' || text.front() > '4') return std::nullopt;
  return static_cast<LogLevel>(text.front() - '0');
}

/// "MODULE=level:MODULE=level"; parts that make no sense are passed over.
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

/// Opens <root>/debug/plog/plog-<pid>_<time>.log; negative when that cannot be done.
int OpenLogFile(const std::string& root) {
  std::string folder = root;
  for (const char* part : {"", "/debug", "/plog"}) {
    folder += part;
    if (::mkdir(folder.c_str(), 0750) != 0 && errno != EEXIST) return -1;
  }
  const std::string path = Text(folder, "/plog-", ::getpid(), "_", std::time(nullptr), ".log");
  return ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
}

const Sink& TheSink() {
  static const Sink& sink = *new Sink([] {
    Sink made;
    made.threshold =
        ParseLevel(EnvironmentValue("ASCEND_GLOBAL_LOG_LEVEL").value_or("")).value_or(LogLevel::kError);
    made.module_thresholds = ParseModuleLevels(EnvironmentValue("ASCEND_MODULE_LOG_LEVEL").value_or(""));
    if (PrintsToStdout()) {
      made.descriptor = STDOUT_FILENO;
    } else if (const auto root = EnvironmentValue("ASCEND_PROCESS_LOG_PATH"); root && !root->empty()) {
      const int file = OpenLogFile(*root);
      if (file >= 0) made.descriptor = file;
    }
    return made;
  }());
  return sink;
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

std::string TimeOfDay() {
  timeval now{};
  ::gettimeofday(&now, nullptr);
  tm parts{};
  ::localtime_r(&now.tv_sec, &parts);
  std::array<char, 40> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%d-%H:%M:%S", &parts);
  std::snprintf(text.data() + length, text.size() - length, ".%03d.%03d",
                static_cast<int>(now.tv_usec / 1000), static_cast<int>(now.tv_usec % 1000));
  return text.data();
}

void Write(LogLevel level, std::string_view module, std::string_view position, std::string_view text) {
  static const std::string& process = *new std::string(ProcessName());
  const std::string line = Text("[", LevelName(level), "] ", module, "(", ::getpid(), ",", process,
                                "):", TimeOfDay(), position, " ", ::gettid(), " ", text, "\n");
  // One write call a line keeps lines of several threads whole; nothing can be done about a failing sink.
  [[maybe_unused]] const ssize_t written = ::write(TheSink().descriptor, line.data(), line.size());
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
