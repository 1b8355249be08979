// The one object that a process has of Sampan, made at the first use.
#pragma once

#include <atomic>

#include "base/error/fault.h"
#include "base/error/status.h"
#include "core/objects/runtime.h"

namespace sampan::process {

/// The runtime; fails, each time the same way, when the settings are bad or the system refuses.
/// It is never destroyed: copies may run until the process ends.
Result<Runtime*> TheRuntime();
/// The runtime if it was made already, otherwise null: read in line by every call, written by TheRuntime.
extern constinit std::atomic<Runtime*> made_runtime;
inline Runtime* TheRuntimeIfMade() {
  return made_runtime.load(std::memory_order_acquire);
}

/// Starts the trace and the summary that the settings ask for, once; a failure is TheRuntime's.
void StartTrace() noexcept;

/// Failures on order, for tests of error paths.
FaultPlan& Faults();

}  // namespace sampan::process
