// Ends a test program that hangs, and says what it was doing.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace sampan::model {

/// Aborts the process when it lives longer than the limit. One thread owns it.
class Watchdog {
 public:
  Watchdog(std::chrono::seconds limit, std::function<std::string()> describe)
      : describe_(std::move(describe)), thread_([this, limit] { Watch(limit); }) {}
  ~Watchdog() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  void Watch(std::chrono::seconds limit) {
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, limit, [&] { return over_; })) return;
    std::fprintf(stderr, "no end after %lld seconds:\n%s\n", static_cast<long long>(limit.count()),
                 describe_().c_str());
    std::abort();
  }

  std::function<std::string()> describe_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace sampan::model
