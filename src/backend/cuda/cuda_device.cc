// A device on a GPU: its memory, its queues, and the streams that blocking copies use.
#include "backend/cuda/cuda_device.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "backend/api/task_memory.h"
#include "backend/cuda/paths/copy_ends.h"

namespace sampan::cuda {
namespace {

/// The calling thread executes copies and fills of host memory. Returns nothing for other tasks.
std::optional<Status> TryOnHost(const Task& task) {
  if (const auto* fill = std::get_if<FillTask>(&task); fill != nullptr && !OnDevice(fill->memory)) {
    if (Status live = CheckLive(fill->memory); !live.ok()) return live;
    constexpr std::size_t kWord = sizeof(fill->pattern);
    for (std::size_t done = 0; done < fill->bytes; done += kWord)
      std::memcpy(fill->dst + done, &fill->pattern, std::min(kWord, fill->bytes - done));
    return Status();
  }
  if (const auto* copy = std::get_if<CopyTask>(&task);
      copy != nullptr && !OnDevice(copy->dst) && !OnDevice(copy->src)) {
    if (Status live = CheckLive(copy->dst, copy->src); !live.ok()) return live;
    std::memmove(copy->segment.dst, copy->segment.src, copy->segment.bytes);
    return Status();
  }
  return std::nullopt;
}

}  // namespace

Result<MemoryBlock> SweptMemory::Allocate(std::size_t bytes, Pages pages) {
  auto block = TakeBlock(bytes, pages);
  if (!block.ok() || !prepare_) return block;
  Status prepared = prepare_(*block);
  if (prepared.ok()) return block;
  memory_.Free(*block);
  return prepared;
}

Result<MemoryBlock> SweptMemory::TakeBlock(std::size_t bytes, Pages pages) {
  auto block = memory_.Allocate(bytes, pages);
  if (block.ok() || block.code() != Code::kMemoryAllocation) return block;
  const std::size_t free_before = memory_.Info().free_bytes;
  sweep_();
  if (dense_ != nullptr) dense_->DropIdle();
  return memory_.Info().free_bytes > free_before ? memory_.Allocate(bytes, pages) : std::move(block);
}

MemoryInfo SweptMemory::Info() const {
  sweep_();
  MemoryInfo info = memory_.Info();
  if (dense_ != nullptr) info.free_bytes += dense_->held_bytes();
  return info;
}

CudaDevice::CudaDevice(CudaDeviceParts parts)
    : parts_(std::move(parts)),
      dense_(parts_.gpu, *parts_.memory, parts_.paths),
      swept_memory_(*parts_.memory, parts_.sweep,
                    parts_.fresh_byte ? [this](const MemoryBlock& block) { return FillFresh(block); }
                                      : std::function<Status(const MemoryBlock&)>(),
                    &dense_),
      pageable_(Site()) {}

Status CudaDevice::FillFresh(const MemoryBlock& block) {
  auto use = parts_.gpu.Use();
  if (!use.ok()) return use.TakeStatus();
  const ContextScope scope(parts_.gpu);
  const Driver& driver = parts_.gpu.driver();
  CuResult result = driver.FillBytes(block.address, std::to_integer<unsigned char>(*parts_.fresh_byte),
                                     block.bytes, cu::kThreadStream);
  if (result == cu::kSuccess) result = driver.StreamSynchronize(cu::kThreadStream);
  return parts_.gpu.Check(result, "filling fresh memory");
}

Result<std::shared_ptr<Queue>> CudaDevice::CreateQueue(const QueueOptions& options) {
  parts_.watch.Start();
  auto queue = CudaQueue::Create(Site(), options, parts_.watch, parts_.faults);
  if (!queue.ok()) return queue.TakeStatus();
  const std::lock_guard lock(mutex_);
  std::erase_if(queues_, [](const auto& each) { return each.expired(); });
  queues_.push_back(*queue);
  return std::shared_ptr<Queue>(std::move(*queue));
}

std::vector<std::shared_ptr<CudaQueue>> CudaDevice::Queues() {
  std::vector<std::shared_ptr<CudaQueue>> queues;
  const std::lock_guard lock(mutex_);
  for (const auto& weak : queues_) {
    if (auto queue = weak.lock()) queues.push_back(std::move(queue));
  }
  return queues;
}

void CudaDevice::Sweep() {
  for (const auto& queue : Queues())
    queue->Sweep();
}

void CudaDevice::WakeQueues() {
  const std::lock_guard lock(mutex_);
  for (const auto& queue : queues_)
    parts_.watch.Wake(queue);
}

void CudaDevice::DropIdle() {
  std::vector<Lane> lanes;
  {
    const std::lock_guard lock(mutex_);
    lanes.swap(idle_lanes_);
  }
  lanes.clear();
  pageable_.DropIdle();
  dense_.DropIdle();
}

Result<CudaDevice::Lane> CudaDevice::TakeLane() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_lanes_.empty()) {
      Lane lane = std::move(idle_lanes_.back());
      idle_lanes_.pop_back();
      return lane;
    }
  }
  auto launcher = TaskLauncher::Create(Site());
  if (!launcher.ok()) return launcher.TakeStatus();
  return Lane{std::move(*launcher)};
}

Status CudaDevice::RunOnLane(Task& task) {
  auto lane = TakeLane();
  if (!lane.ok()) return lane.TakeStatus();
  const std::uint64_t sequence = ++lane->last_sequence;
  Status status = lane->launcher->Launch(task, sequence);
  const ContextScope scope(parts_.gpu);
  if (!status.ok() || !lane->launcher->CompletionOf(sequence).SpinUntilDone()) {
    // Also after a failure: part of the task may be running.
    Status waited = parts_.gpu.Check(parts_.gpu.driver().StreamSynchronize(lane->launcher->stream()),
                                     "waiting for a copy");
    if (status.ok()) status = std::move(waited);
  }
  if (parts_.gpu.lost()) return parts_.gpu.LostStatus();
  std::vector<DeviceFailure> failures;
  lane->launcher->Retire(sequence, failures);
  if (status.ok() && !failures.empty()) status = std::move(failures.front().status);
  const std::lock_guard lock(mutex_);  // so that DropIdle finds a lane that is kept
  if (!parts_.gpu.lost()) idle_lanes_.push_back(std::move(*lane));
  return status;
}

Status CudaDevice::CopyOutOfDevice(const Segment& segment) {
  const ContextScope scope(parts_.gpu);
  return parts_.gpu.Check(parts_.gpu.driver().CopyOutBlocking(
                              segment.dst, reinterpret_cast<CuAddress>(segment.src), segment.bytes),
                          "cuMemcpyDtoH");
}

Status CudaDevice::RunNow(Task submitted) {
  if (parts_.faults.ShouldFail(FaultKind::kQueue)) {
    return OrderedFailure("the copy could not be started");
  }
  auto* const multi = std::get_if<MultiAllocationTask>(&submitted);
  if (multi != nullptr) {
    if (Status live = CheckLive(*multi); !live.ok()) return live;
  }
  Task& task = multi != nullptr ? multi->content->task : submitted;
  if (auto done = TryOnHost(task)) return std::move(*done);
  auto use = parts_.gpu.Use();
  if (!use.ok()) return use.TakeStatus();
  if (auto staged = std::visit([&](const auto& body) { return pageable_.TryCopy(body); }, task))
    return std::move(*staged);
  const auto* copy = std::get_if<CopyTask>(&task);
  if (copy != nullptr && !copy->dst) {
    if (Status live = CheckLive(copy->dst, copy->src); !live.ok()) return live;
    return CopyOutOfDevice(copy->segment);
  }
  Status done = RunOnLane(task);
  // The driver's asynchronous copy refuses pageable memory of which a part is registered.
  if (done.code() == Code::kParamInvalid && copy != nullptr && !copy->src) {
    if (auto staged = pageable_.TryCopy(*copy, true)) return std::move(*staged);
  }
  return done;
}

Result<std::uint64_t> CudaDevice::LoadWord(const std::byte* word) {
  auto use = parts_.gpu.Use();
  if (!use.ok()) return use.TakeStatus();
  const ContextScope scope(parts_.gpu);
  std::uint64_t value = 0;
  if (Status read = parts_.gpu.Check(
          parts_.gpu.driver().CopyOutBlocking(&value, reinterpret_cast<CuAddress>(word), sizeof(value)),
          "cuMemcpyDtoH");
      !read.ok()) {
    return read;
  }
  return value;
}

}  // namespace sampan::cuda
