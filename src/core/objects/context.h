// A context: the streams and events of one device, which are destroyed together.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/error/status.h"
#include "core/streams/stream.h"

namespace sampan::core {

class Device;

/// Options that a program sets and reads back, by their number. They do not affect copies.
using SystemOptions = std::array<std::atomic<std::int64_t>, 4>;

/// Thread-safe. The runtime and threads that made it current share it. Unusable after Kill.
class Context : public std::enable_shared_from_this<Context> {
 public:
  static Result<std::shared_ptr<Context>> Create(Device& device, bool primary);

  Device& device() const { return device_; }
  /// The handles of the context and of its default stream. Set before another thread sees the context.
  void* own_handle = nullptr;
  void* default_stream_handle = nullptr;
  SystemOptions options{};
  bool primary() const { return primary_; }
  bool alive() const { return alive_.load(std::memory_order_acquire); }
  const std::shared_ptr<Stream>& default_stream() const { return default_stream_; }
  const std::shared_ptr<StickyFailure>& failure() const { return failure_; }

  /// Streams and events of the context, by handle. Adding fails on a dead context.
  bool AddStream(void* handle, std::shared_ptr<Stream> stream);
  void RemoveStream(void* handle);
  bool AddEvent(void* handle);
  void RemoveEvent(void* handle);
  bool Owns(const Stream& stream) const { return stream.context_failure() == failure_; }
  /// Refuses streams of other contexts.
  Status CheckOwns(const Stream& stream) const { return Owns(stream) ? Status() : OfOtherContext(stream); }

  /// All streams, the default one last.
  std::vector<std::shared_ptr<Stream>> Streams() const;
  /// Waits for all streams, the default one last. Reports one failure. Other streams report theirs when they
  /// are synchronized.
  Status Synchronize(Deadline deadline);

  /// The objects that the caller has to close after Kill.
  struct Remains {
    std::unordered_map<void*, std::shared_ptr<Stream>> streams;
    std::unordered_set<void*> events;
  };
  /// Closes the context. From now on, nothing can be added.
  Remains Kill() noexcept;

 private:
  Context(Device& device, bool primary) : device_(device), primary_(primary) {}
  [[gnu::cold, gnu::noinline]] static Status OfOtherContext(const Stream& stream);

  Device& device_;
  const bool primary_;
  const std::shared_ptr<StickyFailure> failure_ = std::make_shared<StickyFailure>();
  std::shared_ptr<Stream> default_stream_;
  std::atomic<bool> alive_{true};
  mutable std::mutex mutex_;
  Remains owned_;
};

}  // namespace sampan::core
