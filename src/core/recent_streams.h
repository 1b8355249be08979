// The streams that a thread used last, found again without a lock.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "core/runtime.h"

namespace sampan {

/// One per thread; not thread-safe. It keeps its streams' memory, also of destroyed ones, until the thread
/// uses others or ends; what a stream occupies besides (its number, its place in the context) is free before
/// that.
class RecentStreams {
 public:
  /// The stream that a handle names, alive until the next call; null for a dead or forged handle.
  Stream* Find(const Runtime& runtime, void* handle) {
    Entry& entry = entries_[(reinterpret_cast<std::uintptr_t>(handle) >> 3) % entries_.size()];
    const std::uint64_t removals = runtime.streams_removed();
    if (entry.handle != handle || entry.removals != removals) {
      entry.stream = runtime.FindStream(handle);
      entry.handle = entry.stream != nullptr ? handle : nullptr;
      entry.removals = removals;
    }
    return entry.stream.get();
  }

 private:
  struct Entry {
    void* handle = nullptr;
    std::uint64_t removals = 0;  // as many as there were when the stream was found alive
    std::shared_ptr<Stream> stream;
  };
  std::array<Entry, 16> entries_;
};

}  // namespace sampan
