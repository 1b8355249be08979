// The program's callbacks for events of devices, streams and tasks.
#include "core/callbacks/state_callbacks.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "base/error/assert.h"
#include "observe/hooks.h"

namespace sampan::core {
namespace {

constexpr std::chrono::seconds kMaxWaitForListeners{1};

}  // namespace

FailureReports::~FailureReports() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.Join();
}

void FailureReports::Add(Function function, void* argument) {
  const std::lock_guard lock(mutex_);
  SAMPAN_ASSERT(!stopping_ && any_.load() == !registered_.empty());
  if (!thread_.joinable()) thread_ = StartThread("sampan-failures", [this] { Loop(); });
  registered_.push_back({function, argument});
  any_.store(true);
}

bool FailureReports::Remove(void* argument) {
  std::unique_lock lock(mutex_);
  const auto same = [&](const Registration& each) { return each.argument == argument; };
  const auto found = std::find_if(registered_.begin(), registered_.end(), same);
  if (found == registered_.end()) return false;
  registered_.erase(found);
  any_.store(!registered_.empty());
  if (!thread_.IsCaller()) changed_.wait(lock, [&] { return !telling_; });
  return true;
}

void FailureReports::Report(const TaskFailure& failure) noexcept {
  if (!any_.load(std::memory_order_relaxed)) return;
  try {
    const std::lock_guard lock(mutex_);
    news_.push_back(failure);
  } catch (const std::exception&) {
    return;
  }
  changed_.notify_all();
}

void FailureReports::Await() noexcept {
  if (!any_.load(std::memory_order_relaxed)) return;
  std::unique_lock lock(mutex_);
  if (thread_.IsCaller()) return;
  changed_.wait_for(lock, kMaxWaitForListeners, [&] { return (news_.empty() && !telling_) || stopping_; });
}

void FailureReports::Loop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stopping_ || !news_.empty(); });
    if (stopping_) return;
    const TaskFailure failure = news_.front();
    news_.pop_front();
    const std::vector<Registration> told = registered_;
    SAMPAN_ASSERT(!telling_);  // one thread tells
    telling_ = true;
    lock.unlock();
    for (const Registration& each : told) {
      const ProgramCode running;
      each.function(failure, each.argument);
    }
    if (!told.empty() && observe::On()) observe::TellFailureSeen(failure.queue, failure.number);
    lock.lock();
    telling_ = false;
    changed_.notify_all();
  }
}

}  // namespace sampan::core
