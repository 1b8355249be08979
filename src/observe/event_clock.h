// The clock of observed events: CLOCK_MONOTONIC, read with one instruction where the processor's own counter
// is good for that.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "base/time/clock.h"
#include "base/time/ticks.h"

namespace sampan::observe {

/// Follows CLOCK_MONOTONIC by the processor's counter. Never goes backwards. Stays within a microsecond if it
/// is adjusted often enough. Any thread may read it; one at a time may start or adjust it.
class EventClock {
 public:
  /// Measures the counter for two milliseconds. Has no effect if the counter is not steady on all processors.
  void Start();
  /// Corrects the clock towards the system's. Call it a few times a second.
  void Adjust();

  std::int64_t NowNs() const {
#if defined(__x86_64__)
    for (;;) {
      const std::uint32_t generation = generation_.load(std::memory_order_acquire);
      if (generation == 0) return sampan::NowNs();
      const Scale& scale = scales_[generation % scales_.size()];
      const std::int64_t since = scale.ticks.load(std::memory_order_acquire);
      const std::int64_t since_ns = scale.ns.load(std::memory_order_acquire);
      const std::int64_t rate = scale.rate.load(std::memory_order_acquire);
      const std::int64_t now = Ticks();
      // The scale was not rewritten meanwhile: a scale is rewritten after two generations.
      if (generation_.load(std::memory_order_acquire) != generation) continue;
      return since_ns + static_cast<std::int64_t>((static_cast<__int128>(now - since) * rate) >> kShift);
    }
#else
    return sampan::NowNs();
#endif
  }

 private:
  static constexpr int kShift = 32;

  /// A linear function from counts to nanoseconds.
  struct Scale {
    std::atomic<std::int64_t> ticks{0}, ns{0};
    std::atomic<std::int64_t> rate{0};  // nanoseconds of a tick, times 2^kShift
  };
  /// The same moment on both clocks.
  struct Moment {
    std::int64_t ticks, ns;
  };

  static std::int64_t Ticks() {
    return static_cast<std::int64_t>(ProcessorTicksInOrder());
  }
  static Moment Look();
  void Set(const Moment& from, double rate);

  std::array<Scale, 2> scales_;
  std::atomic<std::uint32_t> generation_{0};  // 0: the system's clock is read
  Moment first_{};
};

inline constinit EventClock event_clock;

/// The time of an event.
inline std::int64_t NowNs() {
  return event_clock.NowNs();
}

}  // namespace sampan::observe
