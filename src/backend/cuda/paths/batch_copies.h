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

/// How a kernel copies the pieces in its arguments: teams of 2^team_bits threads, `teams_each` to a piece.
struct InlineShape {
  Grid grid;
  unsigned team_bits, teams_each;
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
  /// Copies few segments by a kernel that has them in its arguments.
  Status CopyInline(std::span<const Segment> segments, const InlineShape& shape, std::uint64_t sequence);
  /// The shape of a copy inside the device.
  InlineShape ShapeOnDevice(std::size_t bytes) const;

 private:
  /// Joins adjacent segments between two allocations for an engine. If a kernel copies them anyway, returns
  /// the segments unchanged.
  std::span<const Segment> Joined(const BatchTask& batch);
  /// The path of a batch that takes the driver `copies` copies. Finds its dense runs and their buffers if
  /// they matter, so the choice is final. A kernel copies what lies between the runs.
  PathChoice Choose(const BatchTask& batch, std::size_t copies);
  void FindRuns(const BatchTask& batch);
  Status CopyByBatchCall(std::span<const Segment> segments, std::size_t bytes);
  Status CallBatch(std::span<const Segment> segments);
  /// The shape of a short batch between host and device.
  InlineShape ShapeOverLink(const BatchTask& batch) const;
  PieceShape ShapeOf(Direction direction, std::size_t entries, std::size_t bytes) const;
  /// Copies these segments, which are in pinned memory, by the kernel that reads them there.
  Status CopyPieces(const BatchTask& batch, std::span<const SegmentRange> ranges, std::uint64_t sequence);
  /// Moves the captured bytes to pinned memory, and returns the copy from there.
  Result<Segment> TakeCaptured(const BatchTask& batch, std::uint64_t sequence);

  CudaStream& stream_;
  std::vector<Segment> joined_;
  DenseRuns dense_;
  std::vector<const std::byte*> host_begins_;
  // Arguments of the driver's batch call, kept to reuse their memory.
  std::vector<CuAddress> batch_dsts_, batch_srcs_;
  std::vector<std::size_t> batch_sizes_;
};

}  // namespace sampan::cuda
