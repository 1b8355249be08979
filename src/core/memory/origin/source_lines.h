// Names the source line of an instruction.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace sampan::core {

/// The debug information of a process of this user. The constructor loads libdw; without that library every
/// result is empty. Thread-safe.
class SourceLines {
 public:
  /// Of this process.
  SourceLines();
  explicit SourceLines(std::int64_t process);
  ~SourceLines();
  SourceLines(const SourceLines&) = delete;
  SourceLines& operator=(const SourceLines&) = delete;

  /// Function, file and line of an instruction: "main at /src/copy.cc:12". Without debug information only the
  /// function; empty if nothing is known. Slow: callers cache the result.
  std::string Describe(std::uintptr_t instruction);

 private:
  class Reader;
  const std::unique_ptr<Reader> reader_;  // null without the library
};

}  // namespace sampan::core
