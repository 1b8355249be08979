// Rate against disturbance of kernels between host and device: by the number of blocks, by vectors or by bulk
// copies, in streams of both priorities.
#include <dlfcn.h>

#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "backend/cuda/kernel_image.h"
#include "backend/cuda/kernels/kernel_arguments.h"
#include "bench/gpu/bulk_kernel.h"
#include "bench/gpu/quiet_rows.h"
#include "bench/gpu/scattered.h"

namespace bench {
namespace {

using sampan::cuda::CuEvent;
using sampan::cuda::CuFunction;
using sampan::cuda::CuModule;
using sampan::cuda::PieceArgument;

constexpr unsigned kChunkBytes = 4 * kKiB;

/// A kernel and its blocks.
struct Mover {
  bool bulk;
  unsigned blocks;
  unsigned stages = 0;                            ///< buffers of a block, for bulk copies
  unsigned threads = sampan::cuda::kLinkThreads;  ///< of a block, for vectors

  std::string Name() const {
    return (bulk ? "bulk " + std::to_string(stages) + " buffers, " : "vectors, ") + std::to_string(blocks) +
           (blocks == 1 ? " block" : " blocks") +
           (threads == sampan::cuda::kLinkThreads ? "" : " of " + std::to_string(threads));
  }
};

/// Launches both kernels on batches whose pieces are listed in host and in device memory.
class Movers {
 public:
  explicit Movers(const DriverSide& driver) : driver_(driver) {
    BENCH_DRIVER(driver_->ContextSetCurrent(ContextOf(0)));
    BENCH_DRIVER(driver_->ModuleLoadData(&vector_module_, sampan::cuda::CopyKernelImage()));
    BENCH_DRIVER(driver_->ModuleGetFunction(&vectors_, vector_module_, "sampan_copy_pieces"));
    if (driver_->ModuleLoadData(&bulk_module_, kBulkKernel) != sampan::cuda::cu::kSuccess) return;
    BENCH_DRIVER(driver_->ModuleGetFunction(&bulk_, bulk_module_, "bench_bulk"));
    void* const library = ::dlopen("libcuda.so.1", RTLD_NOW);
    const auto set = reinterpret_cast<int (*)(CuFunction, int, int)>(::dlsym(library, "cuFuncSetAttribute"));
    constexpr int kMaxDynamicShared = 8;
    BENCH_DRIVER(set(bulk_, kMaxDynamicShared, 48 * static_cast<int>(kChunkBytes)));
  }

  bool has_bulk() const { return bulk_ != nullptr; }

  void Launch(const Mover& mover, const std::vector<PieceArgument>& on_host, CuAddress on_device,
              CuStream stream) const {
    auto count = static_cast<unsigned>(on_host.size());
    if (mover.bulk) {
      auto each = static_cast<unsigned>(on_host.front().bytes / kChunkBytes);
      unsigned chunks = count * each, chunk_bytes = kChunkBytes, stages = mover.stages;
      std::array<void*, 5> arguments = {&on_device, &chunks, &each, &chunk_bytes, &stages};
      BENCH_DRIVER(driver_->LaunchKernel(bulk_, mover.blocks, 1, 1, 32, 1, 1, stages * kChunkBytes, stream,
                                         arguments.data(), nullptr));
      return;
    }
    auto pieces = on_device;
    unsigned team_bits = 5;
    CuAddress no_shift = 0;
    sampan::cuda::CompletionArgument no_completion{};
    std::array<void*, 6> arguments = {&pieces, &count, &team_bits, &no_shift, &no_shift, &no_completion};
    BENCH_DRIVER(driver_->LaunchKernel(vectors_, mover.blocks, 1, 1, mover.threads, 1, 1, 0, stream,
                                       arguments.data(), nullptr));
  }

 private:
  const DriverSide& driver_;
  CuModule vector_module_ = nullptr, bulk_module_ = nullptr;
  CuFunction vectors_ = nullptr, bulk_ = nullptr;
};

/// The pieces of a batch, and their list on the device.
struct Pieces {
  std::vector<PieceArgument> list;
  CuAddress on_device;

  Pieces(const DriverSide& driver, const Arrays& arrays, Way way, std::size_t entry_bytes,
         std::size_t entries)
      : driver_(driver) {
    const Scattered batch(arrays, way, entry_bytes, entries, Places::kRandom);
    for (std::size_t i = 0; i < entries; ++i)
      list.push_back({reinterpret_cast<CuAddress>(batch.dsts[i]), reinterpret_cast<CuAddress>(batch.srcs[i]),
                      entry_bytes});
    on_device = reinterpret_cast<CuAddress>(driver.Allocate(list.size() * sizeof(PieceArgument)));
    BENCH_DRIVER(driver->CopyHostToDevice(on_device, list.data(), list.size() * sizeof(PieceArgument),
                                          driver.stream()));
    driver.Synchronize();
  }
  ~Pieces() { driver_->MemFree(on_device); }
  Pieces(const Pieces&) = delete;
  Pieces& operator=(const Pieces&) = delete;

 private:
  const DriverSide& driver_;
};

void Verify(const World& world, const Movers& movers, const Mover& mover, Way way) {
  constexpr std::size_t kEntries = 500, kEntryBytes = 36 * kKiB, kBytes = kEntries * kEntryBytes;
  const Pieces pieces(world.driver, world.theirs, way, kEntryBytes, kEntries);
  std::vector<std::byte> source(kBytes), expected(kBytes), got(kBytes);
  FillRandom(source, 1);
  world.driver.CopyBlocking(SrcOf(world.theirs, way), source.data(), kBytes);
  for (const PieceArgument& piece : pieces.list)
    std::memcpy(expected.data() + (piece.dst - reinterpret_cast<CuAddress>(DstOf(world.theirs, way))),
                source.data() + (piece.src - reinterpret_cast<CuAddress>(SrcOf(world.theirs, way))),
                kEntryBytes);
  movers.Launch(mover, pieces.list, pieces.on_device, world.driver.stream());
  world.driver.Synchronize();
  world.driver.CopyBlocking(got.data(), DstOf(world.theirs, way), kBytes);
  MustEqual(expected.data(), got.data(), kBytes, mover.Name());
}

/// Batches in both directions at once, each by its kernel.
void MeasureBothWays(World& world, const Movers& movers, const Mover& in, const Mover& out,
                     const std::array<CuStream, 2>& streams) {
  constexpr std::size_t kEntries = 8192, kEntryBytes = 4 * kKiB;
  Arrays second = world.theirs;
  second.host += kArrayBytes / 2;
  second.device = world.theirs.second_device;
  const Pieces from_host(world.driver, world.theirs, Way::kIn, kEntryBytes, kEntries);
  const Pieces to_host(world.driver, second, Way::kOut, kEntryBytes, kEntries);
  const auto times = MedianSeconds({[&] {
                                     movers.Launch(in, from_host.list, from_host.on_device, streams[0]);
                                     movers.Launch(out, to_host.list, to_host.on_device, streams[1]);
                                     for (CuStream stream : streams)
                                       BENCH_DRIVER(world.driver->StreamSynchronize(stream));
                                   }},
                                   15);
  Row row;
  row.group = "knee, both ways: in by " + in.Name() + ", out by " + out.Name();
  row.direction = "both";
  row.entry_bytes = kEntryBytes;
  row.entries = 2 * kEntries;
  row.ours = Rate(2 * kEntryBytes * kEntries, times[0]);
  std::printf("%-90s %6.2f GB/s\n", row.group.c_str(), row.ours);
  world.report.Keep(row);
}

}  // namespace

void RunKnee(World& world) {
  const DriverSide& driver = world.driver;
  const Movers movers(driver);
  std::vector<Mover> all;
  for (const unsigned blocks : {1, 2, 3, 4, 8, 32})
    all.push_back({.bulk = false, .blocks = blocks});
  for (const unsigned blocks : {2, 4, 6})
    all.push_back({.bulk = false, .blocks = blocks, .threads = sampan::cuda::kThreadsPerBlock});
  if (movers.has_bulk()) {
    for (const auto& [blocks, stages] : {std::pair{1U, 48U}, {2U, 24U}, {2U, 48U}, {4U, 12U}})
      all.push_back({.bulk = true, .blocks = blocks, .stages = stages});
  }
  for (const Mover& mover : all) {
    Verify(world, movers, mover, Way::kIn);
    Verify(world, movers, mover, Way::kOut);
  }
  QuietRows rows(world.report);
  std::array<CuEvent, 2> events{};
  for (CuEvent& event : events)
    BENCH_DRIVER(driver->EventCreate(&event, sampan::cuda::cu::kEventWithoutTime));
  for (const int priority : {sampan::cuda::cu::kHighestPriority, 0}) {
    std::array<CuStream, 2> streams{};
    for (CuStream& stream : streams)
      BENCH_DRIVER(driver->StreamCreate(&stream, sampan::cuda::cu::kStreamNonBlocking, priority));
    for (const auto& [entry_bytes, entries] :
         {std::pair{4 * kKiB, std::size_t{8192}}, {36 * kKiB, std::size_t{3500}}}) {
      for (const Way way : {Way::kIn, Way::kOut}) {
        const Pieces pieces(driver, world.theirs, way, entry_bytes, entries);
        for (const Mover& mover : all) {
          const CopyLoop copies{
              .bytes = entry_bytes * entries,
              .submit = [&](int) { movers.Launch(mover, pieces.list, pieces.on_device, streams[0]); },
              .record =
                  [&](int which) {
                    BENCH_DRIVER(driver->EventRecord(events[static_cast<std::size_t>(which)], streams[0]));
                  },
              .await =
                  [&](int which) {
                    BENCH_DRIVER(driver->EventSynchronize(events[static_cast<std::size_t>(which)]));
                  },
              .drain = [&] { BENCH_DRIVER(driver->StreamSynchronize(streams[0])); }};
          Row row;
          row.group = std::string(priority == 0 ? "knee, " : "knee, first, ") + mover.Name();
          row.direction = Name(way);
          row.entry_bytes = entry_bytes;
          row.entries = entries;
          rows.Measure(row, copies, {});
        }
      }
    }
    if (priority != 0) {
      for (const Mover& in : all) {
        for (const Mover& out : all)
          if (in.blocks <= 4 && out.blocks <= 4) MeasureBothWays(world, movers, in, out, streams);
      }
    }
    for (CuStream stream : streams)
      BENCH_DRIVER(driver->StreamDestroy(stream));
  }
  for (CuEvent event : events)
    BENCH_DRIVER(driver->EventDestroy(event));
}

}  // namespace bench
