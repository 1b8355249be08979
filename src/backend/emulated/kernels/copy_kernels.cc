// Chooses, for each shape of a copy, how to prefetch the source and how to write the destination.
#include "backend/emulated/kernels/copy_kernels.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "backend/emulated/kernels/line_kernels.h"

// The distances and limits below were measured on Zen 4 with 4 KiB pages (bench/bench_copy_kernels.cc). Each
// has a flat optimum. Memory latency is high, so many lines must be in flight at once. The processor's
// prefetchers follow neither pieces nor wide pitches.
namespace sampan::emulated {
namespace {

std::size_t LineOffset(const std::byte* address) {
  return reinterpret_cast<std::uintptr_t>(address) % kLineBytes;
}

// Prefetches to L2, not to L1: L1 holds only eight lines at multiples of 4 KiB. Always inlined, because GCC
// 12 drops calls of functions that only prefetch.
[[gnu::always_inline]] inline void Prefetch(const std::byte* address) {
  __builtin_prefetch(address, 0, 2);
}

// Shorter pieces and rows are written through the caches, which is as fast if their lines are prefetched.
constexpr std::size_t kShortestStreamed = 512;
// The same for a call that copies or fills a single run, which cannot be prefetched.
constexpr std::size_t kShortestRun = 4096;

// Writes whole lines past the caches, and both ends of the piece through them.
void StreamPiece(const LineKernels& kernels, const Segment& piece, const Segment& upcoming) {
  const std::size_t head = -LineOffset(piece.dst) % kLineBytes;
  const std::size_t lines = (piece.bytes - head) / kLineBytes;
  const std::size_t paired = std::min(lines, upcoming.bytes / kLineBytes);
  const std::size_t middle = head + paired * kLineBytes;
  const std::size_t tail = head + lines * kLineBytes;
  if (head > 0) std::memmove(piece.dst, piece.src, head);
  if (paired > 0) kernels.copy_piece(piece.dst + head, piece.src + head, paired, upcoming.src);
  if (lines > paired) kernels.copy(piece.dst + middle, piece.src + middle, lines - paired);
  if (tail < piece.bytes) std::memmove(piece.dst + tail, piece.src + tail, piece.bytes - tail);
}

// Copies the pieces `piece_at(0)` to `piece_at(count - 1)`.
template <typename PieceAt>
void CopyPieces(std::size_t count, Caching caching, PieceAt piece_at) {
  constexpr std::size_t kBytesAhead = 16384;  // two pieces of 4 KiB in flight, or eight of 1 KiB
  constexpr std::size_t kMaxAhead = 64;
  const std::size_t shortest_streamed = caching == Caching::kStream ? kShortestStreamed : SIZE_MAX;
  const LineKernels& kernels = ActiveLineKernels();
  for (std::size_t i = 0; i < count; ++i) {
    const Segment piece = piece_at(i);
    if (piece.bytes == 0) continue;
    const std::size_t ahead =
        std::clamp<std::size_t>(kBytesAhead >> std::bit_width(piece.bytes), 1, kMaxAhead);
    const Segment upcoming = i + ahead < count ? piece_at(i + ahead) : Segment{piece.dst, piece.src, 0};
    Prefetch(upcoming.dst);  // mainly for its address translation
    if (piece.bytes >= shortest_streamed) {
      StreamPiece(kernels, piece, upcoming);
      continue;
    }
    if (upcoming.bytes < kShortestStreamed) {
      for (std::size_t at = 0; at < upcoming.bytes; at += kLineBytes)
        Prefetch(upcoming.src + at);
    }
    std::memmove(piece.dst, piece.src, piece.bytes);
  }
  kernels.publish();
}

// kBytes bytes in registers.
template <std::size_t kBytes>
struct Block {
  explicit Block(const std::byte* from) : low(from), high(from + kBytes / 2) {}
  void Store(std::byte* to) const {
    low.Store(to);
    high.Store(to + kBytes / 2);
  }
  Block<kBytes / 2> low, high;
};
template <std::size_t kBytes>
requires(kBytes <= 16) struct Block<kBytes> {
  explicit Block(const std::byte* from) { std::memcpy(&word, from, kBytes); }
  void Store(std::byte* to) const { std::memcpy(to, &word, kBytes); }
  std::uint8_t __attribute__((vector_size(kBytes))) word;
};

// A row of kHalf to 2 * kHalf bytes: two blocks that may overlap. Reads all before it writes.
template <std::size_t kHalf>
struct ShortRow {
  static void Copy(std::byte* dst, const std::byte* src, std::size_t width) {
    const Block<kHalf> first(src);
    const Block<kHalf> last(src + width - kHalf);
    first.Store(dst);
    last.Store(dst + width - kHalf);
  }
};

struct LongRow {
  static void Copy(std::byte* dst, const std::byte* src, std::size_t width) { std::memmove(dst, src, width); }
};

// Prefetches later rows. Leaves short rows without skipped lines to the processor's prefetchers, which are
// faster there.
class RowPrefetch {
 public:
  RowPrefetch(const std::byte* rows, std::size_t pitch, std::size_t width, std::size_t height)
      : ahead_(std::max(kRowsAhead, kBytesAhead / std::max<std::size_t>(pitch, 1))),
        end_(pitch >= std::min(width + kLineBytes, kShortRun) && height > ahead_
                 ? rows + (height - ahead_) * pitch
                 : rows),
        ahead_bytes_(ahead_ * pitch),
        width_(width),
        last_(LineOffset(rows) == 0 && pitch % kLineBytes == 0 ? 0 : width - 1) {}

  [[gnu::always_inline]] void operator()(const std::byte* row) const {
    if (row >= end_) return;
    for (std::size_t at = 0; at < width_; at += kLineBytes)
      Prefetch(row + ahead_bytes_ + at);
    if (last_ > 0) Prefetch(row + ahead_bytes_ + last_);
  }

 private:
  static constexpr std::size_t kRowsAhead = 32;
  static constexpr std::size_t kBytesAhead = 8192;
  static constexpr std::size_t kShortRun = 256;

  std::size_t ahead_;
  const std::byte* end_;  // from this row on, there is no row that far ahead
  std::size_t ahead_bytes_;
  std::size_t width_;
  std::size_t last_;  // a byte of the last line; 0 if the steps by whole lines reach that line
};

template <typename Row>
void CopyRowsThroughCaches(const Rows& rows) {
  const RowPrefetch prefetch_src(rows.src, rows.src_pitch, rows.width, rows.height);
  const RowPrefetch prefetch_dst(rows.dst, rows.dst_pitch, rows.width, rows.height);
  const std::byte* src = rows.src;
  std::byte* dst = rows.dst;
  for (std::size_t left = rows.height; left > 0; --left, src += rows.src_pitch, dst += rows.dst_pitch) {
    prefetch_src(src);
    prefetch_dst(dst);
    Row::Copy(dst, src, rows.width);
  }
}

constexpr std::size_t kWidestPacked = 1024;

// For a destination without gaps: collects rows of any width in L1 until there are whole lines to stream.
template <typename Row>
void PackRows(const Rows& rows) {
  constexpr std::size_t kDrainFrom = 512;
  alignas(kLineBytes) std::array<std::byte, kDrainFrom + kWidestPacked + kLineBytes> stage;
  const LineKernels& kernels = ActiveLineKernels();
  const RowPrefetch prefetch(rows.src, rows.src_pitch, rows.width, rows.height);
  // stage[i] goes to line[i], for i from begin to end. Only in the first line may begin be above 0.
  std::size_t begin = LineOffset(rows.dst);
  std::size_t end = begin;
  std::byte* line = rows.dst - begin;
  const std::byte* src = rows.src;
  for (std::size_t left = rows.height; left > 0; --left, src += rows.src_pitch) {
    prefetch(src);
    Row::Copy(stage.data() + end, src, rows.width);
    end += rows.width;
    if (end < kDrainFrom) continue;
    if (begin > 0) {
      std::memcpy(line + begin, stage.data() + begin, kLineBytes - begin);
      begin = kLineBytes;
    }
    const std::size_t whole = end - end % kLineBytes;
    kernels.copy_piece(line + begin, stage.data() + begin, (whole - begin) / kLineBytes, stage.data());
    std::memcpy(stage.data(), stage.data() + whole, kLineBytes);
    line += whole;
    end -= whole;
    begin = 0;
  }
  std::memcpy(line + begin, stage.data() + begin, end - begin);
  kernels.publish();
}

// For a destination of whole lines without gaps: streams the rows directly.
void StreamRows(const Rows& rows) {
  const LineKernels& kernels = ActiveLineKernels();
  kernels.copy_rows(rows.dst, rows.src, rows.width / kLineBytes, rows.src_pitch, rows.height);
  kernels.publish();
}

enum class RowWrites { kThroughCaches, kPacked };

template <typename Row>
void CopyRowsAs(const Rows& rows, RowWrites writes) {
  if (writes == RowWrites::kPacked) {
    PackRows<Row>(rows);
  } else {
    CopyRowsThroughCaches<Row>(rows);
  }
}

void CopyRowByRow(const Rows& rows, RowWrites writes) {
  switch (std::bit_width(rows.width - 1)) {
    case 0:
    case 1:
      return CopyRowsAs<ShortRow<1>>(rows, writes);
    case 2:
      return CopyRowsAs<ShortRow<2>>(rows, writes);
    case 3:
      return CopyRowsAs<ShortRow<4>>(rows, writes);
    case 4:
      return CopyRowsAs<ShortRow<8>>(rows, writes);
    case 5:
      return CopyRowsAs<ShortRow<16>>(rows, writes);
    case 6:
      return CopyRowsAs<ShortRow<32>>(rows, writes);
    case 7:
      return CopyRowsAs<ShortRow<64>>(rows, writes);
    default:
      return CopyRowsAs<LongRow>(rows, writes);
  }
}

// The pattern rotated so that it continues after that many bytes.
std::uint32_t PatternFrom(std::uint32_t pattern32, std::size_t bytes) {
  static_assert(std::endian::native == std::endian::little, "the first byte is the least significant one");
  return std::rotr(pattern32, static_cast<int>(bytes % sizeof(pattern32) * 8));
}

void FillThroughCaches(std::byte* dst, std::uint32_t pattern32, std::size_t bytes) {
  if (pattern32 == std::rotl(pattern32, 8)) {
    std::memset(dst, static_cast<int>(pattern32 & 0xFF), bytes);
    return;
  }
  std::array<std::uint32_t, kLineBytes / sizeof(pattern32)> line;
  line.fill(pattern32);
  for (; bytes >= kLineBytes; bytes -= kLineBytes, dst += kLineBytes)
    std::memcpy(dst, line.data(), kLineBytes);
  std::memcpy(dst, line.data(), bytes);
}

}  // namespace

void CopyBytes(std::byte* dst, const std::byte* src, std::size_t bytes, Caching caching) noexcept {
  if (bytes == 0) return;  // the addresses may be null
  const bool dst_within_src =
      reinterpret_cast<std::uintptr_t>(dst) - reinterpret_cast<std::uintptr_t>(src) < bytes;
  if (caching == Caching::kKeep || bytes < kShortestRun || dst_within_src) {
    std::memmove(dst, src, bytes);
    return;
  }
  const LineKernels& kernels = ActiveLineKernels();
  StreamPiece(kernels, {dst, src, bytes}, {dst, src, 0});
  kernels.publish();
}

void CopySegments(std::span<const Segment> segments, Caching caching) noexcept {
  // From 16 pieces on, prefetching is faster than a plain loop.
  constexpr std::size_t kMinPiecesToPrefetch = 16;
  if (segments.size() < kMinPiecesToPrefetch && caching == Caching::kKeep) {
    for (const auto& [dst, src, bytes] : segments) {
      if (bytes != 0) std::memmove(dst, src, bytes);  // the addresses may be null
    }
    return;
  }
  CopyPieces(segments.size(), caching, [segments](std::size_t i) { return segments[i]; });
}

void CopyRows(const Rows& rows, Caching caching) noexcept {
  if (rows.width == 0 || rows.height == 0) return;
  const bool dense = rows.dst_pitch == rows.width;
  if (rows.height == 1 || (dense && rows.src_pitch == rows.width)) {
    return CopyBytes(rows.dst, rows.src, rows.width * rows.height, caching);
  }
  const bool stream = caching == Caching::kStream;
  if (stream && dense && rows.width <= kWidestPacked) {
    if (rows.width % kLineBytes == 0 && LineOffset(rows.dst) == 0) return StreamRows(rows);
    return CopyRowByRow(rows, RowWrites::kPacked);
  }
  if (rows.width < kShortestStreamed) return CopyRowByRow(rows, RowWrites::kThroughCaches);
  CopyPieces(rows.height, caching, [&rows](std::size_t i) {
    return Segment{rows.dst + i * rows.dst_pitch, rows.src + i * rows.src_pitch, rows.width};
  });
}

void FillBytes(std::byte* dst, std::uint32_t pattern32, std::size_t bytes, Caching caching) noexcept {
  if (bytes == 0) return;  // the address may be null
  if (caching == Caching::kKeep || bytes < kShortestRun) return FillThroughCaches(dst, pattern32, bytes);
  const std::size_t head = -LineOffset(dst) % kLineBytes;
  const std::size_t lines = (bytes - head) / kLineBytes;
  const std::size_t tail = head + lines * kLineBytes;
  const LineKernels& kernels = ActiveLineKernels();
  FillThroughCaches(dst, pattern32, head);
  kernels.fill(dst + head, PatternFrom(pattern32, head), lines);
  FillThroughCaches(dst + tail, PatternFrom(pattern32, tail), bytes - tail);
  kernels.publish();
}

}  // namespace sampan::emulated
