// The parts of a copy of rows or of a batch, as the trace has them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tools/sampan/replay/replay_plan.h"
#include "tools/sampan/shared/trace/trace_reader.h"

namespace sampan::tool {

/// From the first byte of the first row to the last byte of the last one; nothing if that is more than 2^62.
std::optional<std::uint64_t> RowsExtent(std::uint64_t width, std::uint64_t height, std::uint64_t pitch);

/// The entries of a batch of that many bytes. Nothing if the trace does not have them, or if they do not add
/// up.
std::optional<std::vector<ReplayPiece>> ReadPieces(const TraceEvent& event, std::uint64_t bytes);

}  // namespace sampan::tool
