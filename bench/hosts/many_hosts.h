// What a process of another host costs: 2 to 16 hosts that all copy to each other, and many imports of one.
#pragma once

namespace bench {

/// Prints a table. Starts processes: must come before the first call of the runtime.
void MeasureManyHosts();

}  // namespace bench
