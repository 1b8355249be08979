// The summary of a trace, counted by the same code as in a running program.
#pragma once

#include <cstdint>

#include "summary/summary.h"
#include "tools/sampan/shared/trace/trace_reader.h"

namespace sampan::tool {

/// The device of an event's area; -1 for the area of the calls.
std::int32_t DeviceOf(const TraceEvent& event);

/// Returns true if the event is a task of a stream or a blocking call. False for an engine's part of a task.
bool IsTask(const TraceEvent& event);

/// Returns true if the call or task had not ended when the trace was written.
bool IsUnfinished(const TraceEvent& event);

/// When a task was submitted to its stream.
std::int64_t SubmittedNs(const TraceEvent& task);

/// Adds the event to the summary, if it counts there.
void AddTo(summary::Summary& summary, const TraceEvent& event);

}  // namespace sampan::tool
