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

/// Turns the trace on; without a file and a summary, off permanently. Fails if the file cannot be created. If
/// only space is missing, the program continues, and standard error says that there is no trace.
Status Start(const Options& options);

/// Writes the remaining records and the summary, and turns the trace off. Called when the process exits.
void Finish() noexcept;

/// The file name for this process: replaces %p, or adds the process id before the suffix.
std::string NameWithProcess(const std::string& name, std::uint64_t process);

}  // namespace sampan::trace
