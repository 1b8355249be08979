// NVIDIA GPUs as devices, through the driver library that is loaded at run time.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "backend/api/backend.h"
#include "backend/cuda/cuda_device.h"
#include "backend/cuda/driver.h"
#include "backend/cuda/gpu.h"
#include "backend/cuda/memory/aliased_registrations.h"
#include "backend/cuda/memory/host_registrations.h"
#include "backend/cuda/memory/mapped_ranges.h"
#include "backend/cuda/memory/pinned_segments.h"
#include "backend/cuda/paths/copy_path.h"
#include "backend/cuda/queue/hold_watch.h"
#include "base/error/fault.h"

namespace sampan::cuda {

struct CudaOptions {
  std::int32_t devices = 0;      ///< 0: one per GPU; more devices share the GPUs, round robin
  std::size_t device_bytes = 0;  ///< 0: the GPU's free memory, divided by the devices on it
  std::size_t gap_bytes = 0;     ///< unused addresses behind each block of memory
  PathSettings paths;
  std::optional<std::byte> fresh_byte;  ///< fills new device memory; otherwise it has what was there
  /// Gives registered memory a second address; null: host memory has one address.
  HostRegistrar* aliases = nullptr;
  FaultPlan* faults = nullptr;
};

/// Thread-safe. A GPU is opened with its first device. A lost GPU gets a new context when a device is
/// requested after its last queue is closed.
class CudaBackend final : public Backend {
 public:
  static Result<std::unique_ptr<CudaBackend>> Create(const CudaOptions& options);
  ~CudaBackend() override;

  std::int32_t device_count() const override { return static_cast<std::int32_t>(devices_.size()); }
  Result<BackendDevice*> Device(std::int32_t physical_id) override;
  bool Reaches(std::int32_t from, std::int32_t to) const override;
  MemorySource& pinned_memory() override { return *swept_pinned_; }
  MemorySource& pinned_memory_with_handles() override {
    return swept_virtual_pinned_ != nullptr ? *swept_virtual_pinned_ : *swept_pinned_;
  }
  HostRegistrar& host_registrar() override {
    if (aliased_registrations_) return *aliased_registrations_;
    return registrations_;
  }
  SegmentStore& segment_store() override { return *segments_; }
  VirtualMemory* virtual_memory() override { return &mapped_; }
  bool has_signals() const override { return true; }

 private:
  /// A GPU, and what its devices share.
  struct Site {
    std::unique_ptr<Gpu> gpu;
    std::unique_ptr<CopyPaths> paths;
    std::size_t device_bytes = 0;
  };

  CudaBackend(const CudaOptions& options, const Driver& driver, int gpus);
  Status MakePinned(const ReservedMemoryOptions& options);
  // Call it with the lock held.
  Result<Site*> OpenSite(std::size_t index);
  Status Revive(Site& site);
  std::vector<int> ReachableFrom(int ordinal) const;
  /// Which GPUs can access memory of a device, or of the host (-1).
  std::vector<CuAccess> AccessOf(std::int32_t device) const;
  // Call it without the lock.
  std::vector<CudaDevice*> OpenDevices(const Gpu* on);
  void Sweep();

  const CudaOptions options_;
  const Driver driver_;
  std::vector<Site> sites_;  // declared first: the members below may refer to their GPUs
  HoldWatch watch_;
  HostRegistrations registrations_;
  std::optional<AliasedRegistrations> aliased_registrations_;
  MappedRanges mapped_;
  std::unique_ptr<ReservedMemory> virtual_pinned_, registered_pinned_;  // at least one is not null
  ReservedMemory* pinned_ = nullptr;                                    // the backend's own
  std::unique_ptr<ReservedMemory> aliased_pinned_;                      // the program's, under check
  std::unique_ptr<SweptMemory> swept_pinned_, swept_virtual_pinned_;
  std::unique_ptr<PinnedSegmentPool> segments_;
  std::mutex opening_;  // one device is opened at a time
  std::mutex devices_mutex_;
  std::vector<std::unique_ptr<CudaDevice>> devices_;
};

}  // namespace sampan::cuda
