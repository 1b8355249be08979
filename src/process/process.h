// The process's runtime, created at the first use.
#pragma once

#include <atomic>

#include "base/error/fault.h"
#include "base/error/status.h"
#include "core/objects/runtime.h"

namespace sampan::process {

/// The runtime. Fails, each time with the same error, if the settings are invalid or the system refuses.
/// Never destroyed, because copies may run until the process exits.
Result<core::Runtime*> TheRuntime();
/// The runtime, or null before it is created. Every call reads it inline; only TheRuntime writes it.
extern constinit std::atomic<core::Runtime*> made_runtime;
inline core::Runtime* TheRuntimeIfMade() {
  return made_runtime.load(std::memory_order_acquire);
}

/// True in a child that was forked from a process that used the runtime: it has no runtime, and gets none.
bool IsInherited() noexcept;

/// Attaches the observers that the settings ask for, once: the trace and the summary. A failure is
/// TheRuntime's.
void StartObservers() noexcept;

/// Injected faults, for tests of error paths.
FaultPlan& Faults();

}  // namespace sampan::process
