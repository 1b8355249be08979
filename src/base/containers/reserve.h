// Reserves elements of a vector ahead of code that must not throw.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace sampan {

/// Reserves at least `count` elements and at least doubles the capacity. std::vector::reserve may reserve
/// exactly `count`. A caller that adds one at a time would then move all elements each time.
template <typename T>
void ReserveDoubling(std::vector<T>& vector, std::size_t count) {
  if (count > vector.capacity()) vector.reserve(std::max({count, 2 * vector.capacity(), std::size_t{16}}));
}

}  // namespace sampan
