// Copies of pageable memory: linear, batches and rows. All of them are complete when the call returns.
#include <cstdlib>
#include <vector>

#include "bench/gpu/groups.h"
#include "bench/gpu/scattered.h"

namespace bench {
namespace {

constexpr std::size_t kBytes = kGiB;

void MeasureLinear(World& world, std::byte* pageable) {
  const std::vector<std::byte> expected(pageable, pageable + kBytes);
  BENCH_ACL(aclrtMemcpy(world.ours.device, kBytes, pageable, kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
  std::memset(pageable, 0, kBytes);
  BENCH_ACL(aclrtMemcpy(pageable, kBytes, world.ours.device, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
  MustEqual(expected.data(), pageable, kBytes, "pageable round trip");
  for (const std::size_t bytes : {std::size_t{64}, 4 * kKiB, 16 * kKiB, 32 * kKiB, 64 * kKiB, 256 * kKiB,
                                  kMiB, 2 * kMiB, 4 * kMiB, 8 * kMiB, 16 * kMiB, 64 * kMiB, kBytes}) {
    const int rounds = bytes < kBytes ? 41 : 9;
    const auto in = MedianSeconds(
        {[&] {
           BENCH_ACL(aclrtMemcpy(world.ours.device, bytes, pageable, bytes, ACL_MEMCPY_HOST_TO_DEVICE));
         },
         [&] { world.driver.CopyBlocking(world.theirs.device, pageable, bytes); },
         // The driver's call returns while the last part is on its way. aclrtMemcpy may not.
         [&] {
           world.driver.CopyBlocking(world.theirs.device, pageable, bytes);
           BENCH_DRIVER(world.driver->StreamSynchronize(nullptr));
         }},
        rounds);
    const auto out = MedianSeconds(
        {[&] {
           BENCH_ACL(aclrtMemcpy(pageable, bytes, world.ours.device, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
         },
         [&] { world.driver.CopyBlocking(pageable, world.theirs.device, bytes); }},
        rounds);
    const bool has_bar = bytes == 64 || bytes == 4 * kKiB || bytes == 64 * kKiB || bytes == kMiB;
    for (const auto& [name, times] : {std::pair{"H2D", &in}, {"D2H", &out}}) {
      Row row{.group = "pageable, blocking",
              .direction = name,
              .entry_bytes = bytes,
              .ours = Rate(bytes, (*times)[0]),
              .call = Rate(bytes, (*times)[1]),
              .awaited = times->size() > 2 ? Rate(bytes, (*times)[2]) : 0,
              .bar = bytes == kBytes           ? 3.0
                     : has_bar && times == &in ? 0.97
                                               : 0};
      world.report.Add(row);
      if (!has_bar || times != &in) continue;
      row.group = "pageable, blocking: against the call and its end";
      row.call = row.awaited;
      world.report.Keep(row);
    }
  }
}

void MeasureBatches(World& world, const Arrays& ours, const Arrays& theirs) {
  struct Case {
    std::size_t entry_bytes, entries;
  };
  for (const auto& [entry_bytes, entries] : {Case{kKiB, 100}, {4 * kKiB, 8192}, {64 * kKiB, 1000}}) {
    for (const Way way : {Way::kIn, Way::kOut}) {
      VerifyBatch(world, ours, way, entry_bytes, entries);
      Scattered batch(ours, way, entry_bytes, entries);
      const Scattered loop(theirs, way, entry_bytes, entries);
      const auto times = MedianSeconds({[&] { SubmitOurs(world, batch, way); },
                                        [&] { SubmitLoop(world, loop), world.driver.Synchronize(); }},
                                       entries == 100 ? 41 : 7);
      world.report.Add({.group = "pageable batch",
                        .direction = Name(way),
                        .entry_bytes = entry_bytes,
                        .entries = entries,
                        .ours = Rate(entry_bytes * entries, times[0]),
                        .loop = Rate(entry_bytes * entries, times[1])});
    }
  }
}

void MeasureRows(World& world, const Arrays& ours, const Arrays& theirs) {
  for (const std::size_t bytes : {256 * kKiB, 8 * kMiB}) {
    for (const std::size_t width : {16, 100, 4096, 65'536}) {
      // Gaps on the host; with odd pitches on the device too.
      for (const std::size_t gap : {std::size_t{0}, std::size_t{1}}) {
        if (gap != 0 && (width != 100 || bytes < kMiB)) continue;
        for (const Way way : {Way::kIn, Way::kOut}) {
          const std::size_t host_pitch = 2 * width + gap, device_pitch = width + gap;
          const bool in = way == Way::kIn;
          const RowsCase rows{width, in ? host_pitch : device_pitch, in ? device_pitch : host_pitch,
                              bytes / width};
          VerifyRows(world, ours, way, rows);
          const auto times =
              MedianSeconds({[&] { OursRows(world, ours, way, rows); },
                             [&] { TheirRows(world, theirs, way, rows), world.driver.Synchronize(); }},
                            bytes < kMiB ? 21 : 5);
          world.report.Add({.group = gap != 0 ? "pageable rows, odd pitches" : "pageable rows",
                            .direction = Name(way),
                            .entry_bytes = width,
                            .entries = rows.height,
                            .ours = Rate(width * rows.height, times[0]),
                            .call = Rate(width * rows.height, times[1])});
        }
      }
    }
  }
}

}  // namespace

void RunPageable(World& world) {
  auto* const pageable = static_cast<std::byte*>(std::aligned_alloc(4096, kBytes));
  FillRandom({pageable, kBytes}, 3);
  MeasureLinear(world, pageable);
  const Arrays ours{pageable, world.ours.device, nullptr};
  const Arrays theirs{pageable, world.theirs.device, nullptr};
  MeasureBatches(world, ours, theirs);
  MeasureRows(world, ours, theirs);
  std::free(pageable);
}

}  // namespace bench
