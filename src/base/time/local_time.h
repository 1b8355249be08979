// The local time of day, also in a forked child, where the C library's own functions may wait for ever.
#pragma once

#include <string>

namespace sampan {

/// The local time, down to microseconds.
struct LocalTime {
  int year, month, day, hour, minute, second, microsecond;

  static LocalTime Now();
  /// "2026-11-18-13:12:29", as log lines and messages have it.
  std::string Text() const;
};

/// Remembers how far the local time is from UTC, for a child that is about to be forked.
void RefreshLocalTimeOffset() noexcept;

}  // namespace sampan
