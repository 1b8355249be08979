// Says what each stream waits for before SIGINT, SIGTERM or SIGQUIT ends the process.
#pragma once

#include "core/objects/runtime.h"

namespace sampan::process {

/// From now on these signals, where their action is the default one, first make a report: if a stream stands
/// at a wait, on standard error; and in any case the rest of the trace and the summary. Then the signal takes
/// its default action. The report takes a second at most; a second signal ends it. A disposition that the
/// program sets, before or later, is left alone. With a summary, it and the trace are also ended before _exit
/// and before other signals that end the process.
void ReportBeforeSignals(const core::Runtime& runtime) noexcept;

/// Ends trace and summary, if there is a summary, before the process ends without its exit handlers. Waits
/// three seconds at most. Async-signal-safe.
void FinishBeforeEnd() noexcept;

}  // namespace sampan::process
