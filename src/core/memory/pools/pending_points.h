// The points that must pass before other streams may use memory that was freed in stream order.
#pragma once

#include <algorithm>
#include <vector>

#include "backend/api/timeline.h"
#include "base/threads/thread_sanitizer.h"
#include "core/streams/stream.h"

namespace sampan::core {

/// The point of the last free, and earlier points that have not passed. A later point does not imply the
/// earlier ones: an abort can drop the wait between them. Not thread-safe.
class PendingPoints {
 public:
  /// Reserves memory for AddFree. May throw std::bad_alloc, and then changes nothing.
  void Prepare() { older_.reserve(older_.size() + 1); }
  /// Adds a free in the stream's order, behind all work that is queued there.
  void AddFree(const Stream& stream) noexcept {
    if (newest_.timeline.get() != stream.timeline() && !newest_.Passed()) older_.push_back(newest_);
    if (!older_.empty()) [[unlikely]] {
      std::erase_if(older_, [&](const Point& point) {
        return point.timeline.get() == stream.timeline() || point.Passed();
      });
    }
    stream.GetLast(newest_);
  }

  const Point& newest() const { return newest_; }
  /// Returns true if all points but the newest have passed. Ignores the points of one timeline.
  bool OlderPassed(const Timeline* except = nullptr) const {
    return std::all_of(older_.begin(), older_.end(),
                       [&](const Point& point) { return point.timeline.get() == except || point.Passed(); });
  }
  bool AllPassed() const { return newest_.Passed() && OlderPassed(); }
  /// The points that new work on a timeline must wait for: those of other timelines that have not passed.
  std::vector<Point> PendingFor(const Timeline* timeline) const {
    std::vector<Point> pending;
    for (const Point& point : older_) {
      if (point.timeline.get() != timeline && !IsPlainlyOver(point)) pending.push_back(point);
    }
    if (newest_.timeline.get() != timeline && !IsPlainlyOver(newest_)) pending.push_back(newest_);
    return pending;
  }
  /// Returns true if a point has not passed, as far as is known without asking a device.
  bool AnyPending() const {
    return IsPending(newest_) || std::any_of(older_.begin(), older_.end(), IsPending);
  }
  /// The calling thread follows all of them.
  void Observe() const {
    for (const Point& point : older_)
      point.Observe();
    newest_.Observe();
  }

 private:
  static bool IsPending(const Point& point) {
    return point.timeline != nullptr && point.timeline->completed() < point.number;
  }
  /// Passed, and no one has to see that: a program that looks for races sees a wait.
  static bool IsPlainlyOver(const Point& point) { return !races::Watched() && point.Passed(); }

  Point newest_;
  std::vector<Point> older_;
};

}  // namespace sampan::core
