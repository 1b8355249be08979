// Says which memory it was when the host touches device memory, or a copy touches registered memory that was
// freed, before the process dies of it.
#pragma once

#include "core/memory/memory_registry.h"

namespace sampan::process {

/// From now on, a SIGSEGV or SIGBUS at an address of the runtime's, or in registered memory, is explained on
/// standard error; then it takes its course.
void ReportHostFaults(const MemoryRegistry& memory);

}  // namespace sampan::process
