// Callbacks that a program runs itself, on threads it subscribed for its streams.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "base/status.h"
#include "core/objects/stream.h"

namespace sampan {

/// Which thread serves which stream, and what waits to be run there. Thread-safe; callbacks run with no lock
/// held.
class ReportThreads : public std::enable_shared_from_this<ReportThreads> {
 public:
  struct Callback {
    void (*function)(void*);
    void* argument;
    bool holds_stream;  ///< the stream waits for the function
  };

  Status Subscribe(std::uint64_t thread, const std::shared_ptr<Stream>& stream);
  /// Callbacks that still wait are dropped, and reported by their stream.
  Status Unsubscribe(std::uint64_t thread, const std::shared_ptr<Stream>& stream);
  /// The stream is gone.
  void Forget(const Stream& stream) noexcept;
  bool Subscribed(const Stream& stream) const;
  /// Queues the callback in stream order.
  Status Launch(Stream& stream, const Callback& callback);
  /// Runs what is there for the thread; waits for the first until the deadline.
  Status Process(std::uint64_t thread, Deadline deadline);

 private:
  struct Item {
    const Stream* stream;
    Callback callback;
    std::function<void(Status)> resume;  // empty when the stream went on
    std::shared_ptr<const races::Key> order;
  };
  class Work;

  void Deliver(Item item);
  /// Asks the thread's streams how far they are, which is what moves them under a schedule that runs nothing
  /// unasked. True while one of them has work.
  bool PollStreamsOf(std::uint64_t thread);
  /// Takes a stream and what waits for it out.
  void Remove(const Stream* stream) noexcept;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  struct Subscription {
    std::uint64_t thread;
    std::weak_ptr<Stream> stream;
  };
  std::map<const Stream*, Subscription> subscriptions_;
  std::map<std::uint64_t, std::deque<Item>> items_;  // an entry per subscribed thread
};

}  // namespace sampan
