// Ways to copy rows on a CUDA stream: the driver's 2D copy, or a kernel.
#include "backend/cuda/paths/row_copies.h"

#include <algorithm>

#include "backend/cuda/paths/copy_ends.h"
#include "backend/cuda/paths/kernel_shape.h"
#include "base/containers/round.h"

namespace sampan::cuda {
namespace {

/// The widest access that every row permits.
std::size_t RowsUnit(const Rows& rows) {
  const std::size_t all = AddressOf(rows.dst) | AddressOf(rows.src) | rows.width |
                          (rows.height > 1 ? rows.dst_pitch | rows.src_pitch : 0);
  return all % kVectorBytes == 0 ? kVectorBytes : all % kWordBytes == 0 ? kWordBytes : 1;
}

/// Returns true if the destination has no gaps.
bool Dense(const Rows& rows) {
  return rows.dst_pitch == rows.width || rows.height == 1;
}

}  // namespace

PathChoice ChooseRows(const LaunchSite& site, const Rows& rows, Direction direction, bool reachable) {
  const std::size_t max_pitch = site.gpu.facts().max_pitch;
  return site.paths.ForRows(direction,
                            {.width = rows.width,
                             .unit = RowsUnit(rows),
                             .dense = Dense(rows),
                             .engine_takes = rows.dst_pitch <= max_pitch && rows.src_pitch <= max_pitch,
                             .pitch = std::max(rows.dst_pitch, rows.src_pitch),
                             .reachable = reachable});
}

RowsKernel::RowsKernel(const LaunchSite& site, const Rows& rows, Direction direction)
    : argument_{AddressOf(rows.dst), AddressOf(rows.src), rows.dst_pitch,
                rows.src_pitch,      rows.width,          rows.height} {
  const Kernels& kernels = site.gpu.kernels();
  const std::size_t unit = RowsUnit(rows);
  const bool within = direction == Direction::kDeviceToDevice;
  const unsigned threads = within ? kThreadsPerBlock : kLinkThreads;
  // Over a link, whole vectors matter most; inside a GPU, few instructions.
  if (Dense(rows) && (unit == 1 || (unit == kWordBytes && direction == Direction::kDeviceToHost))) {
    const std::size_t vectors = DivideUp(rows.width * rows.height, kVectorBytes);
    function_ = within ? kernels.pack_rows : kernels.link_pack_rows;
    grid_ = {site.paths.BlocksForPacking(direction, DivideUp(vectors, threads)), threads};
    return;
  }
  const std::size_t units = std::min<std::size_t>(rows.width / unit, threads);
  const std::size_t rows_of_block = threads / std::max<std::size_t>(units, 1) * kRowsInFlight;
  grid_ = {site.paths.BlocksForRows(direction, DivideUp(rows.height, rows_of_block)), threads};
  if (unit == kVectorBytes) {
    function_ = within ? kernels.rows_of_vectors : kernels.link_rows_of_vectors;
  } else if (unit == kWordBytes) {
    function_ = within ? kernels.rows_of_words : kernels.link_rows_of_words;
  } else {
    function_ = within ? kernels.rows_of_bytes : kernels.rows;
    team_bits_ = TeamBitsFor(rows.width);
  }
}

Status CopyRowsByDriver(CudaStream& stream, const Rows& rows, Direction direction) {
  const bool within = direction == Direction::kDeviceToDevice;
  const bool dst_on_device = within || direction == Direction::kHostToDevice;
  const bool src_on_device = within || direction == Direction::kDeviceToHost;
  CuCopy2d copy{};
  copy.src_type = src_on_device ? cu::kMemoryDevice : cu::kMemoryHost;
  copy.src_host = rows.src;
  copy.src_device = AddressOf(rows.src);
  copy.src_pitch = rows.src_pitch;
  copy.dst_type = dst_on_device ? cu::kMemoryDevice : cu::kMemoryHost;
  copy.dst_host = rows.dst;
  copy.dst_device = AddressOf(rows.dst);
  copy.dst_pitch = rows.dst_pitch;
  copy.width = rows.width;
  copy.height = rows.height;
  return stream.gpu().Check(stream.driver().Copy2d(&copy, stream.get()), "cuMemcpy2DAsync");
}

}  // namespace sampan::cuda
