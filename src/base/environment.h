// The process's environment variables; the only place that reads them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sampan {

/// The variable's value; nothing when it is unset.
std::optional<std::string> EnvironmentValue(const char* name);

/// All variables whose names begin with the prefix, as (name, value).
std::vector<std::pair<std::string, std::string>> EnvironmentWithPrefix(std::string_view prefix);

}  // namespace sampan
