// Formats times, sizes and rates.
#include "summary/quantity_text.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <string_view>

namespace sampan::summary {
namespace {

std::string ThreeDigits(double value) {
  std::array<char, 32> text{};
  const int decimals = value >= 100 || value == std::floor(value) ? 0 : value >= 10 ? 1 : 2;
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return text.data();
}

template <std::size_t kUnits>
std::string WithUnit(double value, double step, const std::array<std::string_view, kUnits>& units) {
  std::size_t unit = 0;
  for (; unit + 1 < kUnits && value >= step; ++unit)
    value /= step;
  return ThreeDigits(value).append(" ").append(units[unit]);
}

}  // namespace

std::string TimeText(std::int64_t ns) {
  constexpr std::array<std::string_view, 4> kUnits = {"ns", "us", "ms", "s"};
  return WithUnit(static_cast<double>(ns), 1000, kUnits);
}

std::string BytesText(double bytes) {
  constexpr std::array<std::string_view, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  return WithUnit(bytes, 1024, kUnits);
}

std::string RateText(std::uint64_t bytes, std::int64_t ns) {
  if (ns <= 0) return "-";
  constexpr std::array<std::string_view, 5> kUnits = {"B/s", "kB/s", "MB/s", "GB/s", "TB/s"};
  return WithUnit(static_cast<double>(bytes) * 1e9 / static_cast<double>(ns), 1000, kUnits);
}

std::string PercentText(double part, double whole) {
  return ThreeDigits(whole > 0 ? std::round(part / whole * 100) : 0).append(" %");
}

}  // namespace sampan::summary
