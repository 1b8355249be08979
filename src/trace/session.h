// The trace of a process: its file, its writer, and the buffers of its threads.
#pragma once

#include <string>

#include "base/error/status.h"

namespace sampan::trace {

struct Options {
  std::string file;  ///< empty: none. %p is the process
  bool summary = false;
  // Facts for the first event.
  std::string backend, profile;
};

/// Turns the trace on; without a file and a summary, off for good. Fails if the file cannot be made. If only
/// space is missing, the program goes on, and standard error says that there is no trace.
Status Start(const Options& options);

/// Writes what is left, and the summary, and turns the trace off. For the end of the process.
void Finish() noexcept;

/// The file name for this process: %p replaced, or the process's number put before the ending.
std::string NameWithProcess(const std::string& name, std::uint64_t process);

}  // namespace sampan::trace
