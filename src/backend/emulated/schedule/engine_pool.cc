// The copy engines of one device: threads that execute queues and share large copies.
#include "backend/emulated/schedule/engine_pool.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "backend/api/running_task.h"
#include "backend/emulated/queue/emulated_queue.h"
#include "base/error/assert.h"
#include "base/threads/spin.h"
#include "base/threads/thread_sanitizer.h"
#include "observe/hooks.h"

namespace sampan::emulated {
namespace {

/// How long the one spinning engine polls for work before it sleeps.
constexpr std::chrono::microseconds kSpin{40};
/// How many tasks of one queue run in a row while other queues are ready.
constexpr int kTasksPerTurn = 32;
/// How long a waiting thread spins: longer than the hand-over of a small copy, shorter than sleeping and
/// waking up.
constexpr std::chrono::microseconds kHostSpin{10};
/// From kChunksWorthWaking chunks on, engines are woken immediately. For fewer chunks they are woken after
/// the first, if kChunksLeftWorthWaking are left.
constexpr std::size_t kChunksWorthWaking = 16, kChunksLeftWorthWaking = 4;

}  // namespace

/// Chunked work that engines may join while it is in the list. It is on its owner's stack.
struct EnginePool::Job {
  const ChunkedWork& work;
  const observe::TaskKey key;  // what it is part of, while observed
  const RunningTask* const task;
  const std::size_t max_helpers;
  std::atomic<std::size_t> next{0};
  std::atomic<std::size_t> helpers{0};  // changed only under the pool's lock

  std::size_t left() const {
    const std::size_t begun = next.load(std::memory_order_relaxed);
    return work.chunks - std::min(begun, work.chunks);
  }
  bool WantsHelp() const { return left() != 0 && helpers.load() < max_helpers; }
  bool RunOne() {
    const std::size_t chunk = next.fetch_add(1, std::memory_order_relaxed);
    if (chunk >= work.chunks) return false;
    work.Run(chunk);
    return true;
  }
};

EnginePool::EnginePool(unsigned engines, WriteBudget* writes)
    : QueueScheduler(writes),
      spin_time_(std::thread::hardware_concurrency() > 1 ? kSpin : std::chrono::microseconds(0)) {
  jobs_.reserve(64);
  try {
    engines_.reserve(engines);
    for (unsigned i = 0; i < engines; ++i) {
      engines_.push_back(StartThread("sampan-engine", [this, i] {
        observe::SetRole({observe::ThreadRole::Kind::kEngine, i});
        EngineLoop();
      }));
    }
  } catch (...) {
    Stop();
    throw;
  }
}

EnginePool::~EnginePool() {
  Stop();
}

void EnginePool::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (Thread& engine : engines_)
    engine.Join();
  SAMPAN_ASSERT(jobs_.empty() && sleeping_ == 0);
}

void EnginePool::MakeReady(std::shared_ptr<EmulatedQueue> queue) noexcept {
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    EmulatedQueue* const added = queue.get();
    SAMPAN_ASSERT(added != nullptr && added->next_ready == nullptr);  // it is not in the list yet
    SAMPAN_ASSERT((first_ready_ == nullptr) == (ready_count_.load() == 0));
    (first_ready_ == nullptr ? first_ready_ : last_ready_->next_ready) = std::move(queue);
    last_ready_ = added;
    ready_count_.fetch_add(1);
    wake = sleeping_ > 0 && (!spinning_.load() || ready_count_.load() > 1);
  }
  if (wake) wake_.notify_one();
}

std::shared_ptr<EmulatedQueue> EnginePool::TakeReady(const EmulatedQueue& wanted) {
  const std::lock_guard lock(mutex_);
  EmulatedQueue* before = nullptr;
  std::shared_ptr<EmulatedQueue>* place = &first_ready_;
  while (*place != nullptr && place->get() != &wanted) {
    before = place->get();
    place = &before->next_ready;
  }
  std::shared_ptr<EmulatedQueue> queue = std::move(*place);
  if (queue == nullptr) return nullptr;
  SAMPAN_ASSERT(ready_count_.load() > 0);
  *place = std::move(queue->next_ready);
  if (last_ready_ == queue.get()) last_ready_ = before;
  ready_count_.fetch_sub(1);
  return queue;
}

std::shared_ptr<EmulatedQueue> EnginePool::TakeReady() {
  if (ready_count_.load() == 0) return nullptr;
  const std::lock_guard lock(mutex_);
  std::shared_ptr<EmulatedQueue> queue = std::move(first_ready_);
  if (queue == nullptr) return nullptr;
  SAMPAN_ASSERT(ready_count_.load() > 0);
  first_ready_ = std::move(queue->next_ready);
  if (first_ready_ == nullptr) last_ready_ = nullptr;
  ready_count_.fetch_sub(1);
  return queue;
}

void EnginePool::WakeAt(Deadline time, std::weak_ptr<EmulatedQueue> queue) {
  {
    const std::lock_guard lock(mutex_);
    wake_times_.emplace(time, std::move(queue));
    timed_count_.store(wake_times_.size());
  }
  wake_.notify_one();  // a sleeping engine may have to wake earlier
}

void EnginePool::UnblockExpired() {
  std::vector<std::weak_ptr<EmulatedQueue>> expired;
  {
    const std::lock_guard lock(mutex_);
    const auto end = wake_times_.upper_bound(Clock::now());
    for (auto entry = wake_times_.begin(); entry != end; ++entry)
      expired.push_back(std::move(entry->second));
    wake_times_.erase(wake_times_.begin(), end);
    timed_count_.store(wake_times_.size());
  }
  for (const auto& entry : expired) {
    if (const auto queue = entry.lock()) queue->Unblock();
  }
}

void EnginePool::EngineLoop() {
  for (;;) {
    if (DoSomething()) continue;
    // Only one engine spins. More would take cores from the program.
    if (spin_time_.count() > 0 && !spinning_.exchange(true)) {
      const bool found = SpinFor(spin_time_, [this] { return HasWork(); });
      spinning_.store(false);
      if (found) continue;
    }
    Sleep();
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
  }
}

void EnginePool::Sleep() {
  {
    std::unique_lock lock(mutex_);
    ++sleeping_;
    while (!stopping_ && !HasWork()) {
      if (wake_times_.empty()) {
        wake_.wait(lock);
        continue;
      }
      const Deadline next =
          wake_times_.begin()->first;  // a copy, because the entry may be erased while this waits
      if (wake_.wait_until(lock, next) == std::cv_status::timeout) break;
    }
    SAMPAN_ASSERT(sleeping_ > 0);
    --sleeping_;
    if (wake_times_.empty()) return;
  }
  UnblockExpired();
}

bool EnginePool::DoSomething() {
  if (auto queue = TakeReady()) {
    RunQueue(std::move(queue));
    return true;
  }
  // Ready queues come first, then large copies of other queues.
  return HelpWithJob([this] { return ready_count_.load() != 0; });
}

void EnginePool::CountOpenJobs() {
  open_jobs_.store(static_cast<std::size_t>(
      std::count_if(jobs_.begin(), jobs_.end(), [](Job* each) { return each->WantsHelp(); })));
}

template <typename Enough>
bool EnginePool::HelpWithJob(Enough enough) {
  if (open_jobs_.load() == 0) return false;
  Job* job = nullptr;
  {
    const std::lock_guard lock(mutex_);
    const auto open = std::find_if(jobs_.begin(), jobs_.end(), [](Job* each) { return each->WantsHelp(); });
    if (open == jobs_.end()) {
      CountOpenJobs();  // no chunks are left, so no engine joins it again
      return false;
    }
    job = *open;
    job->helpers.fetch_add(1);
    SAMPAN_ASSERT(job->helpers.load() <= job->max_helpers);
    CountOpenJobs();
  }
  const std::int64_t begin_ns = observe::On() ? observe::NowNs() : 0;
  bool helped = false;
  const TaskRuns runs(job->task);
  while (job->RunOne()) {
    helped = true;
    if (enough()) break;
  }
  if (helped && begin_ns != 0) [[unlikely]]
    observe::EndShare(job->key, begin_ns);
  {
    const std::lock_guard lock(mutex_);
    if (job->helpers.fetch_sub(1) == 1) job_left_.notify_all();
    CountOpenJobs();
  }
  return true;
}

void EnginePool::RunQueue(std::shared_ptr<EmulatedQueue> queue) {
  for (;;) {
    switch (queue->TakeTurn(kTasksPerTurn)) {
      case EmulatedQueue::TurnEnd::kBlocked:
        return;
      case EmulatedQueue::TurnEnd::kMore:
        if (timed_count_.load() != 0) UnblockExpired();
        if (ready_count_.load() == 0) continue;
        MakeReady(std::move(queue));
        return;
      case EmulatedQueue::TurnEnd::kEmpty:
        if (queue->TryLeave()) return;
    }
  }
}

void EnginePool::RunQueueInstead(EmulatedTimeline& timeline, std::uint64_t number) {
  if (ready_count_.load() == 0) return;
  const auto wanted = timeline.queue();
  if (wanted == nullptr) return;
  auto queue = TakeReady(*wanted);
  if (queue == nullptr) return;
  for (;;) {
    switch (queue->TakeTurn(1)) {
      case EmulatedQueue::TurnEnd::kBlocked:
        return;
      case EmulatedQueue::TurnEnd::kEmpty:
        if (queue->TryLeave()) return;
        break;
      case EmulatedQueue::TurnEnd::kMore:
        break;
    }
    if (timeline.done() >= number) return MakeReady(std::move(queue));
  }
}

void EnginePool::Drive(EmulatedTimeline& timeline, std::uint64_t number, Deadline deadline) {
  const auto reached = [&] { return timeline.done() >= number; };
  if (reached()) return;
  // A begun copy cannot be interrupted, so a caller with a deadline must not execute one. Nor does a caller
  // whose program looks for races: ThreadSanitizer would hold back its signals while it is a queue's fiber.
  if (deadline == kNever && !races::Watched()) RunQueueInstead(timeline, number);
  if (!races::Watched()) {
    const auto queue = reached() ? nullptr : timeline.queue();
    const auto work = queue != nullptr ? queue->WorkToHelp() : nullptr;
    if (work != nullptr) work->Help(reached);
  }
  const auto helped_or_over = [&] { return reached() || HelpWithJob(reached); };
  while (SpinFor(kHostSpin, helped_or_over) && !reached()) {
  }
}

void EnginePool::WakeEngines(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    wake_.notify_one();
}

void EnginePool::Run(const ChunkedWork& work) {
  const std::size_t max_threads = std::min(work.chunks, engines_.size());
  if (max_threads <= 1) {
    for (std::size_t chunk = 0; chunk < work.chunks; ++chunk)
      work.Run(chunk);
    return;
  }
  Job job{work, observe::ShareExecution(), ThisThreadsTask(), max_threads - 1};
  bool shared = false;
  {
    const std::lock_guard lock(mutex_);
    if (jobs_.size() < jobs_.capacity()) {
      jobs_.push_back(&job);
      CountOpenJobs();
      shared = true;
    }
  }
  // Running engines see the job. Waking others pays only if enough chunks are left.
  if (shared && work.chunks < kChunksWorthWaking) job.RunOne();
  if (shared && job.left() >= kChunksLeftWorthWaking) WakeEngines(job.max_helpers - job.helpers.load());
  while (job.RunOne()) {
  }
  if (!shared) return;
  {
    const std::lock_guard lock(mutex_);
    const auto own_job = std::find(jobs_.begin(), jobs_.end(), &job);
    SAMPAN_ASSERT(own_job != jobs_.end() && job.left() == 0);
    jobs_.erase(own_job);
    CountOpenJobs();
  }
  SpinFor(kSpin, [&] { return job.helpers.load() == 0; });
  std::unique_lock lock(mutex_);  // also waits for a helper that is about to leave
  job_left_.wait(lock, [&] { return job.helpers.load() == 0; });
}

}  // namespace sampan::emulated
