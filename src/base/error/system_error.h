// The system's text for an errno value.
#pragma once

#include <cerrno>
#include <cstring>
#include <string>

namespace sampan {

/// Thread-safe, unlike std::strerror.
inline std::string SystemError(int number) {
  char room[128];
  return ::strerror_r(number, room, sizeof(room));  // the GNU version: returns a fixed text or `room`
}

}  // namespace sampan
