// Scattered copies: batches by entry size and by count, rows by width.
#include <algorithm>
#include <functional>
#include <vector>

#include "bench/gpu/groups.h"
#include "bench/gpu/scattered.h"

namespace bench {
namespace {

struct Bars {
  double ratio = 0, figure = 0;
};

void MeasureBatch(World& world, const char* group, Way way, std::size_t entry_bytes, std::size_t entries,
                  const Bars& bars) {
  VerifyBatch(world, world.ours, way, entry_bytes, entries);
  world.FlushHost(entry_bytes * entries);
  Scattered ours(world.ours, way, entry_bytes, entries);
  Scattered theirs(world.theirs, way, entry_bytes, entries);
  const double bytes = static_cast<double>(entry_bytes * entries);
  std::function<void()> call;
  if (world.driver->CopyBatch != nullptr)
    call = [&] { SubmitCall(world, theirs), world.driver.Synchronize(); };
  const auto times = MedianSeconds({[&] { SubmitOurs(world, ours, way), world.Synchronize(); }, call,
                                    [&] { SubmitLoop(world, theirs), world.driver.Synchronize(); }},
                                   entries <= 64 ? (bytes < kMiB ? 300 : 60) : 9);
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

/// Adjacent entries: the driver's best is one copy of all of them.
void RunAdjacent(World& world) {
  struct Case {
    std::size_t entry_bytes, entries;
  };
  for (const Way way : {Way::kIn, Way::kOut}) {
    for (const auto& [entry_bytes, entries] :
         {Case{1000, 2}, {4 * kKiB, 8}, {4 * kKiB, 256}, {4 * kKiB, 8192}, {64 * kKiB, 2048}}) {
      VerifyBatch(world, world.ours, way, entry_bytes, entries, Places::kAdjacent);
      Scattered ours(world.ours, way, entry_bytes, entries, Places::kAdjacent);
      Scattered theirs(world.theirs, way, entry_bytes, entries, Places::kAdjacent);
      Scattered whole(world.theirs, way, entry_bytes * entries, 1);
      world.FlushHost(entry_bytes * entries);
      const auto times = MedianSeconds({[&] { SubmitOurs(world, ours, way), world.Synchronize(); },
                                        [&] { SubmitLoop(world, whole), world.driver.Synchronize(); },
                                        [&] { SubmitLoop(world, theirs), world.driver.Synchronize(); }},
                                       entries <= 256 ? 100 : 15);
      world.report.Add({.group = "batch, adjacent entries",
                        .direction = Name(way),
                        .entry_bytes = entry_bytes,
                        .entries = entries,
                        .ours = Rate(entry_bytes * entries, times[0]),
                        .call = Rate(entry_bytes * entries, times[1]),
                        .loop = Rate(entry_bytes * entries, times[2])});
    }
  }
}

namespace {

double RowsBar(Way way, std::size_t width) {
  if (way == Way::kOnDevice) return width <= 16 ? 5.0 : width >= 256 ? 1.2 : 0.98;
  if (width == 16) return way == Way::kIn ? 2.0 : 3.5;
  return 0.98;
}

}  // namespace

void RunRows(World& world) {
  for (const Way way : {Way::kIn, Way::kOut, Way::kOnDevice}) {
    for (const std::size_t width : {4, 16, 17, 32, 48, 64, 96, 100, 128, 192, 256, 333, 512, 4096, 65'536}) {
      const std::size_t max_height = (way == Way::kOnDevice ? kGiB : 128 * kMiB) / width;
      const std::size_t height = std::min<std::size_t>(max_height, 1 << 20);
      for (const bool odd : {false, true}) {
        if (odd && width != 16 && width != 64 && width != 100 && width != 333) continue;
        const RowsCase rows{width, odd ? 2 * width + 3 : 2 * width, odd ? width + 1 : width, height};
        VerifyRows(world, world.ours, way, rows);
        world.FlushHost(std::max(rows.src_pitch, rows.dst_pitch) * rows.height);
        const auto times =
            MedianSeconds({[&] { OursRows(world, world.ours, way, rows), world.Synchronize(); },
                           [&] { TheirRows(world, world.theirs, way, rows), world.driver.Synchronize(); }},
                          11);
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
