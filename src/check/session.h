// The checker of a process.
#pragma once

#include <string>

#include "base/error/status.h"
#include "check/checker.h"

namespace sampan::check {

class HostAliases;

struct Options {
  bool on = false;
  std::string findings;  ///< the command's file; empty: the user reads standard error
  std::string json;      ///< the file of a report; empty: none. Not with the command's file
  bool guards_pages = true;
  bool finds_unwritten = true;  ///< all writes to device memory are seen
  std::string backend;
};

/// Starts the checker if it is asked for; null if it is not. Called once.
Result<observe::Observer*> Start(const Options& options);
/// When the library is loaded: the program cannot block the checker's signals from now on.
void WatchMasks() noexcept;
/// Begins to judge accesses of the host, after the runtime has installed its own handlers of signals.
void WatchHost() noexcept;
/// Gives registered memory a second address; null: the host's accesses to it are not judged.
HostAliases* Aliases() noexcept;
/// The checker while it watches; null: there is none.
Checker* TheChecker() noexcept;
/// At the exit of the process: reports what is left.
void Finish() noexcept;
/// The same before a finding ends the process.
[[noreturn]] void EndProcess(std::string_view reason) noexcept;

}  // namespace sampan::check
