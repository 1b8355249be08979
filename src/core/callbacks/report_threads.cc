// Callbacks that the program's own threads run, after they subscribed to streams.
#include "core/callbacks/report_threads.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "base/error/assert.h"
#include "base/error/text.h"
#include "base/log/log.h"
#include "base/threads/thread_sanitizer.h"

namespace sampan::core {
namespace {

/// The interval at which a thread that waits for callbacks polls its busy streams.
constexpr std::chrono::microseconds kPollInterval{500};

Status Unserved() {
  return {Code::kStreamNoCallbackRegistered,
          "a callback was dropped: its stream has no thread subscribed any more"};
}

void LogDropped(const Stream& stream, std::size_t callbacks) noexcept {
  try {
    Log(LogLevel::kWarning, "RUNTIME",
        Text(callbacks, " callbacks of stream ", stream.id(),
             " were dropped: its subscription ended before aclrtProcessReport ran them"));
  } catch (const std::exception&) {
    // Out of memory: no log line.
  }
}

}  // namespace

/// Gives its callback to the subscribed thread, in stream order.
class ReportThreads::Work final : public HostWork {
 public:
  Work(std::shared_ptr<ReportThreads> threads, const Stream* stream, const Callback& callback)
      : threads_(std::move(threads)), stream_(stream), callback_(callback) {}

  void Start(std::function<void(Status)> resume) noexcept override {
    try {
      threads_->Deliver({stream_, callback_, resume, order});
    } catch (const std::exception&) {
      resume({Code::kResourceAllocFail, "a callback could not be delivered: out of host memory"});
    }
  }
  bool runs_program() const override { return true; }
  std::string Describe() const override { return threads_->DescribeService(stream_); }

 private:
  const std::shared_ptr<ReportThreads> threads_;
  const Stream* const stream_;  // only compared, never dereferenced
  const Callback callback_;
};

Status ReportThreads::Subscribe(std::uint64_t thread, const std::shared_ptr<Stream>& stream) {
  {
    const std::lock_guard lock(mutex_);
    if (subscriptions_.contains(stream.get())) {
      return {Code::kStreamSubscribe, Text("stream ", stream->id(), " has a thread subscribed already")};
    }
    items_[thread];
    subscriptions_.emplace(stream.get(), Subscription{thread, stream});
  }
  changed_.notify_all();
  return {};
}

void ReportThreads::Remove(const Stream* stream) noexcept {
  const auto entry = subscriptions_.find(stream);
  if (entry == subscriptions_.end()) return;
  const std::uint64_t thread = entry->second.thread;
  subscriptions_.erase(entry);
  const auto items = items_.find(thread);
  SAMPAN_ASSERT(items != items_.end());  // as long as a stream has the thread subscribed
  const std::size_t dropped =
      std::erase_if(items->second, [&](const Item& item) { return item.stream == stream; });
  if (dropped != 0) LogDropped(*stream, dropped);
  const bool serves_others = std::any_of(subscriptions_.begin(), subscriptions_.end(),
                                         [&](const auto& each) { return each.second.thread == thread; });
  if (!serves_others) items_.erase(items);
}

Status ReportThreads::Unsubscribe(std::uint64_t thread, const std::shared_ptr<Stream>& stream) {
  std::deque<Item> dropped;
  {
    const std::lock_guard lock(mutex_);
    if (!items_.contains(thread)) {
      return {Code::kThreadSubscribe, Text("thread ", thread, " is not subscribed to any stream")};
    }
    const auto entry = subscriptions_.find(stream.get());
    if (entry == subscriptions_.end() || entry->second.thread != thread) {
      return {Code::kStreamNoCallbackRegistered,
              Text("thread ", thread, " is not subscribed to stream ", stream->id())};
    }
    const auto& waiting = items_[thread];
    std::copy_if(waiting.begin(), waiting.end(), std::back_inserter(dropped),
                 [&](const Item& item) { return item.stream == stream.get(); });
    Remove(stream.get());
  }
  changed_.notify_all();
  for (const Item& item : dropped) {
    if (item.resume) item.resume(Unserved());
  }
  return {};
}

void ReportThreads::Forget(const Stream& stream) noexcept {
  {
    const std::lock_guard lock(mutex_);
    Remove(&stream);  // no thread waits for them: the stream's queue is closed
  }
  changed_.notify_all();
}

std::string ReportThreads::DescribeService(const Stream* stream) const {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  const auto entry = lock.owns_lock() ? subscriptions_.find(stream) : subscriptions_.end();
  if (!lock.owns_lock() || entry == subscriptions_.end()) return "a callback of aclrtLaunchCallback";
  return Text("a callback, which thread ", entry->second.thread,
              " (pthread_self) has to run with aclrtProcessReport");
}

bool ReportThreads::Subscribed(const Stream& stream) const {
  const std::lock_guard lock(mutex_);
  return subscriptions_.contains(&stream);
}

Status ReportThreads::Launch(Stream& stream, const Callback& callback) {
  if (!Subscribed(stream)) {
    return {Code::kStreamNoCallbackRegistered,
            Text("stream ", stream.id(), " has no thread subscribed: call aclrtSubscribeReport first")};
  }
  Status queued = stream.Enqueue(HostTask{std::make_shared<Work>(shared_from_this(), &stream, callback)});
  if (!queued.ok()) return queued;
  changed_.notify_all();  // wakes threads in Process: there is work to poll for
  return {};
}

void ReportThreads::Deliver(Item item) {
  const std::function<void(Status)> resume = item.resume;
  const bool holds_stream = item.callback.holds_stream;
  if (!holds_stream) item.resume = nullptr;
  bool served = false;
  {
    const std::lock_guard lock(mutex_);
    const auto entry = subscriptions_.find(item.stream);
    served = entry != subscriptions_.end();
    if (served) items_[entry->second.thread].push_back(std::move(item));
  }
  if (!served) return resume(Unserved());
  changed_.notify_all();
  if (!holds_stream) resume({});
}

bool ReportThreads::PollStreamsOf(std::uint64_t thread) {
  std::vector<std::shared_ptr<Stream>> streams;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& entry : subscriptions_) {
      if (entry.second.thread != thread) continue;
      if (auto stream = entry.second.stream.lock()) streams.push_back(std::move(stream));
    }
  }
  bool working = false;
  for (const auto& stream : streams)
    working = !stream->Last().Reached() || working;
  return working;
}

Status ReportThreads::Process(std::uint64_t thread, Deadline deadline) {
  std::deque<Item> ready;
  while (ready.empty()) {
    const bool working = PollStreamsOf(thread);
    std::unique_lock lock(mutex_);
    const auto entry = items_.find(thread);
    if (entry != items_.end() && !entry->second.empty()) {
      ready.swap(entry->second);
      break;
    }
    const bool subscribed = entry != items_.end();
    // The subscription may still arrive. So this waits, but not without a limit.
    if (!subscribed && (deadline == kNever || Clock::now() >= deadline))
      return {Code::kThreadSubscribe, "this thread is not subscribed to any stream"};
    if (Clock::now() >= deadline) {
      return {Code::kReportTimeout, "no callback came within the time limit"};
    }
    const Deadline look_again = working ? std::min(deadline, Clock::now() + kPollInterval) : deadline;
    if (look_again == kNever) {
      changed_.wait(lock);
    } else {
      changed_.wait_until(lock, look_again);
    }
  }
  for (const Item& item : ready) {
    {
      const races::CalledProgram called_program;
      if (item.order != nullptr) races::Acquire(item.order.get());
      item.callback.function(item.callback.argument);
      if (item.order != nullptr) races::Release(item.order.get());
    }
    if (item.resume) item.resume({});
  }
  return {};
}

}  // namespace sampan::core
