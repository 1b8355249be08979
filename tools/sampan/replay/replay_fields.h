// Fields of a trace's events as a replay reads them: numbers, addresses, places.
#pragma once

#include <cstdint>

#include "tools/sampan/replay/replay_plan.h"
#include "tools/sampan/shared/trace/trace_reader.h"

namespace sampan::tool {

/// Limit of offsets and sizes: the sum of two of them does not overflow.
inline constexpr std::uint64_t kMaxOffset = std::uint64_t{1} << 62;

/// 0 if the field is not a number from 0 on.
std::uint64_t ToUnsigned(const TraceJson& value);

/// An address in hexadecimal; 0 if the field is none.
std::uint64_t ToAddress(const TraceJson& value);

/// A part of an argument; `otherwise` if it is missing or is not a number from 0 on.
std::uint64_t UnsignedField(const TraceJson& object, const char* name, std::uint64_t otherwise);

/// One end of a copy. Returns false if the trace does not have it.
bool ReadPlace(const TraceEvent& event, const char* name, ReplayPlace& place, std::int32_t& device);

}  // namespace sampan::tool
