// The pinned buffers of one thread that stages pageable memory, each with a completion word or an event.
#pragma once

#include <atomic>
#include <memory>

#include "backend/cuda/staging/staged_parts.h"

namespace sampan::cuda {

/// Belongs to one thread at a time.
class StagingWorker {
 public:
  /// For parts of at most `part_bytes` bytes.
  static Result<std::unique_ptr<StagingWorker>> Create(const LaunchSite& site, std::size_t part_bytes);
  ~StagingWorker();
  StagingWorker(const StagingWorker&) = delete;
  StagingWorker& operator=(const StagingWorker&) = delete;

  /// Takes parts by incrementing `next` until none is left. On return the buffers are idle, and its parts are
  /// completed. After a failure no thread gets further parts.
  Status Work(const StagedParts& parts, Direction direction, std::atomic<std::size_t>& next,
              StagingStream& stream);

 private:
  static constexpr std::size_t kBuffers = 3;

  StagingWorker(ContextUse use, const LaunchSite& site, std::size_t part_bytes, const MemoryBlock& memory);

  /// After a failure: no thread gets further parts, and those in flight are over.
  Status Stop(Status failure, const StagedParts& parts, std::atomic<std::size_t>& next,
              StagingStream& stream);
  /// Lets Wait find the end of the part in that buffer. `is_last`: of its copy.
  Status MarkEnd(bool is_last, std::size_t at, StagingStream& stream);
  Status Wait(std::size_t at, StagingStream& stream);

  const ContextUse use_;
  Gpu& gpu_;
  ReservedMemory& pinned_;
  const MemoryBlock memory_;
  StagingBuffer buffers_[kBuffers];
  // The completion of each buffer's part: a word if it is the last part of its copy, otherwise an event. A
  // word is detected earlier, but an engine stops for it.
  Completion completions_[kBuffers];
  CuEvent events_[kBuffers] = {};
};

}  // namespace sampan::cuda
