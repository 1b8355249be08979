// Chooses for each shape of a copy how its source is brought near and how its destination is written.
#include "backend/emulated/copy_kernels.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "backend/emulated/line_kernels.h"

namespace sampan::emulated {
namespace {

#ifndef T_SHORT
#define T_SHORT 256
#endif
#ifndef T_PA
#define T_PA 16384
#endif
#ifndef T_PCAP
#define T_PCAP 64
#endif
#ifndef T_RA
#define T_RA 32768
#endif
#ifndef T_RMIN
#define T_RMIN 64
#endif
#ifndef T_STAGE
#define T_STAGE 1024
#endif
#ifndef T_PACKMAX
#define T_PACKMAX 1024
#endif
#ifndef T_WHOLE
#define T_WHOLE 64
#endif
#ifndef T_MINPITCH
#define T_MINPITCH 64
#endif

std::size_t LineOffset(const std::byte* address) {
  return reinterpret_cast<std::uintptr_t>(address) % kLineBytes;
}

// Brings bytes to L2. Forced inline: GCC 12 deletes calls to a function that only prefetches.
[[gnu::always_inline]] inline void Prefetch(const std::byte* address) {
  __builtin_prefetch(address, 0, 2);
}

// ---- pieces

// Shorter pieces are written through the caches: their partial first and last lines outweigh the whole ones.
constexpr std::size_t kShortestStreamed = T_SHORT;

void StreamPiece(const LineKernels& kernels, const Segment& piece, const Segment& upcoming) {
  const std::size_t head = -LineOffset(piece.dst) % kLineBytes;
  const std::size_t lines = (piece.bytes - head) / kLineBytes;
  const std::size_t paired = std::min(lines, upcoming.bytes / kLineBytes);
  const std::size_t tail = head + lines * kLineBytes;
  if (head > 0) std::memcpy(piece.dst, piece.src, head);
  if (paired > 0) kernels.copy_piece(piece.dst + head, piece.src + head, paired, upcoming.src);
  if (lines > paired) {
    const std::size_t rest = head + paired * kLineBytes;
    kernels.copy(piece.dst + rest, piece.src + rest, lines - paired);
  }
  if (tail < piece.bytes) std::memcpy(piece.dst + tail, piece.src + tail, piece.bytes - tail);
}

template <typename PieceAt>
void StreamPieces(std::size_t count, PieceAt piece_at) {
  const LineKernels& kernels = ActiveLineKernels();
  for (std::size_t i = 0; i < count; ++i) {
    const Segment piece = piece_at(i);
    const std::size_t ahead = std::clamp<std::size_t>(T_PA >> std::bit_width(piece.bytes), 1, T_PCAP);
    const Segment upcoming = piece_at(std::min(i + ahead, count - 1));
    Prefetch(upcoming.dst);
    if (piece.bytes >= kShortestStreamed ||
        (T_WHOLE < 256 && (piece.bytes | LineOffset(piece.dst)) % 64 == 0)) {
      StreamPiece(kernels, piece, upcoming);
    } else {
      for (std::size_t at = 0; at < upcoming.bytes && at < kShortestStreamed; at += kLineBytes)
        Prefetch(upcoming.src + at);
      std::memcpy(piece.dst, piece.src, piece.bytes);
    }
  }
  kernels.publish();
}

// ---- rows

// kBytes bytes in registers.
template <std::size_t kBytes>
struct Block {
  Block<kBytes / 2> low, high;
  explicit Block(const std::byte* from) : low(from), high(from + kBytes / 2) {}
  void Store(std::byte* to) const {
    low.Store(to);
    high.Store(to + kBytes / 2);
  }
};
template <typename Word>
struct WordBlock {
  Word word;
  explicit WordBlock(const std::byte* from) { std::memcpy(&word, from, sizeof(word)); }
  void Store(std::byte* to) const { std::memcpy(to, &word, sizeof(word)); }
};
using Word16 = std::uint64_t __attribute__((vector_size(16)));
template <>
struct Block<1> : WordBlock<std::uint8_t> {
  using WordBlock::WordBlock;
};
template <>
struct Block<2> : WordBlock<std::uint16_t> {
  using WordBlock::WordBlock;
};
template <>
struct Block<4> : WordBlock<std::uint32_t> {
  using WordBlock::WordBlock;
};
template <>
struct Block<8> : WordBlock<std::uint64_t> {
  using WordBlock::WordBlock;
};
template <>
struct Block<16> : WordBlock<Word16> {
  using WordBlock::WordBlock;
};

// A row of kHalf to 2 * kHalf bytes, as two blocks that may overlap.
template <std::size_t kHalf>
struct ShortRow {
  static void Copy(std::byte* dst, const std::byte* src, std::size_t width) {
    const Block<kHalf> first(src), last(src + width - kHalf);
    first.Store(dst);
    last.Store(dst + width - kHalf);
  }
};

struct LongRow {
  static void Copy(std::byte* dst, const std::byte* src, std::size_t width) { std::memcpy(dst, src, width); }
};

// Brings the lines of the rows near that come some rows later.
class RowPrefetch {
 public:
  RowPrefetch(const std::byte* rows, std::size_t pitch, std::size_t width)
      : ahead_(std::max<std::size_t>(T_RMIN, T_RA / pitch) * pitch),
        bytes_(pitch < T_MINPITCH ? 0 : width),
        last_(LineOffset(rows) == 0 && pitch % kLineBytes == 0 ? 0 : width - 1) {}
  [[gnu::always_inline]] void operator()(const std::byte* row) const {
    if (bytes_ == 0) return;
    for (std::size_t at = 0; at < bytes_; at += kLineBytes)
      Prefetch(row + ahead_ + at);
    if (last_ > 0) Prefetch(row + ahead_ + last_);
  }

 private:
  std::size_t ahead_;
  std::size_t bytes_;
  std::size_t last_;  // where the last line begins no later than at; 0: it is already among the others
};

template <typename Row>
void CopyRowsThroughCache(const Rows& rows) {
  const RowPrefetch prefetch_src(rows.src, rows.src_pitch, rows.width);
  const RowPrefetch prefetch_dst(rows.dst, rows.dst_pitch, rows.width);
  const std::byte* src = rows.src;
  std::byte* dst = rows.dst;
  for (std::size_t left = rows.height; left > 0; --left, src += rows.src_pitch, dst += rows.dst_pitch) {
    prefetch_src(src);
    prefetch_dst(dst);
    Row::Copy(dst, src, rows.width);
  }
}

constexpr std::size_t kWidestPacked = T_PACKMAX;

template <typename Row>
void PackRows(const Rows& rows) {
  constexpr std::size_t kStageBytes = T_STAGE;
  alignas(kLineBytes) std::byte stage[kStageBytes + kWidestPacked + kLineBytes];
  const LineKernels& kernels = ActiveLineKernels();
  const RowPrefetch prefetch(rows.src, rows.src_pitch, rows.width);
  std::size_t begin = LineOffset(rows.dst);
  std::size_t end = begin;
  std::byte* out = rows.dst - begin;
  const std::byte* src = rows.src;
  for (std::size_t left = rows.height; left > 0; --left, src += rows.src_pitch) {
    prefetch(src);
    Row::Copy(stage + end, src, rows.width);
    end += rows.width;
    if (end < kStageBytes) continue;
    if (begin > 0) {
      std::memcpy(out + begin, stage + begin, kLineBytes - begin);
      begin = kLineBytes;
    }
    const std::size_t whole = end - end % kLineBytes;
    kernels.copy(out + begin, stage + begin, (whole - begin) / kLineBytes);
    std::memcpy(stage, stage + whole, kLineBytes);
    out += whole;
    end -= whole;
    begin = 0;
  }
  std::memcpy(out + begin, stage + begin, end - begin);
  kernels.publish();
}

template <typename Row>
void CopyRowsAs(const Rows& rows, bool pack) {
  if (pack) {
    PackRows<Row>(rows);
  } else {
    CopyRowsThroughCache<Row>(rows);
  }
}

void CopyNarrowRows(const Rows& rows, bool pack) {
  switch (std::bit_width(rows.width - 1)) {
    case 0:
    case 1:
      return CopyRowsAs<ShortRow<1>>(rows, pack);
    case 2:
      return CopyRowsAs<ShortRow<2>>(rows, pack);
    case 3:
      return CopyRowsAs<ShortRow<4>>(rows, pack);
    case 4:
      return CopyRowsAs<ShortRow<8>>(rows, pack);
    case 5:
      return CopyRowsAs<ShortRow<16>>(rows, pack);
    case 6:
      return CopyRowsAs<ShortRow<32>>(rows, pack);
    case 7:
      return CopyRowsAs<ShortRow<64>>(rows, pack);
    default:
      return CopyRowsAs<LongRow>(rows, pack);
  }
}

}  // namespace

void CopyBytes(std::byte* dst, const std::byte* src, std::size_t bytes, Caching caching) noexcept {
  if (caching == Caching::kKeep || bytes < 4096 ||
      reinterpret_cast<std::uintptr_t>(dst) - reinterpret_cast<std::uintptr_t>(src) < bytes) {
    std::memmove(dst, src, bytes);
    return;
  }
  const LineKernels& kernels = ActiveLineKernels();
  StreamPiece(kernels, {dst, src, bytes}, {dst, src, 0});
  kernels.publish();
}

void CopySegments(std::span<const Segment> segments, Caching caching) noexcept {
  if (caching == Caching::kKeep) {
    for (const Segment& segment : segments)
      std::memmove(segment.dst, segment.src, segment.bytes);
    return;
  }
  StreamPieces(segments.size(), [segments](std::size_t i) { return segments[i]; });
}

void CopyRows(const Rows& rows, Caching caching) noexcept {
  if (rows.width == 0 || rows.height == 0) return;
  const bool dense = rows.dst_pitch == rows.width;
  if (rows.height == 1 || (dense && rows.src_pitch == rows.width)) {
    return CopyBytes(rows.dst, rows.src, rows.width * rows.height, caching);
  }
  if (caching == Caching::kKeep) return CopyNarrowRows(rows, false);
  if (dense && rows.width <= kWidestPacked) return CopyNarrowRows(rows, true);
  const bool whole_lines =
      (LineOffset(rows.dst) | rows.width % kLineBytes | rows.dst_pitch % kLineBytes) == 0;
  if (rows.width < (whole_lines ? T_WHOLE : kShortestStreamed)) return CopyNarrowRows(rows, false);
  StreamPieces(rows.height, [&rows](std::size_t i) {
    return Segment{rows.dst + i * rows.dst_pitch, rows.src + i * rows.src_pitch, rows.width};
  });
}

void FillBytes(std::byte* dst, std::uint32_t pattern32, std::size_t bytes, Caching caching) noexcept {
  (void)dst, (void)pattern32, (void)bytes, (void)caching;
}

}  // namespace sampan::emulated
