// Copies whose operands lie in device memory, by a kernel that reads them when it runs.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "backend/api/task.h"
#include "backend/cuda/kernels/kernel_arguments.h"
#include "backend/cuda/queue/cuda_stream.h"

namespace sampan::cuda {

/// A task that turned out bad when it executed.
struct DeviceFailure {
  std::uint64_t sequence;
  Status status;
};

/// As thread-safe as its stream, which outlives it. Owns the table of device memory that the stream's kernels
/// read. The table is memory of the driver, not of the program's share.
class IndirectCopies {
 public:
  explicit IndirectCopies(CudaStream& stream) : stream_(stream) {}
  ~IndirectCopies();
  IndirectCopies(const IndirectCopies&) = delete;
  IndirectCopies& operator=(const IndirectCopies&) = delete;

  /// The memory of the operands is live. The content stays alive until the task is retired.
  Status Launch(const IndirectTask::Content& content, std::uint64_t sequence);
  /// Whether there is nothing to retire.
  bool idle() const { return launched_.empty(); }
  /// Tasks up to `done` are completed. Adds those that failed on the device.
  void Retire(std::uint64_t done, std::vector<DeviceFailure>& failures);
  /// The GPU is lost: nothing launched is in use any more.
  void Abandon() { launched_.clear(); }

 private:
  /// The record of a task: each has its own place, the same for all whose values differ by kMaxTasks.
  Result<IndirectRecord*> RecordOf(std::uint64_t sequence);
  /// Brings the table of device memory on the device up to date, in stream order.
  Status UpdateRanges(std::uint64_t sequence);

  struct Launched {
    std::uint64_t sequence;
    std::shared_ptr<ReservedMemory::Epoch> freed_memory;  ///< kept while the kernel may touch it
    const IndirectRecord* record;
    const IndirectTask::Content* content;
  };

  CudaStream& stream_;
  std::deque<Launched> launched_;
  MemoryBlock records_;  // pinned, made at the first use
  CuAddress table_ = 0;
  std::size_t table_ranges_ = 0;       // room
  std::vector<CuAddress> old_tables_;  // that kernels may still look into
  std::uint64_t ranges_version_ = 0;
  std::vector<ReservedMemory::Range> ranges_;
  std::size_t last_bytes_ = 0;  // what the last descriptor said: the next one's size is not known before
};

}  // namespace sampan::cuda
