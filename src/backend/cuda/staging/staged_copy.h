// Copies between pageable host memory and a GPU, through pinned memory, by one thread or by several.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "backend/cuda/staging/staging_worker.h"
#include "base/threads/threads.h"

namespace sampan::cuda {

/// Copies in one direction. Each thread fills a pinned buffer while the GPU copies from the others, or the
/// reverse. Thread-safe. Copies by one thread run in parallel, copies by several threads one at a time.
/// Allocates threads and buffers when it needs them.
class StagedCopy {
 public:
  StagedCopy(const LaunchSite& site, Direction direction) : site_(site), direction_(direction) {}
  ~StagedCopy();
  StagedCopy(const StagedCopy&) = delete;
  StagedCopy& operator=(const StagedCopy&) = delete;

  /// Copies before it returns, by `threads` threads. The caller is one of them.
  Status Run(const StagedParts& parts, std::size_t threads);
  /// Frees idle threads' buffers and streams.
  void DropIdle();

 private:
  struct Leave {
    void operator()(std::atomic<std::size_t>* count) const { count->fetch_sub(1); }
  };
  /// A place among the limited copies. Releases it when destroyed.
  using Place = std::unique_ptr<std::atomic<std::size_t>, Leave>;
  /// The parts of a single-thread copy. The stream is destroyed first, because it waits for pending copies in
  /// the buffers.
  struct Single {
    Place place;
    std::unique_ptr<StagingWorker> worker;
    std::unique_ptr<StagingStream> stream;
  };
  /// The maximum number of running and idle single-thread copies. Each has 2 MiB of pinned memory.
  static constexpr std::size_t kMaxSingles = 32;
  /// A thread besides the calling one. It sleeps until its number of calls changes.
  struct StagingThread {
    explicit StagingThread(std::size_t its_number) : number(its_number) {}
    const std::size_t number;  // the calling thread's is 0
    std::unique_ptr<StagingWorker> worker;
    std::atomic<std::uint32_t> calls{0};
    Thread thread;
  };

  /// Fails with 207001 if there is no memory, or too many copies run.
  Result<Single> TakeSingle();
  Status Prepare(std::size_t threads);
  /// Each thread wakes two others, as in a tree, so that the last one wakes early.
  void WakeTwo(std::size_t number);
  void Loop(StagingThread& self);
  /// False if the copy is completed already. A thread that wakes late does not delay the copy.
  bool Join();
  void Leave();
  /// Keeps the first failure of a thread.
  void Note(Status outcome);

  const LaunchSite site_;
  const Direction direction_;
  std::atomic<std::size_t> single_count_{0};
  std::mutex idle_mutex_;
  std::vector<Single> idle_;

  // The members below are for copies by several threads.
  std::mutex one_at_a_time_;
  std::unique_ptr<StagingStream> stream_;  // one for all, because an engine loses time between streams
  std::unique_ptr<StagingWorker> own_worker_;
  std::vector<std::unique_ptr<StagingThread>> other_threads_;
  std::atomic<bool> stopping_{false};  // a thread that wakes late reads it at any time

  // The copy in progress.
  const StagedParts* parts_ = nullptr;
  std::size_t threads_ = 0;
  std::atomic<std::size_t> next_part_{0};
  static constexpr std::uint32_t kOpen = std::uint32_t{1} << 31;
  std::atomic<std::uint32_t> joined_{0};  // other threads at work; with kOpen while more may join
  std::mutex failure_mutex_;
  Status failure_;
};

}  // namespace sampan::cuda
