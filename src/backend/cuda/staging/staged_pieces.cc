// Divides batches of pageable memory into parts, and places their pieces in a buffer.
#include "backend/cuda/staging/staged_pieces.h"

#include <array>

#include "backend/cuda/paths/copy_ends.h"
#include "backend/cuda/paths/kernel_shape.h"

namespace sampan::cuda {
namespace {

/// The bytes that a team of a kernel copies at a time. So a part has work for many teams.
constexpr std::size_t kKernelPieceBytes = std::size_t{4} << 10;
constexpr std::size_t kMaxKernelPieces =
    StagingBuffer::kMaxPieces + StagingBuffer::kBytes / kKernelPieceBytes;

const std::byte* DeviceEnd(const Segment& segment, Direction direction) {
  return direction == Direction::kHostToDevice ? segment.dst : segment.src;
}

}  // namespace

static_assert(kMaxKernelPieces * sizeof(PieceArgument) <= StagingBuffer::kDescriptionBytes);

std::vector<PieceCut> CutIntoParts(std::span<const Segment> segments, Direction direction,
                                   const PartLimits& limits) {
  std::vector<PieceCut> cuts = {{0, 0}};
  std::size_t used = 0, pieces = 0;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const std::byte* const device = DeviceEnd(segments[i], direction);
    for (std::size_t done = 0; done < segments[i].bytes;) {
      const std::size_t slot = SlotBehind(used, device + done);
      if (slot >= limits.bytes || pieces == limits.pieces) {
        cuts.push_back({i, done});
        used = pieces = 0;
        continue;
      }
      const std::size_t taken = std::min(segments[i].bytes - done, limits.bytes - slot);
      done += taken;
      used = slot + taken;
      ++pieces;
    }
  }
  cuts.push_back({segments.size(), 0});
  return cuts;
}

template <typename Each>
void PieceParts::ForPieces(std::size_t part, Each each) const {
  const PieceCut& begin = cuts_[part];
  const PieceCut& end = cuts_[part + 1];
  std::size_t used = 0;
  for (std::size_t i = begin.segment; i <= end.segment && i < segments_.size(); ++i) {
    const auto [dst, src, bytes] = segments_[i];
    const std::size_t from = i == begin.segment ? begin.offset : 0;
    const std::size_t to = i == end.segment ? end.offset : bytes;
    if (from == to) continue;
    const std::size_t slot = SlotBehind(used, DeviceEnd(segments_[i], direction_) + from);
    each(Placed{{dst + from, src + from, to - from}, slot});
    used = slot + (to - from);
  }
}

void PieceParts::CopyOnHost(std::size_t part, const StagingBuffer& buffer) const {
  ForPieces(part, [&](const Placed& piece) {
    const auto [dst, src, bytes] = piece.segment;
    if (direction_ == Direction::kHostToDevice) {
      std::memcpy(buffer.bytes + piece.slot, src, bytes);
    } else {
      std::memcpy(dst, buffer.bytes + piece.slot, bytes);
    }
  });
}

PieceArgument PieceParts::OnGpu(const Placed& piece, const StagingBuffer& buffer) const {
  const CuAddress staged = AddressOf(buffer.bytes + piece.slot);
  if (direction_ == Direction::kHostToDevice)
    return {AddressOf(piece.segment.dst), staged, piece.segment.bytes};
  return {staged, AddressOf(piece.segment.src), piece.segment.bytes};
}

Status PieceParts::Launch(std::size_t part, const StagingBuffer& buffer, StagingStream& stream) const {
  // Pieces that are adjacent on the device are one run, regardless of their host addresses.
  std::size_t runs = 0, bytes = 0;
  ForPieces(part, [&](const Placed& piece) {
    const PieceArgument next = OnGpu(piece, buffer);
    bytes += next.bytes;
    if (runs != 0) {
      PieceArgument& last = buffer.pieces[runs - 1];
      if (next.dst == last.dst + last.bytes && next.src == last.src + last.bytes) {
        last.bytes += next.bytes;
        return;
      }
    }
    buffer.pieces[runs++] = next;
  });
  if (runs == 0) return {};
  const PathChoice choice = stream.cuda->site().paths.ForBatch({.direction = direction_,
                                                                .entries = runs,
                                                                .bytes = bytes,
                                                                .reachable = reachable_,
                                                                .has_batch_call = false});
  if (choice.path == CopyPath::kKernel) {
    unsigned count = CutForKernel(part, buffer);
    CuAddress first = AddressOf(buffer.pieces);
    unsigned team_bits = TeamBitsFor(bytes / count);
    CompletionArgument no_completion{};  // the caller writes one behind the kernel
    CuAddress no_shift = 0;
    std::array<void*, 6> arguments = {&first, &count, &team_bits, &no_shift, &no_shift, &no_completion};
    const std::size_t warps_each = kLinkThreads >> kMaxTeamBits;
    const unsigned blocks =
        stream.cuda->site().paths.BlocksForPieces(direction_, DivideUp(count, warps_each));
    const std::lock_guard lock(stream.kernels);
    return stream.cuda->Launch(stream.cuda->gpu().kernels().pieces, {blocks, kLinkThreads}, arguments);
  }
  for (std::size_t i = 0; i < runs; ++i) {
    const PieceArgument& run = buffer.pieces[i];
    const Segment segment{reinterpret_cast<std::byte*>(run.dst), reinterpret_cast<const std::byte*>(run.src),
                          run.bytes};
    if (Status copied = stream.cuda->CopyOverLink(segment, direction_); !copied.ok()) return copied;
  }
  return {};
}

unsigned PieceParts::CutForKernel(std::size_t part, const StagingBuffer& buffer) const {
  unsigned count = 0;
  ForPieces(part, [&](const Placed& piece) {
    const auto [dst, src, length] = OnGpu(piece, buffer);
    for (std::size_t done = 0; done < length; done += kKernelPieceBytes)
      buffer.pieces[count++] = {dst + done, src + done,
                                std::min<std::size_t>(kKernelPieceBytes, length - done)};
  });
  return count;
}

}  // namespace sampan::cuda
