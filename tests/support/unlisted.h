// Values that an enumeration of the public headers does not list.
#pragma once

#include <cstring>

namespace sampan::test {

/// A number that the enumeration does not have, as a C program may pass it.
template <typename Enumeration>
Enumeration Unlisted(int number) {
  Enumeration value;
  static_assert(sizeof(value) == sizeof(number));
  std::memcpy(&value, &number, sizeof(value));
  return value;
}

}  // namespace sampan::test
