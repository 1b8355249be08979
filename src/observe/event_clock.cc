// The clock of observed events.
#include "observe/event_clock.h"

#include <algorithm>
#include <fstream>
#include <string>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace sampan::observe {

#if defined(__x86_64__)

namespace {

/// Returns true if the counter has a constant speed, even in deep sleep, and is the clock of the system.
bool IsSteady() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  constexpr unsigned kPowerFacts = 0x80000007, kInvariantCounter = 1U << 8;
  if (__get_cpuid(kPowerFacts, &eax, &ebx, &ecx, &edx) == 0 || (edx & kInvariantCounter) == 0) return false;
  std::ifstream source("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string name;
  return source >> name && name == "tsc";
}

}  // namespace

EventClock::Moment EventClock::Look() {
  constexpr int kTries = 5;
  Moment best{};
  std::int64_t shortest = INT64_MAX;
  for (int i = 0; i < kTries; ++i) {
    const std::int64_t before = Ticks();
    const std::int64_t ns = sampan::NowNs();
    const std::int64_t after = Ticks();
    if (after - before >= shortest) continue;
    shortest = after - before;
    best = {before + (after - before) / 2, ns};
  }
  return best;
}

void EventClock::Set(const Moment& from, double rate) {
  const std::uint32_t generation = generation_.load(std::memory_order_relaxed) + 1;
  Scale& scale = scales_[generation % scales_.size()];
  scale.ticks.store(from.ticks, std::memory_order_relaxed);
  scale.ns.store(from.ns, std::memory_order_relaxed);
  scale.rate.store(static_cast<std::int64_t>(rate * static_cast<double>(std::int64_t{1} << kShift)),
                   std::memory_order_relaxed);
  generation_.store(generation == 0 ? 2 : generation, std::memory_order_release);
}

void EventClock::Start() {
  constexpr std::int64_t kMeasureNs = 2'000'000;
  if (!IsSteady()) return;
  first_ = Look();
  Moment now = first_;
  while (now.ns - first_.ns < kMeasureNs)
    now = Look();
  Set(now, static_cast<double>(now.ns - first_.ns) / static_cast<double>(now.ticks - first_.ticks));
}

void EventClock::Adjust() {
  if (generation_.load(std::memory_order_relaxed) == 0) return;
  // A deviation is corrected over kCatchUpNs, by at most kMaxSteer of the rate.
  constexpr double kCatchUpNs = 2e8, kMaxSteer = 0.01;
  const Moment now = Look();
  const double rate = static_cast<double>(now.ns - first_.ns) / static_cast<double>(now.ticks - first_.ticks);
  const Scale& scale = scales_[generation_.load(std::memory_order_relaxed) % scales_.size()];
  const std::int64_t told_ns =
      scale.ns + static_cast<std::int64_t>(
                     (static_cast<__int128>(now.ticks - scale.ticks) * scale.rate.load()) >> kShift);
  const double steer = std::clamp(static_cast<double>(now.ns - told_ns) / kCatchUpNs, -kMaxSteer, kMaxSteer);
  Set({now.ticks, told_ns}, rate * (1 + steer));
}

#else

void EventClock::Start() {}
void EventClock::Adjust() {}

#endif

}  // namespace sampan::observe
