// Parses and prints bytes, times and rates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sampan::tool {

/// Such as 4096, 64K, 16M or 1G. Throws a Failure for anything else, and for 0.
std::size_t ParseBytes(std::string_view text);

/// Parses sizes separated by commas. The result is ascending, each size once.
std::vector<std::size_t> ParseSizes(std::string_view list);

/// The duration of a measurement: more than 0, at most `max_seconds`. Otherwise throws a Failure that names
/// the command.
double ParseSeconds(std::string_view command, std::string_view text, int max_seconds);

/// A time with its unit, such as 1.5s, 200ms or 30us, in nanoseconds. Throws a Failure that names the option.
std::int64_t ParseTime(std::string_view option, std::string_view text);

/// Exact if a unit divides it, as in 64 KiB; otherwise rounded.
std::string ShowBytes(std::size_t bytes);

/// Three digits with a fitting unit, as in 12.3 us.
std::string ShowSeconds(double seconds);

/// Three significant digits.
std::string ShowRate(double value);

}  // namespace sampan::tool
