// The findings of a run as JSON. docs/CHECK.md has the format.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "tools/sampan/check/finding/finding.h"

namespace sampan::tool {

/// The report as a value, with its fields in the documented order.
nlohmann::ordered_json FindingsValue(const CheckedRun& run);

/// The same as text.
std::string FindingsJson(const CheckedRun& run);

/// Indented, with a line feed at its end. Bytes that are not UTF-8 become question marks.
std::string WriteJson(const nlohmann::ordered_json& value);

}  // namespace sampan::tool
