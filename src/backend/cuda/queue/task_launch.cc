// Launches tasks that move bytes, in the order of one CUDA stream.
#include "backend/cuda/queue/task_launch.h"

#include <utility>

#include "backend/api/task_memory.h"
#include "backend/cuda/paths/path_note.h"
#include "backend/cuda/paths/row_copies.h"

namespace sampan::cuda {

TaskLauncher::TaskLauncher(std::unique_ptr<CudaStream> stream)
    : stream_(std::move(stream)), batches_(*stream_), indirect_(*stream_) {}

Result<std::unique_ptr<TaskLauncher>> TaskLauncher::Create(const LaunchSite& site) {
  auto stream = CudaStream::Create(site);
  if (!stream.ok()) return stream.TakeStatus();
  return std::unique_ptr<TaskLauncher>(new TaskLauncher(std::move(*stream)));
}

TaskLauncher::~TaskLauncher() {
  Abandon();
}

std::uint64_t TaskLauncher::BusyUntil(const Task& task) const {
  if (const auto* batch = std::get_if<BatchTask>(&task)) return batches_.BusyUntil(*batch);
  const auto* const multi = std::get_if<MultiAllocationTask>(&task);
  return multi != nullptr ? BusyUntil(multi->content->task) : 0;
}

bool TaskLauncher::CanFailOnDevice(const Task& task) {
  const auto* const multi = std::get_if<MultiAllocationTask>(&task);
  return std::holds_alternative<IndirectTask>(multi != nullptr ? multi->content->task : task);
}

Status TaskLauncher::Launch(Task& task, std::uint64_t sequence) {
  if (auto* copy = std::get_if<CopyTask>(&task); copy != nullptr && IsOverLink(copy->direction)) [[likely]] {
    if (Status live = CheckLive(copy->dst, copy->src); !live.ok()) return live;
    return stream_->CopyOverLink(copy->segment, copy->direction);
  }
  const ContextScope scope(gpu());
  auto* const multi = std::get_if<MultiAllocationTask>(&task);
  if (multi != nullptr) {
    if (Status live = CheckLive(*multi); !live.ok()) return live;
  }
  Task& one = multi != nullptr ? multi->content->task : task;
  auto* const batch = std::get_if<BatchTask>(&one);
  if (batch == nullptr) return std::visit([&](auto& body) { return LaunchBody(body, sequence); }, one);
  if (Status live = CheckLive(*batch); !live.ok()) return live;
  if (batch->segments.size() == 1 && batch->captured == nullptr)
    return stream_->CopyOverLink(batch->segments.front(), batch->direction);
  return batches_.Launch(*batch, sequence);
}

/// Inside a device, between devices, on an attached host, or in several allocations.
Status TaskLauncher::LaunchBody(CopyTask& task, std::uint64_t sequence) {
  if (Status live = CheckLive(task.dst, task.src); !live.ok()) return live;
  if (!OneDevice(task.dst, task.src) || !KernelReaches(stream_->site().gpu, task.dst))
    return stream_->Copy(task.segment, task.direction, false);
  const PathChoice choice = stream_->site().paths.ForDeviceCopy(task.segment.bytes);
  NotePath(task.direction, choice, task.segment.bytes, " bytes");
  if (choice.path == CopyPath::kKernel)
    return batches_.CopyInline({&task.segment, 1}, batches_.ShapeOnDevice(task.segment.bytes), sequence);
  return stream_->Copy(task.segment, task.direction, true);
}

Status TaskLauncher::LaunchBody(RowsTask& task, std::uint64_t) {
  if (Status live = CheckLive(task.dst, task.src); !live.ok()) return live;
  const Rows& rows = task.rows;
  const bool reachable = KernelReaches(gpu(), task.dst) && KernelReaches(gpu(), task.src);
  const PathChoice choice = ChooseRows(stream_->site(), rows, task.direction, reachable);
  NotePath(task.direction, choice, rows.height, " rows of ", rows.width, " bytes");
  if (choice.path != CopyPath::kKernel) return CopyRowsByDriver(*stream_, rows, task.direction);
  RowsKernel kernel(stream_->site(), rows, task.direction);
  return stream_->Launch(kernel.function(), kernel.grid(), kernel.arguments());
}

Status TaskLauncher::LaunchBody(FillTask& task, std::uint64_t) {
  if (Status live = CheckLive(task.memory); !live.ok()) return live;
  const Driver& driver = stream_->driver();
  const auto byte = static_cast<unsigned char>(task.pattern);
  if (task.pattern == byte * 0x01010101U)
    return gpu().Check(driver.FillBytes(AddressOf(task.dst), byte, task.bytes, stream()), "cuMemsetD8Async");
  constexpr std::size_t kWord = sizeof(task.pattern);
  return gpu().Check(driver.FillWords(AddressOf(task.dst), task.pattern, task.bytes / kWord, stream()),
                     "cuMemsetD32Async");
}

Status TaskLauncher::LaunchBody(IndirectTask& task, std::uint64_t sequence) {
  const auto& memory = task.content->operands_memory;
  if (Status live = CheckLive(memory[0], memory[1]); !live.ok()) return live;
  return indirect_.Launch(*task.content, sequence);
}

template <typename Other>
Status TaskLauncher::LaunchBody(Other&, std::uint64_t) {
  return {Code::kInternalError, "a task that only a queue can execute"};
}

void TaskLauncher::Abandon() {
  indirect_.Abandon();
  stream_->Abandon();
}

}  // namespace sampan::cuda
