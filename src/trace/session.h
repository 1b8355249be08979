// The trace of a process: its file, its writer, and the buffers of its threads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"

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

/// What a stream stands at, in words.
struct Standing {
  std::uint64_t queue;  ///< the number of its queue
  std::string reason;
};
/// The same before a signal ends the process: what has not ended is told with the reasons.
void FinishAtSignal(const std::vector<Standing>& standing) noexcept;

/// True while there is a trace or a summary to be finished. Async-signal-safe.
bool IsOn() noexcept;

/// The file name for this process: %p replaced, or the process's number put before the ending.
std::string NameWithProcess(const std::string& name, std::uint64_t process);

}  // namespace sampan::trace
