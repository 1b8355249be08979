// Numbers as people read them.
#pragma once

#include <cstdint>
#include <string>

namespace sampan::summary {

/// Three digits that count and a fitting unit: 12.3 ms, 4.00 KiB.
std::string TimeText(std::int64_t ns);
std::string BytesText(double bytes);
/// Of bytes in a time: 11.2 GB/s; a dash when there was no time.
std::string RateText(std::uint64_t bytes, std::int64_t ns);
std::string PercentText(double part, double whole);

}  // namespace sampan::summary
