// Hands tasks that move bytes to the driver, in the order of one CUDA stream.
#include "backend/cuda/task_launch.h"

#include <utility>

#include "backend/api/task_memory.h"
#include "backend/cuda/path_note.h"
#include "backend/cuda/row_copies.h"

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
  if (const auto* batch = std::get_if<BatchTask>(&task)) return batches_.BusyUntil(*batch->content);
  const auto* const span = std::get_if<SpanTask>(&task);
  return span != nullptr ? BusyUntil(span->content->task) : 0;
}

Status TaskLauncher::Launch(Task& task, std::uint64_t value) {
  const ContextScope scope(gpu());
  return std::visit([&](auto& body) { return LaunchBody(body, value); }, task);
}

CuResult TaskLauncher::CopyInContext(const Segment& segment, bool to_device) {
  const ContextScope scope(gpu());
  return stream_->CopyOverLink(segment, to_device);
}

Status TaskLauncher::LaunchFew(std::span<const Segment> segments, const AllocationUse& dst,
                               const AllocationUse& src, std::uint64_t value) {
  const ContextScope scope(gpu());
  if (segments.size() == 1) return LaunchLinear(segments.front(), dst, src, value);
  return batches_.LaunchFew(segments, DirectionOf(OnDevice(dst), OnDevice(src)), value);
}

Status TaskLauncher::LaunchLinear(const Segment& segment, const AllocationUse& dst, const AllocationUse& src,
                                  std::uint64_t value) {
  const Direction direction = DirectionOf(OnDevice(dst), OnDevice(src));
  if (!OneDevice(dst, src) || !KernelReaches(stream_->site().gpu, dst))
    return stream_->Copy(segment, direction, false);
  const PathChoice choice = stream_->site().paths.ForWithin(segment.bytes);
  NotePath(direction, choice, segment.bytes, " bytes");
  if (choice.path == CopyPath::kKernel) return batches_.CopyWithin(segment, value);
  return stream_->Copy(segment, direction, true);
}

Status TaskLauncher::LaunchBody(CopyTask& task, std::uint64_t value) {
  if (Status live = CheckLive(task.dst, task.src); !live.ok()) return live;
  return LaunchLinear(task.segment, task.dst, task.src, value);
}

Status TaskLauncher::LaunchBody(RowsTask& task, std::uint64_t) {
  if (Status live = CheckLive(task.dst, task.src); !live.ok()) return live;
  return LaunchRows(*stream_, task);
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

Status TaskLauncher::LaunchBody(BatchTask& task, std::uint64_t value) {
  for (const AllocationUse& use : task.content->memory) {
    if (Status live = CheckLive(use); !live.ok()) return live;
  }
  return batches_.Launch(*task.content, value);
}

Status TaskLauncher::LaunchBody(IndirectTask& task, std::uint64_t value) {
  const auto& memory = task.content->operands_memory;
  if (Status live = CheckLive(memory[0], memory[1]); !live.ok()) return live;
  return indirect_.Launch(*task.content, value);
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
