// A value that only grows; stream order, events and host waits are all points on one.
#pragma once

#include <cstdint>
#include <memory>

#include "base/clock.h"

namespace sampan {

/// One per queue: its value is the number of the last task that is done. Thread-safe.
class Timeline {
 public:
  virtual ~Timeline() = default;
  /// Whether the value has been reached. Never blocks.
  virtual bool Reached(std::uint64_t value) = 0;
  /// The same from inside the runtime: no schedule takes it for a program that asks for progress.
  virtual bool Passed(std::uint64_t value) { return Reached(value); }
  /// Blocks the calling thread until the value is reached or the deadline is over; says whether it was
  /// reached.
  virtual bool Wait(std::uint64_t value, Deadline deadline) = 0;
};

/// A moment on a timeline. Without a timeline it is always in the past.
struct Point {
  std::shared_ptr<Timeline> timeline;
  std::uint64_t value = 0;

  bool Reached() const { return timeline == nullptr || timeline->Reached(value); }
  bool Passed() const { return timeline == nullptr || timeline->Passed(value); }
  bool Wait(Deadline deadline) const { return timeline == nullptr || timeline->Wait(value, deadline); }
};

}  // namespace sampan
