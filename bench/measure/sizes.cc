// Parses sizes of a command line.
#include "bench/measure/sizes.h"

#include <charconv>
#include <system_error>

namespace bench {

std::optional<std::size_t> ParseBytes(std::string_view text, std::size_t max_bytes) {
  constexpr std::string_view kUnits = "KMG";
  unsigned shift = 0;
  if (const auto unit = text.empty() ? std::string_view::npos : kUnits.find(text.back());
      unit != std::string_view::npos) {
    shift = 10 * (static_cast<unsigned>(unit) + 1);
    text.remove_suffix(1);
  }
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number == 0 ||
      number > (max_bytes >> shift))
    return std::nullopt;
  return number << shift;
}

}  // namespace bench
