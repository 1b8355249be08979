// Checks runs of similar batch entries and writes their segments, many at a time and without a branch for
// each.
#include "core/copy/batch_run.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "backend/api/task.h"
#include "base/error/assert.h"

namespace sampan::core {
namespace {

/// Inlined into functions for several processors. Takes no 32-byte arguments, because the processor decides
/// how they are passed.
#define SAMPAN_IN_PLACE [[gnu::always_inline]] inline

using Two [[gnu::vector_size(16)]] = std::uint64_t;
template <typename Lanes>
constexpr std::size_t kLanes = sizeof(Lanes) / sizeof(std::uint64_t);

template <typename Lanes>
SAMPAN_IN_PLACE void Load(const void* from, Lanes& lanes) {
  std::memcpy(&lanes, from, sizeof(lanes));
}
template <typename Lanes>
SAMPAN_IN_PLACE void Store(const Lanes& lanes, void* to) {
  std::memcpy(to, &lanes, sizeof(lanes));
}
template <typename Lanes>
SAMPAN_IN_PLACE std::uint64_t OrOf(const Lanes& lanes) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < kLanes<Lanes>; ++i)
    word |= lanes[i];
  return word;
}
template <typename Lanes>
SAMPAN_IN_PLACE std::uint64_t SumOf(const Lanes& lanes) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kLanes<Lanes>; ++i)
    sum += lanes[i];
  return sum;
}
constexpr bool HasHighestBit(std::uint64_t word) {
  return word >> 63 != 0;
}

/// Turns vectors of addresses and lengths into consecutive segments.
SAMPAN_IN_PLACE void StoreSegments(const Two& dst, const Two& src, const Two& bytes, Segment* segments) {
  static_assert(sizeof(Segment) * kLanes<Two> == 3 * sizeof(Two));
  auto* const to = reinterpret_cast<std::byte*>(segments);
  Store(Two{dst[0], src[0]}, to);
  Store(Two{bytes[0], dst[1]}, to + sizeof(Two));
  Store(Two{src[1], bytes[1]}, to + 2 * sizeof(Two));
}
#if defined(__x86_64__)
using Four [[gnu::vector_size(32)]] = std::uint64_t;
SAMPAN_IN_PLACE void StoreSegments(const Four& dst, const Four& src, const Four& bytes, Segment* segments) {
  static_assert(sizeof(Segment) * kLanes<Four> == 3 * sizeof(Four));
  const Four dst_src = __builtin_shufflevector(dst, src, 0, 4, 2, 6);
  const Four src_bytes = __builtin_shufflevector(src, bytes, 1, 5, 3, 7);
  const Four bytes_dst = __builtin_shufflevector(bytes, dst, 0, 5, 2, 7);
  auto* const to = reinterpret_cast<std::byte*>(segments);
  Store(Four(__builtin_shufflevector(dst_src, bytes_dst, 0, 1, 4, 5)), to);
  Store(Four(__builtin_shufflevector(src_bytes, dst_src, 0, 1, 6, 7)), to + sizeof(Four));
  Store(Four(__builtin_shufflevector(bytes_dst, src_bytes, 2, 3, 6, 7)), to + 2 * sizeof(Four));
}
#endif

template <typename Lanes>
SAMPAN_IN_PLACE RunTotals WriteSegmentsByLanes(EntryRun run, Segment* segments) {
  const auto dst_delta = static_cast<std::uint64_t>(run.dst.engine_delta);
  const auto src_delta = static_cast<std::uint64_t>(run.src.engine_delta);
  const std::size_t entries = run.sizes.size();
  if (entries == 0 || !run.Fits(0)) return {};  // the usual case if neighbours are in different allocations
  static_assert(std::has_single_bit(BatchTask::kMaxSegmentBytes), "the bits of all lengths tell");
  Lanes lengths{}, bytes{};
  std::size_t done = 0;
  for (; entries - done >= kManyEntries; done += kManyEntries) {
    Lanes beyond{}, lengths_here{}, bytes_here{};  // lengths_here: the OR of all lengths minus one
    for (std::size_t i = done; i < done + kManyEntries; i += kLanes<Lanes>) {
      Lanes dst, src, size;
      Load(&run.dsts[i], dst);
      Load(&run.srcs[i], src);
      Load(&run.sizes[i], size);
      run.dst.Check(dst, size, beyond);
      run.src.Check(src, size, beyond);
      lengths_here |= size - 1;
      bytes_here += size;
      dst += dst_delta;
      src += src_delta;
      StoreSegments(dst, src, size, segments + i);
    }
    if (HasHighestBit(OrOf(beyond)) || OrOf(lengths_here) >= BatchTask::kMaxSegmentBytes) break;
    lengths |= lengths_here;
    bytes += bytes_here;
  }
  return WriteSegmentsOneByOne(run, segments, {done, SumOf(bytes), done == 0 ? 0 : OrOf(lengths) + 1});
}

template <typename Lanes>
SAMPAN_IN_PLACE bool SizesFitByLanes(std::span<const std::size_t> sizes,
                                     std::span<const std::size_t> limits) {
  Lanes beyond{};
  std::size_t i = 0;
  for (; sizes.size() - i >= kLanes<Lanes>; i += kLanes<Lanes>) {
    Lanes size, limit;
    Load(&sizes[i], size);
    Load(&limits[i], limit);
    beyond |= size | (limit - size);
  }
  std::uint64_t rest = 0;
  for (; i < sizes.size(); ++i)
    rest |= sizes[i] | (limits[i] - sizes[i]);
  return !HasHighestBit(OrOf(beyond) | rest);
}

#undef SAMPAN_IN_PLACE

#if defined(__x86_64__)
[[gnu::target("avx2")]] RunTotals WriteSegmentsByAvx2(const EntryRun& run, Segment* segments) {
  return WriteSegmentsByLanes<Four>(run, segments);
}
[[gnu::target("avx2")]] bool SizesFitByAvx2(std::span<const std::size_t> sizes,
                                            std::span<const std::size_t> limits) {
  return SizesFitByLanes<Four>(sizes, limits);
}
#endif

}  // namespace

BatchRunLevel FastestBatchRunLevel() noexcept {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return BatchRunLevel::kAvx2;
#endif
  return BatchRunLevel::kPlain;
}

RunTotals WriteManySegments(EntryRun run, Segment* segments, [[maybe_unused]] BatchRunLevel level) {
  SAMPAN_ASSERT(run.dsts.size() == run.sizes.size() && run.srcs.size() == run.sizes.size());
#if defined(__x86_64__)
  if (level == BatchRunLevel::kAvx2) return WriteSegmentsByAvx2(run, segments);
#endif
  return WriteSegmentsByLanes<Two>(run, segments);
}

Status AppendCut(const Segment& entry, std::size_t entries_behind, BatchTask& batch) {
  const std::size_t segments = (entry.bytes - 1) / BatchTask::kMaxSegmentBytes + 1;
  const std::size_t needed = batch.segments.size() + segments + entries_behind;
  if (needed > batch.segments.room()) {
    // Twice as many: other long entries may follow.
    const std::size_t room = entries_behind == 0 ? needed : 2 * needed;
    if (Status reserved = batch.segments.Reserve(room); !reserved.ok()) return reserved;
  }
  SAMPAN_ASSERT(entry.bytes != 0 && batch.segments.room() >= needed);
  for (std::size_t done = 0; done < entry.bytes; done += BatchTask::kMaxSegmentBytes) {
    batch.segments.Append(
        {entry.dst + done, entry.src + done, std::min(BatchTask::kMaxSegmentBytes, entry.bytes - done)});
  }
  return {};
}

bool ManySizesFit(std::span<const std::size_t> sizes, std::span<const std::size_t> limits,
                  [[maybe_unused]] BatchRunLevel level) {
  SAMPAN_ASSERT(sizes.size() == limits.size());
#if defined(__x86_64__)
  if (level == BatchRunLevel::kAvx2) return SizesFitByAvx2(sizes, limits);
#endif
  return SizesFitByLanes<Two>(sizes, limits);
}

}  // namespace sampan::core
