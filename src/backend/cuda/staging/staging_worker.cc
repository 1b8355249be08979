// The pinned buffers of one thread that stages pageable memory, and the loop over parts.
#include "backend/cuda/staging/staging_worker.h"

#include <utility>

namespace sampan::cuda {

StagingWorker::StagingWorker(ContextUse use, const LaunchSite& site, std::size_t part_bytes,
                             const MemoryBlock& memory)
    : use_(std::move(use)), gpu_(site.gpu), pinned_(site.pinned_memory), memory_(memory) {
  auto* next = reinterpret_cast<std::byte*>(memory.address);
  for (StagingBuffer& buffer : buffers_) {
    buffer = {next, reinterpret_cast<PieceArgument*>(next + part_bytes)};
    next += part_bytes + StagingBuffer::kDescriptionBytes;
  }
}

Result<std::unique_ptr<StagingWorker>> StagingWorker::Create(const LaunchSite& site, std::size_t part_bytes) {
  auto use = site.gpu.Use();
  if (!use.ok()) return use.TakeStatus();
  auto memory =
      site.pinned_memory.Allocate(kBuffers * (part_bytes + StagingBuffer::kDescriptionBytes), Pages::kHuge);
  if (!memory.ok()) return memory.TakeStatus();
  std::unique_ptr<StagingWorker> worker(new StagingWorker(std::move(*use), site, part_bytes, *memory));
  for (CuEvent& event : worker->events_) {
    if (Status made =
            site.gpu.Check(site.gpu.driver().EventCreate(&event, cu::kEventWithoutTime), "cuEventCreate");
        !made.ok())
      return made;
  }
  return worker;
}

StagingWorker::~StagingWorker() {
  pinned_.Free(memory_);
  if (gpu_.lost()) return;  // the events are gone with the context
  const ContextScope scope(gpu_);
  for (const CuEvent event : events_) {
    if (event != nullptr) gpu_.driver().EventDestroy(event);
  }
}

Status StagingWorker::Work(const StagedParts& parts, Direction direction, std::atomic<std::size_t>& next,
                           StagingStream& stream) {
  const bool in = direction == Direction::kHostToDevice;
  std::size_t under_way[kBuffers];
  std::size_t first = 0, last = 0;  // pending turns: [first, last)
  for (;;) {
    for (std::size_t part; last - first < kBuffers && (part = next.fetch_add(1)) < parts.count(); ++last) {
      const std::size_t at = last % kBuffers;
      under_way[at] = part;
      if (in) parts.CopyOnHost(part, buffers_[at]);
      Status launched = parts.Launch(part, buffers_[at], stream);
      if (launched.ok()) launched = MarkEnd(part + 1 == parts.count(), at, stream);
      if (!launched.ok()) return Stop(std::move(launched), parts, next, stream);
    }
    if (first == last) return {};
    const std::size_t at = first++ % kBuffers;
    if (Status over = Wait(at, stream); !over.ok()) return Stop(std::move(over), parts, next, stream);
    if (!in) parts.CopyOnHost(under_way[at], buffers_[at]);
  }
}

Status StagingWorker::Stop(Status failure, const StagedParts& parts, std::atomic<std::size_t>& next,
                           StagingStream& stream) {
  next.store(parts.count());
  // Reports the first failure, not those of the remaining copies.
  static_cast<void>(gpu_.Check(gpu_.driver().StreamSynchronize(stream.cuda->get()), "ending a staged copy"));
  return failure;
}

Status StagingWorker::MarkEnd(bool is_last, std::size_t at, StagingStream& stream) {
  completions_[at] = is_last ? stream.WriteCompletion() : Completion{};
  if (completions_[at].count != 0) return {};
  return gpu_.Check(gpu_.driver().EventRecord(events_[at], stream.cuda->get()), "cuEventRecord");
}

Status StagingWorker::Wait(std::size_t at, StagingStream& stream) {
  if (completions_[at].SpinUntilDone()) return {};
  return gpu_.Check(completions_[at].count != 0 ? gpu_.driver().StreamSynchronize(stream.cuda->get())
                                                : gpu_.driver().EventSynchronize(events_[at]),
                    "a staged copy of pageable memory");
}

}  // namespace sampan::cuda
