// Copies runs of entries that are adjacent on the host: gathered or scattered on the device, and one engine
// copy for each part.
#include "backend/cuda/paths/dense_copies.h"

#include <utility>

#include "backend/cuda/paths/copy_ends.h"
#include "backend/cuda/paths/kernel_shape.h"
#include "base/containers/round.h"
#include "observe/hooks.h"

namespace sampan::cuda {

DenseCopies::Lane::~Lane() {
  if (!gpu.lost()) {
    const ContextScope scope(gpu);
    const Driver& driver = gpu.driver();
    if (second != nullptr) driver.StreamSynchronize(second);
    if (last != nullptr) driver.EventSynchronize(passed->get());  // its engine copies use the buffers
    if (second != nullptr) driver.StreamDestroy(second);
  }
  source.Free(block);
}

Status DenseCopies::MakeLane(Way& way) {
  auto use = gpu_.Use();
  if (!use.ok()) return use.TakeStatus();
  auto block = memory_.Allocate(2 * kBufferBytes, Pages::kHuge);
  if (!block.ok()) return block.TakeStatus();
  memory_.Hide(*block);  // no descriptor may name it
  auto lane = std::make_unique<Lane>(std::move(*use), gpu_, memory_, *block);
  lane->buffers[0].memory = block->address;
  lane->buffers[1].memory = block->address + kBufferBytes;
  const CuResult created =
      gpu_.driver().StreamCreate(&lane->second, cu::kStreamNonBlocking, cu::kHighestPriority);
  if (Status made = gpu_.Check(created, "cuStreamCreate"); !made.ok()) return made;
  for (std::shared_ptr<GpuEvent>* event :
       {&lane->begun, &lane->passed, &lane->buffers[0].filled, &lane->buffers[0].emptied,
        &lane->buffers[1].filled, &lane->buffers[1].emptied}) {
    auto taken = gpu_.TakeEvent();
    if (!taken.ok()) return taken.TakeStatus();
    *event = std::move(*taken);
  }
  way.lane = std::move(lane);
  held_bytes_ += block->bytes;
  return {};
}

bool DenseCopies::Prepare(Direction direction) {
  Way& way = WayOf(direction);
  const std::lock_guard lock(way.mutex);
  if (way.lane != nullptr) return true;
  if (way.failed_at == memory_.version()) return false;
  const bool made = MakeLane(way).ok();
  if (!made) way.failed_at = memory_.version();
  return made;
}

void DenseCopies::DropIdle() {
  for (Way& way : ways_) {
    const std::lock_guard lock(way.mutex);
    way.failed_at.reset();
    if (way.lane == nullptr) continue;
    held_bytes_ -= way.lane->block.bytes;
    way.lane.reset();
  }
}

Status DenseCopies::Record(const std::shared_ptr<GpuEvent>& event, CuStream on) {
  return gpu_.Check(gpu_.driver().EventRecord(event->get(), on), "cuEventRecord");
}

Status DenseCopies::Await(const std::shared_ptr<GpuEvent>& event, CuStream on) {
  return gpu_.Check(gpu_.driver().StreamWaitEvent(on, event->get(), 0), "cuStreamWaitEvent");
}

Status DenseCopies::Order(const std::shared_ptr<GpuEvent>& event, CuStream first, CuStream then) {
  Status recorded = Record(event, first);
  return recorded.ok() ? Await(event, then) : std::move(recorded);
}

Status DenseCopies::Copy(CudaStream& stream, std::span<const Segment> segments,
                         std::span<const SegmentRange> runs, Direction direction) {
  Way& way = WayOf(direction);
  const std::lock_guard lock(way.mutex);
  if (way.lane == nullptr) {  // dropped since it was prepared
    if (Status made = MakeLane(way); !made.ok()) return made;
  }
  Lane& lane = *way.lane;
  CutDenseRuns(segments, runs, direction, kParts, lane.parts);
  const bool out = direction == Direction::kDeviceToHost;
  // One stream fills a buffer, the other one empties it.
  const CuStream filling = out ? lane.second : stream.get(), emptying = out ? stream.get() : lane.second;
  Status status;
  if (lane.last != nullptr && lane.last != stream.get()) status = Await(lane.passed, stream.get());
  // The second stream begins where the first one stands, so both buffers are free.
  if (status.ok()) status = Order(lane.begun, stream.get(), lane.second);
  for (std::size_t i = 0; status.ok() && i < lane.parts.size(); ++i) {
    const SegmentRange& range = lane.parts[i];
    const std::span<const Segment> part = segments.subspan(range.first, range.count);
    Buffer& buffer = lane.buffers[i % lane.buffers.size()];
    if (i >= lane.buffers.size()) status = Await(buffer.emptied, filling);
    if (out) {
      std::byte* const to = part.front().dst;
      const CuAddress staged = StagedAt(buffer, to);
      if (status.ok()) status = Rearrange(lane, part, range.bytes, staged - AddressOf(to), 0);
      if (status.ok()) status = Order(buffer.filled, filling, emptying);
      if (status.ok())
        status =
            stream.CopyOverLink({to, reinterpret_cast<const std::byte*>(staged), range.bytes}, direction);
    } else {
      const std::byte* const from = part.front().src;
      const CuAddress staged = StagedAt(buffer, from);
      if (status.ok())
        status = stream.CopyOverLink({reinterpret_cast<std::byte*>(staged), from, range.bytes}, direction);
      if (status.ok()) status = Order(buffer.filled, filling, emptying);
      if (status.ok()) status = Rearrange(lane, part, range.bytes, 0, staged - AddressOf(from));
    }
    if (status.ok()) status = Record(buffer.emptied, emptying);
  }
  // The stream goes on when the last part is scattered. The second stream is in order.
  if (status.ok() && !out)
    status = Await(lane.buffers[(lane.parts.size() - 1) % lane.buffers.size()].emptied, stream.get());
  if (!status.ok()) gpu_.driver().StreamSynchronize(lane.second);  // nothing may be written behind a failure
  lane.last = stream.get();
  Status recorded = Record(lane.passed, stream.get());
  return status.ok() ? std::move(recorded) : std::move(status);
}

CuAddress DenseCopies::StagedAt(const Buffer& buffer, const std::byte* on_host) {
  return buffer.memory + AddressOf(on_host) % kVectorBytes;
}

Status DenseCopies::Rearrange(const Lane& lane, std::span<const Segment> part, std::size_t bytes,
                              CuAddress dst_shift, CuAddress src_shift) {
  CuAddress pieces = AddressOf(part.data());
  auto count = static_cast<unsigned>(part.size());
  unsigned team_bits = TeamBitsFor(bytes / part.size());
  CompletionArgument no_completion{};
  std::array<void*, 6> arguments = {&pieces, &count, &team_bits, &dst_shift, &src_shift, &no_completion};
  const std::size_t warps_each = kLinkThreads >> kMaxTeamBits;
  const unsigned blocks = paths_.BlocksForGather(DivideUp(part.size(), warps_each));
  observe::NoteKernel(blocks);
  return gpu_.Check(gpu_.driver().LaunchKernel(gpu_.kernels().pieces, blocks, 1, 1, kLinkThreads, 1, 1, 0,
                                               lane.second, arguments.data(), nullptr),
                    "launching a kernel");
}

}  // namespace sampan::cuda
