// The system's own words for why a call of its failed.
#pragma once

#include <cerrno>
#include <cstring>
#include <string>

namespace sampan {

/// Unlike std::strerror promised to work in any thread.
inline std::string SystemError(int number) {
  char room[128];
  return ::strerror_r(number, room, sizeof(room));  // the GNU one: a fixed text, or the room
}

}  // namespace sampan
