// Reads numbers, addresses and places from the events of a trace.
#pragma once

#include <cstdint>

#include "tools/sampan/replay/replay_plan.h"
#include "tools/sampan/shared/trace/trace_reader.h"

namespace sampan::tool {

/// The maximum of offsets and sizes. The sum of two of them does not overflow.
inline constexpr std::uint64_t kMaxOffset = std::uint64_t{1} << 62;

/// Returns 0 if the value is not an unsigned number.
std::uint64_t ToUnsigned(const TraceJson& value);

/// Converts a hexadecimal address. Returns 0 if the value is none.
std::uint64_t ToAddress(const TraceJson& value);

/// A field of an object; `otherwise` if it is missing or not an unsigned number.
std::uint64_t UnsignedField(const TraceJson& object, const char* name, std::uint64_t otherwise);

/// Reads one end of a copy. Returns false if the trace does not have it.
bool ReadPlace(const TraceEvent& event, const char* name, ReplayPlace& place, std::int32_t& device);

}  // namespace sampan::tool
