// The trace of a process: its file, its writer, and the buffers of its threads.
#pragma once

#include <string>

#include "base/error/status.h"
#include "observe/observer.h"

namespace sampan::trace {

struct Options {
  std::string file;  ///< empty: none. %p is the process
  bool summary = false;
  // Facts for the first event.
  std::string backend, profile;
};

/// The observer that writes the trace and counts for the summary, for observe::Attach. Null if neither is
/// asked for. Fails if the file cannot be made. If only space is missing, the program goes on without a
/// trace, and standard error says so.
Result<observe::Observer*> Start(const Options& options);

/// Detaches the observer, and writes what is left, and the summary. For the end of the process.
void Finish() noexcept;

/// The file name for this process: replaces %p, or adds the process id before the suffix.
std::string NameWithProcess(const std::string& name, std::uint64_t process);

}  // namespace sampan::trace
