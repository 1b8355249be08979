// Reads environment variables. No other file does.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sampan {

/// The variable's value. Nothing if it is unset, or if the process has more rights than its caller.
std::optional<std::string> EnvironmentValue(const char* name);

/// All variables with this prefix, as (name, value). None if the process has more rights than its caller.
std::vector<std::pair<std::string, std::string>> EnvironmentWithPrefix(std::string_view prefix);

}  // namespace sampan
