// Copies between pageable host memory and a GPU, through pinned memory, by one thread or by several.
#include "backend/cuda/staging/staged_copy.h"

#include <utility>

#include "backend/cuda/staging/staging_plan.h"

namespace sampan::cuda {

StagedCopy::~StagedCopy() {
  stopping_.store(true);
  for (const auto& thread : other_threads_) {
    thread->calls.fetch_add(1);
    thread->calls.notify_one();
  }
  for (const auto& thread : other_threads_)
    thread->thread.Join();
}

void StagedCopy::DropIdle() {
  {
    const std::lock_guard lock(idle_mutex_);
    idle_.clear();
  }
  const std::unique_lock one(one_at_a_time_, std::try_to_lock);
  if (!one.owns_lock()) return;
  for (const auto& thread : other_threads_)
    thread->worker = nullptr;
  own_worker_ = nullptr;
  stream_ = nullptr;
}

Status StagedCopy::Run(const StagedParts& parts, std::size_t threads) {
  const ContextScope scope(site_.gpu);
  if (threads == 1) {
    auto single = TakeSingle();
    if (!single.ok()) return single.TakeStatus();
    std::atomic<std::size_t> next{0};
    Status status = single->worker->Work(parts, direction_, next, *single->stream);
    const std::lock_guard lock(idle_mutex_);  // so that DropIdle finds one that is kept
    if (!site_.gpu.lost()) idle_.push_back(std::move(*single));
    return status;
  }
  const std::lock_guard one(one_at_a_time_);
  if (Status prepared = Prepare(threads); !prepared.ok()) return prepared;
  parts_ = &parts;
  threads_ = threads;
  next_part_.store(0);
  joined_.store(kOpen);
  WakeTwo(0);
  Note(own_worker_->Work(parts, direction_, next_part_, *stream_));
  joined_.fetch_and(~kOpen);
  while (const std::uint32_t joined = joined_.load())
    joined_.wait(joined);
  return std::exchange(failure_, Status());
}

Result<StagedCopy::Single> StagedCopy::TakeSingle() {
  {
    const std::lock_guard lock(idle_mutex_);
    if (!idle_.empty()) {
      Single single = std::move(idle_.back());
      idle_.pop_back();
      return single;
    }
  }
  const bool too_many = single_count_.fetch_add(1) >= kMaxSingles;
  Place place(&single_count_);
  if (too_many) return Error{Code::kMemoryAllocation, "as many threads as may are staging copies"};
  auto worker = StagingWorker::Create(site_, kSinglePartBytes);
  if (!worker.ok()) return worker.TakeStatus();
  auto stream = CudaStream::Create(site_);
  if (!stream.ok()) return stream.TakeStatus();
  return Single{std::move(place), std::move(*worker), std::make_unique<StagingStream>(std::move(*stream))};
}

Status StagedCopy::Prepare(std::size_t threads) {
  if (stream_ == nullptr) {
    auto stream = CudaStream::Create(site_);
    if (!stream.ok()) return stream.TakeStatus();
    stream_ = std::make_unique<StagingStream>(std::move(*stream));
  }
  other_threads_.reserve(threads);
  while (other_threads_.size() + 1 < threads) {
    auto other = std::make_unique<StagingThread>(other_threads_.size() + 1);
    other->thread = StartThread("sampan-staging", [this, &self = *other] { Loop(self); });
    other_threads_.push_back(std::move(other));  // only with its thread; the memory is reserved
  }
  for (std::size_t number = 0; number < threads; ++number) {
    std::unique_ptr<StagingWorker>& worker = number == 0 ? own_worker_ : other_threads_[number - 1]->worker;
    if (worker != nullptr) continue;
    auto made = StagingWorker::Create(site_, StagingBuffer::kBytes);
    if (!made.ok()) return made.TakeStatus();
    worker = std::move(*made);
  }
  return {};
}

void StagedCopy::WakeTwo(std::size_t number) {
  for (std::size_t next = 2 * number + 1; next <= 2 * number + 2 && next < threads_; ++next) {
    other_threads_[next - 1]->calls.fetch_add(1);
    other_threads_[next - 1]->calls.notify_one();
  }
}

void StagedCopy::Loop(StagingThread& self) {
  std::uint32_t seen = 0;
  for (;;) {
    self.calls.wait(seen);
    seen = self.calls.load();
    if (stopping_.load()) return;
    if (!Join()) continue;
    if (self.number < threads_) {  // otherwise it was called for an earlier copy
      WakeTwo(self.number);
      const ContextScope scope(site_.gpu);
      Note(self.worker->Work(*parts_, direction_, next_part_, *stream_));
    }
    Leave();
  }
}

bool StagedCopy::Join() {
  std::uint32_t joined = joined_.load();
  while ((joined & kOpen) != 0) {
    if (joined_.compare_exchange_weak(joined, joined + 1)) return true;
  }
  return false;
}

void StagedCopy::Leave() {
  if (joined_.fetch_sub(1) == 1) joined_.notify_one();
}

void StagedCopy::Note(Status outcome) {
  if (outcome.ok()) return;
  const std::lock_guard lock(failure_mutex_);
  if (failure_.ok()) failure_ = std::move(outcome);
}

}  // namespace sampan::cuda
