// The error type of the command: a message for the user and an exit status.
#pragma once

#include <cerrno>
#include <string>
#include <system_error>

#include "bench/measure/failure.h"

namespace sampan::tool {

/// Exit statuses. `sampan run` exits with the program's status, or with one of the last three.
enum ExitStatus : int {
  kSuccess = 0,
  kCheckFailed = 1,      ///< wrong bytes, a failed self-test, a runtime that does not start
  kBadUsage = 2,         ///< invalid arguments
  kOutputFailed = 3,     ///< results that could not be written
  kBadTrace = 4,         ///< a trace that cannot be read or replayed
  kRunFailed = 125,      ///< `sampan run` itself failed
  kNotExecutable = 126,  ///< the program exists and cannot be executed
  kNotFound = 127,       ///< there is no such program
};

/// Stops the command. The message says what is wrong and what to do.
class Failure : public bench::Failure {
 public:
  Failure(ExitStatus status, const std::string& message) : bench::Failure(message), status_(status) {}
  ExitStatus status() const { return status_; }

 private:
  ExitStatus status_;
};

/// For a system call that just failed before a program was started.
inline Failure SystemError(const char* call) {
  return Failure(kRunFailed, std::string(call) + ": " + std::generic_category().message(errno));
}

}  // namespace sampan::tool
