// Lists of ports, as HCCL's variables have them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace sampan {

struct PortRange {
  std::uint16_t first = 0, last = 0;
};

/// Reads "60000-60050,60100". Nothing if the text has another form.
std::optional<std::vector<PortRange>> ParsePortRanges(std::string_view text);

}  // namespace sampan
