// Copies runs of entries that are adjacent on the host: gathered or scattered on the device, and one engine
// copy for each part.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "backend/cuda/paths/dense_runs.h"
#include "backend/cuda/queue/cuda_stream.h"

namespace sampan::cuda {

/// Two buffers on the device and a second stream. The kernel works on one buffer while the engine copies the
/// other. As thread-safe as its stream, which must outlive it.
class DenseCopies {
 public:
  /// 32 MiB: a program's kernels delay each launch, so few parts are fast beside them (bench_gpu quiet).
  static constexpr DensePartSizes kParts{.shortest = std::size_t{1} << 20, .longest = std::size_t{32} << 20};

  /// Fails with kMemoryAllocation if the device has no memory for the buffers.
  static Result<std::unique_ptr<DenseCopies>> Create(CudaStream& stream);
  ~DenseCopies();
  DenseCopies(const DenseCopies&) = delete;
  DenseCopies& operator=(const DenseCopies&) = delete;

  /// The GPU reads the segments, so they must stay in pinned memory until the stream has passed.
  Status Copy(std::span<const Segment> segments, std::span<const SegmentRange> runs, Direction direction);

 private:
  struct Buffer {
    CuAddress memory = 0;
    std::shared_ptr<GpuEvent> filled, emptied;
  };

  DenseCopies(CudaStream& stream, ContextUse use) : stream_(stream), use_(std::move(use)) {}
  Status Prepare();
  Status CopyParts(std::span<const Segment> segments, Direction direction);
  Status CopyOut(std::span<const Segment> part, std::size_t bytes, Buffer& buffer);
  Status CopyIn(std::span<const Segment> part, std::size_t bytes, Buffer& buffer);
  /// Where a part lies in the buffer: aligned as on the host.
  static CuAddress StagedAt(const Buffer& buffer, const std::byte* on_host);
  /// The kernel between the buffer and the places on the device, on the second stream.
  Status Rearrange(std::span<const Segment> part, std::size_t bytes, CuAddress dst_shift,
                   CuAddress src_shift);
  Status Record(const std::shared_ptr<GpuEvent>& event, CuStream on);
  Status Await(const std::shared_ptr<GpuEvent>& event, CuStream on);

  CudaStream& stream_;
  const ContextUse use_;
  CuStream second_ = nullptr;
  std::shared_ptr<GpuEvent> begun_;
  std::array<Buffer, 2> buffers_;
  std::vector<SegmentRange> parts_;
};

}  // namespace sampan::cuda
