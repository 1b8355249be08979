// Names the place in the source that an instruction was compiled from.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace sampan {

/// The debug information of this process. Read with libdw, which is loaded by the constructor; without that
/// library every answer is empty. Thread-safe.
class SourceLines {
 public:
  SourceLines();
  ~SourceLines();
  SourceLines(const SourceLines&) = delete;
  SourceLines& operator=(const SourceLines&) = delete;

  /// The function, the file and the line of an instruction, as in "main at /src/copy.cc:12". Without debug
  /// information the function alone; empty if nothing is known. Slow: callers keep the result.
  std::string Describe(std::uintptr_t instruction);

 private:
  class Reader;
  const std::unique_ptr<Reader> reader_;  // null without the library
};

}  // namespace sampan
