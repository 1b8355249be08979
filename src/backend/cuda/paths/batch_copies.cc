// Copies batches on a CUDA stream, on the fastest path.
#include "backend/cuda/paths/batch_copies.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <span>

#include "backend/cuda/paths/batch_parts.h"
#include "backend/cuda/paths/copy_ends.h"
#include "backend/cuda/paths/joined_segments.h"
#include "backend/cuda/paths/kernel_shape.h"
#include "backend/cuda/paths/path_note.h"
#include "base/containers/round.h"
#include "base/error/assert.h"

namespace sampan::cuda {
namespace {

/// The size of a kernel's pieces: short enough to use all threads, long enough to pay for a descriptor.
constexpr std::size_t kMinPieceBytes = std::size_t{4} << 10;
constexpr std::size_t kMaxPieceBytes = std::size_t{64} << 10;
constexpr std::size_t kPiecesPerTeam = 4;
/// Bytes that a warp, a block within the device or a block over the link copies, one access per thread. The
/// last one limits a piece of a short batch relative to the mean.
constexpr std::size_t kWarpBytes = (std::size_t{1} << kMaxTeamBits) * kVectorBytes;
constexpr std::size_t kBlockBytes = kThreadsPerBlock * kVectorBytes,
                      kLinkBlockBytes = kLinkThreads * kVectorBytes;
constexpr std::size_t kMaxInlineImbalance = 4;
constexpr unsigned kWarpsOfLinkBlock = kLinkThreads >> kMaxTeamBits;

static_assert(sizeof(PieceArgument) == sizeof(Segment));
static_assert(SegmentList::kInside <= kMaxInlinePieces);

CompletionArgument ArgumentOf(const Completion& completion) {
  return {AddressOf(completion.words), completion.sequence};
}

/// Returns false if one piece is much longer than the mean: its blocks would work alone most of the time.
bool Balanced(const BatchTask& batch) {
  return batch.longest * batch.segments.size() <= kMaxInlineImbalance * batch.bytes;
}

std::size_t PieceBytesFor(std::size_t bytes, unsigned blocks) {
  const std::size_t teams = std::size_t{blocks} * kWarpsOfLinkBlock;
  const std::size_t share = bytes / (teams * kPiecesPerTeam) / kVectorBytes * kVectorBytes;
  return std::clamp(share, kMinPieceBytes, kMaxPieceBytes);
}

/// Cuts long segments of these ranges into pieces. Returns the number of pieces.
std::size_t CutSegments(std::span<const Segment> segments, std::span<const SegmentRange> ranges,
                        std::size_t piece_bytes, PieceArgument* pieces) {
  std::size_t count = 0;
  for (const SegmentRange& range : ranges) {
    for (const Segment& segment : segments.subspan(range.first, range.count)) {
      for (std::size_t done = 0; done < segment.bytes; done += piece_bytes) {
        pieces[count++] = {AddressOf(segment.dst) + done, AddressOf(segment.src) + done,
                           std::min(piece_bytes, segment.bytes - done)};
      }
    }
  }
  return count;
}

}  // namespace

std::uint64_t BatchCopies::BusyUntil(const BatchTask& batch) const {
  if (batch.captured != nullptr) return stream_.BusyUntil(batch.bytes);
  if (!batch.segments.in_store()) return 0;
  const PieceShape shape = ShapeOf(batch.direction, batch.segments.size(), batch.bytes);
  if (batch.longest <= shape.bytes) return 0;
  return stream_.BusyUntil(shape.MaxPieces(batch.segments.size(), batch.bytes) * sizeof(PieceArgument));
}

Status BatchCopies::Launch(const BatchTask& batch, std::uint64_t sequence) {
  if (batch.captured != nullptr) {
    auto copy = TakeCaptured(batch, sequence);
    return copy.ok() ? stream_.Copy(*copy, batch.direction, true) : copy.TakeStatus();
  }
  // Adjacent allocations are separate for the driver, so their segments are not joined.
  const bool joins = batch.memory.size() == 2 && !batch.pageable;
  const std::span<const Segment> copies = joins ? Joined(batch) : batch.segments.all();
  const PathChoice choice = Choose(batch, copies.size());
  NotePath(batch.direction, choice, "a batch of ", batch.segments.size(), " entries, ", batch.bytes,
           " bytes");
  if (choice.path == CopyPath::kBatchCall) return CopyByBatchCall(copies, batch.bytes);
  if (choice.path == CopyPath::kDense) {
    if (!dense_.others.empty()) {
      if (Status copied = CopyPieces(batch, dense_.others, sequence); !copied.ok()) return copied;
    }
    // Behind the kernel, so that its completion words do not stand for the whole batch.
    stream_.ForgetKernelCompletion();
    Status copied = stream_.site().dense->Copy(stream_, batch.segments.all(), dense_.runs, batch.direction);
    // An allocation of another thread may have taken the buffers since they were prepared.
    if (copied.code() == Code::kMemoryAllocation) return CopyPieces(batch, dense_.runs, sequence);
    return copied;
  }
  if (choice.path == CopyPath::kKernel) {
    // The other kernel reads its pieces from the pinned segment store.
    if (!batch.segments.in_store() || (batch.segments.size() <= kMaxInlinePieces && Balanced(batch)))
      return CopyInline(batch.segments.all(), ShapeOverLink(batch), sequence);
    const SegmentRange whole{0, batch.segments.size(), batch.bytes};
    return CopyPieces(batch, {&whole, 1}, sequence);
  }
  for (const Segment& segment : copies) {
    if (Status copied = stream_.Copy(segment, batch.direction, true); !copied.ok()) return copied;
  }
  return {};
}

PathChoice BatchCopies::Choose(const BatchTask& batch, std::size_t copies) {
  const LaunchSite& site = stream_.site();
  const auto reaches = [&](const AllocationUse& use) { return KernelReaches(site.gpu, use); };
  BatchShape shape{.direction = batch.direction,
                   .entries = copies,
                   .bytes = batch.bytes,
                   .pageable = batch.pageable,
                   .reachable = std::all_of(batch.memory.begin(), batch.memory.end(), reaches),
                   .listed = batch.segments.in_store(),
                   .balanced = Balanced(batch),
                   .has_batch_call = stream_.driver().CopyBatch != nullptr};
  if (site.paths.AsksForDensity(shape)) {
    FindRuns(batch);
    shape.dense_bytes = dense_.run_bytes;
  }
  const PathChoice choice = site.paths.ForBatch(shape);
  if (choice.path != CopyPath::kDense) return choice;
  shape.dense_room = site.dense != nullptr && site.dense->Prepare(batch.direction);
  return site.paths.ForBatch(shape);
}

void BatchCopies::FindRuns(const BatchTask& batch) {
  host_begins_.clear();
  for (const AllocationUse& use : batch.memory) {
    if (!OnDevice(use)) host_begins_.push_back(use->EngineView(use->facts.address));
  }
  std::sort(host_begins_.begin(), host_begins_.end());
  FindDenseRuns(batch.segments.all(), batch.direction,
                {.min_bytes = stream_.site().paths.MinDenseRun(),
                 .max_segment = DenseCopies::kParts.longest,
                 .host_begins = host_begins_},
                dense_);
}

std::span<const Segment> BatchCopies::Joined(const BatchTask& batch) {
  const std::size_t max_joined = stream_.site().paths.MaxJoined(batch.direction, batch.bytes);
  return JoinUpTo(batch.segments.all(), max_joined, joined_) ? joined_ : batch.segments.all();
}

Status BatchCopies::CopyByBatchCall(std::span<const Segment> segments, std::size_t bytes) {
  const bool in_parts = stream_.site().paths.BatchCallInParts(segments.size(), bytes);
  BatchParts parts(segments.size(), bytes, in_parts);
  Status status;
  while (!segments.empty() && status.ok()) {
    const std::size_t part = parts.Next();
    status = CallBatch(segments.first(part));
    segments = segments.subspan(part);
  }
  return status;
}

Status BatchCopies::CallBatch(std::span<const Segment> segments) {
  batch_dsts_.clear();
  batch_srcs_.clear();
  batch_sizes_.clear();
  for (const Segment& segment : segments) {
    batch_dsts_.push_back(AddressOf(segment.dst));
    batch_srcs_.push_back(AddressOf(segment.src));
    batch_sizes_.push_back(segment.bytes);
  }
  CuBatchAttributes attributes;
  std::size_t first = 0;
  std::size_t failed = 0;
  const CuResult result =
      stream_.driver().CopyBatch(batch_dsts_.data(), batch_srcs_.data(), batch_sizes_.data(), segments.size(),
                                 &attributes, &first, 1, &failed, stream_.get());
  return stream_.gpu().Check(result, "cuMemcpyBatchAsync");
}

PieceShape BatchCopies::ShapeOf(Direction direction, std::size_t entries, std::size_t bytes) const {
  const std::size_t max_useful = entries + bytes / kMinPieceBytes;
  const unsigned blocks =
      stream_.site().paths.BlocksForPieces(direction, DivideUp(max_useful, kWarpsOfLinkBlock));
  return {blocks, PieceBytesFor(bytes, blocks)};
}

InlineShape BatchCopies::ShapeOnDevice(std::size_t bytes) const {
  const unsigned blocks =
      stream_.site().paths.BlocksForRows(Direction::kDeviceToDevice, DivideUp(bytes, kBlockBytes));
  constexpr unsigned kWholeBlock = std::bit_width(kThreadsPerBlock) - 1;
  return {{blocks}, kWholeBlock, blocks};
}

InlineShape BatchCopies::ShapeOverLink(const BatchTask& batch) const {
  const unsigned blocks =
      stream_.site().paths.BlocksForPieces(batch.direction, DivideUp(batch.bytes, kLinkBlockBytes));
  const auto max_each =
      std::max(blocks * kWarpsOfLinkBlock / static_cast<unsigned>(batch.segments.size()), 1U);
  const auto wanted_each =
      static_cast<unsigned>(std::min<std::size_t>(DivideUp(batch.longest, kWarpBytes), max_each));
  return {{blocks, kLinkThreads}, kMaxTeamBits, wanted_each};
}

Status BatchCopies::CopyInline(std::span<const Segment> segments, const InlineShape& shape,
                               std::uint64_t sequence) {
  const Completion completion = stream_.KernelCompletion(sequence, shape.grid.blocks);
  InlinePiecesArgument argument;
  argument.teams_each = shape.teams_each;
  argument.team_bits = shape.team_bits;
  argument.count = static_cast<unsigned>(segments.size());
  argument.unused = 0;
  argument.completion = ArgumentOf(completion);
  std::memcpy(argument.pieces, segments.data(), segments.size_bytes());
  std::array<void*, 1> arguments = {&argument};
  return stream_.Launch(stream_.gpu().kernels().inline_pieces, shape.grid, arguments, completion);
}

Status BatchCopies::CopyPieces(const BatchTask& batch, std::span<const SegmentRange> ranges,
                               std::uint64_t sequence) {
  const std::span<const Segment> segments = batch.segments.all();
  std::size_t entries = 0, bytes = 0;
  for (const SegmentRange& range : ranges) {
    entries += range.count;
    bytes += range.bytes;
  }
  const PieceShape shape = ShapeOf(batch.direction, entries, bytes);
  unsigned team_bits = TeamBitsFor(std::min(shape.bytes, bytes / entries));
  CuAddress first = AddressOf(&segments[ranges.front().first]);
  auto count = static_cast<unsigned>(entries);
  if (ranges.size() > 1 || batch.longest > shape.bytes) {
    auto memory = stream_.TakePinned(shape.MaxPieces(entries, bytes) * sizeof(PieceArgument), sequence);
    if (!memory.ok()) return memory.TakeStatus();
    auto* const pieces = reinterpret_cast<PieceArgument*>(*memory);
    count = static_cast<unsigned>(CutSegments(segments, ranges, shape.bytes, pieces));
    first = AddressOf(pieces);
  }
  const Completion completion = stream_.KernelCompletion(sequence, shape.blocks);
  CompletionArgument completion_argument = ArgumentOf(completion);
  CuAddress no_shift = 0;
  std::array<void*, 6> arguments = {&first, &count, &team_bits, &no_shift, &no_shift, &completion_argument};
  return stream_.Launch(stream_.gpu().kernels().pieces, {shape.blocks, kLinkThreads}, arguments, completion);
}

Result<Segment> BatchCopies::TakeCaptured(const BatchTask& batch, std::uint64_t sequence) {
  auto memory = stream_.TakePinned(batch.bytes, sequence);
  if (!memory.ok()) return memory.TakeStatus();
  std::memcpy(*memory, batch.captured.get(), batch.bytes);
  // One linear copy: its segments follow each other on both sides.
  SAMPAN_ASSERT(batch.segments.front().src == batch.captured.get());
  return Segment{batch.segments.front().dst, *memory, batch.bytes};
}

}  // namespace sampan::cuda
