// The local time of day. Works in a forked child too, where the C library's functions may deadlock.
#pragma once

#include <string>

namespace sampan {

/// The local time with microseconds.
struct LocalTime {
  int year, month, day, hour, minute, second, microsecond;

  static LocalTime Now();
  /// "2026-11-18-13:12:29", the format of log lines and messages.
  std::string Text() const;
};

/// Stores the offset of local time from UTC, for a child that is forked next.
void RefreshLocalTimeOffset() noexcept;

}  // namespace sampan
