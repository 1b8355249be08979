// Words in pinned memory by which the GPU says how far a stream is: the host sees them sooner than the driver
// notices that the stream is empty.
#pragma once

#include <cstdint>

#include "backend/api/backend.h"
#include "base/clock.h"

namespace sampan::cuda {

/// Tasks up to the value are over when each of the words has come to it.
struct EndSign {
  const std::uint64_t* words = nullptr;
  unsigned count = 0;
  std::uint64_t value = 0;

  bool Seen() const;
  /// The same, looking for up to two milliseconds, or to the deadline.
  bool SeenSoon(Deadline deadline = kNever) const;
};

/// Those of one stream. Not thread-safe; signs can be looked at by anybody.
class EndWords {
 public:
  /// What a kernel writes, one word for each of its blocks.
  static constexpr unsigned kMaxBlocks = 64;

  explicit EndWords(MemorySource& pinned) : pinned_(pinned) {}
  ~EndWords();
  EndWords(const EndWords&) = delete;
  EndWords& operator=(const EndWords&) = delete;

  /// What the blocks of a kernel write; without words when there is no memory or there are too many blocks.
  EndSign ForKernel(std::uint64_t value, unsigned blocks);
  /// What the stream itself writes behind a task.
  EndSign ForStream(std::uint64_t value);

 private:
  /// Null where there is no memory: what was launched goes on without a sign.
  std::uint64_t* Words() noexcept;

  MemorySource& pinned_;
  MemoryBlock block_;
};

}  // namespace sampan::cuda
