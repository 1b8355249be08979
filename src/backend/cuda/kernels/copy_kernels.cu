// Kernels for copies at which a copy engine is slow: many pieces, narrow rows, operands in device memory.
#include "backend/cuda/kernels/device_language.h"
#include "backend/cuda/kernels/kernel_arguments.h"

namespace sampan::cuda {
namespace {

using Size = unsigned long long;

/// Sixteen bytes, the widest access.
struct Vector {
  unsigned a, b, c, d;
};

/// Volatile keeps the loads of a step ahead of its stores.
__device__ inline Vector LoadVector(DeviceAddress from) {
  Vector vector;
  asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(vector.a), "=r"(vector.b), "=r"(vector.c), "=r"(vector.d)
               : "l"(from));
  return vector;
}
__device__ inline void StoreVector(DeviceAddress to, const Vector& vector) {
  asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(vector.a), "r"(vector.b),
               "r"(vector.c), "r"(vector.d));
}
__device__ inline unsigned LoadWord(DeviceAddress from) {
  unsigned word;
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(word) : "l"(from));
  return word;
}
__device__ inline void StoreWord(DeviceAddress to, unsigned word) {
  asm volatile("st.global.u32 [%0], %1;" ::"l"(to), "r"(word));
}
__device__ inline unsigned LoadByte(DeviceAddress from) {
  unsigned byte;
  asm volatile("ld.global.u8 %0, [%1];" : "=r"(byte) : "l"(from));
  return byte;
}
__device__ inline void StoreByte(DeviceAddress to, unsigned byte) {
  asm volatile("st.global.u8 [%0], %1;" ::"l"(to), "r"(byte));
}
__device__ inline void CopyByte(DeviceAddress to, DeviceAddress from) {
  StoreByte(to, LoadByte(from));
}
__device__ inline DeviceAddress LoadAddress(DeviceAddress from) {
  DeviceAddress value;
  asm volatile("ld.global.u64 %0, [%1];" : "=l"(value) : "l"(from));
  return value;
}
/// The four bytes that begin `bits` bits inside `low`.
__device__ inline unsigned Funnel(unsigned low, unsigned high, unsigned bits) {
  unsigned word;
  asm("shf.r.wrap.b32 %0, %1, %2, %3;" : "=r"(word) : "r"(low), "r"(high), "r"(bits));
  return word;
}

/// The threads that share a piece. `first` is the calling thread's number, `step` is their count.
struct Team {
  Size first, step;
};

__device__ inline void CopyBytes(DeviceAddress dst, DeviceAddress src, Size bytes, Team team) {
  for (Size i = team.first; i < bytes; i += team.step)
    CopyByte(dst + i, src + i);
}

/// An access at `address` if that lies below `end`. Then the address advances. Without branches, and opaque
/// to the compiler, which would keep the multiples of the stride in registers and spill others.
__device__ inline Vector LoadBelow(DeviceAddress end, DeviceAddress& address, Size stride) {
  Vector vector;
  asm volatile(
      "{\n\t.reg .pred below;\n\tsetp.lt.u64 below, %4, %5;\n\t"
      "@below ld.global.v4.u32 {%0, %1, %2, %3}, [%4];\n\tadd.u64 %4, %4, %6;\n\t}"
      : "=&r"(vector.a), "=&r"(vector.b), "=&r"(vector.c), "=&r"(vector.d), "+l"(address)
      : "l"(end), "l"(stride));
  return vector;
}
__device__ inline void StoreBelow(DeviceAddress end, DeviceAddress& address, Size stride,
                                  const Vector& vector) {
  asm volatile(
      "{\n\t.reg .pred below;\n\tsetp.lt.u64 below, %0, %1;\n\t"
      "@below st.global.v4.u32 [%0], {%3, %4, %5, %6};\n\tadd.u64 %0, %0, %2;\n\t}"
      : "+l"(address)
      : "l"(end), "l"(stride), "r"(vector.a), "r"(vector.b), "r"(vector.c), "r"(vector.d));
}
/// Four bytes that begin `bits` bits inside of the word at `address`. They reach into the word `second` bytes
/// behind it.
__device__ inline unsigned LoadSpanBelow(DeviceAddress end, DeviceAddress& address, Size stride, Size second,
                                         unsigned bits) {
  unsigned low, high;
  asm volatile(
      "{\n\t.reg .pred below;\n\t.reg .b64 next;\n\tsetp.lt.u64 below, %2, %3;\n\tadd.u64 next, %2, %5;\n\t"
      "@below ld.global.u32 %0, [%2];\n\t@below ld.global.u32 %1, [next];\n\tadd.u64 %2, %2, %4;\n\t}"
      : "=&r"(low), "=&r"(high), "+l"(address)
      : "l"(end), "l"(stride), "l"(second));
  return Funnel(low, high, bits);
}
__device__ inline void StoreBelow(DeviceAddress end, DeviceAddress& address, Size stride, unsigned word) {
  asm volatile(
      "{\n\t.reg .pred below;\n\tsetp.lt.u64 below, %0, %1;\n\t"
      "@below st.global.u32 [%0], %3;\n\tadd.u64 %0, %0, %2;\n\t}"
      : "+l"(address)
      : "l"(end), "l"(stride), "r"(word));
}

__device__ inline void CopyVectors(DeviceAddress dst, DeviceAddress src, Size vectors, Team team) {
  const Size stride = 16 * team.step;
  const DeviceAddress src_end = src + 16 * vectors, dst_end = dst + 16 * vectors;
  src += 16 * team.first;
  dst += 16 * team.first;
  while (src < src_end) {
    Vector kept[kVectorsInFlight];
#pragma unroll
    for (int k = 0; k < kVectorsInFlight; ++k)
      kept[k] = LoadBelow(src_end, src, stride);
#pragma unroll
    for (int k = 0; k < kVectorsInFlight; ++k)
      StoreBelow(dst_end, dst, stride, kept[k]);
  }
}

/// Writes whole words from a source of any alignment. Combines each word from the two aligned words that it
/// spans. Both contain a byte of the source, so nothing outside its pages is read.
__device__ inline void CopyWords(DeviceAddress dst, DeviceAddress src, Size words, Team team) {
  const unsigned bits = static_cast<unsigned>(src & 3) * 8;
  const Size second = bits == 0 ? 0 : 4;  // an aligned source is read once
  const Size stride = 4 * team.step;
  src &= ~DeviceAddress{3};
  const DeviceAddress src_end = src + 4 * words, dst_end = dst + 4 * words;
  src += 4 * team.first;
  dst += 4 * team.first;
  while (src < src_end) {
    unsigned kept[kWordsInFlight];
#pragma unroll
    for (int k = 0; k < kWordsInFlight; ++k)
      kept[k] = LoadSpanBelow(src_end, src, stride, second, bits);
#pragma unroll
    for (int k = 0; k < kWordsInFlight; ++k)
      StoreBelow(dst_end, dst, stride, kept[k]);
  }
}

/// Any alignment, one word at a time: for whole grids, which have enough accesses in flight. Uses few
/// registers, so that more blocks fit on the GPU.
__device__ inline void CopyLean(DeviceAddress dst, DeviceAddress src, Size bytes, Team team) {
  Size head = (4 - (dst & 3)) & 3;
  if (head > bytes) head = bytes;
  CopyBytes(dst, src, head, team);
  const unsigned bits = static_cast<unsigned>((src + head) & 3) * 8;
  const DeviceAddress base = (src + head) & ~DeviceAddress{3};
  const DeviceAddress second = bits == 0 ? 0 : 4;
  const Size words = (bytes - head) / 4;
  for (Size i = team.first; i < words; i += team.step)
    StoreWord(dst + head + 4 * i, Funnel(LoadWord(base + 4 * i), LoadWord(base + 4 * i + second), bits));
  const Size done = head + 4 * words;
  CopyBytes(dst + done, src + done, bytes - done, team);
}

/// Any alignment, any length. Bytes up to the first aligned address of the destination, wide accesses, the
/// rest.
__device__ inline void CopyPiece(DeviceAddress dst, DeviceAddress src, Size bytes, Team team) {
  const bool wide = ((dst ^ src) & 15) == 0;
  const Size unit = wide ? 16 : 4;
  Size head = (unit - (dst & (unit - 1))) & (unit - 1);
  if (head > bytes) head = bytes;
  CopyBytes(dst, src, head, team);
  dst += head;
  src += head;
  bytes -= head;
  const Size units = bytes / unit;
  if (wide) {
    CopyVectors(dst, src, units, team);
  } else {
    CopyWords(dst, src, units, team);
  }
  CopyBytes(dst + units * unit, src + units * unit, bytes - units * unit, team);
}

/// Reads the argument of sampan_copy_few. Otherwise compilers would copy it to local memory of each thread.
__device__ inline unsigned ArgumentWord(unsigned at) {
  unsigned word;
  asm volatile(
      "{\n\t.reg .b64 at;\n\tmov.b64 at, sampan_copy_few_param_0;\n\tadd.s64 at, at, %1;\n\t"
      "ld.param.u32 %0, [at];\n\t}"
      : "=r"(word)
      : "l"(static_cast<Size>(at)));
  return word;
}
__device__ inline DeviceAddress ArgumentAddress(Size at) {
  DeviceAddress value;
  asm volatile(
      "{\n\t.reg .b64 at;\n\tmov.b64 at, sampan_copy_few_param_0;\n\tadd.s64 at, at, %1;\n\t"
      "ld.param.u64 %0, [at];\n\t}"
      : "=l"(value)
      : "l"(at));
  return value;
}

/// Publishes what the block has written, also for the host. All threads of the block must call it.
__device__ inline void WriteCompletion(const CompletionArgument& completion) {
  if (completion.words == 0) return;
  SyncBlock();
  if (ThreadInBlock() != 0) return;
  asm volatile("fence.acq_rel.sys;\n\tst.relaxed.sys.global.u64 [%0], %1;" ::"l"(
                   completion.words + BlockInGrid() * sizeof(completion.sequence)),
               "l"(completion.sequence)
               : "memory");
}

/// The team of the grid that the calling thread belongs to.
struct Place {
  Size team, teams;
  Team member;
};
__device__ inline Place PlaceInGrid(unsigned team_bits) {
  const Size thread = static_cast<Size>(BlockInGrid()) * ThreadsPerBlock() + ThreadInBlock();
  const Size threads = static_cast<Size>(Blocks()) * ThreadsPerBlock();
  const Size step = Size{1} << team_bits;
  return {thread >> team_bits, threads >> team_bits, {thread & (step - 1), step}};
}

__device__ inline Vector Load(DeviceAddress from, const Vector*) {
  return LoadVector(from);
}
__device__ inline unsigned Load(DeviceAddress from, const unsigned*) {
  return LoadWord(from);
}
__device__ inline void Store(DeviceAddress to, const Vector& vector) {
  StoreVector(to, vector);
}
__device__ inline void Store(DeviceAddress to, unsigned word) {
  StoreWord(to, word);
}

/// Copies rows of whole units. Neighbouring threads copy neighbouring units of a row, or of the next row if
/// rows are shorter than a block. Each thread has several rows in flight.
template <typename Unit, int kInFlight>
__device__ inline void CopyRowsOf(const RowsArgument& rows) {
  constexpr Size kUnit = sizeof(Unit);
  const unsigned units = static_cast<unsigned>(rows.width / kUnit);
  const unsigned threads = ThreadsPerBlock();
  const unsigned columns = units < threads ? units : threads;  // threads to a row
  const unsigned rows_at_once = threads / columns;
  const unsigned row_in_block = ThreadInBlock() / columns;
  const unsigned column = ThreadInBlock() - row_in_block * columns;
  if (row_in_block >= rows_at_once) return;
  const Size step = static_cast<Size>(Blocks()) * rows_at_once;
  for (Size row = static_cast<Size>(BlockInGrid()) * rows_at_once + row_in_block; row < rows.height;
       row += kInFlight * step) {
    for (unsigned at = column; at < units; at += columns) {
      const DeviceAddress src = rows.src + row * rows.src_pitch + at * kUnit;
      const DeviceAddress dst = rows.dst + row * rows.dst_pitch + at * kUnit;
      if (row + (kInFlight - 1) * step < rows.height) {
        Unit kept[kInFlight];
#pragma unroll
        for (int k = 0; k < kInFlight; ++k)
          kept[k] = Load(src + k * step * rows.src_pitch, static_cast<const Unit*>(nullptr));
#pragma unroll
        for (int k = 0; k < kInFlight; ++k)
          Store(dst + k * step * rows.dst_pitch, kept[k]);
      } else {
        for (Size k = 0; row + k * step < rows.height; ++k) {
          Store(dst + k * step * rows.dst_pitch,
                Load(src + k * step * rows.src_pitch, static_cast<const Unit*>(nullptr)));
        }
      }
    }
  }
}

/// A position in rows that are packed without gaps, and a thread's stride. Advancing needs no division.
struct Walk {
  Size row, column;
  Size step_rows, step_columns;

  __device__ void Next(Size width) {
    row += step_rows;
    column += step_columns;
    if (column < width) return;
    column -= width;
    ++row;
  }
};
__device__ inline Walk WalkFrom(Size at, Size step, Size width) {
  return {at / width, at % width, step / width, step % width};
}

/// Four bytes of packed rows, from this position on. They may continue in the next rows.
__device__ inline unsigned PackedWord(const RowsArgument& rows, Size row, Size column) {
  while (column >= rows.width) {
    column -= rows.width;
    ++row;
  }
  DeviceAddress src = rows.src + row * rows.src_pitch + column;
  if (column + 4 <= rows.width) {
    const unsigned bits = static_cast<unsigned>(src & 3) * 8;
    const DeviceAddress base = src & ~DeviceAddress{3};
    return Funnel(LoadWord(base), LoadWord(bits == 0 ? base : base + 4), bits);
  }
  unsigned word = 0;
  for (unsigned k = 0; k < 4; ++k) {
    word |= LoadByte(src) << (8 * k);
    ++src;
    if (++column < rows.width) continue;
    column = 0;
    ++row;
    src = rows.src + row * rows.src_pitch;
  }
  return word;
}

/// Rows of any alignment into a dense destination, which is written in whole vectors.
template <int kInFlight>
__device__ inline void PackRows(const RowsArgument& rows) {
  const Place place = PlaceInGrid(0);
  const Size bytes = rows.width * rows.height;
  Size head = (16 - (rows.dst & 15)) & 15;
  if (head > bytes) head = bytes;
  const Size vectors = (bytes - head) / 16;
  Walk walk = WalkFrom(head + 16 * place.team, 16 * place.teams, rows.width);
  for (Size i = place.team; i < vectors; i += kInFlight * place.teams) {
    Vector packed[kInFlight];
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      if (i + k * place.teams >= vectors) break;
      packed[k].a = PackedWord(rows, walk.row, walk.column);
      packed[k].b = PackedWord(rows, walk.row, walk.column + 4);
      packed[k].c = PackedWord(rows, walk.row, walk.column + 8);
      packed[k].d = PackedWord(rows, walk.row, walk.column + 12);
      walk.Next(rows.width);
    }
#pragma unroll
    for (int k = 0; k < kInFlight; ++k)
      if (i + k * place.teams < vectors) StoreVector(rows.dst + head + 16 * (i + k * place.teams), packed[k]);
  }
  // The bytes before and behind the vectors, one per thread.
  const Size at = place.team < head ? place.team : head + 16 * vectors + (place.team - head);
  if (at < bytes) CopyByte(rows.dst + at, rows.src + at / rows.width * rows.src_pitch + at % rows.width);
}

/// A long copy, one tile per block. With as many blocks as tiles, memory is accessed in order.
__device__ inline void CopyTiles(DeviceAddress dst, DeviceAddress src, Size vectors) {
  const Size tile = static_cast<Size>(ThreadsPerBlock()) * kTileVectorsInFlight;
  const Size whole = vectors / tile;
  for (Size i = BlockInGrid(); i < whole; i += Blocks()) {
    const Size first = i * tile + ThreadInBlock();
    Vector kept[kTileVectorsInFlight];
#pragma unroll
    for (int k = 0; k < kTileVectorsInFlight; ++k)
      kept[k] = LoadVector(src + 16 * (first + k * ThreadsPerBlock()));
#pragma unroll
    for (int k = 0; k < kTileVectorsInFlight; ++k)
      StoreVector(dst + 16 * (first + k * ThreadsPerBlock()), kept[k]);
  }
  const Size thread = static_cast<Size>(BlockInGrid()) * ThreadsPerBlock() + ThreadInBlock();
  const Size last = whole * tile + thread;
  for (Size i = last; i < vectors; i += static_cast<Size>(Blocks()) * ThreadsPerBlock())
    StoreVector(dst + 16 * i, LoadVector(src + 16 * i));
}

}  // namespace

/// A team of 2^team_bits threads of a warp copies a piece. The descriptors are in host memory: a warp fetches
/// those of its next pieces while it copies. The shifts are added to the addresses of all pieces.
extern "C" __global__ void SAMPAN_LAUNCH_BOUNDS(kLinkThreads, 1)
    sampan_copy_pieces(DeviceAddress pieces, unsigned count, unsigned team_bits, DeviceAddress dst_shift,
                       DeviceAddress src_shift, CompletionArgument completion) {
  constexpr unsigned kWarp = 32;
  constexpr unsigned kWords = sizeof(PieceArgument) / sizeof(Size);
  constexpr unsigned kMaxPieces = kWarp / kWords;
  constexpr unsigned kRounds = 16;  // the work of the warps differs by one round at most
  const unsigned warps = Blocks() * (ThreadsPerBlock() / kWarp);
  const unsigned lane = ThreadInBlock() % kWarp;
  unsigned share = count / (warps * kRounds);
  share = share < 1 ? 1 : share > kMaxPieces ? kMaxPieces : share;
  const auto fetch = [&](Size first) -> Size {
    const Size word = first * kWords + lane;
    if (lane >= share * kWords || word >= static_cast<Size>(count) * kWords) return 0;
    return LoadAddress(pieces + word * sizeof(Size));
  };
  const unsigned teams = kWarp >> team_bits;
  const unsigned team = lane >> team_bits;
  const Team member = {lane & ((1U << team_bits) - 1), Size{1} << team_bits};
  const Size step = static_cast<Size>(warps) * share;
  Size first =
      static_cast<Size>(BlockInGrid() * (ThreadsPerBlock() / kWarp) + ThreadInBlock() / kWarp) * share;
  Size fetched = fetch(first);
  for (; first < count; first += step) {
    const Size words = fetched;
    fetched = fetch(first + step);
    const unsigned here = count - first < share ? static_cast<unsigned>(count - first) : share;
    for (unsigned i = 0; i < here; i += teams) {
      const unsigned mine = i + team < here ? i + team : i;
      const DeviceAddress dst = FromLane(words, mine * kWords) + dst_shift;
      const DeviceAddress src = FromLane(words, mine * kWords + 1) + src_shift;
      const Size bytes = FromLane(words, mine * kWords + 2);
      if (i + team < here) CopyPiece(dst, src, bytes, member);
    }
  }
  WriteCompletion(completion);
}

extern "C" __global__ void SAMPAN_LAUNCH_BOUNDS(kThreadsPerBlock, 3)
    sampan_copy_rows_of_vectors(RowsArgument rows) {
  CopyRowsOf<Vector, kRowsInFlight>(rows);
}
extern "C" __global__ void SAMPAN_LAUNCH_BOUNDS(kLinkThreads, 1)
    sampan_link_rows_of_vectors(RowsArgument rows) {
  CopyRowsOf<Vector, kLinkRowsInFlight>(rows);
}

extern "C" __global__ void SAMPAN_LAUNCH_BOUNDS(kThreadsPerBlock, 4)
    sampan_copy_rows_of_words(RowsArgument rows) {
  CopyRowsOf<unsigned, kRowsInFlight>(rows);
}
extern "C" __global__ void SAMPAN_LAUNCH_BOUNDS(kLinkThreads, 1)
    sampan_link_rows_of_words(RowsArgument rows) {
  CopyRowsOf<unsigned, 2 * kLinkRowsInFlight>(rows);
}

extern "C" __global__ void SAMPAN_LAUNCH_BOUNDS(kThreadsPerBlock, 3) sampan_pack_rows(RowsArgument rows) {
  PackRows<1>(rows);
}
extern "C" __global__ void SAMPAN_LAUNCH_BOUNDS(kLinkThreads, 1) sampan_link_pack_rows(RowsArgument rows) {
  PackRows<kPackedInFlight>(rows);
}

/// A team of 2^team_bits threads copies a row.
extern "C" __global__ void SAMPAN_LAUNCH_BOUNDS(kLinkThreads, 1)
    sampan_copy_rows(RowsArgument rows, unsigned team_bits) {
  const Place place = PlaceInGrid(team_bits);
  for (Size i = place.team; i < rows.height; i += place.teams)
    CopyPiece(rows.dst + i * rows.dst_pitch, rows.src + i * rows.src_pitch, rows.width, place.member);
}

/// Rows of any alignment, one byte per thread. Neighbouring threads write neighbouring bytes in one access,
/// which matters most over a link.
extern "C" __global__ void SAMPAN_LAUNCH_BOUNDS(kThreadsPerBlock, 4)
    sampan_copy_rows_of_bytes(RowsArgument rows) {
  const Place place = PlaceInGrid(0);
  const Size bytes = rows.width * rows.height;
  Walk walk = WalkFrom(place.team, place.teams, rows.width);
  for (Size i = place.team; i < bytes; i += kBytesInFlight * place.teams) {
    DeviceAddress to[kBytesInFlight];
    unsigned kept[kBytesInFlight];
#pragma unroll
    for (int k = 0; k < kBytesInFlight; ++k) {
      to[k] = rows.dst + walk.row * rows.dst_pitch + walk.column;
      if (i + k * place.teams < bytes) kept[k] = LoadByte(rows.src + walk.row * rows.src_pitch + walk.column);
      walk.Next(rows.width);
    }
#pragma unroll
    for (int k = 0; k < kBytesInFlight; ++k)
      if (i + k * place.teams < bytes) StoreByte(to[k], kept[k]);
  }
}

/// A short batch in the arguments of the kernel, so that nothing has to be fetched first. All pieces have the
/// same number of teams.
extern "C" __global__ void SAMPAN_LAUNCH_BOUNDS(kLinkThreads, 1) sampan_copy_few(InlinePiecesArgument) {
  constexpr Size kLine = 128;
  const unsigned each = ArgumentWord(0);
  const Place place = PlaceInGrid(ArgumentWord(sizeof(unsigned)));
  const Size shares = static_cast<Size>(each) * ArgumentWord(2 * sizeof(unsigned));
  for (Size i = place.team; i < shares; i += place.teams) {
    const unsigned piece = static_cast<unsigned>(i) / each;
    const Size at = kInlinePiecesAt + sizeof(PieceArgument) * piece;
    const DeviceAddress dst = ArgumentAddress(at);
    const DeviceAddress src = ArgumentAddress(at + sizeof(dst));
    const Size bytes = ArgumentAddress(at + sizeof(dst) + sizeof(src));
    const Size share = (bytes / each + kLine) / kLine * kLine;
    const Size begin = share * (i - static_cast<Size>(piece) * each);
    if (begin >= bytes) continue;
    const Size length = bytes - begin < share ? bytes - begin : share;
    CopyPiece(dst + begin, src + begin, length, place.member);
  }
  WriteCompletion(
      {ArgumentAddress(kInlineCompletionAt), ArgumentAddress(kInlineCompletionAt + sizeof(DeviceAddress))});
}

/// Reads its operands when it runs, checks them against the table of accessible memory, and copies. Each warp
/// reads a short table by itself, without a barrier. The block shares a long table.
extern "C" __global__ void SAMPAN_LAUNCH_BOUNDS(kThreadsPerBlock, 3)
    sampan_copy_indirect(IndirectArgument argument) {
  constexpr unsigned kWarp = 32;
  constexpr Size kShortTable = 4 * kWarp;
  __shared__ volatile unsigned found[2];
  const bool whole_block = argument.range_count > kShortTable;
  if (whole_block) {
    if (ThreadInBlock() < 2) found[ThreadInBlock()] = 0;
    SyncBlock();
  }
  const DeviceAddress dst = LoadAddress(argument.dst_cell) + argument.dst_offset;
  const DeviceAddress src = LoadAddress(argument.src_cell) + argument.src_offset;
  const Size bytes = argument.length_cell != 0 ? LoadWord(argument.length_cell) : argument.bytes;
  bool dst_found = false;
  bool src_found = false;
  const unsigned step = whole_block ? ThreadsPerBlock() : kWarp;
  for (Size i = ThreadInBlock() % step; i < argument.range_count; i += step) {
    const DeviceAddress begin = LoadAddress(argument.ranges + i * sizeof(RangeArgument));
    const DeviceAddress flagged_end =
        LoadAddress(argument.ranges + i * sizeof(RangeArgument) + sizeof(DeviceAddress));
    const DeviceAddress end = flagged_end & ~kReadOnlyRange;
    dst_found = dst_found || (dst >= begin && dst < end && bytes <= end - dst && end == flagged_end);
    src_found = src_found || (src >= begin && src < end && bytes <= end - src);
  }
  if (whole_block) {
    if (dst_found) found[0] = 1;
    if (src_found) found[1] = 1;
    SyncBlock();
    dst_found = found[0] != 0;
    src_found = found[1] != 0;
  } else {
    dst_found = AnyInWarp(dst_found);
    src_found = AnyInWarp(src_found);
  }
  const bool allowed = bytes == 0 || (dst_found && src_found);
  if (BlockInGrid() == 0 && ThreadInBlock() == 0) {
    auto* record = reinterpret_cast<volatile IndirectRecord*>(argument.record);
    if (bytes != argument.expected_bytes) record->bytes = bytes;
    if (!allowed) {
      record->dst = dst;
      record->src = src;
      record->failed = 1;
    }
  }
  if (!allowed || bytes == 0) return;
  const Size thread = static_cast<Size>(BlockInGrid()) * ThreadsPerBlock() + ThreadInBlock();
  const Team all = {thread, static_cast<Size>(Blocks()) * ThreadsPerBlock()};
  if (((dst | src) & 15) != 0) return CopyLean(dst, src, bytes, all);
  const Size vectors = bytes / 16;
  CopyTiles(dst, src, vectors);
  CopyBytes(dst + 16 * vectors, src + 16 * vectors, bytes - 16 * vectors, all);
}

}  // namespace sampan::cuda
