// Divides rows of pageable memory into parts that are packed in a buffer.
#include "backend/cuda/staging/staged_rows.h"

#include "backend/cuda/paths/row_copies.h"

namespace sampan::cuda {
namespace {

/// With a constant length, compilers copy without a call.
template <std::size_t kWidth>
void CopyNarrow(const Rows& rows) {
  for (std::size_t i = 0; i < rows.height; ++i)
    std::memcpy(rows.dst + i * rows.dst_pitch, rows.src + i * rows.src_pitch, kWidth);
}

void CopyRowsOnHost(const Rows& rows) {
  switch (rows.width) {
    case 4:
      return CopyNarrow<4>(rows);
    case 8:
      return CopyNarrow<8>(rows);
    case 16:
      return CopyNarrow<16>(rows);
    case 32:
      return CopyNarrow<32>(rows);
    default:
      break;
  }
  for (std::size_t i = 0; i < rows.height; ++i)
    std::memcpy(rows.dst + i * rows.dst_pitch, rows.src + i * rows.src_pitch, rows.width);
}

}  // namespace

Rows RowParts::Packed(const Rows& rows, Direction direction, std::byte* buffer) {
  if (direction == Direction::kHostToDevice)
    return {rows.dst, buffer, rows.dst_pitch, rows.width, rows.width, rows.height};
  return {buffer, rows.src, rows.width, rows.src_pitch, rows.width, rows.height};
}

Rows RowParts::At(std::size_t part) const {
  const std::size_t first = part * rows_each_;
  return {rows_.dst + first * rows_.dst_pitch,
          rows_.src + first * rows_.src_pitch,
          rows_.dst_pitch,
          rows_.src_pitch,
          rows_.width,
          std::min(rows_each_, rows_.height - first)};
}

void RowParts::CopyOnHost(std::size_t part, const StagingBuffer& buffer) const {
  Rows rows = At(part);
  if (direction_ == Direction::kHostToDevice) {
    rows.dst = buffer.bytes;
    rows.dst_pitch = rows.width;
  } else {
    rows.src = buffer.bytes;
    rows.src_pitch = rows.width;
  }
  CopyRowsOnHost(rows);
}

Status RowParts::Launch(std::size_t part, const StagingBuffer& buffer, StagingStream& stream) const {
  const Rows rows = Packed(At(part), direction_, buffer.bytes);
  if (rows.dst_pitch == rows.src_pitch || rows.height == 1)  // no gaps on the device either
    return stream.cuda->CopyOverLink({rows.dst, rows.src, rows.width * rows.height}, direction_);
  if (path_ != CopyPath::kKernel) return CopyRowsByDriver(*stream.cuda, rows, direction_);
  RowsKernel kernel(stream.cuda->site(), rows, direction_);
  const std::lock_guard lock(stream.kernels);
  return stream.cuda->Launch(kernel.function(), kernel.grid(), kernel.arguments());
}

}  // namespace sampan::cuda
