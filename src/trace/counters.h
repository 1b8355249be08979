// Counters over time, from changes in any order.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "trace/record.h"

namespace sampan::trace {

/// Queue depths by stream and bytes in flight by device. Sorts changes while an earlier one may still arrive.
/// A change that is even later counts from its arrival. Not thread-safe.
class Counters {
 public:
  /// The two counters; a queue's samples carry its label, a device's only the device.
  enum class Kind : std::uint8_t { kQueueDepth, kBytesInFlight };
  struct Sample {
    Kind kind;
    QueueLabel queue;
    std::int64_t time_ns;
    std::int64_t value;
  };
  using Emit = std::function<void(const Sample&)>;

  explicit Counters(Emit emit) : emit_(std::move(emit)) {}

  void Change(Kind kind, const QueueLabel& queue, std::int64_t time_ns, std::int64_t change);
  /// Emits all changes before that time. No earlier change may follow.
  void Advance(std::int64_t time_ns);
  /// Emits the rest.
  void Finish() { Advance(INT64_MAX); }

 private:
  using Key = std::pair<Kind, std::uint64_t>;  // with the device and the stream
  struct Pending {
    std::int64_t time_ns;
    std::uint64_t order;
    Key key;
    QueueLabel queue;
    std::int64_t change;
    bool operator>(const Pending& other) const {
      return std::pair(time_ns, order) > std::pair(other.time_ns, other.order);
    }
  };
  /// Combines near samples: keeps the first, the highest and the last of them.
  struct Track {
    QueueLabel queue;
    std::int64_t value = 0;
    std::int64_t window_ns = 0;  // when the window began; 0: none is open
    std::int64_t peak = 0, peak_ns = 0;
    std::int64_t last_ns = 0;
    std::int64_t emitted = 0;
  };

  void Apply(const Pending& change);
  void Close(Kind kind, Track& track);
  void EmitSample(Kind kind, Track& track, std::int64_t time_ns, std::int64_t value);

  const Emit emit_;
  std::priority_queue<Pending, std::vector<Pending>, std::greater<>> pending_;
  std::map<Key, Track> tracks_;
  std::uint64_t next_order_ = 0;
  std::int64_t known_ns_ = 0;
};

}  // namespace sampan::trace
