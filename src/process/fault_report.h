// Explains a fault before the process dies: the host accessed device memory, or a copy accessed freed
// registered memory.
#pragma once

#include "core/memory/memory_registry.h"

namespace sampan::process {

/// From now on, explains a SIGSEGV or SIGBUS at an address of the runtime or in registered memory. Then the
/// signal has its usual effect.
void ReportHostFaults(const core::MemoryRegistry& memory);

}  // namespace sampan::process
