// Counters over time, from changes in any order.
#include "trace/counters.h"

#include <algorithm>

namespace sampan::trace {
namespace {

constexpr std::int64_t kWindowNs = 20'000;

}  // namespace

void Counters::Change(Kind kind, const QueueLabel& queue, std::int64_t time_ns, std::int64_t change) {
  // Uses the program's number: it is reused only after the stream has no tasks left.
  const std::uint64_t number =
      (static_cast<std::uint64_t>(queue.device) << 32) + (kind == Kind::kQueueDepth ? queue.stream : 0);
  pending_.push({std::max(time_ns, known_ns_), next_order_++, {kind, number}, queue, change});
}

void Counters::Advance(std::int64_t time_ns) {
  known_ns_ = std::max(known_ns_, time_ns);
  while (!pending_.empty() && pending_.top().time_ns <= time_ns) {
    Apply(pending_.top());
    pending_.pop();
  }
  for (auto& [key, track] : tracks_) {
    if (track.window_ns != 0 && time_ns - track.window_ns >= kWindowNs) Close(key.first, track);
  }
  // Erases the track of an idle queue. It is created again with the next change.
  std::erase_if(tracks_, [](const auto& entry) {
    return entry.second.window_ns == 0 && entry.second.value == 0 && entry.second.emitted == 0;
  });
}

void Counters::Apply(const Pending& change) {
  Track& track = tracks_[change.key];
  track.queue = change.queue;
  if (track.window_ns != 0 && change.time_ns - track.window_ns >= kWindowNs) Close(change.key.first, track);
  track.value += change.change;
  track.last_ns = change.time_ns;
  if (track.window_ns == 0) {
    track.window_ns = change.time_ns;
    track.peak = track.value;
    track.peak_ns = change.time_ns;
    EmitSample(change.key.first, track, change.time_ns, track.value);
  } else if (track.value > track.peak) {
    track.peak = track.value;
    track.peak_ns = change.time_ns;
  }
}

void Counters::Close(Kind kind, Track& track) {
  if (track.peak > std::max(track.emitted, track.value)) EmitSample(kind, track, track.peak_ns, track.peak);
  if (track.value != track.emitted) EmitSample(kind, track, track.last_ns, track.value);
  track.window_ns = 0;
}

void Counters::EmitSample(Kind kind, Track& track, std::int64_t time_ns, std::int64_t value) {
  track.emitted = value;
  emit_({kind, track.queue, time_ns, value});
}

}  // namespace sampan::trace
