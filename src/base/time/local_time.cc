// The local time of day. Works in a forked child too, where the C library's functions may deadlock.
#include "base/time/local_time.h"

#include <sys/time.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <ctime>

#include "base/threads/fork_lock.h"

namespace sampan {
namespace {

/// Seconds east of UTC, when last read.
constinit std::atomic<long> local_offset_s{0};

}  // namespace

void RefreshLocalTimeOffset() noexcept {
  const std::time_t now = std::time(nullptr);
  tm parts{};
  if (::localtime_r(&now, &parts) != nullptr)
    local_offset_s.store(parts.tm_gmtoff, std::memory_order_relaxed);
}

LocalTime LocalTime::Now() {
  // localtime_r takes a lock. In a forked child, a thread that does not exist there may hold it.
  if (!IsForkedChild()) RefreshLocalTimeOffset();
  timeval now{};
  ::gettimeofday(&now, nullptr);
  using namespace std::chrono;
  const sys_seconds local{seconds(now.tv_sec + local_offset_s.load(std::memory_order_relaxed))};
  const auto midnight = floor<days>(local);
  const year_month_day date(midnight);
  const hh_mm_ss time(local - midnight);
  return {.year = static_cast<int>(date.year()),
          .month = static_cast<int>(static_cast<unsigned>(date.month())),
          .day = static_cast<int>(static_cast<unsigned>(date.day())),
          .hour = static_cast<int>(time.hours().count()),
          .minute = static_cast<int>(time.minutes().count()),
          .second = static_cast<int>(time.seconds().count()),
          .microsecond = static_cast<int>(now.tv_usec)};
}

std::string LocalTime::Text() const {
  std::array<char, 80> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02d-%02d-%02d:%02d:%02d", year, month, day, hour, minute,
                second);
  return text.data();
}

}  // namespace sampan
