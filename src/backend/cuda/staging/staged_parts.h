// A copy between pageable host memory and a GPU, cut into parts. Each part fits into a buffer of pinned
// memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>

#include "backend/api/copy_segment.h"
#include "backend/cuda/queue/cuda_stream.h"
#include "base/containers/round.h"

namespace sampan::cuda {

/// Pinned memory for one part, followed by memory for the descriptors of its pieces.
struct StagingBuffer {
  static constexpr std::size_t kBytes = std::size_t{1} << 20;
  static constexpr std::size_t kMaxPieces = 8192;
  static constexpr std::size_t kDescriptionBytes = std::size_t{256} << 10;

  std::byte* bytes;
  PieceArgument* pieces;
};

/// The stream on which several threads launch their parts. Copies need no lock.
struct StagingStream {
  explicit StagingStream(std::unique_ptr<CudaStream> stream) : cuda(std::move(stream)) {}
  const std::unique_ptr<CudaStream> cuda;
  std::mutex kernels;  ///< held to launch a kernel

  /// Call it on the thread that launched the last part of a copy.
  Completion WriteCompletion() { return cuda->WriteCompletion(++copies); }
  std::uint64_t copies = 0;
};

/// Immutable: several threads work on different parts at the same time.
class StagedParts {
 public:
  virtual ~StagedParts() = default;
  virtual std::size_t count() const = 0;
  /// The host's half: copies between the program's memory and the buffer.
  virtual void CopyOnHost(std::size_t part, const StagingBuffer& buffer) const = 0;
  /// The GPU's half, in stream order.
  virtual Status Launch(std::size_t part, const StagingBuffer& buffer, StagingStream& stream) const = 0;
};

/// One contiguous copy.
class LinearParts final : public StagedParts {
 public:
  LinearParts(const Segment& segment, Direction direction, std::size_t part_bytes)
      : segment_(segment), direction_(direction), part_bytes_(part_bytes) {}

  std::size_t count() const override { return DivideUp(segment_.bytes, part_bytes_); }
  void CopyOnHost(std::size_t part, const StagingBuffer& buffer) const override {
    const auto [dst, src, bytes] = At(part);
    if (direction_ == Direction::kHostToDevice) {
      std::memcpy(buffer.bytes, src, bytes);
    } else {
      std::memcpy(dst, buffer.bytes, bytes);
    }
  }
  Status Launch(std::size_t part, const StagingBuffer& buffer, StagingStream& stream) const override {
    const auto [dst, src, bytes] = At(part);
    if (direction_ == Direction::kHostToDevice)
      return stream.cuda->CopyOverLink({dst, buffer.bytes, bytes}, direction_);
    return stream.cuda->CopyOverLink({buffer.bytes, src, bytes}, direction_);
  }

 private:
  Segment At(std::size_t part) const {
    const std::size_t begin = part * part_bytes_;
    return {segment_.dst + begin, segment_.src + begin, std::min(part_bytes_, segment_.bytes - begin)};
  }

  const Segment segment_;
  const Direction direction_;
  const std::size_t part_bytes_;
};

}  // namespace sampan::cuda
