// Copies runs of entries that are adjacent on the host: gathered or scattered on the device, and one engine
// copy for each part.
#include "backend/cuda/paths/dense_copies.h"

#include "backend/cuda/paths/copy_ends.h"
#include "backend/cuda/paths/kernel_shape.h"
#include "base/containers/round.h"

namespace sampan::cuda {

Result<std::unique_ptr<DenseCopies>> DenseCopies::Create(CudaStream& stream) {
  auto use = stream.gpu().Use();
  if (!use.ok()) return use.TakeStatus();
  std::unique_ptr<DenseCopies> copies(new DenseCopies(stream, std::move(*use)));
  if (Status prepared = copies->Prepare(); !prepared.ok()) return prepared;
  return copies;
}

Status DenseCopies::Prepare() {
  const Driver& driver = stream_.driver();
  Gpu& gpu = stream_.gpu();
  for (Buffer& buffer : buffers_) {
    if (Status made = gpu.Check(driver.MemAlloc(&buffer.memory, kParts.longest + kVectorBytes), "cuMemAlloc");
        !made.ok())
      return made;
  }
  const CuResult created = driver.StreamCreate(&second_, cu::kStreamNonBlocking, cu::kHighestPriority);
  if (Status made = gpu.Check(created, "cuStreamCreate"); !made.ok()) return made;
  for (std::shared_ptr<GpuEvent>* event :
       {&begun_, &buffers_[0].filled, &buffers_[0].emptied, &buffers_[1].filled, &buffers_[1].emptied}) {
    auto taken = gpu.TakeEvent();
    if (!taken.ok()) return taken.TakeStatus();
    *event = std::move(*taken);
  }
  return {};
}

DenseCopies::~DenseCopies() {
  if (stream_.gpu().lost()) return;  // gone with the context
  const ContextScope scope(stream_.gpu());
  const Driver& driver = stream_.driver();
  if (second_ != nullptr) {
    driver.StreamSynchronize(second_);
    driver.StreamSynchronize(stream_.get());  // its engine copies use the buffers
    driver.StreamDestroy(second_);
  }
  for (const Buffer& buffer : buffers_) {
    if (buffer.memory != 0) driver.MemFree(buffer.memory);
  }
}

Status DenseCopies::Record(const std::shared_ptr<GpuEvent>& event, CuStream on) {
  return stream_.gpu().Check(stream_.driver().EventRecord(event->get(), on), "cuEventRecord");
}

Status DenseCopies::Await(const std::shared_ptr<GpuEvent>& event, CuStream on) {
  return stream_.gpu().Check(stream_.driver().StreamWaitEvent(on, event->get(), 0), "cuStreamWaitEvent");
}

Status DenseCopies::Copy(std::span<const Segment> segments, std::span<const SegmentRange> runs,
                         Direction direction) {
  CutDenseRuns(segments, runs, direction, kParts, parts_);
  Status status = CopyParts(segments, direction);
  // Nothing may be written behind a failure.
  if (!status.ok()) stream_.driver().StreamSynchronize(second_);
  return status;
}

Status DenseCopies::CopyParts(std::span<const Segment> segments, Direction direction) {
  const bool out = direction == Direction::kDeviceToHost;
  // The second stream begins where the first one stands, so both buffers are free.
  if (Status status = Record(begun_, stream_.get()); !status.ok()) return status;
  if (Status status = Await(begun_, second_); !status.ok()) return status;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    Buffer& buffer = buffers_[i % buffers_.size()];
    const std::span<const Segment> part = segments.subspan(parts_[i].first, parts_[i].count);
    if (i >= buffers_.size()) {
      if (Status status = Await(buffer.emptied, out ? second_ : stream_.get()); !status.ok()) return status;
    }
    Status copied = out ? CopyOut(part, parts_[i].bytes, buffer) : CopyIn(part, parts_[i].bytes, buffer);
    if (!copied.ok()) return copied;
  }
  if (out) return {};
  // The stream goes on when the last part is scattered. The second stream is in order.
  return Await(buffers_[(parts_.size() - 1) % buffers_.size()].emptied, stream_.get());
}

Status DenseCopies::CopyOut(std::span<const Segment> part, std::size_t bytes, Buffer& buffer) {
  std::byte* const to = part.front().dst;
  const CuAddress staged = StagedAt(buffer, to);
  Status status = Rearrange(part, bytes, staged - AddressOf(to), 0);
  if (status.ok()) status = Record(buffer.filled, second_);
  if (status.ok()) status = Await(buffer.filled, stream_.get());
  if (status.ok())
    status = stream_.CopyOverLink({to, reinterpret_cast<const std::byte*>(staged), bytes},
                                  Direction::kDeviceToHost);
  if (status.ok()) status = Record(buffer.emptied, stream_.get());
  return status;
}

Status DenseCopies::CopyIn(std::span<const Segment> part, std::size_t bytes, Buffer& buffer) {
  const std::byte* const from = part.front().src;
  const CuAddress staged = StagedAt(buffer, from);
  Status status =
      stream_.CopyOverLink({reinterpret_cast<std::byte*>(staged), from, bytes}, Direction::kHostToDevice);
  if (status.ok()) status = Record(buffer.filled, stream_.get());
  if (status.ok()) status = Await(buffer.filled, second_);
  if (status.ok()) status = Rearrange(part, bytes, 0, staged - AddressOf(from));
  if (status.ok()) status = Record(buffer.emptied, second_);
  return status;
}

CuAddress DenseCopies::StagedAt(const Buffer& buffer, const std::byte* on_host) {
  return buffer.memory + AddressOf(on_host) % kVectorBytes;
}

Status DenseCopies::Rearrange(std::span<const Segment> part, std::size_t bytes, CuAddress dst_shift,
                              CuAddress src_shift) {
  CuAddress pieces = AddressOf(part.data());
  auto count = static_cast<unsigned>(part.size());
  unsigned team_bits = TeamBitsFor(bytes / part.size());
  CompletionArgument no_completion{};
  std::array<void*, 6> arguments = {&pieces, &count, &team_bits, &dst_shift, &src_shift, &no_completion};
  const std::size_t warps_each = kLinkThreads >> kMaxTeamBits;
  const unsigned blocks = stream_.site().paths.BlocksForGather(DivideUp(part.size(), warps_each));
  return stream_.gpu().Check(
      stream_.driver().LaunchKernel(stream_.gpu().kernels().pieces, blocks, 1, 1, kLinkThreads, 1, 1, 0,
                                    second_, arguments.data(), nullptr),
      "launching a kernel");
}

}  // namespace sampan::cuda
