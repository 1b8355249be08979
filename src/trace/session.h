// The trace of a process: its file, its writer, and the buffers of its threads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error/status.h"
#include "observe/observer.h"

namespace sampan::trace {

struct Options {
  std::string file;  ///< empty: none. %p is the process
  bool summary = false;
  std::string kept;  ///< the folder for the summary so far; empty: none
  // Facts for the first event.
  std::string backend, profile;
};

/// The observer that writes the trace and counts for the summary, for observe::Attach. Null if neither is
/// asked for. Fails if the file cannot be made. If only space is missing, the program goes on without a
/// trace, and standard error says so.
Result<observe::Observer*> Start(const Options& options);

/// Detaches the observer, and writes what is left, and the summary. For the end of the process.
void Finish() noexcept;

/// What a stream is held at, in words.
struct HeldStream {
  std::uint64_t queue;  ///< the number of its queue
  std::string reason;
};
/// The same before a signal ends the process: what has not ended is written with the reasons.
void FinishAtSignal(const std::vector<HeldStream>& held) noexcept;

/// True while there may be a trace or a summary to finish. Async-signal-safe.
bool IsOn() noexcept;
/// The same for a summary alone.
bool HasSummary() noexcept;

/// The file name for this process: replaces %p, or adds the process id before the suffix.
std::string NameWithProcess(const std::string& name, std::uint64_t process);

}  // namespace sampan::trace
