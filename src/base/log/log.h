// Writes log lines. Only errors are written, to standard error, unless the ASCEND_ variables say otherwise.
#pragma once

#include <string_view>

namespace sampan {

enum class LogLevel : int { kDebug = 0, kInfo = 1, kWarning = 2, kError = 3, kOff = 4 };

/// Returns true if a line of this level and module would be written. Cheap.
bool LogEnabled(LogLevel level, std::string_view module);

/// Writes one line. Thread-safe; lines do not mix. Log readers filter by `module`.
void Log(LogLevel level, std::string_view module, std::string_view text);

/// For a line of the program (aclAppLog), with its source position.
struct LogPosition {
  const char* function;
  const char* file;
  unsigned line;
};
void LogAt(LogLevel level, std::string_view module, const LogPosition& position, std::string_view text);

}  // namespace sampan
