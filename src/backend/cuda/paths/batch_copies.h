// Copies batches on a CUDA stream, on the fastest path.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backend/api/task.h"
#include "backend/cuda/paths/dense_copies.h"
#include "backend/cuda/queue/cuda_stream.h"

namespace sampan::cuda {

/// How a kernel copies a batch: the number of blocks, and the maximum bytes of a piece. Shorter segments are
/// not cut.
struct PieceShape {
  unsigned blocks;
  std::size_t bytes;

  std::size_t MaxPieces(std::size_t entries, std::size_t all_bytes) const {
    return entries + all_bytes / bytes;
  }
};

/// As thread-safe as its stream. The stream must outlive it.
class BatchCopies {
 public:
  explicit BatchCopies(CudaStream& stream) : stream_(stream) {}
  BatchCopies(const BatchCopies&) = delete;
  BatchCopies& operator=(const BatchCopies&) = delete;

  /// Returns the task that must complete before this batch can be launched; 0 if it can be launched now.
  std::uint64_t BusyUntil(const BatchTask& batch) const;
  /// The batch's memory must be live.
  Status Launch(const BatchTask& batch, std::uint64_t sequence);
  /// One copy inside the device, by a kernel.
  Status CopyOnDevice(const Segment& segment, std::uint64_t sequence);

 private:
  /// Joins adjacent segments between two allocations for an engine. If a kernel copies them anyway, returns
  /// the segments unchanged.
  std::span<const Segment> Joined(const BatchTask& batch);
  /// The path of a batch that takes the driver `copies` copies. Finds its dense runs and their buffers if
  /// they matter, so the choice is final.
  PathChoice Choose(const BatchTask& batch, std::size_t copies);
  void FindRuns(const BatchTask& batch);
  Status CopySegments(std::span<const Segment> segments, Direction direction);
  Status CopyByBatchCall(std::span<const Segment> segments, std::size_t bytes);
  Status CallBatch(std::span<const Segment> segments);
  /// Copies by a kernel with the segments in its arguments, between host and device.
  Status CopyInline(const BatchTask& batch, std::uint64_t sequence);
  Status LaunchInline(std::span<const Segment> segments, const Grid& grid, unsigned team_bits,
                      unsigned teams_each, std::uint64_t sequence);
  PieceShape ShapeOf(Direction direction, std::size_t entries, std::size_t bytes) const;
  Status CopyByKernel(const BatchTask& batch, std::uint64_t sequence);
  /// Copies these segments, which are in pinned memory, by the kernel that reads them there.
  Status CopyPieces(const BatchTask& batch, std::span<const SegmentRange> ranges, std::uint64_t sequence);
  /// Copies the dense runs that were found, and the other segments by a kernel.
  Status CopyDense(const BatchTask& batch, std::uint64_t sequence);
  Status CopyCaptured(const BatchTask& batch, std::uint64_t sequence);

  CudaStream& stream_;
  std::vector<Segment> joined_;
  DenseRuns dense_;
  std::vector<const std::byte*> host_begins_;
  // Arguments of the driver's batch call, kept to reuse their memory.
  std::vector<CuAddress> batch_dsts_, batch_srcs_;
  std::vector<std::size_t> batch_sizes_;
};

}  // namespace sampan::cuda
