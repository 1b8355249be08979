// Names the place in the program that a call came from.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

#include "core/memory/origin/source_lines.h"

namespace sampan::core {

/// Turns frames into text. Thread-safe.
class Backtraces {
 public:
  /// The frames of the calling thread, one per line, from the program's innermost frame. Frames of the
  /// runtime are left out. A line has the module and the offset, and function, file and line if known.
  std::string Current();

 private:
  std::string Describe(std::uintptr_t instruction);
  /// Returns the cached text of an instruction. Reading debug information takes milliseconds, and programs
  /// allocate at few places.
  std::string Find(std::uintptr_t instruction);

  SourceLines lines_;
  std::mutex mutex_;
  std::unordered_map<std::uintptr_t, std::string> known_;
};

}  // namespace sampan::core
