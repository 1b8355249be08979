// Reads the rows of a copy and the pieces of a batch from a trace.
#include "tools/sampan/replay/replay_shape.h"

#include <utility>

#include "tools/sampan/replay/replay_fields.h"

namespace sampan::tool {
namespace {

/// Far more than any batch of a program.
constexpr std::uint64_t kMaxEntries = std::uint64_t{1} << 24;

/// A trace has only the extent of a long batch. Spreads its entries over the extent, without overlap if they
/// fit.
std::vector<ReplayPlace> Spread(const std::vector<std::uint64_t>& sizes, std::uint64_t total,
                                const TraceJson& extent) {
  const std::uint64_t allocation = ToUnsigned(extent[0]);
  const std::uint64_t first = ToUnsigned(extent[1]);
  const std::uint64_t room = ToUnsigned(extent[2]) - first;
  const std::uint64_t gaps = sizes.size() > 1 ? sizes.size() - 1 : 1;
  std::vector<ReplayPlace> places;
  std::uint64_t before = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::uint64_t offset = total <= room      ? before + i * ((room - total) / gaps)
                                 : sizes[i] <= room ? i * ((room - sizes[i]) / gaps)
                                                    : 0;
    places.push_back({allocation, first + offset});
    before += sizes[i];
  }
  return places;
}

}  // namespace

std::optional<std::uint64_t> RowsExtent(std::uint64_t width, std::uint64_t height, std::uint64_t pitch) {
  std::uint64_t extent = 0;
  if (__builtin_mul_overflow(height - 1, pitch, &extent) || __builtin_add_overflow(extent, width, &extent) ||
      extent > kMaxOffset)
    return std::nullopt;
  return extent;
}

std::optional<std::vector<ReplayPiece>> ReadPieces(const TraceEvent& event, std::uint64_t bytes) {
  std::vector<ReplayPiece> pieces;
  if (const TraceJson* const listed = event.Find("pieces"); listed != nullptr && listed->is_array()) {
    for (const TraceJson& piece : *listed) {
      if (!piece.is_array() || piece.size() != 5) return std::nullopt;
      pieces.push_back({.dst = {ToUnsigned(piece[0]), ToUnsigned(piece[1])},
                        .src = {ToUnsigned(piece[2]), ToUnsigned(piece[3])},
                        .bytes = ToUnsigned(piece[4])});
    }
  } else {
    const TraceJson* const runs = event.Find("sizes");
    const TraceJson* const dst = event.Find("dst_extent");
    const TraceJson* const src = event.Find("src_extent");
    const auto is_extent = [](const TraceJson* extent) {
      return extent != nullptr && extent->is_array() && extent->size() == 3 &&
             ToUnsigned((*extent)[1]) <= ToUnsigned((*extent)[2]) && ToUnsigned((*extent)[2]) <= kMaxOffset;
    };
    if (runs == nullptr || !runs->is_array() || !is_extent(dst) || !is_extent(src)) return std::nullopt;
    std::vector<std::uint64_t> sizes;
    const auto entries = static_cast<std::uint64_t>(event.Count("entries"));
    std::uint64_t left = bytes;
    for (const TraceJson& run : *runs) {
      if (!run.is_array() || run.size() != 2 || ToUnsigned(run[1]) > entries - sizes.size() ||
          ToUnsigned(run[1]) > kMaxEntries ||
          (ToUnsigned(run[1]) > 0 && ToUnsigned(run[0]) > left / ToUnsigned(run[1])))
        return std::nullopt;
      sizes.insert(sizes.end(), ToUnsigned(run[1]), ToUnsigned(run[0]));
      left -= ToUnsigned(run[0]) * ToUnsigned(run[1]);
      if (sizes.size() > kMaxEntries) return std::nullopt;
    }
    if (sizes.empty()) return std::nullopt;
    sizes.back() += left;  // the rest of rounded mean sizes
    const std::vector<ReplayPlace> dsts = Spread(sizes, bytes, *dst);
    const std::vector<ReplayPlace> srcs = Spread(sizes, bytes, *src);
    for (std::size_t i = 0; i < sizes.size(); ++i)
      pieces.push_back({dsts[i], srcs[i], sizes[i]});
  }
  std::uint64_t left = bytes;
  for (const ReplayPiece& piece : pieces) {
    if (piece.bytes > left || piece.dst.offset >= kMaxOffset || piece.src.offset >= kMaxOffset)
      return std::nullopt;
    left -= piece.bytes;
  }
  if (pieces.empty() || left != 0) return std::nullopt;
  return pieces;
}

}  // namespace sampan::tool
