// The one sink of log lines. Errors go to standard error unless the ASCEND_ variables say otherwise.
#pragma once

#include <string_view>

namespace sampan {

enum class LogLevel : int { kDebug = 0, kInfo = 1, kWarning = 2, kError = 3, kOff = 4 };

/// Cheap: tells whether a line of this level and module would be written.
bool LogEnabled(LogLevel level, std::string_view module);

/// Writes one line, whole, from any thread. `module` is the name that log readers filter by.
void Log(LogLevel level, std::string_view module, std::string_view text);

/// The same for a line that a program writes about itself, with its own source position.
struct LogPosition {
  const char* function;
  const char* file;
  unsigned line;
};
void LogAt(LogLevel level, std::string_view module, const LogPosition& position, std::string_view text);

}  // namespace sampan
