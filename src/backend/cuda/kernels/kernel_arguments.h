// The arguments of the kernels: layouts that host and device share.
#pragma once

namespace sampan::cuda {

/// The number of threads in a block: of kernels that use the whole GPU, and of kernels between host and
/// device. Those have as many as fit on a multiprocessor, so that two or three multiprocessors use the link.
inline constexpr unsigned kThreadsPerBlock = 512, kLinkThreads = 1024;
/// Accesses that a thread has in flight: vectors of a piece, of a tile and of packed rows, words of a piece,
/// bytes of rows.
inline constexpr int kVectorsInFlight = 8, kTileVectorsInFlight = 4, kPackedInFlight = 4, kWordsInFlight = 4,
                     kBytesInFlight = 4;
/// Rows that a thread has in flight, within a device and over the link.
inline constexpr int kRowsInFlight = 4, kLinkRowsInFlight = 8;

/// An address on the GPU. Host memory that the GPU can access has one too.
using DeviceAddress = unsigned long long;

/// One piece of a batch. The layout of sampan::Segment.
struct PieceArgument {
  DeviceAddress dst, src;
  unsigned long long bytes;
};

/// At its end, each block of a kernel stores the sequence number in its word, in pinned memory. Null: no
/// store.
struct CompletionArgument {
  DeviceAddress words;
  unsigned long long sequence;
};

/// A short batch with its pieces in the arguments of the kernel. `teams_each` teams of 2^team_bits threads
/// copy each piece.
inline constexpr unsigned kMaxInlinePieces = 32;
struct InlinePiecesArgument {
  unsigned teams_each, team_bits, count, unused;
  CompletionArgument completion;
  PieceArgument pieces[kMaxInlinePieces];
};
inline constexpr unsigned long long kInlineCompletionAt = 4 * sizeof(unsigned),
                                    kInlinePiecesAt = kInlineCompletionAt + sizeof(CompletionArgument);

/// Memory that copies may access: [begin, end). Tables of ranges are sorted. A read-only range has this bit
/// set in its end.
inline constexpr DeviceAddress kReadOnlyRange = DeviceAddress{1} << 63;
struct RangeArgument {
  DeviceAddress begin, end;
};

/// What a copy with operands in device memory found there. The kernel writes it over the link. It writes the
/// length if it is not the expected one. It writes the rest if the operands were invalid and nothing was
/// copied.
struct IndirectRecord {
  DeviceAddress dst, src;
  unsigned long long bytes;
  unsigned long long failed;
};

/// The cells that contain the operands of a copy. The length is in a cell of four bytes or, without such a
/// cell, in `bytes`.
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
