// Copies between pageable host memory and a GPU, through pinned memory and by several threads.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "backend/api/copy_segment.h"
#include "backend/cuda/copy_path.h"
#include "backend/cuda/gpu.h"
#include "backend/cuda/reserved_memory.h"

namespace sampan::cuda {

/// Does one copy at a time, in one direction. Each of its threads fills one pinned buffer while the GPU
/// copies from the others, or the other way round. Thread-safe. Takes threads and buffers at the first use.
class StagedCopy {
 public:
  StagedCopy(Gpu& gpu, ReservedMemory& pinned, Direction direction);
  ~StagedCopy();
  StagedCopy(const StagedCopy&) = delete;
  StagedCopy& operator=(const StagedCopy&) = delete;

  /// Whether it is faster than the driver's copy of pageable memory.
  bool Pays(std::size_t bytes) const;
  /// Done on return.
  Status Run(const Segment& segment);
  /// Gives back what it took, before the GPU's context is replaced.
  void Abandon();

 private:
  static constexpr std::size_t kBuffers = 3;
  struct Worker {
    CuEvent events[kBuffers] = {};
    MemoryBlock buffers[kBuffers];
  };

  Status Prepare();
  void GiveBack(std::vector<Worker>& workers);
  void Loop(std::size_t number);
  void Work(Worker& worker);
  CuResult CopyIn(Worker& worker);
  CuResult CopyOut(Worker& worker);
  Segment PartOf(std::size_t index) const;

  Gpu& gpu_;
  ReservedMemory& pinned_;
  const Direction direction_;
  std::mutex one_at_a_time_;
  CuStream stream_ = nullptr;    // one for all: an engine loses time between streams
  std::vector<Worker> workers_;  // the first is the calling thread's
  std::vector<std::thread> threads_;

  // The copy in progress.
  Segment segment_{};
  std::size_t part_bytes_ = 0;
  std::atomic<std::size_t> next_part_{0};
  std::atomic<CuResult> failure_{cu::kSuccess};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t round_ = 0;
  std::size_t working_ = 0;
  bool stopping_ = false;
};

}  // namespace sampan::cuda
