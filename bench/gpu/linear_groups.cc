// Linear copies: bandwidth, cost of submission, both directions at once, operands on the
// device.
#include <algorithm>
#include <functional>
#include <vector>

#include "bench/gpu/groups.h"

namespace bench {
namespace {

constexpr int kRounds = 15;

aclrtMemcpyKind KindOf(Way way) {
  return way == Way::kIn    ? ACL_MEMCPY_HOST_TO_DEVICE
         : way == Way::kOut ? ACL_MEMCPY_DEVICE_TO_HOST
                            : ACL_MEMCPY_DEVICE_TO_DEVICE;
}

void OursAsync(const World& world, Way way, std::size_t bytes, int stream = 0) {
  BENCH_ACL(aclrtMemcpyAsync(DstOf(world.ours, way), bytes, SrcOf(world.ours, way), bytes, KindOf(way),
                             world.streams[stream]));
}
void TheirsAsync(const World& world, Way way, std::size_t bytes, int stream = 0) {
  BENCH_DRIVER(world.driver->CopyAny(reinterpret_cast<CuAddress>(DstOf(world.theirs, way)),
                                     reinterpret_cast<CuAddress>(SrcOf(world.theirs, way)), bytes,
                                     world.driver.stream(stream)));
}

/// Random bytes must survive a round trip through the device.
void VerifyRoundTrip(World& world, std::size_t bytes) {
  std::vector<std::byte> expected(bytes);
  FillRandom(expected, bytes + 1);
  std::memcpy(world.ours.host, expected.data(), bytes);
  OursAsync(world, Way::kIn, bytes);
  OursAsync(world, Way::kOnDevice, bytes);
  world.Synchronize();
  std::memset(world.ours.host, 0, bytes);
  BENCH_ACL(aclrtMemcpyAsync(world.ours.host, bytes, world.ours.second_device, bytes,
                             ACL_MEMCPY_DEVICE_TO_HOST, world.streams[0]));
  world.Synchronize();
  MustEqual(expected.data(), world.ours.host, bytes, "linear round trip");
}

}  // namespace

void RunLinear(World& world) {
  VerifyRoundTrip(world, 64 * kMiB);
  for (const Way way : {Way::kIn, Way::kOut, Way::kOnDevice}) {
    for (const std::size_t bytes : {4 * kKiB, kMiB, 64 * kMiB, 256 * kMiB, kGiB}) {
      world.FlushHost(bytes);
      const auto times = MedianSeconds({[&] { OursAsync(world, way, bytes), world.Synchronize(); },
                                        [&] { TheirsAsync(world, way, bytes), world.driver.Synchronize(); }},
                                       bytes < kMiB ? 200 : 2 * kRounds);
      world.report.Add({.group = "linear",
                        .direction = Name(way),
                        .entry_bytes = bytes,
                        .ours = Rate(bytes, times[0]),
                        .call = Rate(bytes, times[1]),
                        .bar = bytes >= 64 * kMiB ? 0.99 : 0});
    }
  }
}

void RunSubmission(World& world) {
  constexpr int kCopies = 200;
  for (const Way way : {Way::kIn, Way::kOut, Way::kOnDevice}) {
    const auto submit = [&](auto once, auto synchronize) -> TimedWork {
      return [=] {
        const double seconds = SecondsOf([&] {
          for (int i = 0; i < kCopies; ++i)
            once();
        });
        synchronize();  // not part of the time
        return seconds;
      };
    };
    const auto times =
        TakeTurns({submit([&] { OursAsync(world, way, 4 * kKiB); }, [&] { world.Synchronize(); }),
                   submit([&] { TheirsAsync(world, way, 4 * kKiB); }, [&] { world.driver.Synchronize(); })},
                  [](std::size_t turns) { return turns < 31; });
    const double their_us = Median(times[1]) * 1e6 / kCopies;
    world.report.Add({.group = "submission of 4 KiB",
                      .direction = Name(way),
                      .entry_bytes = 4 * kKiB,
                      .entries = kCopies,
                      .unit = "us",
                      .ours = Median(times[0]) * 1e6 / kCopies,
                      .call = their_us,
                      .bar = their_us + 0.3,
                      .bar_of_figure = true});
  }
}

void RunBothWays(World& world) {
  constexpr std::size_t kBytes = 256 * kMiB;
  const auto ours = [&] {
    OursAsync(world, Way::kIn, kBytes, 0);
    BENCH_ACL(aclrtMemcpyAsync(world.ours.host + kBytes, kBytes, world.ours.second_device, kBytes,
                               ACL_MEMCPY_DEVICE_TO_HOST, world.streams[1]));
    world.Synchronize(0);
    world.Synchronize(1);
  };
  const auto theirs = [&] {
    TheirsAsync(world, Way::kIn, kBytes, 0);
    BENCH_DRIVER(world.driver->CopyAny(reinterpret_cast<CuAddress>(world.theirs.host + kBytes),
                                       reinterpret_cast<CuAddress>(world.theirs.second_device), kBytes,
                                       world.driver.stream(1)));
    world.driver.Synchronize(0);
    world.driver.Synchronize(1);
  };
  const auto times = MedianSeconds({ours, theirs}, kRounds);
  world.report.Add({.group = "both ways on two streams",
                    .direction = "both",
                    .entry_bytes = 2 * kBytes,
                    .ours = Rate(2 * kBytes, times[0]),
                    .call = Rate(2 * kBytes, times[1]),
                    .bar = 0.97});
}

void RunIndirect(World& world) {
  void* descriptor = nullptr;
  void* cells = nullptr;
  BENCH_ACL(aclrtMalloc(&descriptor, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  BENCH_ACL(aclrtMalloc(&cells, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  void* pointers[2] = {world.ours.second_device, world.ours.device};
  BENCH_ACL(aclrtMemcpy(cells, 64, pointers, sizeof(pointers), ACL_MEMCPY_HOST_TO_DEVICE));
  auto** const dst_cell = static_cast<void**>(cells);
  const auto kind = ACL_MEMCPY_INNER_DEVICE_TO_DEVICE;
  const auto by_descriptor = [&] { BENCH_ACL(aclrtMemcpyAsyncWithDesc(descriptor, kind, world.streams[0])); };
  const auto by_offset = [&](std::size_t bytes) {
    BENCH_ACL(aclrtMemcpyAsyncWithOffset(dst_cell, bytes, 0, const_cast<const void**>(dst_cell + 1), bytes, 0,
                                         kind, world.streams[0]));
  };
  const auto set = [&](std::size_t bytes) {
    BENCH_ACL(
        aclrtSetMemcpyDesc(descriptor, kind, world.ours.device, world.ours.second_device, bytes, nullptr));
  };
  // Random bytes through both.
  constexpr std::size_t kVerified = 64 * kMiB + 12;
  std::vector<std::byte> expected(kVerified), got(kVerified);
  for (const bool descriptors : {true, false}) {
    FillRandom(expected, descriptors ? 21 : 22);
    BENCH_ACL(
        aclrtMemcpy(world.ours.device, kVerified, expected.data(), kVerified, ACL_MEMCPY_HOST_TO_DEVICE));
    BENCH_ACL(aclrtMemset(world.ours.second_device, kVerified, 0, kVerified));
    set(kVerified);
    if (descriptors) {
      by_descriptor();
    } else {
      by_offset(kVerified);
    }
    world.Synchronize();
    BENCH_ACL(
        aclrtMemcpy(got.data(), kVerified, world.ours.second_device, kVerified, ACL_MEMCPY_DEVICE_TO_HOST));
    MustEqual(expected.data(), got.data(), kVerified, descriptors ? "descriptor" : "offset");
  }
  for (const std::size_t bytes : {64 * kMiB, 256 * kMiB, kGiB}) {
    set(bytes);
    const auto times = MedianSeconds(
        {[&] { by_descriptor(), world.Synchronize(); }, [&] { by_offset(bytes), world.Synchronize(); },
         [&] { TheirsAsync(world, Way::kOnDevice, bytes), world.driver.Synchronize(); }},
        kRounds);
    for (int i = 0; i < 2; ++i) {
      world.report.Add({.group = i == 0 ? "descriptor copies" : "offset copies",
                        .direction = "D2D",
                        .entry_bytes = bytes,
                        .ours = Rate(bytes, times[static_cast<std::size_t>(i)]),
                        .call = Rate(bytes, times[2]),
                        .bar = 0.95});
    }
  }
  constexpr int kQueued = 8;
  set(4 * kKiB);
  const auto times = MedianSeconds({[&] {
                                      for (int i = 0; i < kQueued; ++i)
                                        by_descriptor();
                                      world.Synchronize();
                                    },
                                    [&] {
                                      for (int i = 0; i < kQueued; ++i)
                                        by_offset(4 * kKiB);
                                      world.Synchronize();
                                    },
                                    [&] {
                                      for (int i = 0; i < kQueued; ++i)
                                        TheirsAsync(world, Way::kOnDevice, 4 * kKiB);
                                      world.driver.Synchronize();
                                    }},
                                   200);
  for (int i = 0; i < 2; ++i) {
    world.report.Add({.group = i == 0 ? "descriptor copies, 8 queued, each" : "offset copies, 8 queued, each",
                      .direction = "D2D",
                      .entry_bytes = 4 * kKiB,
                      .entries = kQueued,
                      .unit = "us",
                      .ours = times[static_cast<std::size_t>(i)] * 1e6 / kQueued,
                      .call = times[2] * 1e6 / kQueued,
                      .bar = 5.0,
                      .bar_of_figure = true});
  }
  BENCH_ACL(aclrtFree(descriptor));
  BENCH_ACL(aclrtFree(cells));
}

World::World() {
  BENCH_ACL(aclrtSetDevice(0));
  ours = MakeOurs();
  theirs = MakeTheirs(driver);
  for (aclrtStream& stream : streams)
    BENCH_ACL(aclrtCreateStream(&stream));
  FillRandom({ours.host, kArrayBytes}, 1);
  std::memcpy(theirs.host, ours.host, kArrayBytes);
  machine = GpuName() + ", driver " + std::to_string(driver->version / 1000) + "." +
            std::to_string(driver->version % 1000 / 10);
  std::printf("%s; GB/s of payload, medians, from the call to the synchronised stream\n", machine.c_str());
}

}  // namespace bench
