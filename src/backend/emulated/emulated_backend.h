// Devices without hardware: memory files are device memory, threads are copy engines.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "backend/api/backend.h"
#include "backend/api/segment_pool.h"
#include "backend/emulated/kernels/copy_kernels.h"
#include "backend/emulated/memory/arena.h"
#include "backend/emulated/memory/host_budget.h"
#include "backend/emulated/memory/host_memory.h"
#include "backend/emulated/memory/view_ranges.h"
#include "backend/emulated/queue/gate_watch.h"
#include "backend/emulated/schedule/schedule.h"
#include "base/error/fault.h"

namespace sampan::emulated {

struct EmulatedOptions {
  std::int32_t devices = 8;
  std::size_t device_bytes = 0;  ///< capacity of each device; must not be 0
  std::size_t host_bytes = 0;    ///< what all devices may take of the host; 0: half of its free memory
  unsigned engines = 0;          ///< per device; 0: one per core, at most four
  Schedule schedule;
  std::size_t gap_bytes = 0;            ///< between allocations
  std::optional<std::byte> fresh_byte;  ///< fills new device memory; otherwise it has zeros
  bool host_is_device = false;          ///< the program may access device memory directly
  FaultPlan* faults = nullptr;
  HostRegistrar* registrar = nullptr;  ///< null: engines use registered memory at the program's addresses
};

/// Thread-safe. Opens devices on first use and keeps them as long as it lives.
class EmulatedBackend final : public Backend {
 public:
  static Result<std::unique_ptr<EmulatedBackend>> Create(const EmulatedOptions& options);
  ~EmulatedBackend() override;

  std::int32_t device_count() const override { return options_.devices; }
  Result<BackendDevice*> Device(std::int32_t physical_id) override;
  MemorySource& pinned_memory() override { return *pinned_; }
  HostRegistrar& host_registrar() override {
    return options_.registrar != nullptr ? *options_.registrar : host_registrar_;
  }
  SegmentStore& segment_store() override { return segments_; }
  VirtualMemory* virtual_memory() override { return &views_; }
  void WatchGates() override { gates_.Start(); }
  bool CopyHere(const Segment& segment, bool past_caches) noexcept override {
    CopyBytes(segment.dst, segment.src, segment.bytes, past_caches ? Caching::kStream : Caching::kKeep);
    return true;
  }
  bool has_signals() const override { return true; }

 private:
  /// Nothing to do: engines are threads of this process and can access all of its memory.
  class NoRegistrar final : public HostRegistrar {
   public:
    Status Register(void*, std::size_t, bool) override { return {}; }
    void Unregister(void*) noexcept override {}
    bool joins_neighbours() const override { return true; }
  };

  explicit EmulatedBackend(const EmulatedOptions& options);

  /// Pinned memory is promised whole, so the host cannot spare its untouched pages.
  std::size_t SpareForDevices() const;

  EmulatedOptions options_;
  HeapSegmentPool segments_;
  HostMemory host_memory_;
  const std::size_t half_bytes_;  // of what was available at the start
  HostBudget pinned_budget_;
  WriteBudget device_budget_;
  std::unique_ptr<Arena> pinned_;
  NoRegistrar host_registrar_;
  ViewRanges views_;
  GateWatch gates_;
  std::unique_ptr<class SteppedScheduler> stepped_;  // null if the schedule is parallel
  std::mutex mutex_;
  std::vector<std::unique_ptr<BackendDevice>> devices_;
};

}  // namespace sampan::emulated
