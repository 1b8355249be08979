// What copies cost the kernels beside them: rate and disturbance of batches while a program computes.
#include <array>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "bench/gpu/quiet_rows.h"
#include "bench/gpu/scattered.h"

namespace bench {
namespace {

struct QuietCase {
  const char* name;
  Places places;
  std::size_t entry_bytes, entries;
  QuietBars in, out;
  std::size_t streams = 1;  ///< that take turns
};

constexpr Places kRandom = Places::kRandom, kDense = Places::kHostDense;

/// The rates alone are 0.97 of those of 32 blocks of 512 threads, before copies were quiet.
QuietBars Usual(double alone) {
  return {.alone = 0.97 * alone,
          .times_arithmetic = 1.15,
          .rate_arithmetic = 40,
          .times_memory = 1.15,
          .rate_memory = 30};
}

std::vector<QuietCase> CasesOf(std::string_view mode) {
  constexpr QuietBars kNone;
  constexpr QuietBars kAnyRateAlone{
      .times_arithmetic = 1.15, .rate_arithmetic = 40, .times_memory = 1.15, .rate_memory = 30};
  constexpr QuietBars kNoSlower{.over_call = 1.0};
  constexpr QuietBars kDenseBars{.alone = 52, .times_arithmetic = 1.03, .times_memory = 1.05};
  constexpr QuietBars kStill{.alone = 40, .times_arithmetic = 1.02, .times_memory = 1.02};
  constexpr QuietBars kStillShort{.times_arithmetic = 1.02, .times_memory = 1.02, .over_call = 0.97};
  const bool is_auto = mode == "auto", is_quiet = mode == "quiet";
  const QuietBars dense = is_auto ? kDenseBars : kNone;
  const QuietBars random = is_auto ? kAnyRateAlone : is_quiet ? kStill : kNone;
  const QuietBars one_short = is_auto ? kNoSlower : kNone;
  return {{"random", kRandom, 4 * kKiB, 8192,
           is_auto    ? Usual(48.1)
           : is_quiet ? kStillShort
                      : kNone,
           is_auto    ? Usual(49.9)
           : is_quiet ? kStillShort
                      : kNone},
          {"random", kRandom, 36 * kKiB, 3500,
           is_auto    ? Usual(50.4)
           : is_quiet ? kStill
                      : kNone,
           is_auto    ? Usual(51.6)
           : is_quiet ? kStill
                      : kNone},
          // A stream's next kernel begins when the last one has ended. By then blocks of the program have
          // taken its places. The kernel of another stream takes them first.
          {"random, two streams", kRandom, 4 * kKiB, 8192,
           is_auto    ? Usual(48.1)
           : is_quiet ? kStillShort
                      : kNone,
           is_auto    ? Usual(49.9)
           : is_quiet ? kStillShort
                      : kNone,
           2},
          {"host dense", kDense, 4 * kKiB, 8192, dense, dense},
          {"host dense", kDense, 36 * kKiB, 3500, dense, dense},
          // Around the lengths from which on an engine copies.
          {"random", kRandom, 24 * kKiB, 4096, is_auto ? random : kNone, is_auto ? random : kNone},
          {"random", kRandom, 48 * kKiB, 2048, random, random},
          {"random", kRandom, 64 * kKiB, 2048, random, random},
          {"random", kRandom, kKiB, 32'768, kNone, kNone},
          {"one short batch", kRandom, kKiB, 64, one_short, one_short}};
}

}  // namespace

void RunQuiet(World& world) {
  const char* const quietness = std::getenv("SAMPAN_COPY_QUIET");
  const char* const path = std::getenv("SAMPAN_COPY_PATH");
  const std::string_view mode = path != nullptr ? path : quietness != nullptr ? quietness : "auto";
  QuietRows rows(world.report);
  std::array<aclrtEvent, 2> events{};
  for (aclrtEvent& event : events)
    BENCH_ACL(aclrtCreateEvent(&event));
  for (const QuietCase& each : CasesOf(mode)) {
    for (const Way way : {Way::kIn, Way::kOut}) {
      VerifyBatch(world, world.ours, way, each.entry_bytes, each.entries, each.places);
      Scattered ours(world.ours, way, each.entry_bytes, each.entries, each.places);
      Scattered theirs(world.theirs, way, each.entry_bytes, each.entries, each.places);
      const auto stream_of = [&each](int which) { return which % static_cast<int>(each.streams); };
      const CopyLoop copies{
          .bytes = each.entry_bytes * each.entries,
          .submit = [&](int which) { SubmitOurs(world, ours, way, stream_of(which)); },
          .record =
              [&](int which) {
                BENCH_ACL(aclrtRecordEvent(events[static_cast<std::size_t>(which)],
                                           world.streams[stream_of(which)]));
              },
          .await =
              [&](int which) { BENCH_ACL(aclrtSynchronizeEvent(events[static_cast<std::size_t>(which)])); },
          .drain =
              [&] {
                world.Synchronize(0);
                world.Synchronize(1);
              }};
      Row row;
      row.group = "quiet (" + std::string(mode) + "), " + each.name;
      row.direction = Name(way);
      row.entry_bytes = each.entry_bytes;
      row.entries = each.entries;
      rows.Measure(row, copies, way == Way::kIn ? each.in : each.out,
                   [&] { SubmitCall(world, theirs), world.driver.Synchronize(); });
    }
  }
  for (aclrtEvent event : events)
    BENCH_ACL(aclrtDestroyEvent(event));
}

}  // namespace bench
