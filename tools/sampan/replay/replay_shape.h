// Reads the rows of a copy and the pieces of a batch from a trace.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tools/sampan/replay/replay_plan.h"
#include "tools/sampan/shared/trace/trace_reader.h"

namespace sampan::tool {

/// The bytes from the first row to the end of the last one. Nothing if there are more than 2^62.
std::optional<std::uint64_t> RowsExtent(std::uint64_t width, std::uint64_t height, std::uint64_t pitch);

/// The pieces of a batch of `bytes` bytes. Nothing if the trace lacks them or they do not add up.
std::optional<std::vector<ReplayPiece>> ReadPieces(const TraceEvent& event, std::uint64_t bytes);

}  // namespace sampan::tool
