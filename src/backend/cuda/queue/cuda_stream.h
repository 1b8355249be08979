// A CUDA stream, and the pinned memory of its launched tasks.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "backend/api/copy_segment.h"
#include "backend/cuda/gpu.h"
#include "backend/cuda/memory/pinned_ring.h"
#include "backend/cuda/memory/reserved_memory.h"
#include "backend/cuda/paths/copy_path.h"
#include "backend/cuda/queue/completion_words.h"
#include "backend/cuda/queue/kernel_graphs.h"

namespace sampan::cuda {

class DenseCopies;

/// What a device's launchers share.
struct LaunchSite {
  Gpu& gpu;
  ReservedMemory& device_memory;
  ReservedMemory& pinned_memory;
  const CopyPaths& paths;
  DenseCopies* dense = nullptr;  ///< null: no batch takes that path
};

/// The sequence numbers of a stream's pending tasks differ by less than this.
inline constexpr std::uint64_t kMaxTasks = 2048;

/// Not thread-safe: its queue's lock guards it. Sequence numbers only grow.
class CudaStream {
 public:
  static Result<std::unique_ptr<CudaStream>> Create(const LaunchSite& site);
  ~CudaStream();
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;

  CuStream get() const { return stream_; }
  const LaunchSite& site() const { return site_; }
  Gpu& gpu() const { return site_.gpu; }
  const Driver& driver() const { return site_.gpu.driver(); }

  Status Copy(const Segment& segment, Direction direction, bool one_device);
  /// Copies between pinned memory and the device. Needs no current context.
  Status CopyOverLink(const Segment& segment, Direction direction);
  /// The completion is that of a kernel that was given one as an argument.
  Status Launch(CuFunction kernel, const Grid& grid, std::span<void*> arguments,
                const Completion& completion = {});
  /// The completion of a kernel, for its arguments and its launch.
  Completion KernelCompletion(std::uint64_t sequence, unsigned blocks) {
    return completion_words_.ForKernel(sequence, blocks);
  }
  /// The completion of the last kernel with completion words. Without words before the first one.
  const Completion& kernel_completion() const { return kernel_completion_; }
  /// The last kernel is not the last work of its task.
  void ForgetKernelCompletion() { kernel_completion_ = {}; }
  /// Makes the stream write its word behind all work so far, for tasks up to `sequence`. Without words if the
  /// driver cannot.
  Completion WriteCompletion(std::uint64_t sequence);

  /// Returns the task that must complete before TakePinned can give `bytes`; 0 if it can now.
  std::uint64_t BusyUntil(std::size_t bytes) const;
  /// Pinned memory until the task completes. It comes from the ring, or is a block of its own if the ring is
  /// too small.
  Result<std::byte*> TakePinned(std::size_t bytes, std::uint64_t sequence);

  /// Returns true if a task uses pinned memory of the stream.
  bool KeepsMemory() const { return !ring_.idle() || !own_blocks_.empty(); }
  /// Tasks up to `done` are completed.
  void Retire(std::uint64_t done);
  /// Called when the GPU is lost: no launched task is running.
  void Abandon() { Retire(UINT64_MAX); }

 private:
  CudaStream(ContextUse use, const LaunchSite& site, CuStream stream);

  struct OwnBlock {
    std::uint64_t sequence;
    MemoryBlock memory;
  };

  const ContextUse use_;
  const LaunchSite site_;
  const CuStream stream_;
  std::optional<KernelGraphs> graphs_;  // until the stream is destroyed
  PinnedRing ring_;
  CompletionWords completion_words_;
  Completion kernel_completion_;
  std::deque<OwnBlock> own_blocks_;
};

}  // namespace sampan::cuda
