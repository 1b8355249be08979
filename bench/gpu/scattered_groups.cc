// Scattered copies: batches by entry size and by count, rows by width.
#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

#include "bench/gpu/groups.h"

namespace bench {
namespace {

/// Entries of one size at shuffled places of the source, one behind the other at the destination or the other
/// way round, so that none can be joined.
struct Scattered {
  std::vector<void*> dsts, srcs;
  std::vector<std::size_t> sizes;

  Scattered(const Arrays& arrays, Way way, std::size_t entry_bytes, std::size_t entries)
      : sizes(entries, entry_bytes) {
    std::vector<std::size_t> order(entries);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), std::mt19937_64(entries + entry_bytes));
    for (std::size_t i = 0; i < entries; ++i) {
      dsts.push_back(DstOf(arrays, way) + i * entry_bytes);
      srcs.push_back(SrcOf(arrays, way) + order[i] * entry_bytes);
    }
  }
};

aclrtMemcpyBatchAttr AttributeOf(Way way) {
  aclrtMemcpyBatchAttr attribute = {};
  attribute.dstLoc.type = way == Way::kIn ? ACL_MEM_LOCATION_TYPE_DEVICE : ACL_MEM_LOCATION_TYPE_HOST;
  attribute.srcLoc.type = way == Way::kIn ? ACL_MEM_LOCATION_TYPE_HOST : ACL_MEM_LOCATION_TYPE_DEVICE;
  return attribute;
}

void SubmitOurs(const World& world, Scattered& batch, Way way) {
  aclrtMemcpyBatchAttr attribute = AttributeOf(way);
  std::size_t first = 0;
  std::size_t failed = 0;
  BENCH_ACL(aclrtMemcpyBatchAsync(batch.dsts.data(), batch.sizes.data(), batch.srcs.data(),
                                  batch.sizes.data(), batch.sizes.size(), &attribute, &first, 1, &failed,
                                  world.streams[0]));
}

void SubmitCall(const World& world, Scattered& batch) {
  sampan::cuda::CuBatchAttributes attributes;
  std::size_t first = 0;
  std::size_t failed = 0;
  BENCH_DRIVER(world.driver->CopyBatch(
      reinterpret_cast<CuAddress*>(batch.dsts.data()), reinterpret_cast<CuAddress*>(batch.srcs.data()),
      batch.sizes.data(), batch.sizes.size(), &attributes, &first, 1, &failed, world.driver.stream()));
}

void SubmitLoop(const World& world, const Scattered& batch) {
  for (std::size_t i = 0; i < batch.sizes.size(); ++i) {
    BENCH_DRIVER(world.driver->CopyAny(reinterpret_cast<CuAddress>(batch.dsts[i]),
                                       reinterpret_cast<CuAddress>(batch.srcs[i]), batch.sizes[i],
                                       world.driver.stream()));
  }
}

/// Random bytes on the way, everything else untouched.
void VerifyBatch(World& world, Way way, std::size_t entry_bytes, std::size_t entries) {
  Scattered batch(world.ours, way, entry_bytes, entries);
  const std::size_t bytes = entry_bytes * entries;
  std::vector<std::byte> source(bytes + kKiB), expected(bytes + kKiB, std::byte{0x5A}), got(bytes + kKiB);
  FillRandom(source.data(), source.size(), bytes + 5);
  BENCH_ACL(
      aclrtMemcpy(SrcOf(world.ours, way), source.size(), source.data(), source.size(), ACL_MEMCPY_DEFAULT));
  BENCH_ACL(aclrtMemset(DstOf(world.ours, way), got.size(), 0x5A, got.size()));
  for (std::size_t i = 0; i < entries; ++i) {
    const auto from = static_cast<std::byte*>(batch.srcs[i]) - SrcOf(world.ours, way);
    std::memcpy(expected.data() + i * entry_bytes, source.data() + from, entry_bytes);
  }
  SubmitOurs(world, batch, way);
  world.Synchronize();
  BENCH_ACL(aclrtMemcpy(got.data(), got.size(), DstOf(world.ours, way), got.size(), ACL_MEMCPY_DEFAULT));
  MustEqual(expected.data(), got.data(), got.size(), "batch");
  // The driver's side finds its memory in the caches as ours was.
  std::memcpy(world.theirs.host, source.data(), source.size());
}

struct Bars {
  double ratio = 0, figure = 0;
};

void MeasureBatch(World& world, const char* group, Way way, std::size_t entry_bytes, std::size_t entries,
                  const Bars& bars) {
  VerifyBatch(world, way, entry_bytes, entries);
  Scattered ours(world.ours, way, entry_bytes, entries);
  Scattered theirs(world.theirs, way, entry_bytes, entries);
  const double bytes = static_cast<double>(entry_bytes * entries);
  std::function<void()> call;
  if (world.driver->CopyBatch != nullptr)
    call = [&] { SubmitCall(world, theirs), world.driver.Synchronize(); };
  const auto times = Measure({[&] { SubmitOurs(world, ours, way), world.Synchronize(); }, call,
                              [&] { SubmitLoop(world, theirs), world.driver.Synchronize(); }},
                             entries <= 64 ? (bytes < kMiB ? 151 : 31) : 5);
  Row row{.group = group,
          .direction = Name(way),
          .entry_bytes = entry_bytes,
          .entries = entries,
          .ours = bytes / times[0] / 1e9,
          .call = times[1] == 0 ? 0 : bytes / times[1] / 1e9,
          .loop = bytes / times[2] / 1e9};
  row.bar = bars.figure != 0 ? bars.figure : bars.ratio;
  row.bar_of_figure = bars.figure != 0;
  world.report.Add(row);
  if (bars.figure != 0 && bars.ratio != 0 && row.call != 0) {
    row.group = "the same against the batch call";
    row.loop = 0;
    row.bar = bars.ratio;
    row.bar_of_figure = false;
    world.report.Add(row);
  }
}

}  // namespace

void RunBatch(World& world) {
  struct Case {
    std::size_t bytes;
    Bars in, out;
  };
  const Case cases[] = {{256, {0, 18}, {0, 21}},       {kKiB, {0, 36}, {0, 38}},
                        {4 * kKiB, {20, 45}, {8, 46}}, {16 * kKiB, {0, 49}, {0, 50}},
                        {64 * kKiB, {0, 49}, {0, 50}}, {256 * kKiB, {0, 49}, {0, 50}},
                        {kMiB, {0, 53}, {0, 53}}};
  for (const Way way : {Way::kIn, Way::kOut}) {
    for (const Case& each : cases) {
      const std::size_t entries = std::min<std::size_t>(8192, kGiB / each.bytes);
      MeasureBatch(world, "batch, shuffled", way, each.bytes, entries, way == Way::kIn ? each.in : each.out);
    }
  }
}

void RunCounts(World& world) {
  for (const Way way : {Way::kIn, Way::kOut}) {
    for (const std::size_t bytes :
         {std::size_t{64}, std::size_t{1000}, 4 * kKiB, 64 * kKiB, 512 * kKiB, 4 * kMiB}) {
      for (const std::size_t entries : {1, 2, 3, 4, 8, 32, 256, 2048, 20000}) {
        if (bytes * entries > kGiB) continue;
        MeasureBatch(world, "batch by count", way, bytes, entries, {.ratio = 0.97});
      }
    }
  }
}

namespace {

struct RowsCase {
  std::size_t width, src_pitch, dst_pitch, height;
};

void OursRows(const World& world, Way way, const RowsCase& rows) {
  BENCH_ACL(aclrtMemcpy2dAsync(DstOf(world.ours, way), rows.dst_pitch, SrcOf(world.ours, way), rows.src_pitch,
                               rows.width, rows.height,
                               way == Way::kIn    ? ACL_MEMCPY_HOST_TO_DEVICE
                               : way == Way::kOut ? ACL_MEMCPY_DEVICE_TO_HOST
                                                  : ACL_MEMCPY_DEVICE_TO_DEVICE,
                               world.streams[0]));
}

void TheirRows(const World& world, Way way, const RowsCase& rows) {
  sampan::cuda::CuCopy2d copy{};
  copy.src_type = way == Way::kIn ? 1 : 2;
  copy.src_host = SrcOf(world.theirs, way);
  copy.src_device = reinterpret_cast<CuAddress>(SrcOf(world.theirs, way));
  copy.src_pitch = rows.src_pitch;
  copy.dst_type = way == Way::kOut ? 1 : 2;
  copy.dst_host = DstOf(world.theirs, way);
  copy.dst_device = reinterpret_cast<CuAddress>(DstOf(world.theirs, way));
  copy.dst_pitch = rows.dst_pitch;
  copy.width = rows.width;
  copy.height = rows.height;
  BENCH_DRIVER(world.driver->Copy2d(&copy, world.driver.stream()));
}

void VerifyRows(World& world, Way way, RowsCase rows) {
  rows.height = std::min<std::size_t>(rows.height, 10'000);
  const std::size_t src_bytes = rows.src_pitch * rows.height;
  const std::size_t dst_bytes = rows.dst_pitch * rows.height;
  std::vector<std::byte> source(src_bytes + 8), expected(dst_bytes, std::byte{0x33}), got(dst_bytes);
  FillRandom(source.data(), source.size(), rows.width);
  BENCH_ACL(aclrtMemcpy(SrcOf(world.ours, way), src_bytes, source.data(), src_bytes, ACL_MEMCPY_DEFAULT));
  BENCH_ACL(aclrtMemset(DstOf(world.ours, way), dst_bytes, 0x33, dst_bytes));
  for (std::size_t i = 0; i < rows.height; ++i)
    std::memcpy(expected.data() + i * rows.dst_pitch, source.data() + i * rows.src_pitch, rows.width);
  OursRows(world, way, rows);
  world.Synchronize();
  BENCH_ACL(aclrtMemcpy(got.data(), dst_bytes, DstOf(world.ours, way), dst_bytes, ACL_MEMCPY_DEFAULT));
  MustEqual(expected.data(), got.data(), dst_bytes, "rows");
}

double RowsBar(Way way, std::size_t width) {
  if (way == Way::kWithin) return width <= 16 ? 5.0 : width >= 256 ? 1.2 : 0.98;
  if (width == 16) return way == Way::kIn ? 2.0 : 3.5;
  return 0.98;
}

}  // namespace

void RunRows(World& world) {
  for (const Way way : {Way::kIn, Way::kOut, Way::kWithin}) {
    for (const std::size_t width : {4, 16, 17, 32, 48, 64, 96, 100, 128, 192, 256, 333, 512, 4096, 65'536}) {
      const std::size_t most = (way == Way::kWithin ? kGiB : 128 * kMiB) / width;
      const std::size_t height = std::min<std::size_t>(most, 1 << 20);
      for (const bool odd : {false, true}) {
        if (odd && width != 16 && width != 64 && width != 100 && width != 333) continue;
        const RowsCase rows{width, odd ? 2 * width + 3 : 2 * width, odd ? width + 1 : width, height};
        VerifyRows(world, way, rows);
        const auto times = Measure({[&] { OursRows(world, way, rows), world.Synchronize(); },
                                    [&] { TheirRows(world, way, rows), world.driver.Synchronize(); }},
                                   5);
        const double bytes = static_cast<double>(width * height);
        world.report.Add({.group = odd ? "rows, odd pitches" : "rows, source pitch twice the width",
                          .direction = Name(way),
                          .entry_bytes = width,
                          .entries = height,
                          .ours = bytes / times[0] / 1e9,
                          .call = bytes / times[1] / 1e9,
                          .bar = odd ? 0.98 : RowsBar(way, width)});
      }
    }
  }
}

}  // namespace bench
