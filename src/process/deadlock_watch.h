// Ends a program under check when nothing in it can go on any more.
#pragma once

#include "core/objects/runtime.h"

namespace sampan::process {

/// Starts the thread that watches, if the process has a checker. Call it once.
void WatchForDeadlocks(const Runtime& runtime) noexcept;

}  // namespace sampan::process
