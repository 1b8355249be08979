// What the kernels are given: layouts that host and device agree on.
#pragma once

namespace sampan::cuda {

/// Threads of every block that the kernels are launched with.
inline constexpr unsigned kThreadsPerBlock = 512;

/// An address of the GPU's; host memory that the GPU can reach has one too.
using DeviceAddress = unsigned long long;

/// One piece of a batch. The layout of sampan::Segment.
struct PieceArgument {
  DeviceAddress dst, src;
  unsigned long long bytes;
};

/// Memory that copies may touch: [begin, end). Tables of them are sorted.
struct RangeArgument {
  DeviceAddress begin, end;
};

/// Why a copy with operands in device memory was not done. Written by the kernel, `failed` last.
struct IndirectFailure {
  DeviceAddress dst, src;
  unsigned long long bytes;
  unsigned long long failed;
};

/// Where a copy with operands in device memory finds them: addresses in cells, the length in a cell of four bytes
/// or, without such a cell, in `bytes`.
struct IndirectArgument {
  DeviceAddress dst_cell, src_cell, length_cell;
  unsigned long long dst_offset, src_offset, bytes;
  DeviceAddress ranges;
  unsigned long long range_count;
  DeviceAddress failure;
};

/// Equal pieces at fixed distances.
struct RowsArgument {
  DeviceAddress dst, src;
  unsigned long long dst_pitch, src_pitch, width, height;
};

}  // namespace sampan::cuda
