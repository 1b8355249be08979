// Hands tasks that move bytes to the driver, in the order of one CUDA stream.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "backend/api/task.h"
#include "backend/cuda/copy_path.h"
#include "backend/cuda/gpu.h"
#include "backend/cuda/kernels/kernel_arguments.h"
#include "backend/cuda/pinned_ring.h"
#include "backend/cuda/reserved_memory.h"

namespace sampan::cuda {

/// What a device's launchers share.
struct LaunchSite {
  Gpu& gpu;
  ReservedMemory& device_memory;
  ReservedMemory& pinned_memory;
  const CopyPaths& paths;
};

/// How a kernel takes a batch: by so many blocks, in pieces of at most so many bytes. Segments that are no
/// longer are pieces as they are.
struct PieceShape {
  unsigned blocks;
  std::size_t bytes;

  std::size_t MostPieces(const BatchTask::Content& content) const {
    return content.segments.size() + content.bytes / bytes;
  }
};

/// Owns a CUDA stream and what launched tasks need until they are over. Not thread-safe: its queue's lock
/// protects it. Values count its tasks and only grow.
class TaskLauncher {
 public:
  static Result<std::unique_ptr<TaskLauncher>> Create(const LaunchSite& site);
  ~TaskLauncher();
  TaskLauncher(const TaskLauncher&) = delete;
  TaskLauncher& operator=(const TaskLauncher&) = delete;

  CuStream stream() const { return stream_; }
  Gpu& gpu() const { return site_.gpu; }

  /// The value that has to be over before the task can be launched; 0 when it can be now.
  std::uint64_t BusyUntil(const Task& task) const;
  /// Copies and fills; anything else is refused. What the task refers to stays until the value is retired.
  Status Launch(Task& task, std::uint64_t value);

  struct DeviceFailure {
    std::uint64_t value;
    Status status;
  };
  /// Tasks up to this value are over; adds those that failed on the device.
  void Retire(std::uint64_t done, std::vector<DeviceFailure>& failures);
  /// The GPU is lost: nothing launched is in use any more.
  void Abandon();

 private:
  TaskLauncher(const LaunchSite& site, CuStream stream);

  Status LaunchBody(CopyTask& task, std::uint64_t value);
  Status LaunchBody(RowsTask& task, std::uint64_t value);
  Status LaunchBody(BatchTask& task, std::uint64_t value);
  Status LaunchBody(FillTask& task, std::uint64_t value);
  Status LaunchBody(IndirectTask& task, std::uint64_t value);
  template <typename Other>
  Status LaunchBody(Other&, std::uint64_t);

  Status CopyLinear(const Segment& segment, Direction direction, bool one_device);
  Status CopySegments(const BatchTask::Content& content, Direction direction);
  Status CopyByBatchCall(const BatchTask::Content& content);
  /// The entries [begin, end) of the arrays below.
  Status CallBatch(std::size_t begin, std::size_t end, CuStream stream);
  Status MakeSideStream();
  Status CopyFew(const BatchTask::Content& content);
  PieceShape ShapeOf(const BatchTask::Content& content) const;
  Status CopyByKernel(const BatchTask::Content& content, std::uint64_t value);
  Status CopyRowsByKernel(const Rows& rows, Direction direction);
  Status CopyCaptured(const BatchTask::Content& content, std::uint64_t value);
  Status Launch(CuFunction kernel, unsigned blocks, std::span<void*> arguments);
  /// Pinned memory until the value is over: of the ring, or of its own where that is too small.
  Result<std::byte*> TakePinned(std::size_t bytes, std::uint64_t value);
  /// Brings the table of device memory on the device up to date, in stream order.
  Status UpdateRanges(std::uint64_t value);

  /// Kept for a task until it is over.
  struct Attachment {
    std::uint64_t value;
    MemoryBlock pinned;                                   ///< given back
    std::shared_ptr<ReservedMemory::Epoch> freed_memory;  ///< let go
    const IndirectRecord* record = nullptr;               ///< looked at, with the task that it is of
    const IndirectTask::Content* indirect = nullptr;
  };

  const LaunchSite site_;
  const CuStream stream_;
  PinnedRing ring_;
  std::deque<Attachment> attachments_;
  // The table of device memory that this stream's kernels look into. Memory of the driver's, not of the
  // program's share.
  CuAddress table_ = 0;
  std::size_t table_ranges_ = 0;       // room
  std::vector<CuAddress> old_tables_;  // that kernels may still look into
  std::uint64_t ranges_version_ = 0;
  std::vector<ReservedMemory::Range> ranges_;
  std::size_t last_indirect_bytes_ =
      0;  // what the last descriptor said: the next one's size is not known before
  // Arguments of the driver's batch call, kept for their memory.
  std::vector<CuAddress> batch_dsts_, batch_srcs_;
  std::vector<std::size_t> batch_sizes_;
  // A second stream for half of a batch, and the events that tie it to the first; made at the first use.
  CuStream side_stream_ = nullptr;
  CuEvent side_begin_ = nullptr, side_end_ = nullptr;
};

}  // namespace sampan::cuda
