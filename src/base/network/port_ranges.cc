// Lists of ports, as HCCL's variables have them.
#include "base/network/port_ranges.h"

#include <algorithm>
#include <charconv>

namespace sampan {
namespace {

bool ReadPort(std::string_view text, std::uint16_t& port) {
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, port);
  return error == std::errc() && stopped == end && port != 0;
}

}  // namespace

std::optional<std::vector<PortRange>> ParsePortRanges(std::string_view text) {
  std::vector<PortRange> ranges;
  for (bool is_last = false; !is_last;) {
    const std::size_t comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    const std::size_t dash = part.find('-');
    PortRange range;
    if (!ReadPort(part.substr(0, dash), range.first)) return std::nullopt;
    range.last = range.first;
    if (dash != std::string_view::npos && !ReadPort(part.substr(dash + 1), range.last)) return std::nullopt;
    if (range.first > range.last) return std::nullopt;
    ranges.push_back(range);
    is_last = comma == std::string_view::npos;
    text.remove_prefix(is_last ? text.size() : comma + 1);
  }
  return ranges;
}

}  // namespace sampan
