// Parses and prints bytes, times and rates.
#include "tools/sampan/shared/output/quantities.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <limits>

#include "bench/measure/sizes.h"
#include "tools/sampan/shared/command_line/failure.h"

namespace sampan::tool {
namespace {

std::string Rounded(double value, int decimals) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return text.data();
}

std::string ThreeDigits(double value) {
  if (value >= 99.95) return Rounded(value, 0);
  if (value >= 9.995) return Rounded(value, 1);
  return Rounded(value, 2);
}

}  // namespace

std::size_t ParseBytes(std::string_view text) {
  const auto bytes = bench::ParseBytes(text, std::numeric_limits<std::size_t>::max() >> 1);
  if (!bytes)
    throw Failure(kBadUsage, "'" + std::string(text) +
                                 "' is not a number of bytes; write one like 4096, 64K, 16M or 1G");
  return *bytes;
}

std::vector<std::size_t> ParseSizes(std::string_view list) {
  std::vector<std::size_t> sizes;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    sizes.push_back(ParseBytes(list.substr(begin, end - begin)));
    begin = end + 1;
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

double ParseSeconds(std::string_view command, std::string_view text, int max_seconds) {
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size() || !(seconds > 0 && seconds <= max_seconds)) {
    throw Failure(kBadUsage, std::string(command) + ": '" + std::string(text) +
                                 "' is not a number of seconds between 0 and " + std::to_string(max_seconds) +
                                 ", such as 0.5");
  }
  return seconds;
}

std::int64_t ParseTime(std::string_view option, std::string_view text) {
  constexpr double kMaxSeconds = 1e9;
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const double seconds = unit == "s"    ? number
                         : unit == "ms" ? number / 1e3
                         : unit == "us" ? number / 1e6
                         : unit == "ns" ? number / 1e9
                                        : -1;
  if (error != std::errc() || !(seconds >= 0 && seconds <= kMaxSeconds)) {
    throw Failure(kBadUsage, "report: " + std::string(option) + " '" + std::string(text) +
                                 "' is not a time; write one like 1.5s, 200ms or 30us");
  }
  return static_cast<std::int64_t>(seconds * 1e9 + 0.5);
}

std::string ShowBytes(std::size_t bytes) {
  constexpr std::array<const char*, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  auto value = static_cast<double>(bytes);
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  const bool is_whole = value == static_cast<double>(static_cast<std::size_t>(value));
  return Rounded(value, is_whole ? 0 : 1) + " " + kUnits[unit];
}

std::string ShowSeconds(double seconds) {
  if (seconds < 1e-3) return ThreeDigits(seconds * 1e6) + " us";
  if (seconds < 1) return ThreeDigits(seconds * 1e3) + " ms";
  return ThreeDigits(seconds) + " s";
}

std::string ShowRate(double value) {
  return ThreeDigits(value);
}

}  // namespace sampan::tool
