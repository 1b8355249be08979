// A device on a GPU: its memory, its queues, and the streams that blocking copies use.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "backend/api/backend.h"
#include "backend/cuda/gpu.h"
#include "backend/cuda/paths/copy_path.h"
#include "backend/cuda/paths/dense_copies.h"
#include "backend/cuda/queue/cuda_queue.h"
#include "backend/cuda/queue/hold_watch.h"
#include "backend/cuda/queue/task_launch.h"
#include "backend/cuda/staging/pageable_copies.h"

namespace sampan::cuda {

/// Memory that first releases the blocks of completed copies, if it reports its free size or has too little.
/// Thread-safe.
class SweptMemory final : public MemorySource {
 public:
  /// `prepare` runs on each new block; null: nothing does. `dense` has buffers that count as free, because it
  /// gives them back when memory is missing; null: there are none.
  SweptMemory(ReservedMemory& memory, std::function<void()> sweep,
              std::function<Status(const MemoryBlock&)> prepare = nullptr, DenseCopies* dense = nullptr)
      : memory_(memory), sweep_(std::move(sweep)), prepare_(std::move(prepare)), dense_(dense) {}

  Result<MemoryBlock> Allocate(std::size_t bytes, Pages pages) override;
  void Free(const MemoryBlock& block) noexcept override { memory_.Free(block); }
  MemoryInfo Info() const override;
  std::size_t gap_bytes() const override { return memory_.gap_bytes(); }
  Result<MemoryFile> FileOf(const MemoryBlock& block) const override { return memory_.FileOf(block); }
  void Hide(const MemoryBlock& block) override { memory_.Hide(block); }
  bool Owns(std::uintptr_t address) const override { return memory_.Owns(address); }

 private:
  Result<MemoryBlock> TakeBlock(std::size_t bytes, Pages pages);

  ReservedMemory& memory_;
  const std::function<void()> sweep_;
  const std::function<Status(const MemoryBlock&)> prepare_;
  DenseCopies* const dense_;
};

/// The parts of a device. The backend owns the rest.
struct CudaDeviceParts {
  Gpu& gpu;
  std::unique_ptr<ReservedMemory> memory;
  ReservedMemory& pinned_memory;
  const CopyPaths& paths;
  HoldWatch& watch;
  std::optional<std::byte> fresh_byte;  ///< fills new memory
  FaultPlan& faults;
  std::function<void()> sweep;  ///< retires completed tasks on all devices
};

/// Thread-safe. Lives as long as the backend.
class CudaDevice final : public BackendDevice {
 public:
  explicit CudaDevice(CudaDeviceParts parts);

  MemorySource& memory() override { return swept_memory_; }
  Result<std::shared_ptr<Queue>> CreateQueue(const QueueOptions& options) override;
  Status RunNow(Task task) override;
  Result<std::uint64_t> LoadWord(const std::byte* word) override;

  Gpu& gpu() { return parts_.gpu; }
  ReservedMemory& own_memory() { return *parts_.memory; }
  void Sweep();
  /// Wakes all queues after the GPU was lost.
  void WakeQueues();
  /// Frees idle streams and buffers, which hold uses of the context.
  void DropIdle();

 private:
  /// A stream for blocking copies.
  struct Lane {
    std::unique_ptr<TaskLauncher> launcher;
    std::uint64_t last_sequence = 0;
  };
  LaunchSite Site() { return {parts_.gpu, *parts_.memory, parts_.pinned_memory, parts_.paths, &dense_}; }
  std::vector<std::shared_ptr<CudaQueue>> Queues();
  // The caller must have a use of the context.
  Result<Lane> TakeLane();
  Status RunOnLane(Task& task);
  /// Into pageable memory, by the driver.
  Status CopyOutOfDevice(const Segment& segment);
  Status FillFresh(const MemoryBlock& block);

  CudaDeviceParts parts_;
  DenseCopies dense_;
  SweptMemory swept_memory_;
  PageableCopies pageable_;
  std::mutex mutex_;
  std::vector<std::weak_ptr<CudaQueue>> queues_;
  std::vector<Lane> idle_lanes_;
};

}  // namespace sampan::cuda
