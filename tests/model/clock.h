// Vector clocks over tracks: which work is known to be over.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sampan::model {

/// For every track, how many of its tasks have happened. A track is what one thread submits to one stream.
/// A value type.
class Clock {
 public:
  bool Covers(int track, std::uint32_t tick) const { return tick <= Tick(track); }
  std::uint32_t Tick(int track) const {
    return static_cast<std::size_t>(track) < ticks_.size() ? ticks_[track] : 0;
  }
  void Reach(int track, std::uint32_t tick) {
    if (static_cast<std::size_t>(track) >= ticks_.size())
      ticks_.resize(static_cast<std::size_t>(track) + 1, 0);
    ticks_[track] = std::max(ticks_[track], tick);
  }
  void Join(const Clock& other) {
    for (std::size_t i = 0; i < other.ticks_.size(); ++i)
      Reach(static_cast<int>(i), other.ticks_[i]);
  }
  bool Covers(const Clock& other) const {
    for (std::size_t i = 0; i < other.ticks_.size(); ++i) {
      if (!Covers(static_cast<int>(i), other.ticks_[i])) return false;
    }
    return true;
  }

 private:
  std::vector<std::uint32_t> ticks_;
};

}  // namespace sampan::model
