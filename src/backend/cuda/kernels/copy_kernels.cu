// The kernels that copy where a copy engine is slow: many pieces, narrow rows, operands in device memory.
#include "backend/cuda/kernels/device_language.h"
#include "backend/cuda/kernels/kernel_arguments.h"

namespace sampan::cuda {
namespace {

using Size = unsigned long long;

/// Sixteen bytes, the widest access.
struct Vector {
  unsigned a, b, c, d;
};

/// Data passes by once: the caches are told so (cs). Volatile keeps the loads of a step before its stores.
__device__ inline Vector LoadVector(DeviceAddress from) {
  Vector vector;
  asm volatile("ld.global.cs.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(vector.a), "=r"(vector.b), "=r"(vector.c), "=r"(vector.d)
               : "l"(from));
  return vector;
}
__device__ inline void StoreVector(DeviceAddress to, const Vector& vector) {
  asm volatile("st.global.cs.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(vector.a), "r"(vector.b),
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
__device__ inline void CopyByte(DeviceAddress to, DeviceAddress from) {
  unsigned byte;
  asm volatile("ld.global.u8 %0, [%1];" : "=r"(byte) : "l"(from));
  asm volatile("st.global.u8 [%0], %1;" ::"l"(to), "r"(byte));
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

/// Threads that share a piece: `first` is the calling one's number among them, they are `step`.
struct Team {
  Size first, step;
};

__device__ inline void CopyBytes(DeviceAddress dst, DeviceAddress src, Size bytes, Team team) {
  for (Size i = team.first; i < bytes; i += team.step)
    CopyByte(dst + i, src + i);
}

__device__ inline void CopyVectors(DeviceAddress dst, DeviceAddress src, Size vectors, Team team) {
  Size i = team.first;
  for (; i + (kVectorsInFlight - 1) * team.step < vectors; i += kVectorsInFlight * team.step) {
    Vector kept[kVectorsInFlight];
#pragma unroll
    for (int k = 0; k < kVectorsInFlight; ++k)
      kept[k] = LoadVector(src + 16 * (i + k * team.step));
#pragma unroll
    for (int k = 0; k < kVectorsInFlight; ++k)
      StoreVector(dst + 16 * (i + k * team.step), kept[k]);
  }
  for (; i < vectors; i += team.step)
    StoreVector(dst + 16 * i, LoadVector(src + 16 * i));
}

/// Writes whole words although the source may begin anywhere: each is put together from the two aligned words
/// that it spans. Those hold at least one byte of the source, so nothing outside its pages is read.
__device__ inline void CopyWords(DeviceAddress dst, DeviceAddress src, Size words, Team team) {
  const unsigned bits = static_cast<unsigned>(src & 3) * 8;
  const DeviceAddress base = src & ~DeviceAddress{3};
  const DeviceAddress second = bits == 0 ? 0 : 4;  // an aligned source is read once
  Size i = team.first;
  for (; i + (kWordsInFlight - 1) * team.step < words; i += kWordsInFlight * team.step) {
    unsigned low[kWordsInFlight];
    unsigned high[kWordsInFlight];
#pragma unroll
    for (int k = 0; k < kWordsInFlight; ++k) {
      low[k] = LoadWord(base + 4 * (i + k * team.step));
      high[k] = LoadWord(base + 4 * (i + k * team.step) + second);
    }
#pragma unroll
    for (int k = 0; k < kWordsInFlight; ++k)
      StoreWord(dst + 4 * (i + k * team.step), Funnel(low[k], high[k], bits));
  }
  for (; i < words; i += team.step)
    StoreWord(dst + 4 * i, Funnel(LoadWord(base + 4 * i), LoadWord(base + 4 * i + second), bits));
}

/// Any alignment, one word at a time: for whole grids, which have enough under way, and with few registers,
/// so that more of it fits on the GPU.
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

/// Which team of the whole grid the calling thread belongs to.
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

/// Rows of whole units. Neighbouring threads have neighbouring units of a row, or of the next one where rows
/// are shorter than a block is wide, and each has several rows under way.
template <typename Unit>
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
       row += kRowsInFlight * step) {
    for (unsigned at = column; at < units; at += columns) {
      const DeviceAddress src = rows.src + row * rows.src_pitch + at * kUnit;
      const DeviceAddress dst = rows.dst + row * rows.dst_pitch + at * kUnit;
      if (row + (kRowsInFlight - 1) * step < rows.height) {
        Unit kept[kRowsInFlight];
#pragma unroll
        for (int k = 0; k < kRowsInFlight; ++k)
          kept[k] = Load(src + k * step * rows.src_pitch, static_cast<const Unit*>(nullptr));
#pragma unroll
        for (int k = 0; k < kRowsInFlight; ++k)
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

/// A long copy, a tile to a block: with as many blocks as tiles, memory is swept in order.
__device__ inline void CopyTiles(DeviceAddress dst, DeviceAddress src, Size vectors) {
  const Size tile = static_cast<Size>(ThreadsPerBlock()) * kVectorsInFlight;
  const Size whole = vectors / tile;
  for (Size i = BlockInGrid(); i < whole; i += Blocks()) {
    const Size first = i * tile + ThreadInBlock();
    Vector kept[kVectorsInFlight];
#pragma unroll
    for (int k = 0; k < kVectorsInFlight; ++k)
      kept[k] = LoadVector(src + 16 * (first + k * ThreadsPerBlock()));
#pragma unroll
    for (int k = 0; k < kVectorsInFlight; ++k)
      StoreVector(dst + 16 * (first + k * ThreadsPerBlock()), kept[k]);
  }
  const Size thread = static_cast<Size>(BlockInGrid()) * ThreadsPerBlock() + ThreadInBlock();
  const Size last = whole * tile + thread;
  for (Size i = last; i < vectors; i += static_cast<Size>(Blocks()) * ThreadsPerBlock())
    StoreVector(dst + 16 * i, LoadVector(src + 16 * i));
}

}  // namespace

/// A team of 2^team_bits threads to a piece. The descriptions come from the host: a block fetches those of a
/// round together, while it copies the round before.
extern "C" __global__ void SAMPAN_LAUNCH_BOUNDS(kThreadsPerBlock)
    sampan_copy_pieces(DeviceAddress pieces, unsigned count, unsigned team_bits) {
  constexpr unsigned kWords = sizeof(PieceArgument) / sizeof(Size);
  constexpr unsigned kMostPieces = kThreadsPerBlock / 4;
  static_assert(kMostPieces * kWords <= kThreadsPerBlock);
  __shared__ volatile Size words[kMostPieces * kWords];
  const unsigned share = (count + Blocks() - 1) / Blocks();
  const unsigned round = share < kMostPieces ? share : kMostPieces;
  const unsigned thread = ThreadInBlock();
  const Team team = {thread & ((1U << team_bits) - 1), Size{1} << team_bits};
  const auto fetch = [&](unsigned first) -> Size {
    const Size word = static_cast<Size>(first) * kWords + thread;
    if (thread >= round * kWords || word >= static_cast<Size>(count) * kWords) return 0;
    return LoadAddress(pieces + word * sizeof(Size));
  };
  unsigned first = BlockInGrid() * round;
  Size fetched = fetch(first);
  for (; first < count; first += Blocks() * round) {
    if (thread < kMostPieces * kWords) words[thread] = fetched;
    SyncBlock();
    fetched = fetch(first + Blocks() * round);
    const unsigned here = count - first < round ? count - first : round;
    for (unsigned i = thread >> team_bits; i < here; i += ThreadsPerBlock() >> team_bits)
      CopyPiece(words[i * kWords], words[i * kWords + 1], words[i * kWords + 2], team);
    SyncBlock();
  }
}

extern "C" __global__ void SAMPAN_LAUNCH_BOUNDS(kThreadsPerBlock)
    sampan_copy_rows_of_vectors(RowsArgument rows) {
  CopyRowsOf<Vector>(rows);
}

extern "C" __global__ void SAMPAN_LAUNCH_BOUNDS(kThreadsPerBlock)
    sampan_copy_rows_of_words(RowsArgument rows) {
  CopyRowsOf<unsigned>(rows);
}

/// A team of 2^team_bits threads to a row.
extern "C" __global__ void SAMPAN_LAUNCH_BOUNDS(kThreadsPerBlock)
    sampan_copy_rows(RowsArgument rows, unsigned team_bits) {
  const Place place = PlaceInGrid(team_bits);
  for (Size i = place.team; i < rows.height; i += place.teams)
    CopyPiece(rows.dst + i * rows.dst_pitch, rows.src + i * rows.src_pitch, rows.width, place.member);
}

/// Reads its operands when it runs, holds them against the table of what may be touched, and copies. Each
/// warp looks at a short table by itself, which costs no barrier; a long one is shared by the block.
extern "C" __global__ void SAMPAN_LAUNCH_BOUNDS(kThreadsPerBlock)
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
    const DeviceAddress end =
        LoadAddress(argument.ranges + i * sizeof(RangeArgument) + sizeof(DeviceAddress));
    dst_found = dst_found || (dst >= begin && dst < end && bytes <= end - dst);
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
    record->bytes = bytes;
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
