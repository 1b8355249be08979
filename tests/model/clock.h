// Vector clocks over streams: which queued work is known to be over.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sampan::model {

/// For every stream that ever existed, how many of its tasks have happened. A value type.
class Clock {
 public:
  bool Covers(int stream, std::uint32_t tick) const {
    return tick == 0 || (static_cast<std::size_t>(stream) < ticks_.size() && ticks_[stream] >= tick);
  }
  void Reach(int stream, std::uint32_t tick) {
    if (static_cast<std::size_t>(stream) >= ticks_.size())
      ticks_.resize(static_cast<std::size_t>(stream) + 1, 0);
    ticks_[stream] = std::max(ticks_[stream], tick);
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
