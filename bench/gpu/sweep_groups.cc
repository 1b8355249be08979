// Where a path may fall short: rows of many widths and pitches, batches in both directions, and cold memory.
#include <algorithm>
#include <array>
#include <vector>

#include "bench/gpu/groups.h"
#include "bench/gpu/scattered.h"

namespace bench {
namespace {

/// The gaps of rows between host and device.
enum class Gaps { kInSource, kInDestination, kInBoth };

RowsCase RowsOf(std::size_t width, std::size_t pitch, Gaps gaps) {
  constexpr std::size_t kMaxBytes = 256 * kMiB, kMaxRows = std::size_t{1} << 18;
  const std::size_t close = width + (gaps == Gaps::kInBoth ? 8 : 0);
  const std::size_t src = gaps == Gaps::kInDestination ? close : pitch;
  const std::size_t dst = gaps == Gaps::kInDestination ? pitch : close;
  return {width, src, dst, std::min(kMaxBytes / pitch, kMaxRows)};
}

/// The cells that once fell short.
bool IsNamed(Way way, std::size_t width, std::size_t pitch, Gaps gaps) {
  if (way != Way::kOut || gaps == Gaps::kInDestination) return false;
  return (width == 72 && pitch == 8192 && gaps == Gaps::kInBoth) || (width == 584 && pitch == 37'376);
}

}  // namespace

void RunRowsSweep(World& world) {
  for (const Way way : {Way::kIn, Way::kOut}) {
    for (const std::size_t width : {16, 40, 64, 72, 120, 200, 256, 584, 1000, 1024, 4096, 8192}) {
      for (const std::size_t pitch : {std::size_t{160}, std::size_t{1032}, std::size_t{8192},
                                      std::size_t{37'376}, std::size_t{262'144}, kMiB}) {
        if (pitch < width + 8) continue;
        for (const Gaps gaps : {Gaps::kInSource, Gaps::kInDestination, Gaps::kInBoth}) {
          const RowsCase rows = RowsOf(width, pitch, gaps);
          const bool is_named = IsNamed(way, width, pitch, gaps);
          const auto times =
              MedianSeconds({[&] { OursRows(world, world.ours, way, rows), world.Synchronize(); },
                             [&] { TheirRows(world, world.theirs, way, rows), world.driver.Synchronize(); },
                             [&] { TheirRows(world, world.ours, way, rows), world.driver.Synchronize(); }},
                            is_named ? 31 : 7);
          const std::size_t bytes = rows.width * rows.height;
          world.report.Add({.group = "rows, pitch " + std::to_string(pitch) +
                                     (gaps == Gaps::kInSource        ? " in the source"
                                      : gaps == Gaps::kInDestination ? " in the destination"
                                                                     : " in the source, 8 in the other"),
                            .direction = Name(way),
                            .entry_bytes = width,
                            .entries = rows.height,
                            .ours = Rate(bytes, times[0]),
                            .call = Rate(bytes, times[1]),
                            .on_ours = Rate(bytes, times[2]),
                            .bar = is_named ? 0.98 : 0.95});
        }
      }
    }
  }
}

void RunBatchesBothWays(World& world) {
  constexpr std::size_t kEntries = 8192, kEntryBytes = 4 * kKiB;
  Arrays second = world.ours;
  second.host += kArrayBytes / 2;
  second.device = world.ours.second_device;
  for (const Places places : {Places::kRandom, Places::kHostDense}) {
    Scattered in(world.ours, Way::kIn, kEntryBytes, kEntries, places);
    Scattered out(second, Way::kOut, kEntryBytes, kEntries, places);
    const auto times = MedianSeconds({[&] {
                                       SubmitOurs(world, in, Way::kIn, 0);
                                       SubmitOurs(world, out, Way::kOut, 1);
                                       world.Synchronize(0);
                                       world.Synchronize(1);
                                     }},
                                     31);
    world.report.Add(
        {.group = places == Places::kRandom ? "batches both ways, random" : "batches both ways, host dense",
         .direction = "both",
         .entry_bytes = kEntryBytes,
         .entries = 2 * kEntries,
         .ours = Rate(2 * kEntryBytes * kEntries, times[0]),
         .bar = 85,
         .bar_of_figure = true});
  }
}

/// Batches whose host memory is in the processor's caches, against the same when it is not.
void RunCold(World& world) {
  constexpr std::size_t kBytes = 32 * kMiB, kLine = 64;
  constexpr std::size_t kTurns = 15;
  for (const Way way : {Way::kIn, Way::kOut}) {
    for (const std::size_t entry_bytes : {kKiB, 4 * kKiB, 16 * kKiB, 36 * kKiB}) {
      const std::size_t entries = kBytes / entry_bytes;
      VerifyBatch(world, world.ours, way, entry_bytes, entries, Places::kRandom);
      Scattered batch(world.ours, way, entry_bytes, entries, Places::kRandom);
      const auto copy = [&] { SubmitOurs(world, batch, way), world.Synchronize(); };
      const auto touch = [&] {
        for (std::size_t at = 0; at < kBytes; at += kLine) {
          auto* const byte = reinterpret_cast<volatile char*>(world.ours.host + at);
          *byte = *byte;
        }
      };
      const auto times = TakeTurns({[&] { return world.FlushHost(kBytes), SecondsOf(copy); },
                                    [&] { return touch(), SecondsOf(copy); }},
                                   [&](std::size_t done) { return done < kTurns; });
      world.report.Add({.group = "cold batches, against those in the caches",
                        .direction = Name(way),
                        .entry_bytes = entry_bytes,
                        .entries = entries,
                        .ours = Rate(entries * entry_bytes, Median(times[0])),
                        .call = Rate(entries * entry_bytes, Median(times[1]))});
    }
  }
}

}  // namespace bench
