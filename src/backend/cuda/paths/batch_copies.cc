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

/// Cuts long segments into pieces. Returns the number of pieces.
std::size_t CutSegments(std::span<const Segment> segments, std::size_t piece_bytes, PieceArgument* pieces) {
  std::size_t count = 0;
  for (const Segment& segment : segments) {
    for (std::size_t done = 0; done < segment.bytes; done += piece_bytes) {
      pieces[count++] = {AddressOf(segment.dst) + done, AddressOf(segment.src) + done,
                         std::min(piece_bytes, segment.bytes - done)};
    }
  }
  return count;
}

}  // namespace

std::uint64_t BatchCopies::BusyUntil(const BatchTask& batch) const {
  if (batch.captured != nullptr) return stream_.BusyUntil(batch.bytes);
  if (!batch.segments.in_store()) return 0;
  const PieceShape shape = ShapeOf(batch);
  if (batch.longest <= shape.bytes) return 0;
  return stream_.BusyUntil(shape.MaxPieces(batch) * sizeof(PieceArgument));
}

Status BatchCopies::Launch(const BatchTask& batch, std::uint64_t sequence) {
  if (batch.captured != nullptr) return CopyCaptured(batch, sequence);
  // Adjacent allocations are separate for the driver, so their segments are not joined.
  const bool joins = batch.memory.size() == 2 && !batch.pageable;
  const std::span<const Segment> copies = joins ? Joined(batch) : batch.segments.all();
  const PathChoice choice = Choose(batch, copies.size());
  NotePath(batch.direction, choice, "a batch of ", batch.segments.size(), " entries, ", batch.bytes,
           " bytes");
  if (choice.path == CopyPath::kBatchCall) return CopyByBatchCall(copies, batch.bytes);
  if (choice.path == CopyPath::kKernel) return CopyByKernel(batch, sequence);
  if (choice.path == CopyPath::kDense) return CopyDense(batch, sequence);
  return CopySegments(copies, batch.direction);
}

PathChoice BatchCopies::Choose(const BatchTask& batch, std::size_t copies) {
  const CopyPaths& paths = stream_.site().paths;
  const auto reaches = [&](const AllocationUse& use) { return KernelReaches(stream_.gpu(), use); };
  if (batch.pageable) return {CopyPath::kEngine, kKernelCannot};
  dense_.run_bytes = 0;
  // A kernel reads the segments in pinned memory.
  if (batch.segments.in_store() && paths.AsksForDensity(copies, batch.bytes)) FindRuns(batch);
  PathChoice choice = paths.ForBatch({batch.direction, copies, batch.bytes, dense_.run_bytes});
  if (choice.path == CopyPath::kDense && dense_.run_bytes == 0)
    choice = {CopyPath::kKernel, "no entries are adjacent on the host, or they are few"};
  if (choice.path == CopyPath::kKernel || choice.path == CopyPath::kDense) {
    if (!std::all_of(batch.memory.begin(), batch.memory.end(), reaches))
      return {CopyPath::kEngine, kKernelCannot};
  }
  if (choice.path == CopyPath::kKernel && !batch.segments.in_store() && !Balanced(batch) &&
      !paths.is_forced())
    choice = {CopyPath::kBatchCall, "one of few entries is much longer than the others"};
  if (choice.path == CopyPath::kBatchCall && stream_.driver().CopyBatch == nullptr)
    return {CopyPath::kEngine, "the driver has no batch call"};
  return choice;
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

Status BatchCopies::CopySegments(std::span<const Segment> segments, Direction direction) {
  for (const Segment& segment : segments) {
    if (Status copied = stream_.Copy(segment, direction, true); !copied.ok()) return copied;
  }
  return {};
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

PieceShape BatchCopies::ShapeOf(const BatchTask& batch) const {
  const std::size_t max_useful = batch.segments.size() + batch.bytes / kMinPieceBytes;
  const unsigned blocks =
      stream_.site().paths.BlocksForPieces(batch.direction, DivideUp(max_useful, kWarpsOfLinkBlock));
  return {blocks, PieceBytesFor(batch.bytes, blocks)};
}

Status BatchCopies::CopyOnDevice(const Segment& segment, std::uint64_t sequence) {
  const unsigned blocks =
      stream_.site().paths.BlocksForRows(Direction::kDeviceToDevice, DivideUp(segment.bytes, kBlockBytes));
  constexpr unsigned kWholeBlock = std::bit_width(kThreadsPerBlock) - 1;
  return LaunchInline({&segment, 1}, {blocks}, kWholeBlock, blocks, sequence);
}

Status BatchCopies::CopyInline(const BatchTask& batch, std::uint64_t sequence) {
  const std::span<const Segment> segments = batch.segments.all();
  const unsigned blocks =
      stream_.site().paths.BlocksForPieces(batch.direction, DivideUp(batch.bytes, kLinkBlockBytes));
  const auto max_each = std::max(blocks * kWarpsOfLinkBlock / static_cast<unsigned>(segments.size()), 1U);
  const auto wanted_each =
      static_cast<unsigned>(std::min<std::size_t>(DivideUp(batch.longest, kWarpBytes), max_each));
  return LaunchInline(segments, {blocks, kLinkThreads}, kMaxTeamBits, wanted_each, sequence);
}

Status BatchCopies::LaunchInline(std::span<const Segment> segments, const Grid& grid, unsigned team_bits,
                                 unsigned teams_each, std::uint64_t sequence) {
  const Completion completion = stream_.KernelCompletion(sequence, grid.blocks);
  InlinePiecesArgument argument;
  argument.teams_each = teams_each;
  argument.team_bits = team_bits;
  argument.count = static_cast<unsigned>(segments.size());
  argument.unused = 0;
  argument.completion = ArgumentOf(completion);
  std::memcpy(argument.pieces, segments.data(), segments.size_bytes());
  std::array<void*, 1> arguments = {&argument};
  return stream_.LaunchWithCompletion(stream_.gpu().kernels().inline_pieces, grid, arguments, completion);
}

Status BatchCopies::CopyByKernel(const BatchTask& batch, std::uint64_t sequence) {
  // The other kernel reads its pieces from the pinned segment store.
  if (!batch.segments.in_store() || (batch.segments.size() <= kMaxInlinePieces && Balanced(batch)))
    return CopyInline(batch, sequence);
  return CopyPieces(batch, batch.segments.all(), sequence);
}

Status BatchCopies::CopyPieces(const BatchTask& batch, std::span<const Segment> segments,
                               std::uint64_t sequence) {
  const PieceShape shape = ShapeOf(batch);
  unsigned team_bits = TeamBitsFor(std::min(shape.bytes, batch.bytes / batch.segments.size()));
  CuAddress first = AddressOf(segments.data());
  auto count = static_cast<unsigned>(segments.size());
  if (batch.longest > shape.bytes) {
    auto memory = stream_.TakePinned(shape.MaxPieces(batch) * sizeof(PieceArgument), sequence);
    if (!memory.ok()) return memory.TakeStatus();
    count =
        static_cast<unsigned>(CutSegments(segments, shape.bytes, reinterpret_cast<PieceArgument*>(*memory)));
    first = AddressOf(*memory);
  }
  const Completion completion = stream_.KernelCompletion(sequence, shape.blocks);
  CompletionArgument completion_argument = ArgumentOf(completion);
  CuAddress no_shift = 0;
  std::array<void*, 6> arguments = {&first, &count, &team_bits, &no_shift, &no_shift, &completion_argument};
  return stream_.LaunchWithCompletion(stream_.gpu().kernels().pieces, {shape.blocks, kLinkThreads}, arguments,
                                      completion);
}

Status BatchCopies::CopyDense(const BatchTask& batch, std::uint64_t sequence) {
  if (dense_copies_ == nullptr) {
    auto made = DenseCopies::Create(stream_);
    if (made.code() == Code::kMemoryAllocation)
      return CopyByKernel(batch, sequence);  // no room for its buffers
    if (!made.ok()) return made.TakeStatus();
    dense_copies_ = std::move(*made);
  }
  const std::span<const Segment> segments = batch.segments.all();
  for (const SegmentRange& range : dense_.others) {
    if (Status copied = CopyPieces(batch, segments.subspan(range.first, range.count), sequence); !copied.ok())
      return copied;
  }
  // Behind the kernels, so that the completion words of one do not stand for the whole batch.
  stream_.ForgetKernelCompletion();
  return dense_copies_->Copy(segments, dense_.runs, batch.direction);
}

Status BatchCopies::CopyCaptured(const BatchTask& batch, std::uint64_t sequence) {
  auto memory = stream_.TakePinned(batch.bytes, sequence);
  if (!memory.ok()) return memory.TakeStatus();
  std::memcpy(*memory, batch.captured.get(), batch.bytes);
  for (const Segment& segment : batch.segments.all()) {
    const std::byte* const source = *memory + (segment.src - batch.captured.get());
    if (Status copied = stream_.Copy({segment.dst, source, segment.bytes}, batch.direction, true);
        !copied.ok())
      return copied;
  }
  return {};
}

}  // namespace sampan::cuda
