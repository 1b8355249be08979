// Says which allocation it was when the host touches device memory, before the process dies of it.
#pragma once

#include "core/memory/memory_registry.h"

namespace sampan::process {

/// From now on, a SIGSEGV at an address of the runtime is explained on standard error. Then the previous
/// handler runs.
void ReportHostFaults(const MemoryRegistry& memory);

}  // namespace sampan::process
