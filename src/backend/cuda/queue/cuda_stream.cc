// A CUDA stream, and the pinned memory of its launched tasks.
#include "backend/cuda/queue/cuda_stream.h"

#include <algorithm>
#include <utility>

#include "backend/cuda/paths/copy_ends.h"
#include "base/error/assert.h"
#include "observe/hooks.h"

namespace sampan::cuda {

CudaStream::CudaStream(ContextUse use, const LaunchSite& site, CuStream stream)
    : use_(std::move(use)),
      site_(site),
      stream_(stream),
      graphs_(std::in_place, site.gpu.driver()),
      ring_(site.pinned_memory),
      completion_words_(site.pinned_memory) {}

Result<std::unique_ptr<CudaStream>> CudaStream::Create(const LaunchSite& site) {
  auto use = site.gpu.Use();
  if (!use.ok()) return use.TakeStatus();
  const ContextScope scope(site.gpu);
  CuStream stream = nullptr;
  // Our blocks take the place of blocks that end before waiting blocks of the program's kernels do.
  const CuResult made = site.gpu.driver().StreamCreate(&stream, cu::kStreamNonBlocking, cu::kHighestPriority);
  if (Status checked = site.gpu.Check(made, "cuStreamCreate"); !checked.ok()) return checked;
  return std::unique_ptr<CudaStream>(new CudaStream(std::move(*use), site, stream));
}

CudaStream::~CudaStream() {
  Abandon();
  if (site_.gpu.lost()) {  // the context destroyed everything
    graphs_->Forget();
    return;
  }
  const ContextScope scope(site_.gpu);
  driver().StreamSynchronize(stream_);  // a write of a completion word may be pending
  graphs_.reset();
  driver().StreamDestroy(stream_);
}

Status CudaStream::CopyOverLink(const Segment& segment, Direction direction) {
  SAMPAN_ASSERT(IsOverLink(direction));
  const bool to_device = direction == Direction::kHostToDevice;
  const auto copy = [&, segment] {
    const auto [dst, src, bytes] = segment;
    return to_device ? driver().CopyHostToDevice(AddressOf(dst), src, bytes, stream_)
                     : driver().CopyDeviceToHost(dst, AddressOf(src), bytes, stream_);
  };
  // The driver copies in the stream's context. It refuses only if no context is current, and trying costs
  // less than checking.
  CuResult copied = copy();
  if (copied != cu::kSuccess) [[unlikely]] {
    const ContextScope scope(gpu());
    copied = copy();
  }
  return gpu().Check(copied, to_device ? "cuMemcpyHtoDAsync" : "cuMemcpyDtoHAsync");
}

Status CudaStream::Copy(const Segment& segment, Direction direction, bool one_device) {
  const auto [dst, src, bytes] = segment;
  switch (direction) {
    case Direction::kHostToDevice:
    case Direction::kDeviceToHost:
      return CopyOverLink(segment, direction);
    case Direction::kDeviceToDevice:
      if (!one_device) break;
      return site_.gpu.Check(driver().CopyDeviceToDevice(AddressOf(dst), AddressOf(src), bytes, stream_),
                             "cuMemcpyDtoDAsync");
    case Direction::kHostToHost:
      break;
  }
  return site_.gpu.Check(driver().CopyAny(AddressOf(dst), AddressOf(src), bytes, stream_), "cuMemcpyAsync");
}

Status CudaStream::Launch(CuFunction kernel, const Grid& grid, std::span<void*> arguments,
                          const Completion& completion) {
  observe::NoteKernel(std::min(grid.blocks, site_.gpu.facts().multiprocessors));
  const CuKernelNode node{.function = kernel,
                          .blocks = {grid.blocks, 1, 1},
                          .threads = {grid.threads, 1, 1},
                          .shared_bytes = 0,
                          .arguments = arguments.data(),
                          .extra = nullptr,
                          .kernel = nullptr,
                          .context = nullptr};
  const CuGraphExec graph = graphs_->ReadyFor(node);
  const CuResult result = graph != nullptr ? driver().GraphLaunch(graph, stream_)
                                           : driver().LaunchKernel(kernel, grid.blocks, 1, 1, grid.threads, 1,
                                                                   1, 0, stream_, arguments.data(), nullptr);
  Status launched = site_.gpu.Check(result, "launching a kernel");
  if (launched.ok() && completion.count != 0) kernel_completion_ = completion;
  return launched;
}

Completion CudaStream::WriteCompletion(std::uint64_t sequence) {
  const Completion completion = completion_words_.ForStream(sequence);
  if (completion.count == 0) return {};
  const CuResult written = driver().StreamWriteWord(stream_, AddressOf(completion.words), sequence, 0);
  return written == cu::kSuccess ? completion : Completion{};
}

std::uint64_t CudaStream::BusyUntil(std::size_t bytes) const {
  return bytes <= PinnedRing::kBytes ? ring_.BusyUntil(bytes) : 0;
}

Result<std::byte*> CudaStream::TakePinned(std::size_t bytes, std::uint64_t sequence) {
  if (bytes <= PinnedRing::kBytes && ring_.BusyUntil(bytes) == 0) return ring_.Take(bytes, sequence);
  auto block = site_.pinned_memory.Allocate(bytes, Pages::kBySize);
  if (!block.ok()) return block.TakeStatus();
  own_blocks_.push_back({sequence, *block});
  return reinterpret_cast<std::byte*>(block->address);
}

void CudaStream::Retire(std::uint64_t done) {
  for (; !own_blocks_.empty() && own_blocks_.front().sequence <= done; own_blocks_.pop_front())
    site_.pinned_memory.Free(own_blocks_.front().memory);
  ring_.Retire(done);
}

}  // namespace sampan::cuda
