// Ends a program under check when nothing in it can go on any more.
#pragma once

#include <vector>

#include "core/objects/runtime.h"
#include "core/streams/stream_roster.h"

namespace sampan::process {

/// Starts the thread that watches, if the process has a checker. Call it once.
void WatchForDeadlocks(const core::Runtime& runtime) noexcept;
/// For a signal that ends the process: reports a deadlock if calls wait and all streams with work stand.
void ReportInterruptedWait(const std::vector<core::StreamState>& states);

}  // namespace sampan::process
