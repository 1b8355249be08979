// Chooses the path of a request, with a reason.
#include "backend/cuda/paths/copy_path.h"

#include <algorithm>

#include "backend/cuda/paths/kernel_shape.h"

namespace sampan::cuda {
namespace {

constexpr std::size_t kLargestGrid = std::size_t{1} << 16;
/// If waking other threads pays, waking several pays.
constexpr std::size_t kMinStagingThreads = 4;
constexpr const char* kForced = "SAMPAN_COPY_PATH says so";
constexpr const char* kQuietChoice = "SAMPAN_COPY_QUIET is quiet: no kernel beside the program's";
constexpr const char* kKernelCannot =
    "a kernel cannot touch pageable memory, nor that of a GPU without peer access";
/// If SAMPAN_COPY_PATH asks for runs, any will do.
constexpr std::size_t kMinForcedRun = 1;
/// A shorter run is gathered and copied no faster than a kernel copies it over the link.
constexpr std::size_t kMinRun = std::size_t{2} << 20;

}  // namespace

std::string_view Describe(CopyPath path) {
  switch (path) {
    case CopyPath::kEngine:
      return "engine";
    case CopyPath::kBatchCall:
      return "batch";
    case CopyPath::kKernel:
      return "kernel";
    case CopyPath::kDense:
      return "dense";
    case CopyPath::kBlocking:
      return "blocking";
    case CopyPath::kStaged:
      return "staged";
  }
  return "path";
}

std::string_view Describe(Quietness quietness) {
  switch (quietness) {
    case Quietness::kAuto:
      return "auto";
    case Quietness::kSpeed:
      return "speed";
    case Quietness::kQuiet:
      return "quiet";
  }
  return "quietness";
}

std::string_view Describe(Direction direction) {
  switch (direction) {
    case Direction::kHostToDevice:
      return "host to device";
    case Direction::kDeviceToHost:
      return "device to host";
    case Direction::kDeviceToDevice:
      return "device to device";
    case Direction::kHostToHost:
      return "host to host";
  }
  return "direction";
}

CopyPaths::CopyPaths(std::string_view gpu_name, unsigned multiprocessors, const PathSettings& settings)
    : limits_(FindTable(settings.tables, gpu_name)), multiprocessors_(multiprocessors), settings_(settings) {}

std::optional<CopyPath> CopyPaths::ForcedPath() const {
  const bool of_pageable = settings_.path == CopyPath::kBlocking || settings_.path == CopyPath::kStaged;
  return of_pageable ? std::nullopt : settings_.path;
}

PathChoice CopyPaths::ForBatch(const BatchShape& batch) const {
  if (batch.pageable) return {CopyPath::kEngine, kKernelCannot};
  PathChoice choice = WantedForBatch(batch);
  if (choice.path == CopyPath::kKernel || choice.path == CopyPath::kDense) {
    if (!batch.reachable) return {CopyPath::kEngine, kKernelCannot};
    if (!batch.listed && !batch.balanced && !ForcedPath())
      choice = {CopyPath::kBatchCall, "one of few entries is much longer than the others"};
  }
  if (choice.path == CopyPath::kBatchCall && !batch.has_batch_call)
    return {CopyPath::kEngine, "the driver has no batch call"};
  return choice;
}

PathChoice CopyPaths::WantedForBatch(const BatchShape& batch) const {
  const Direction direction = batch.direction;
  const std::size_t entries = batch.entries, bytes = batch.bytes, dense_bytes = batch.dense_bytes;
  if (const auto forced = ForcedPath()) {
    if (forced != CopyPath::kDense) return {*forced, kForced};
    if (dense_bytes == 0) return {CopyPath::kKernel, "no entries are adjacent on the host, or they are few"};
    if (!batch.dense_room)
      return {CopyPath::kKernel, "the device has no memory for the buffers of dense runs"};
    return {CopyPath::kDense, kForced};
  }
  if (entries == 1) return {CopyPath::kEngine, "it is one copy"};
  if (is_quiet()) return {CopyPath::kBatchCall, kQuietChoice};
  if (batch.dense_room && dense_bytes >= limits_.dense_from && dense_bytes >= bytes - dense_bytes)
    return {CopyPath::kDense, "short entries, adjacent on the host: gathered on the device for an engine"};
  const bool is_short = bytes / entries < kShortEntry;
  std::size_t from = is_short ? limits_.batch_h2d_short_from : limits_.batch_h2d_from;
  if (direction == Direction::kDeviceToHost)
    from = is_short ? limits_.batch_d2h_short_from : limits_.batch_d2h_from;
  if (entries < from) return {CopyPath::kBatchCall, "a kernel takes longer to start than so few entries"};
  if (bytes / entries < KernelBelow(direction, bytes))
    return {CopyPath::kKernel, "short entries cost an engine more to start than to copy"};
  return {CopyPath::kBatchCall, "an engine is as fast on long entries, and leaves the GPU to the program"};
}

bool CopyPaths::AsksForDensity(const BatchShape& batch) const {
  if (batch.pageable || !batch.reachable || !batch.listed) return false;
  if (const auto forced = ForcedPath()) return forced == CopyPath::kDense;
  return !is_quiet() && batch.bytes >= limits_.dense_from &&
         batch.bytes / batch.entries < limits_.dense_below;
}

std::size_t CopyPaths::MinDenseRun() const {
  return ForcedPath() ? kMinForcedRun : kMinRun;
}

std::size_t CopyPaths::KernelBelow(Direction direction, std::size_t bytes) const {
  if (bytes < kLongBatch) return limits_.batch_kernel_below;
  return direction == Direction::kDeviceToHost ? limits_.batch_d2h_kernel_below
                                               : limits_.batch_h2d_kernel_below;
}

std::size_t CopyPaths::MaxJoined(Direction direction, std::size_t bytes) const {
  if (ForcedPath())
    return ForcedPath() == CopyPath::kKernel || ForcedPath() == CopyPath::kDense ? 1 : SIZE_MAX;
  if (is_quiet()) return SIZE_MAX;
  return std::max({bytes / KernelBelow(direction, bytes), limits_.batch_h2d_short_from,
                   limits_.batch_h2d_from, limits_.batch_d2h_short_from, limits_.batch_d2h_from});
}

PathChoice CopyPaths::ForDeviceCopy(std::size_t bytes) const {
  if (const auto forced = ForcedPath())
    return {forced == CopyPath::kKernel ? CopyPath::kKernel : CopyPath::kEngine, kForced};
  if (is_quiet()) return {CopyPath::kEngine, kQuietChoice};
  if (bytes <= limits_.linear_d2d_to) return {CopyPath::kKernel, "a kernel of ours starts sooner"};
  return {CopyPath::kEngine, "the driver's copy is as fast for so many bytes"};
}

std::size_t CopyPaths::RowsByKernelTo(Direction direction, const RowsShape& rows) const {
  const RowLimits& limits = direction == Direction::kHostToDevice   ? limits_.rows_h2d
                            : direction == Direction::kDeviceToHost ? limits_.rows_d2h
                                                                    : limits_.rows_d2d;
  if (rows.unit >= kVectorBytes) return rows.dense ? limits.vectors_dense_to : limits.vectors_to;
  const std::size_t to = rows.unit >= kWordBytes ? limits.even_to : limits.odd_to;
  return rows.dense ? std::max(to, limits.odd_dense_to) : to;
}

PathChoice CopyPaths::ForRows(Direction direction, const RowsShape& rows) const {
  if (!rows.reachable) return {CopyPath::kEngine, kKernelCannot};
  if (!rows.engine_takes) return {CopyPath::kKernel, "the driver's 2D copy does not take this pitch"};
  if (const auto forced = ForcedPath())
    return {forced == CopyPath::kKernel ? CopyPath::kKernel : CopyPath::kEngine, kForced};
  if (is_quiet()) return {CopyPath::kEngine, kQuietChoice};
  if (direction != Direction::kDeviceToDevice && rows.pitch > limits_.rows_pitch_to)
    return {CopyPath::kEngine, "an engine is faster on rows that are so far apart"};
  if (rows.width <= RowsByKernelTo(direction, rows))
    return {CopyPath::kKernel, "a kernel is faster on rows of this width"};
  return {CopyPath::kEngine, "an engine is faster on rows of this width"};
}

std::size_t CopyPaths::ThreadsForStaging(std::size_t work, std::size_t cores) const {
  const std::size_t max_threads = std::min(limits_.staging_threads, cores);
  if (work < limits_.staging_several_from || max_threads <= 1) return 1;
  return std::min(std::max(work / limits_.staging_bytes_per_thread, kMinStagingThreads), max_threads);
}

PathChoice CopyPaths::Staged(std::size_t threads) {
  return {CopyPath::kStaged, threads == 1
                                 ? "pageable memory: through pinned buffers, by the calling thread"
                                 : "much pageable memory: through pinned buffers, by several threads"};
}

PathChoice CopyPaths::ForPageable(Direction direction, std::size_t bytes, std::size_t threads) const {
  if (settings_.path && !ForcedPath()) return {*settings_.path, kForced};
  const std::size_t from =
      direction == Direction::kHostToDevice ? limits_.pageable_h2d_from : limits_.pageable_d2h_from;
  if (bytes < from) return {CopyPath::kBlocking, "pageable memory: the driver is faster with so few bytes"};
  return Staged(threads);
}

unsigned CopyPaths::LimitBlocks(std::size_t wanted, std::size_t max_blocks) const {
  if (settings_.blocks != 0) return settings_.blocks;
  return static_cast<unsigned>(std::clamp<std::size_t>(wanted, 1, max_blocks));
}

unsigned CopyPaths::BlocksForPieces(Direction direction, std::size_t max_useful) const {
  const std::size_t blocks = settings_.quietness == Quietness::kSpeed ? limits_.speed_blocks
                             : direction == Direction::kDeviceToHost  ? limits_.link_d2h_blocks
                                                                      : limits_.link_h2d_blocks;
  return LimitBlocks(max_useful, std::min<std::size_t>(blocks, multiprocessors_));
}

unsigned CopyPaths::BlocksForGather(std::size_t max_useful) const {
  return LimitBlocks(max_useful, std::min<std::size_t>(limits_.gather_blocks, multiprocessors_));
}

unsigned CopyPaths::BlocksForRows(Direction direction, std::size_t max_useful) const {
  if (direction != Direction::kDeviceToDevice) return BlocksForPieces(direction, max_useful);
  return LimitBlocks(max_useful, std::size_t{multiprocessors_} * limits_.memory_blocks);
}

unsigned CopyPaths::BlocksForPacking(Direction direction, std::size_t max_useful) const {
  if (direction != Direction::kDeviceToDevice) return BlocksForPieces(direction, max_useful);
  return LimitBlocks(max_useful, std::size_t{multiprocessors_} * limits_.packing_blocks);
}

unsigned CopyPaths::BlocksForBytes(std::size_t bytes) const {
  // A copy that is longer than expected still uses the whole GPU.
  return std::max(LimitBlocks(bytes / limits_.bytes_per_block, kLargestGrid),
                  LimitBlocks(multiprocessors_, kLargestGrid));
}

}  // namespace sampan::cuda
