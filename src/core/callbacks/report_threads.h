// Callbacks that the program's own threads run, after they subscribed to streams.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "base/error/status.h"
#include "core/streams/stream.h"

namespace sampan::core {

/// Which thread serves which stream, and its pending callbacks. Thread-safe. Callbacks run with no lock held.
class ReportThreads : public std::enable_shared_from_this<ReportThreads> {
 public:
  struct Callback {
    void (*function)(void*);
    void* argument;
    bool holds_stream;  ///< the stream waits for the function
  };

  Status Subscribe(std::uint64_t thread, const std::shared_ptr<Stream>& stream);
  /// Drops pending callbacks. Their stream reports them as failed.
  Status Unsubscribe(std::uint64_t thread, const std::shared_ptr<Stream>& stream);
  /// Called when the stream is destroyed.
  void Forget(const Stream& stream) noexcept;
  bool Subscribed(const Stream& stream) const;
  /// Queues the callback in stream order.
  Status Launch(Stream& stream, const Callback& callback);
  /// Runs the thread's pending callbacks. If there are none, waits for one until the deadline.
  Status Process(std::uint64_t thread, Deadline deadline);

 private:
  struct Item {
    const Stream* stream;
    Callback callback;
    std::function<void(Status)> resume;  // empty if the stream does not wait
    std::shared_ptr<const races::Key> order;
  };
  class Work;

  void Deliver(Item item);
  /// Text for messages: the thread that has to run the stream's callbacks. Never blocks.
  std::string DescribeService(const Stream* stream) const;
  /// Polls the thread's streams. Under the late schedule, polling makes them execute. Returns true while one
  /// of them has work.
  bool PollStreamsOf(std::uint64_t thread);
  /// Removes a stream and its pending callbacks.
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

}  // namespace sampan::core
