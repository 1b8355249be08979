// Copies batches on a CUDA stream, on the path that is fastest for them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backend/api/task.h"
#include "backend/cuda/queue/cuda_stream.h"

namespace sampan::cuda {

/// How a kernel takes a batch: by so many blocks, in pieces of at most so many bytes. Segments that are no
/// longer are pieces as they are.
struct PieceShape {
  unsigned blocks;
  std::size_t bytes;

  std::size_t MaxPieces(const BatchTask& batch) const { return batch.segments.size() + batch.bytes / bytes; }
};

/// As thread-safe as its stream, which outlives it.
class BatchCopies {
 public:
  explicit BatchCopies(CudaStream& stream) : stream_(stream) {}
  BatchCopies(const BatchCopies&) = delete;
  BatchCopies& operator=(const BatchCopies&) = delete;

  /// Returns the task that must complete before this batch can be launched; 0 if it can be launched now.
  std::uint64_t BusyUntil(const BatchTask& batch) const;
  /// Its memory is live.
  Status Launch(const BatchTask& batch, std::uint64_t sequence);
  /// One copy within the device, by a kernel.
  Status CopyOnDevice(const Segment& segment, std::uint64_t sequence);

 private:
  /// The copies that an engine would make of segments between two allocations. If a kernel takes them anyway,
  /// the segments unchanged.
  std::span<const Segment> Joined(std::span<const Segment> segments, std::size_t bytes);
  /// The path of a batch that the driver would do in so many copies.
  PathChoice Choose(const BatchTask& batch, std::size_t copies) const;
  Status CopySegments(std::span<const Segment> segments, Direction direction);
  Status CopyByBatchCall(std::span<const Segment> segments, std::size_t bytes);
  Status CallBatch(std::span<const Segment> segments);
  /// By a kernel with the segments in its arguments. Each segment gets as many blocks as it can use, within
  /// `blocks`.
  Status CopyInline(std::span<const Segment> segments, std::size_t longest, unsigned blocks,
                    std::uint64_t sequence);
  PieceShape ShapeOf(const BatchTask& batch) const;
  Status CopyByKernel(const BatchTask& batch, std::uint64_t sequence);
  Status CopyCaptured(const BatchTask& batch, std::uint64_t sequence);

  CudaStream& stream_;
  std::vector<Segment> joined_;
  // Arguments of the driver's batch call, kept for their memory.
  std::vector<CuAddress> batch_dsts_, batch_srcs_;
  std::vector<std::size_t> batch_sizes_;
};

}  // namespace sampan::cuda
