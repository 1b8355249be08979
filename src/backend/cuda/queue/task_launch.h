// Launches tasks that move bytes, in the order of one CUDA stream.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backend/api/task.h"
#include "backend/cuda/paths/batch_copies.h"
#include "backend/cuda/paths/copy_ends.h"
#include "backend/cuda/paths/indirect_copies.h"
#include "backend/cuda/queue/cuda_stream.h"

namespace sampan::cuda {

/// Owns a CUDA stream and what launched tasks need until they complete. Not thread-safe: its queue's lock
/// guards it. Sequence numbers only grow.
class TaskLauncher {
 public:
  static Result<std::unique_ptr<TaskLauncher>> Create(const LaunchSite& site);
  ~TaskLauncher();
  TaskLauncher(const TaskLauncher&) = delete;
  TaskLauncher& operator=(const TaskLauncher&) = delete;

  CuStream stream() const { return stream_->get(); }
  Gpu& gpu() const { return stream_->gpu(); }

  /// Returns the task that must complete before this task can be launched; 0 if it can be launched now.
  std::uint64_t BusyUntil(const Task& task) const;
  /// Returns true if the task can fail after it was launched, because the GPU reads its operands.
  static bool CanFailOnDevice(const Task& task);
  /// Launches copies and fills; refuses all other tasks. What the task refers to must stay alive until it is
  /// retired.
  Status Launch(Task& task, std::uint64_t sequence);

  /// See CudaStream.
  const Completion& kernel_completion() const { return stream_->kernel_completion(); }
  Completion WriteCompletion(std::uint64_t sequence) { return stream_->WriteCompletion(sequence); }
  /// The completion of the last launched task.
  Completion CompletionOf(std::uint64_t sequence) {
    return kernel_completion().sequence >= sequence ? kernel_completion() : WriteCompletion(sequence);
  }

  /// Tasks up to `done` are completed. Adds those that failed on the device.
  void Retire(std::uint64_t done, std::vector<DeviceFailure>& failures) {
    if (!indirect_.idle()) indirect_.Retire(done, failures);
    if (stream_->KeepsMemory()) stream_->Retire(done);
  }
  /// Called when the GPU is lost: no launched task is running.
  void Abandon();

 private:
  explicit TaskLauncher(std::unique_ptr<CudaStream> stream);

  // For each kind of task but batches, which Launch does itself.
  Status LaunchBody(CopyTask& task, std::uint64_t sequence);
  Status LaunchBody(RowsTask& task, std::uint64_t sequence);
  Status LaunchBody(FillTask& task, std::uint64_t sequence);
  Status LaunchBody(IndirectTask& task, std::uint64_t sequence);
  Status LaunchBody(ReduceTask& task, std::uint64_t sequence);
  Status LaunchBody(WordTask& task, std::uint64_t sequence);
  template <typename Other>
  Status LaunchBody(Other&, std::uint64_t);

  const std::unique_ptr<CudaStream> stream_;
  BatchCopies batches_;
  IndirectCopies indirect_;
};

}  // namespace sampan::cuda
