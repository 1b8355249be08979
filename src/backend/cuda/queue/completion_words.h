// Words in pinned memory that the GPU sets to the sequence number of completed tasks. The host sees them
// before the driver reports the stream as idle.
#pragma once

#include <cstdint>

#include "backend/api/backend.h"
#include "base/time/clock.h"

namespace sampan::cuda {

/// Tasks up to `sequence` are completed when every word is at least `sequence`.
struct Completion {
  const std::uint64_t* words = nullptr;
  unsigned count = 0;
  std::uint64_t sequence = 0;

  bool IsDone() const;
  /// Polls for up to two milliseconds, or until the deadline.
  bool SpinUntilDone(Deadline deadline = kNever) const;
};

/// The words of one stream. Not thread-safe; any thread may poll a Completion.
class CompletionWords {
 public:
  /// A kernel has one word for each of its blocks.
  static constexpr unsigned kMaxBlocks = 64;

  explicit CompletionWords(MemorySource& pinned) : pinned_(pinned) {}
  ~CompletionWords();
  CompletionWords(const CompletionWords&) = delete;
  CompletionWords& operator=(const CompletionWords&) = delete;

  /// Written by the blocks of a kernel. Has no words if memory is missing or the kernel has too many blocks.
  Completion ForKernel(std::uint64_t sequence, unsigned blocks);
  /// Written by the stream behind a task.
  Completion ForStream(std::uint64_t sequence);

 private:
  /// Null if there is no memory: the launched work then has no completion word.
  std::uint64_t* Words() noexcept;

  MemorySource& pinned_;
  MemoryBlock block_;
};

}  // namespace sampan::cuda
