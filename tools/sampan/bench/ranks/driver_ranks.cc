// The work of ranks by calls of the CUDA driver, on memory of the driver.
#include "tools/sampan/bench/ranks/driver_ranks.h"

#include <acl/acl.h>

#include "bench/copies/driver_calls.h"
#include "bench/measure/acl_call.h"
#include "tools/sampan/bench/ranks/rank_plan.h"

namespace sampan::tool {
namespace {

cuda::CuAddress AddressOf(const std::byte* place) {
  return reinterpret_cast<cuda::CuAddress>(place);
}

}  // namespace

DriverRanks::DriverRanks(const collectives::Room& room) : sites_(RankPlan::kRanks) {
  std::uint32_t devices = 0;
  bench::Require(::aclrtGetDeviceCount(&devices), "counting the devices");
  try {
    for (u32 rank = 0; rank < RankPlan::kRanks; ++rank)
      Open(sites_[rank], static_cast<int>(rank % devices) % bench::GpuCount(), room);
    AllowPeers();
  } catch (...) {
    Close();
    throw;
  }
}

DriverRanks::~DriverRanks() {
  Close();
}

void DriverRanks::Open(Site& site, int gpu, const collectives::Room& room) {
  const cuda::Driver& driver = bench::TheDriver();
  site.context = bench::ContextOf(gpu);
  const bench::CurrentContext current(site.context);
  bench::RequireOfDriver(driver.StreamCreate(&site.stream, cuda::cu::kStreamNonBlocking, 0),
                         "cuStreamCreateWithPriority");
  bench::RequireOfDriver(driver.EventCreate(&site.signal, cuda::cu::kEventWithoutTime), "cuEventCreate");
  bench::RequireOfDriver(driver.MemAlloc(&site.memory, room.input_bytes + room.output_bytes), "cuMemAlloc");
  auto* const input = reinterpret_cast<std::byte*>(site.memory);
  buffers_.push_back({input, input + room.input_bytes});
}

/// If the ranks have different GPUs with peer access, copies do not go through the host.
void DriverRanks::AllowPeers() {
  const cuda::Driver& driver = bench::TheDriver();
  for (const Site& site : sites_) {
    const bench::CurrentContext current(site.context);
    for (const Site& peer : sites_) {
      if (peer.context != site.context)
        driver.ContextEnablePeer(peer.context, 0);  // fails without peer access
    }
  }
}

void DriverRanks::Close() noexcept {
  const cuda::Driver& driver = bench::TheDriver();
  for (const Site& site : sites_) {
    if (site.context == nullptr) continue;
    const bench::CurrentContext current(site.context);
    if (site.memory != 0) driver.MemFree(site.memory);
    if (site.signal != nullptr) driver.EventDestroy(site.signal);
    if (site.stream != nullptr) driver.StreamDestroy(site.stream);
  }
}

void DriverRanks::Move(u32 rank, const bench::Transfers& transfers, u32 times) {
  const cuda::Driver& driver = bench::TheDriver();
  const Site& site = sites_[rank];
  const bench::CurrentContext current(site.context);
  for (u32 i = 0; i < times; ++i) {
    for (const bench::Transfer& transfer : transfers) {
      if (transfer.bytes == 0) continue;
      bench::RequireOfDriver(
          driver.CopyAny(AddressOf(transfer.dst), AddressOf(transfer.src), transfer.bytes, site.stream),
          "cuMemcpyAsync");
    }
  }
  bench::RequireOfDriver(driver.StreamSynchronize(site.stream), "cuStreamSynchronize");
}

void DriverRanks::SignalThereAndBack(u32 rank, u32 times) {
  if (rank != 0) return;
  const cuda::Driver& driver = bench::TheDriver();
  const bench::CurrentContext current(sites_[0].context);
  const auto signal = [&](const Site& from, const Site& to) {
    bench::RequireOfDriver(driver.EventRecord(from.signal, from.stream), "cuEventRecord");
    bench::RequireOfDriver(driver.StreamWaitEvent(to.stream, from.signal, 0), "cuStreamWaitEvent");
  };
  for (u32 i = 0; i < times; ++i) {
    signal(sites_[0], sites_[1]);
    signal(sites_[1], sites_[0]);
  }
  bench::RequireOfDriver(driver.StreamSynchronize(sites_[0].stream), "cuStreamSynchronize");
}

}  // namespace sampan::tool
