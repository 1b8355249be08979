// Copies batches on a CUDA stream, on the fastest path.
#include "backend/cuda/paths/batch_copies.h"

#include <algorithm>
#include <array>
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
/// kInlineBlockBytes: what one block of the kernel for short batches copies. The other limits a piece
/// relative to the mean.
constexpr std::size_t kInlineBlockBytes = kThreadsPerBlock * kVectorBytes;
constexpr std::size_t kMaxInlineImbalance = 4;

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
  const std::size_t teams = std::size_t{blocks} * (kThreadsPerBlock >> kMaxTeamBits);
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
  const std::span<const Segment> copies =
      joins ? Joined(batch.segments.all(), batch.bytes) : batch.segments.all();
  const PathChoice choice = Choose(batch, copies.size());
  NotePath(batch.direction, choice, "a batch of ", batch.segments.size(), " entries, ", batch.bytes,
           " bytes");
  if (choice.path == CopyPath::kBatchCall) return CopyByBatchCall(copies, batch.bytes);
  if (choice.path == CopyPath::kKernel) return CopyByKernel(batch, sequence);
  return CopySegments(copies, batch.direction);
}

PathChoice BatchCopies::Choose(const BatchTask& batch, std::size_t copies) const {
  const CopyPaths& paths = stream_.site().paths;
  const auto reaches = [&](const AllocationUse& use) { return KernelReaches(stream_.gpu(), use); };
  if (batch.pageable) return {CopyPath::kEngine, kKernelCannot};
  PathChoice choice = paths.ForBatch(batch.direction, copies, batch.bytes);
  if (choice.path == CopyPath::kKernel) {
    if (!std::all_of(batch.memory.begin(), batch.memory.end(), reaches))
      return {CopyPath::kEngine, kKernelCannot};
    if (!batch.segments.in_store() && !Balanced(batch) && !paths.is_forced())
      choice = {CopyPath::kBatchCall, "one of few entries is much longer than the others"};
  }
  if (choice.path == CopyPath::kBatchCall && stream_.driver().CopyBatch == nullptr)
    return {CopyPath::kEngine, "the driver has no batch call"};
  return choice;
}

std::span<const Segment> BatchCopies::Joined(std::span<const Segment> segments, std::size_t bytes) {
  return JoinUpTo(segments, stream_.site().paths.MaxJoined(bytes), joined_) ? joined_ : segments;
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
  const unsigned blocks =
      stream_.site().paths.BlocksForPieces(batch.segments.size() + batch.bytes / kMinPieceBytes);
  return {blocks, PieceBytesFor(batch.bytes, blocks)};
}

Status BatchCopies::CopyOnDevice(const Segment& segment, std::uint64_t sequence) {
  const std::size_t max_useful = DivideUp(segment.bytes, kInlineBlockBytes);
  return CopyInline({&segment, 1}, segment.bytes,
                    stream_.site().paths.BlocksForRows(Direction::kDeviceToDevice, max_useful), sequence);
}

Status BatchCopies::CopyInline(std::span<const Segment> segments, std::size_t longest, unsigned blocks,
                               std::uint64_t sequence) {
  const auto count = static_cast<unsigned>(segments.size());
  const unsigned max_each = std::max(blocks / count, 1U);
  const auto wanted_each = static_cast<unsigned>(DivideUp(longest, kInlineBlockBytes));
  const unsigned each = std::min(wanted_each, max_each);
  const Completion completion = stream_.KernelCompletion(sequence, count * each);
  InlinePiecesArgument argument;
  argument.blocks_each = each;
  argument.completion = ArgumentOf(completion);
  std::memcpy(argument.pieces, segments.data(), segments.size_bytes());
  std::array<void*, 1> arguments = {&argument};
  return stream_.LaunchWithCompletion(stream_.gpu().kernels().inline_pieces, arguments, completion,
                                      count * each);
}

Status BatchCopies::CopyByKernel(const BatchTask& batch, std::uint64_t sequence) {
  const std::size_t entries = batch.segments.size();
  // The other kernel reads its pieces from the pinned segment store.
  if (!batch.segments.in_store() || (entries <= kMaxInlinePieces && Balanced(batch)))
    return CopyInline(batch.segments.all(), batch.longest, stream_.site().paths.BlocksForPieces(SIZE_MAX),
                      sequence);
  const PieceShape shape = ShapeOf(batch);
  unsigned team_bits = TeamBitsFor(std::min(shape.bytes, batch.bytes / entries));
  CuAddress first = AddressOf(batch.segments.all().data());
  auto count = static_cast<unsigned>(entries);
  if (batch.longest > shape.bytes) {
    auto memory = stream_.TakePinned(shape.MaxPieces(batch) * sizeof(PieceArgument), sequence);
    if (!memory.ok()) return memory.TakeStatus();
    count = static_cast<unsigned>(
        CutSegments(batch.segments.all(), shape.bytes, reinterpret_cast<PieceArgument*>(*memory)));
    first = AddressOf(*memory);
  }
  const Completion completion = stream_.KernelCompletion(sequence, shape.blocks);
  CompletionArgument completion_argument = ArgumentOf(completion);
  std::array<void*, 4> arguments = {&first, &count, &team_bits, &completion_argument};
  return stream_.LaunchWithCompletion(stream_.gpu().kernels().pieces, arguments, completion, shape.blocks);
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
