// Makes the n-th operator new of the calling thread fail.
#pragma once

#include <cstdint>

namespace sampan::fault {

/// The n-th operator new of this thread from now on fails, once; 0 disarms.
void ArmAllocation(std::uint64_t n);
/// Whether the ordered failure has not happened yet.
bool AllocationArmed();

}  // namespace sampan::fault
