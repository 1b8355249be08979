// Copies runs of entries that are adjacent on the host: gathered or scattered on the device, and one engine
// copy for each part.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "backend/cuda/paths/dense_runs.h"
#include "backend/cuda/paths/kernel_shape.h"
#include "backend/cuda/queue/cuda_stream.h"

namespace sampan::cuda {

/// For each direction, two buffers on the device and a second stream. The kernel works on one buffer while
/// the engine copies the other. All streams of the device share them: the batch of one stream waits on the
/// GPU for that of another. Over the link, one of them would wait anyway. Thread-safe. Made when first
/// needed.
class DenseCopies {
 public:
  static constexpr std::size_t kBufferBytes = std::size_t{32} << 20;
  /// A program's kernels delay each launch, so few parts are fast beside them (bench_gpu quiet).
  static constexpr DensePartSizes kParts{.shortest = std::size_t{1} << 20,
                                         .longest = kBufferBytes - kVectorBytes};

  DenseCopies(Gpu& gpu, ReservedMemory& memory, const CopyPaths& paths)
      : gpu_(gpu), memory_(memory), paths_(paths) {}
  ~DenseCopies() { DropIdle(); }
  DenseCopies(const DenseCopies&) = delete;
  DenseCopies& operator=(const DenseCopies&) = delete;

  /// Returns true if the direction has its buffers, which are device memory. After a failure it tries again
  /// when device memory was allocated or freed. The context must be current.
  bool Prepare(Direction direction);
  /// The GPU reads the segments, so they must stay in pinned memory until the stream has passed. The context
  /// must be current.
  Status Copy(CudaStream& stream, std::span<const Segment> segments, std::span<const SegmentRange> runs,
              Direction direction);
  /// Waits for the copies that use the buffers, and frees them.
  void DropIdle();
  /// What DropIdle would free.
  std::size_t held_bytes() const { return held_bytes_.load(std::memory_order_relaxed); }

 private:
  struct Buffer {
    CuAddress memory = 0;
    std::shared_ptr<GpuEvent> filled, emptied;
  };
  /// What the copies of one direction use.
  struct Lane {
    Lane(ContextUse its_use, Gpu& its_gpu, ReservedMemory& its_source, const MemoryBlock& its_block)
        : use(std::move(its_use)), gpu(its_gpu), source(its_source), block(its_block) {}
    ~Lane();
    Lane(const Lane&) = delete;
    Lane& operator=(const Lane&) = delete;

    const ContextUse use;
    Gpu& gpu;
    ReservedMemory& source;
    const MemoryBlock block;
    CuStream second = nullptr;
    std::shared_ptr<GpuEvent> begun, passed;  ///< passed: the last copy has left the buffers
    CuStream last = nullptr;                  ///< the stream of that copy
    std::array<Buffer, 2> buffers;
    std::vector<SegmentRange> parts;
  };
  struct Way {
    std::mutex mutex;
    std::unique_ptr<Lane> lane;
    std::optional<std::uint64_t> failed_at;  ///< the version of the device's memory then
  };

  Way& WayOf(Direction direction) { return ways_[direction == Direction::kHostToDevice ? 0 : 1]; }
  Status MakeLane(Way& way);
  /// Where a part lies in the buffer: aligned as on the host.
  static CuAddress StagedAt(const Buffer& buffer, const std::byte* on_host);
  /// The kernel between the buffer and the places on the device, on the second stream.
  Status Rearrange(const Lane& lane, std::span<const Segment> part, std::size_t bytes, CuAddress dst_shift,
                   CuAddress src_shift);
  Status Record(const std::shared_ptr<GpuEvent>& event, CuStream on);
  Status Await(const std::shared_ptr<GpuEvent>& event, CuStream on);
  /// Makes the second stream wait until the first one is where it is now.
  Status Order(const std::shared_ptr<GpuEvent>& event, CuStream first, CuStream then);

  Gpu& gpu_;
  ReservedMemory& memory_;
  const CopyPaths& paths_;
  std::array<Way, 2> ways_;
  std::atomic<std::size_t> held_bytes_{0};
};

}  // namespace sampan::cuda
