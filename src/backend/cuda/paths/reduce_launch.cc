// Launches reducing copies and value words.
#include <array>

#include "backend/api/task_memory.h"
#include "backend/cuda/paths/copy_ends.h"
#include "backend/cuda/queue/task_launch.h"
#include "base/error/text.h"
#include "observe/hooks.h"

namespace sampan::cuda {

Status TaskLauncher::LaunchBody(ReduceTask& task, std::uint64_t) {
  if (Status live = CheckLive(task.dst, task.src); !live.ok()) return live;
  for (const AllocationUse* use : {&task.dst, &task.src}) {
    if (KernelReaches(gpu(), *use)) continue;
    return {Code::kFeatureNotSupport,
            Text("a reduction needs peer access between GPUs, and ", gpu().facts().name, " ",
                 gpu().facts().ordinal, " has none to ", Describe(*use->get()))};
  }
  auto kernel = gpu().ReduceKernel();
  if (!kernel.ok()) return kernel.TakeStatus();
  observe::NotePath(observe::Path::kKernel, "only a kernel reduces");
  ReduceArgument argument{reinterpret_cast<CuAddress>(task.segment.dst),
                          reinterpret_cast<CuAddress>(task.segment.src), task.segment.bytes,
                          static_cast<unsigned>(task.element), static_cast<unsigned>(task.operation)};
  std::array<void*, 1> arguments = {&argument};
  return stream_->Launch(*kernel, {stream_->site().paths.BlocksForBytes(task.segment.bytes)}, arguments);
}

Status TaskLauncher::LaunchBody(WordTask& task, std::uint64_t) {
  if (Status live = CheckLive(task.memory); !live.ok()) return live;
  const auto address = reinterpret_cast<CuAddress>(task.word);
  return gpu().Check(stream_->driver().StreamWriteWord(stream(), address, task.value, 0),
                     "cuStreamWriteValue64");
}

}  // namespace sampan::cuda
