// The summary of a trace, counted by the same code that counts in a running program.
#pragma once

#include <cstdint>

#include "summary/summary.h"
#include "tools/sampan/shared/trace/trace_reader.h"

namespace sampan::tool {

/// The device whose area an event lies in; -1 for the area of the calls.
std::int32_t DeviceOf(const TraceEvent& event);

/// Whether the event is what a stream or a blocking call had done, and not what an engine contributed to it.
bool IsTask(const TraceEvent& event);

/// Whether the call or task had not ended when the trace was written.
bool IsUnfinished(const TraceEvent& event);

/// When a task was put into its stream.
std::int64_t SubmittedNs(const TraceEvent& task);

/// Counts the event as far as it matters.
void AddTo(summary::Summary& summary, const TraceEvent& event);

}  // namespace sampan::tool
