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
  Status status =
      direction == Direction::kHostToDevice ? CopyIn(parts, next, stream) : CopyOut(parts, next, stream);
  if (status.ok()) return status;
  next.store(parts.count());
  // Reports the first failure, not those of the remaining copies.
  static_cast<void>(gpu_.Check(gpu_.driver().StreamSynchronize(stream.cuda->get()), "ending a staged copy"));
  return status;
}

Status StagingWorker::Launch(const StagedParts& parts, std::size_t part, std::size_t at,
                             StagingStream& stream) {
  if (Status launched = parts.Launch(part, buffers_[at], stream); !launched.ok()) return launched;
  completions_[at] = part + 1 == parts.count() ? stream.WriteCompletion() : Completion{};
  if (completions_[at].count != 0) return {};
  return gpu_.Check(gpu_.driver().EventRecord(events_[at], stream.cuda->get()), "cuEventRecord");
}

Status StagingWorker::Wait(std::size_t at, StagingStream& stream) {
  if (completions_[at].SpinUntilDone()) return {};
  return gpu_.Check(completions_[at].count != 0 ? gpu_.driver().StreamSynchronize(stream.cuda->get())
                                                : gpu_.driver().EventSynchronize(events_[at]),
                    "a staged copy of pageable memory");
}

Status StagingWorker::CopyIn(const StagedParts& parts, std::atomic<std::size_t>& next,
                             StagingStream& stream) {
  std::size_t turn = 0;
  for (std::size_t part = next.fetch_add(1); part < parts.count(); part = next.fetch_add(1), ++turn) {
    const std::size_t at = turn % kBuffers;
    if (turn >= kBuffers) {
      if (Status over = Wait(at, stream); !over.ok()) return over;
    }
    parts.CopyOnHost(part, buffers_[at]);
    if (Status launched = Launch(parts, part, at, stream); !launched.ok()) return launched;
  }
  return turn == 0 ? Status() : Wait((turn - 1) % kBuffers, stream);
}

Status StagingWorker::CopyOut(const StagedParts& parts, std::atomic<std::size_t>& next,
                              StagingStream& stream) {
  std::size_t under_way[kBuffers];
  std::size_t first = 0, last = 0;  // pending turns: [first, last)
  for (;;) {
    for (std::size_t part; last - first < kBuffers && (part = next.fetch_add(1)) < parts.count(); ++last) {
      under_way[last % kBuffers] = part;
      if (Status launched = Launch(parts, part, last % kBuffers, stream); !launched.ok()) return launched;
    }
    if (first == last) return {};
    if (Status over = Wait(first % kBuffers, stream); !over.ok()) return over;
    parts.CopyOnHost(under_way[first % kBuffers], buffers_[first % kBuffers]);
    ++first;
  }
}

}  // namespace sampan::cuda
