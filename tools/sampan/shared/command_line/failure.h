// The one error type of the command: what to tell the user and which status to exit with.
#pragma once

#include <cerrno>
#include <string>
#include <system_error>

#include "bench/measure/failure.h"

namespace sampan::tool {

/// Exit statuses; `sampan run` exits with the program's own instead, or with one of the last three.
enum ExitStatus : int {
  kSuccess = 0,
  kCheckFailed = 1,      ///< wrong bytes, a failed self-test, a runtime that does not start
  kBadUsage = 2,         ///< arguments that cannot be understood
  kOutputFailed = 3,     ///< results that could not be written
  kBadTrace = 4,         ///< a trace that cannot be read, or not be replayed here
  kRunFailed = 125,      ///< `sampan run` itself failed
  kNotExecutable = 126,  ///< the program exists and cannot be executed
  kNotFound = 127,       ///< there is no such program
};

/// Ends the command. The message says what is wrong and what to do about it.
class Failure : public bench::Failure {
 public:
  Failure(ExitStatus status, const std::string& message) : bench::Failure(message), status_(status) {}
  ExitStatus status() const { return status_; }

 private:
  ExitStatus status_;
};

/// For a system call that failed just now while we were about to run a program.
inline Failure SystemError(const char* call) {
  return Failure(kRunFailed, std::string(call) + ": " + std::generic_category().message(errno));
}

}  // namespace sampan::tool
