// What the kernels are given: layouts that host and device agree on.
#pragma once

namespace sampan::cuda {

/// Threads of every block that the kernels are launched with.
inline constexpr unsigned kThreadsPerBlock = 512;
/// Accesses that a thread has in flight at once: vectors of a piece, words of one, rows, bytes of rows.
inline constexpr int kVectorsInFlight = 4, kWordsInFlight = 4, kRowsInFlight = 4, kBytesInFlight = 4;

/// An address of the GPU's; host memory that the GPU can reach has one too.
using DeviceAddress = unsigned long long;

/// One piece of a batch. The layout of sampan::Segment.
struct PieceArgument {
  DeviceAddress dst, src;
  unsigned long long bytes;
};

/// Each block of a kernel ends by storing the sequence number in its word, in pinned memory. Null words: no
/// store.
struct CompletionArgument {
  DeviceAddress words;
  unsigned long long sequence;
};

/// A short batch, whose pieces are arguments of the kernel, each copied by `blocks_each` blocks.
inline constexpr unsigned kMaxInlinePieces = 32;
struct InlinePiecesArgument {
  unsigned long long blocks_each;
  CompletionArgument completion;
  PieceArgument pieces[kMaxInlinePieces];
};
inline constexpr unsigned long long kInlineCompletionAt = sizeof(unsigned long long),
                                    kInlinePiecesAt = kInlineCompletionAt + sizeof(CompletionArgument);

/// Memory that copies may touch: [begin, end). Tables of them are sorted. What may only be read has this bit
/// in its end.
inline constexpr DeviceAddress kReadOnlyRange = DeviceAddress{1} << 63;
struct RangeArgument {
  DeviceAddress begin, end;
};

/// What a copy with operands in device memory found there. The kernel writes it, over the link. The length is
/// written if it is not the expected one. The rest is written if the operands were bad and nothing was
/// copied.
struct IndirectRecord {
  DeviceAddress dst, src;
  unsigned long long bytes;
  unsigned long long failed;
};

/// Where a copy with operands in device memory finds them. Addresses lie in cells. The length lies in a cell
/// of four bytes or, without such a cell, in `bytes`.
struct IndirectArgument {
  DeviceAddress dst_cell, src_cell, length_cell;
  unsigned long long dst_offset, src_offset, bytes;
  unsigned long long expected_bytes;
  DeviceAddress ranges;
  unsigned long long range_count;
  DeviceAddress record;
};

/// A reducing copy; element and operation by the numbers of sampan::ReduceElement and ReduceOperation.
struct ReduceArgument {
  DeviceAddress dst, src;
  unsigned long long bytes;
  unsigned element, operation;
};

/// Equal pieces at fixed distances.
struct RowsArgument {
  DeviceAddress dst, src;
  unsigned long long dst_pitch, src_pitch, width, height;
};

}  // namespace sampan::cuda
