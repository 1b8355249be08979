// Divides batches of pageable memory into parts, and places their pieces in a buffer.
#pragma once

#include <span>
#include <vector>

#include "backend/cuda/staging/staged_parts.h"

namespace sampan::cuda {

/// Where a part begins: the segment, and the offset in it.
struct PieceCut {
  std::size_t segment, offset;
  bool operator==(const PieceCut&) const = default;
};

/// The limits of a part.
struct PartLimits {
  std::size_t bytes = StagingBuffer::kBytes, pieces = StagingBuffer::kMaxPieces;
};

/// The offset behind `used` bytes at which a piece has the alignment that it has on the device. The GPU then
/// copies it in wide accesses. Pieces that are adjacent on the device are adjacent in the buffer.
inline std::size_t SlotBehind(std::size_t used, const void* device) {
  constexpr std::size_t kAlignment = 16;
  return used + (reinterpret_cast<std::uintptr_t>(device) - used) % kAlignment;
}

/// The beginnings of the parts, and the end of the last one. Segments may have any length.
std::vector<PieceCut> CutIntoParts(std::span<const Segment> segments, Direction direction,
                                   const PartLimits& limits);

/// The parts of a batch. The segments must outlive it.
class PieceParts final : public StagedParts {
 public:
  /// `reachable`: kernels may access all device memory of the batch.
  PieceParts(std::span<const Segment> segments, Direction direction, bool reachable, const PartLimits& limits)
      : segments_(segments),
        direction_(direction),
        reachable_(reachable),
        cuts_(CutIntoParts(segments, direction, limits)) {}

  std::size_t count() const override { return cuts_.size() - 1; }
  void CopyOnHost(std::size_t part, const StagingBuffer& buffer) const override;
  Status Launch(std::size_t part, const StagingBuffer& buffer, StagingStream& stream) const override;

 private:
  /// A piece: the program's addresses, and its place in the buffer.
  struct Placed {
    Segment segment;
    std::size_t slot;
  };
  template <typename Each>
  void ForPieces(std::size_t part, Each each) const;
  PieceArgument OnGpu(const Placed& piece, const StagingBuffer& buffer) const;
  /// Writes short pieces of the part behind the buffer. Returns how many.
  unsigned CutForKernel(std::size_t part, const StagingBuffer& buffer) const;

  const std::span<const Segment> segments_;
  const Direction direction_;
  const bool reachable_;
  const std::vector<PieceCut> cuts_;
};

}  // namespace sampan::cuda
