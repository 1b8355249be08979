// Formats times, sizes and rates.
#pragma once

#include <cstdint>
#include <string>

namespace sampan::summary {

/// Three significant digits and a unit: 12.3 ms, 4.00 KiB.
std::string TimeText(std::int64_t ns);
std::string BytesText(double bytes);
/// A rate such as 11.2 GB/s; a dash if the time is 0.
std::string RateText(std::uint64_t bytes, std::int64_t ns);
std::string PercentText(double part, double whole);

}  // namespace sampan::summary
