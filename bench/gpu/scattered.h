// Batches and rows between the arrays of one side, as Sampan and as the driver copy them.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "bench/gpu/groups.h"

namespace bench {

/// The places of a batch's entries: shuffled in the source and adjacent in the destination; adjacent in both;
/// shuffled in both; shuffled on the device and adjacent on the host.
enum class Places { kShuffled, kAdjacent, kRandom, kHostDense };

inline std::vector<std::size_t> OrderOf(bool shuffled, std::size_t count, std::uint64_t seed) {
  if (shuffled) return ShuffledApart(count, seed);
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}
inline bool ShufflesSource(Places places, Way way) {
  return places == Places::kHostDense ? way == Way::kOut : places != Places::kAdjacent;
}
inline bool ShufflesDestination(Places places, Way way) {
  return places == Places::kRandom || (places == Places::kHostDense && way == Way::kIn);
}

/// Entries of one size.
struct Scattered {
  std::vector<void*> dsts, srcs;
  std::vector<std::size_t> sizes;

  Scattered(const Arrays& arrays, Way way, std::size_t entry_bytes, std::size_t entries,
            Places places = Places::kShuffled)
      : sizes(entries, entry_bytes) {
    const std::size_t seed = entries + entry_bytes;
    const std::vector<std::size_t> from = OrderOf(ShufflesSource(places, way), entries, seed);
    const std::vector<std::size_t> to = OrderOf(ShufflesDestination(places, way), entries, seed + 1);
    for (std::size_t i = 0; i < entries; ++i) {
      dsts.push_back(DstOf(arrays, way) + to[i] * entry_bytes);
      srcs.push_back(SrcOf(arrays, way) + from[i] * entry_bytes);
    }
  }
};

inline aclrtMemcpyBatchAttr AttributeOf(Way way) {
  aclrtMemcpyBatchAttr attribute = {};
  attribute.dstLoc.type = way == Way::kIn ? ACL_MEM_LOCATION_TYPE_DEVICE : ACL_MEM_LOCATION_TYPE_HOST;
  attribute.srcLoc.type = way == Way::kIn ? ACL_MEM_LOCATION_TYPE_HOST : ACL_MEM_LOCATION_TYPE_DEVICE;
  return attribute;
}

inline void SubmitOurs(const World& world, Scattered& batch, Way way, int stream = 0) {
  aclrtMemcpyBatchAttr attribute = AttributeOf(way);
  std::size_t first = 0;
  std::size_t failed = 0;
  BENCH_ACL(aclrtMemcpyBatchAsync(batch.dsts.data(), batch.sizes.data(), batch.srcs.data(),
                                  batch.sizes.data(), batch.sizes.size(), &attribute, &first, 1, &failed,
                                  world.streams[stream]));
}

inline void SubmitLoop(const World& world, const Scattered& batch) {
  for (std::size_t i = 0; i < batch.sizes.size(); ++i) {
    BENCH_DRIVER(world.driver->CopyAny(reinterpret_cast<CuAddress>(batch.dsts[i]),
                                       reinterpret_cast<CuAddress>(batch.srcs[i]), batch.sizes[i],
                                       world.driver.stream()));
  }
}

/// Checks that random bytes arrive and nothing else changes.
inline void VerifyBatch(const World& world, const Arrays& arrays, Way way, std::size_t entry_bytes,
                        std::size_t entries, Places places = Places::kShuffled) {
  Scattered batch(arrays, way, entry_bytes, entries, places);
  const std::size_t bytes = entry_bytes * entries;
  std::vector<std::byte> source(bytes + kKiB), expected(bytes + kKiB, std::byte{0x5A}), got(bytes + kKiB);
  FillRandom(source, bytes + 5);
  BENCH_ACL(aclrtMemcpy(SrcOf(arrays, way), source.size(), source.data(), source.size(), ACL_MEMCPY_DEFAULT));
  BENCH_ACL(aclrtMemset(DstOf(arrays, way), got.size(), 0x5A, got.size()));
  for (std::size_t i = 0; i < entries; ++i) {
    const auto from = static_cast<std::byte*>(batch.srcs[i]) - SrcOf(arrays, way);
    const auto to = static_cast<std::byte*>(batch.dsts[i]) - DstOf(arrays, way);
    std::memcpy(expected.data() + to, source.data() + from, entry_bytes);
  }
  SubmitOurs(world, batch, way);
  world.Synchronize();
  BENCH_ACL(aclrtMemcpy(got.data(), got.size(), DstOf(arrays, way), got.size(), ACL_MEMCPY_DEFAULT));
  MustEqual(expected.data(), got.data(), got.size(), "batch");
}

/// By the driver's batch call.
inline void SubmitCall(const World& world, Scattered& batch) {
  sampan::cuda::CuBatchAttributes attributes;
  std::size_t first = 0;
  std::size_t failed = 0;
  BENCH_DRIVER(world.driver->CopyBatch(
      reinterpret_cast<CuAddress*>(batch.dsts.data()), reinterpret_cast<CuAddress*>(batch.srcs.data()),
      batch.sizes.data(), batch.sizes.size(), &attributes, &first, 1, &failed, world.driver.stream()));
}

struct RowsCase {
  std::size_t width, src_pitch, dst_pitch, height;
};

inline void OursRows(const World& world, const Arrays& arrays, Way way, const RowsCase& rows) {
  BENCH_ACL(aclrtMemcpy2dAsync(DstOf(arrays, way), rows.dst_pitch, SrcOf(arrays, way), rows.src_pitch,
                               rows.width, rows.height,
                               way == Way::kIn    ? ACL_MEMCPY_HOST_TO_DEVICE
                               : way == Way::kOut ? ACL_MEMCPY_DEVICE_TO_HOST
                                                  : ACL_MEMCPY_DEVICE_TO_DEVICE,
                               world.streams[0]));
}

inline void TheirRows(const World& world, const Arrays& arrays, Way way, const RowsCase& rows) {
  sampan::cuda::CuCopy2d copy{};
  copy.src_type = way == Way::kIn ? 1 : 2;
  copy.src_host = SrcOf(arrays, way);
  copy.src_device = reinterpret_cast<CuAddress>(SrcOf(arrays, way));
  copy.src_pitch = rows.src_pitch;
  copy.dst_type = way == Way::kOut ? 1 : 2;
  copy.dst_host = DstOf(arrays, way);
  copy.dst_device = reinterpret_cast<CuAddress>(DstOf(arrays, way));
  copy.dst_pitch = rows.dst_pitch;
  copy.width = rows.width;
  copy.height = rows.height;
  BENCH_DRIVER(world.driver->Copy2d(&copy, world.driver.stream()));
}

inline void VerifyRows(const World& world, const Arrays& arrays, Way way, RowsCase rows) {
  rows.height = std::min<std::size_t>(rows.height, 10'000);
  const std::size_t src_bytes = rows.src_pitch * rows.height;
  const std::size_t dst_bytes = rows.dst_pitch * rows.height;
  std::vector<std::byte> source(src_bytes + 8), expected(dst_bytes, std::byte{0x33}), got(dst_bytes);
  FillRandom(source, rows.width);
  BENCH_ACL(aclrtMemcpy(SrcOf(arrays, way), src_bytes, source.data(), src_bytes, ACL_MEMCPY_DEFAULT));
  BENCH_ACL(aclrtMemset(DstOf(arrays, way), dst_bytes, 0x33, dst_bytes));
  for (std::size_t i = 0; i < rows.height; ++i)
    std::memcpy(expected.data() + i * rows.dst_pitch, source.data() + i * rows.src_pitch, rows.width);
  OursRows(world, arrays, way, rows);
  world.Synchronize();
  BENCH_ACL(aclrtMemcpy(got.data(), dst_bytes, DstOf(arrays, way), dst_bytes, ACL_MEMCPY_DEFAULT));
  MustEqual(expected.data(), got.data(), dst_bytes, "rows");
}

}  // namespace bench
