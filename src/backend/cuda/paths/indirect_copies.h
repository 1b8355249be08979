// Copies with operands in device memory. A kernel reads the operands when it runs.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "backend/api/task.h"
#include "backend/cuda/kernels/kernel_arguments.h"
#include "backend/cuda/queue/cuda_stream.h"

namespace sampan::cuda {

/// A task that failed on the device.
struct DeviceFailure {
  std::uint64_t sequence;
  Status status;
};

/// As thread-safe as its stream. The stream must outlive it. Owns the table of device memory that the
/// stream's kernels read. The table is memory of the driver, not of the program's share.
class IndirectCopies {
 public:
  explicit IndirectCopies(CudaStream& stream) : stream_(stream) {}
  ~IndirectCopies();
  IndirectCopies(const IndirectCopies&) = delete;
  IndirectCopies& operator=(const IndirectCopies&) = delete;

  /// The memory of the operands must be live. The content must stay alive until the task is retired.
  Status Launch(const IndirectTask::Content& content, std::uint64_t sequence);
  /// Returns true if there is nothing to retire.
  bool idle() const { return launched_.empty(); }
  /// Tasks up to `done` are completed. Adds those that failed on the device.
  void Retire(std::uint64_t done, std::vector<DeviceFailure>& failures);
  /// Called when the GPU is lost: no launched task is running.
  void Abandon() { launched_.clear(); }

 private:
  /// The record of a task: each has its own place, the same for all whose values differ by kMaxTasks.
  Result<IndirectRecord*> RecordOf(std::uint64_t sequence);
  /// Updates the table of device memory on the device, in stream order.
  Status UpdateRanges(std::uint64_t sequence);

  struct Launched {
    std::uint64_t sequence;
    std::shared_ptr<ReservedMemory::Epoch> freed_memory;  ///< kept while the kernel may access it
    const IndirectRecord* record;
    const IndirectTask::Content* content;
  };

  CudaStream& stream_;
  std::deque<Launched> launched_;
  MemoryBlock records_;  // pinned, allocated at the first use
  CuAddress table_ = 0;
  std::size_t table_ranges_ = 0;       // capacity
  std::vector<CuAddress> old_tables_;  // kernels may still read them
  std::uint64_t ranges_version_ = 0;
  std::vector<ReservedMemory::Range> ranges_;
  std::size_t last_bytes_ = 0;  // size in the last descriptor, an estimate for the next one
};

}  // namespace sampan::cuda
