// NVIDIA GPUs as devices, through the driver library that is loaded at run time.
#include "backend/cuda/cuda_backend.h"

#include <unistd.h>

#include <thread>
#include <utility>

#include "backend/cuda/memory/backings.h"
#include "base/error/text.h"
#include "base/time/clock.h"

namespace sampan::cuda {
namespace {

/// How long threads may take to leave a lost GPU, and the interval of checking.
constexpr std::chrono::seconds kLongestToNotice{2};
constexpr std::chrono::microseconds kNoticeInterval{100};

}  // namespace

CudaBackend::CudaBackend(const CudaOptions& options, const Driver& driver, int gpus)
    : options_(options),
      driver_(driver),
      sites_(static_cast<std::size_t>(gpus)),
      registrations_([this] { Sweep(); }),
      mapped_(
          driver_, static_cast<std::size_t>(options.devices != 0 ? options.devices : gpus),
          [this](std::int32_t device) { return AccessOf(device); }, [this] { Sweep(); }),
      devices_(static_cast<std::size_t>(options.devices != 0 ? options.devices : gpus)) {}

CudaBackend::~CudaBackend() = default;

Result<std::unique_ptr<CudaBackend>> CudaBackend::Create(const CudaOptions& options) {
  auto driver = LoadDriver();
  if (!driver.ok()) return driver.TakeStatus();
  int gpus = 0;
  if (driver->DeviceGetCount(&gpus) != cu::kSuccess || gpus == 0)
    return Error{Code::kDeviceSetupError, "SAMPAN_BACKEND=cuda: the NVIDIA driver finds no GPU"};
  std::unique_ptr<CudaBackend> backend(new CudaBackend(options, *driver, gpus));
  const auto host_bytes =
      static_cast<std::size_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  if (Status made = backend->MakePinned({.name = "pinned host memory",
                                         .capacity_bytes = host_bytes / 4 * 3,
                                         .host_visible = true,
                                         .gap_bytes = options.gap_bytes,
                                         .faults = options.faults});
      !made.ok())
    return made;
  return backend;
}

Status CudaBackend::MakePinned(const ReservedMemoryOptions& options) {
  const std::size_t gpus = sites_.size();
  virtual_pinned_ = MakeVirtualPinned(driver_, static_cast<int>(gpus), options);
  // With several GPUs, a lost GPU must not invalidate memory that others use.
  const bool registers = gpus == 1 || virtual_pinned_ == nullptr;
  if (registers) {
    auto registered = MakeRegisteredPinned(driver_, registrations_, options);
    if (registered.ok()) {
      registered_pinned_ = std::move(*registered);
    } else if (virtual_pinned_ == nullptr) {
      return registered.TakeStatus();
    }
  }
  pinned_ = registered_pinned_ != nullptr ? registered_pinned_.get() : virtual_pinned_.get();
  const auto sweep = [this] { Sweep(); };
  if (options_.aliases != nullptr) {
    auto aliased = MakeAliasedPinned(driver_, registrations_, options);
    if (!aliased.ok()) return aliased.TakeStatus();
    aliased_pinned_ = std::move(*aliased);
    aliased_registrations_.emplace(*options_.aliases, registrations_, sweep);
  }
  swept_pinned_ =
      std::make_unique<SweptMemory>(aliased_pinned_ != nullptr ? *aliased_pinned_ : *pinned_, sweep);
  if (virtual_pinned_ != nullptr)
    swept_virtual_pinned_ = std::make_unique<SweptMemory>(*virtual_pinned_, sweep);
  segments_ = std::make_unique<PinnedSegmentPool>(*pinned_);
  return {};
}

bool CudaBackend::Reaches(std::int32_t from, std::int32_t to) const {
  const int gpus = static_cast<int>(sites_.size());
  int can = 0;
  return from % gpus == to % gpus ||
         (driver_.DeviceCanAccessPeer(&can, from % gpus, to % gpus) == cu::kSuccess && can != 0);
}

std::vector<int> CudaBackend::ReachableFrom(int ordinal) const {
  std::vector<int> ordinals = {ordinal};
  for (int other = 0; other < static_cast<int>(sites_.size()); ++other) {
    if (other != ordinal && Reaches(other, ordinal)) ordinals.push_back(other);
  }
  return ordinals;
}

std::vector<CuAccess> CudaBackend::AccessOf(std::int32_t device) const {
  std::vector<CuAccess> access;
  const int gpus = static_cast<int>(sites_.size());
  if (device < 0) {
    for (int ordinal = 0; ordinal < gpus; ++ordinal)
      access.push_back({{cu::kLocationDevice, ordinal}, cu::kAccessReadWrite});
    access.push_back({PinnedLocation(driver_), cu::kAccessReadWrite});
    return access;
  }
  for (const int ordinal : ReachableFrom(device % gpus))
    access.push_back({{cu::kLocationDevice, ordinal}, cu::kAccessReadWrite});
  return access;
}

Result<CudaBackend::Site*> CudaBackend::OpenSite(std::size_t index) {
  Site& site = sites_[index];
  if (site.gpu != nullptr) return &site;
  auto gpu = Gpu::Open(driver_, static_cast<int>(index));
  if (!gpu.ok()) return gpu.TakeStatus();
  const GpuFacts& facts = (*gpu)->facts();
  site.paths = std::make_unique<CopyPaths>(facts.name, facts.multiprocessors, options_.paths);
  const std::size_t sharing = (devices_.size() - index + sites_.size() - 1) / sites_.size();
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  {
    const ContextScope scope(**gpu);
    if (Status asked = (*gpu)->Check(driver_.MemGetInfo(&free_bytes, &total_bytes), "cuMemGetInfo");
        !asked.ok())
      return asked;
  }
  site.device_bytes = options_.device_bytes != 0
                          ? options_.device_bytes
                          : free_bytes / sharing / ReservedMemory::kUnitBytes * ReservedMemory::kUnitBytes;
  site.gpu = std::move(*gpu);
  site.gpu->set_on_lost([this, lost = site.gpu.get()] {
    for (CudaDevice* device : OpenDevices(lost))
      device->WakeQueues();
  });
  if (Status registered = registrations_.Use(*site.gpu); !registered.ok()) {
    site.gpu = nullptr;
    return registered;
  }
  return &site;
}

Result<BackendDevice*> CudaBackend::Device(std::int32_t physical_id) {
  const auto id = static_cast<std::size_t>(physical_id);
  CudaDevice* open = nullptr;
  {
    const std::lock_guard lock(devices_mutex_);
    open = devices_[id].get();
  }
  if (open != nullptr && !open->gpu().lost()) return open;
  const std::lock_guard lock(opening_);
  auto site = OpenSite(id % sites_.size());
  if (!site.ok()) return site.TakeStatus();
  Gpu& gpu = *(*site)->gpu;
  if (gpu.lost()) {
    if (Status revived = Revive(**site); !revived.ok()) return revived;
  }
  {
    const std::lock_guard devices_lock(devices_mutex_);
    if (devices_[id] != nullptr) return devices_[id].get();
  }
  auto memory = MakeDeviceMemory(gpu,
                                 {.name = Text("device ", physical_id, " on ", gpu.facts().name),
                                  .capacity_bytes = (*site)->device_bytes,
                                  .gap_bytes = options_.gap_bytes,
                                  .faults = options_.faults},
                                 ReachableFrom(gpu.facts().ordinal));
  if (!memory.ok()) return memory.TakeStatus();
  auto device = std::make_unique<CudaDevice>(CudaDeviceParts{.gpu = gpu,
                                                             .memory = std::move(*memory),
                                                             .pinned_memory = *pinned_,
                                                             .paths = *(*site)->paths,
                                                             .watch = watch_,
                                                             .fresh_byte = options_.fresh_byte,
                                                             .faults = *options_.faults,
                                                             .sweep = [this] { Sweep(); }});
  mapped_.Attach(physical_id, device->own_memory());
  const std::lock_guard devices_lock(devices_mutex_);
  devices_[id] = std::move(device);
  return devices_[id].get();
}

Status CudaBackend::Revive(Site& site) {
  Gpu& gpu = *site.gpu;
  if (gpu.open_queues().load() != 0) return gpu.LostStatus();
  const std::vector<CudaDevice*> devices = OpenDevices(&gpu);
  // Waits for threads in the middle of a copy to detect the loss.
  const auto unused = [&] {
    for (CudaDevice* device : devices)
      device->DropIdle();
    return gpu.Unused();
  };
  for (const Deadline until = Clock::now() + kLongestToNotice; !unused();) {
    if (Clock::now() >= until) return gpu.LostStatus();
    std::this_thread::sleep_for(kNoticeInterval);
  }
  for (CudaDevice* device : devices)
    device->own_memory().Forget();
  return registrations_.Revive(gpu);
}

std::vector<CudaDevice*> CudaBackend::OpenDevices(const Gpu* on) {
  std::vector<CudaDevice*> open;
  const std::lock_guard lock(devices_mutex_);
  for (const auto& device : devices_) {
    if (device != nullptr && (on == nullptr || &device->gpu() == on)) open.push_back(device.get());
  }
  return open;
}

void CudaBackend::Sweep() {
  for (CudaDevice* device : OpenDevices(nullptr))
    device->Sweep();
}

}  // namespace sampan::cuda
