// Parses sizes of a command line.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace bench {

inline constexpr std::size_t kKiB = 1024, kMiB = 1024 * kKiB, kGiB = 1024 * kMiB;

/// Such as 4096, 64K, 16M or 1G; from 1 to `max_bytes`. Nothing for any other text.
std::optional<std::size_t> ParseBytes(std::string_view text, std::size_t max_bytes);

}  // namespace bench
