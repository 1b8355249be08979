// Room in a vector that is filled later, where nothing may throw.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace sampan {

/// Makes room for that many elements. Doubles: a caller that asks for one more each time moves the elements
/// seldom. (std::vector::reserve takes the number exactly and would move all of them each time.)
template <typename T>
void ReserveDoubling(std::vector<T>& vector, std::size_t count) {
  if (count > vector.capacity()) vector.reserve(std::max({count, 2 * vector.capacity(), std::size_t{16}}));
}

}  // namespace sampan
