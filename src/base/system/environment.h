// The process's environment variables; the only place that reads them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sampan {

/// The variable's value; nothing when it is unset, or when the process has more rights than its caller.
std::optional<std::string> EnvironmentValue(const char* name);

/// All variables whose names begin with the prefix, as (name, value). None if the process has more rights
/// than its caller.
std::vector<std::pair<std::string, std::string>> EnvironmentWithPrefix(std::string_view prefix);

}  // namespace sampan
