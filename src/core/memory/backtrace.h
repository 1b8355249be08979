// Where in the program a call came from.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

#include "core/memory/source_lines.h"

namespace sampan {

/// Describes the frames of threads. Thread-safe.
class Backtraces {
 public:
  /// The frames of the calling thread, one a line, beginning with the program's innermost: the runtime's own
  /// are left out. A line has the function, the file and the line where they are known, and always the module
  /// with the offset in it.
  std::string Current();

 private:
  std::string Describe(std::uintptr_t instruction);
  /// The same from what was described before. Reading debug information takes milliseconds, and programs
  /// allocate at few places.
  std::string Find(std::uintptr_t instruction);

  SourceLines lines_;
  std::mutex mutex_;
  std::unordered_map<std::uintptr_t, std::string> known_;
};

}  // namespace sampan
