// The memory behind a reserved range: of a GPU, or pinned host memory of three types.
#include "backend/cuda/memory/backings.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "backend/cuda/memory/gpu_memory.h"
#include "base/containers/round.h"
#include "base/error/system_error.h"
#include "base/error/text.h"
#include "base/system/descriptor.h"
#include "base/system/memory_file.h"
#include "base/system/vacate.h"

namespace sampan::cuda {
namespace {

/// Addresses per byte of capacity. With more of them, a freed address stays unused longer.
constexpr std::size_t kAddressesPerByte = 4;

std::size_t AddressBytes(std::size_t capacity_bytes) {
  const std::size_t units = capacity_bytes / ReservedMemory::kUnitBytes + 1;
  return units * kAddressesPerByte * ReservedMemory::kUnitBytes;
}

/// Memory that the driver creates and maps. It belongs to no context.
class VirtualBacking final : public Backing {
 public:
  VirtualBacking(const Driver& driver, const CuLocation& location, std::vector<CuAccess> access)
      : driver_(driver), access_(std::move(access)) {
    properties_.location = location;
  }

  /// Makes its memory shareable with other processes.
  void MakeShareable() { properties_.handle_types = cu::kHandlePosix; }
  void MakePrivate() { properties_.handle_types = 0; }

  Status Commit(std::uintptr_t address, std::size_t bytes) override {
    CuMemoryHandle handle = 0;
    if (const CuResult made = driver_.MemCreate(&handle, bytes, &properties_, 0); made != cu::kSuccess)
      return Failure(driver_, made, "cuMemCreate");
    CuResult result = driver_.MemMap(address, bytes, 0, handle, 0);
    if (result == cu::kSuccess) {
      result = driver_.MemSetAccess(address, bytes, access_.data(), access_.size());
      if (result != cu::kSuccess) driver_.MemUnmap(address, bytes);
    }
    driver_.MemRelease(handle);  // the mapping keeps the memory until it is unmapped
    return result == cu::kSuccess ? Status() : Failure(driver_, result, "mapping memory");
  }

  void Decommit(std::uintptr_t address, std::size_t bytes) noexcept override {
    driver_.MemUnmap(address, bytes);
  }

  Result<std::shared_ptr<const MemoryHandle>> HandleAt(std::uintptr_t address,
                                                       std::size_t bytes) const override {
    return GpuMemory::At(driver_, address, bytes);
  }

  /// Returns true if the driver's granularity is not larger than our unit.
  bool FitsUnits() const {
    std::size_t granularity = 0;
    return driver_.AllocationGranularity(&granularity, &properties_, 0) == cu::kSuccess && granularity != 0 &&
           ReservedMemory::kUnitBytes % granularity == 0;
  }

 private:
  const Driver& driver_;
  CuAllocationProperties properties_;
  const std::vector<CuAccess> access_;
};

/// Does nothing if the system does not support it.
void PreferNode(int node, void* memory, std::size_t bytes) noexcept {
  constexpr int kPreferred = 1, kMaxNodes = 64;
  if (node >= kMaxNodes) return;
  const unsigned long nodes = 1UL << node;
  ::syscall(SYS_mbind, memory, bytes, kPreferred, &nodes, kMaxNodes + 1, 0);
}

class RegisteredBacking final : public Backing {
 public:
  RegisteredBacking(HostRegistrations& registrations, int node)
      : registrations_(registrations), node_(node) {}

  Status Commit(std::uintptr_t address, std::size_t bytes) override {
    void* const memory = reinterpret_cast<void*>(address);
    if (::mmap(memory, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
        MAP_FAILED)
      return {Code::kMemoryAllocation, Text("the system has none: ", SystemError(errno))};
    ::madvise(memory, bytes, MADV_HUGEPAGE);
    ::madvise(memory, bytes, MADV_DONTFORK);  // pinned pages would be copied for every child
    PreferNode(node_, memory, bytes);
    try {
      Status registered = registrations_.RegisterNew(memory, bytes);
      if (!registered.ok()) Vacate(memory, bytes);
      return registered;
    } catch (...) {
      Vacate(memory, bytes);
      throw;
    }
  }

  void Decommit(std::uintptr_t address, std::size_t bytes) noexcept override {
    void* const memory = reinterpret_cast<void*>(address);
    registrations_.Unregister(memory);
    Vacate(memory, bytes);
  }

 private:
  HostRegistrations& registrations_;
  const int node_;
};

/// Each unit is mapped twice. The second mapping is registered, so the program's may be protected.
class AliasedBacking final : public Backing {
 public:
  AliasedBacking(HostRegistrations& registrations, int node, std::ptrdiff_t delta)
      : registrations_(registrations), node_(node), delta_(delta) {}

  Status Commit(std::uintptr_t address, std::size_t bytes) override {
    auto file = CreateMemoryFile("sampan pinned memory", bytes, Code::kMemoryAllocation);
    if (!file.ok()) return file.TakeStatus();
    try {
      Status mapped = Map(*file, address, bytes);
      if (mapped.ok()) mapped = registrations_.RegisterNew(Engines(address), bytes);
      if (!mapped.ok()) Unmap(address, bytes);
      return mapped;
    } catch (...) {
      Unmap(address, bytes);
      throw;
    }
  }

  void Decommit(std::uintptr_t address, std::size_t bytes) noexcept override {
    registrations_.Unregister(Engines(address));
    Unmap(address, bytes);
  }

 private:
  void* Engines(std::uintptr_t address) const {
    return reinterpret_cast<void*>(address + static_cast<std::uintptr_t>(delta_));
  }
  Status Map(const Descriptor& file, std::uintptr_t address, std::size_t bytes) const {
    for (void* const memory : {Engines(address), reinterpret_cast<void*>(address)}) {
      if (::mmap(memory, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file.get(), 0) == MAP_FAILED)
        return {Code::kMemoryAllocation, Text("the system has none: ", SystemError(errno))};
      ::madvise(memory, bytes, MADV_DONTFORK);
      PreferNode(node_, memory, bytes);
    }
    return {};
  }
  void Unmap(std::uintptr_t address, std::size_t bytes) const noexcept {
    Vacate(Engines(address), bytes);
    Vacate(reinterpret_cast<void*>(address), bytes);
  }

  HostRegistrations& registrations_;
  const int node_;
  const std::ptrdiff_t delta_;
};

/// Addresses that begin at a unit's boundary.
Result<std::uintptr_t> ReserveAddresses(const std::string& name, std::size_t bytes) {
  // One unit extra for the boundary.
  void* const start = ::mmap(nullptr, bytes + ReservedMemory::kUnitBytes, PROT_NONE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) {
    return Error{Code::kDeviceSetupError,
                 Text("cannot set up ", name, ": ", bytes, " bytes of addresses: ", SystemError(errno))};
  }
  return RoundUp(reinterpret_cast<std::uintptr_t>(start), ReservedMemory::kUnitBytes);
}

}  // namespace

CuLocation PinnedLocation(const Driver& driver) {
  CuDevice device = 0;
  int node = 0;
  if (driver.DeviceGet(&device, 0) == cu::kSuccess) driver.DeviceGetAttribute(&node, cu::kHostNode, device);
  return {cu::kLocationHostNode, std::max(node, 0)};
}

std::unique_ptr<ReservedMemory> MakeVirtualPinned(const Driver& driver, int gpus,
                                                  ReservedMemoryOptions options) {
  options.reserved_bytes = AddressBytes(options.capacity_bytes);
  std::vector<CuAccess> access;
  for (int ordinal = 0; ordinal < gpus; ++ordinal) {
    CuDevice device = 0;
    int can = 0;
    if (driver.DeviceGet(&device, ordinal) != cu::kSuccess ||
        driver.DeviceGetAttribute(&can, cu::kVirtualHostMemory, device) != cu::kSuccess || can == 0)
      return nullptr;
    access.push_back({{cu::kLocationDevice, ordinal}, cu::kAccessReadWrite});
  }
  const CuLocation location = PinnedLocation(driver);
  access.push_back({location, cu::kAccessReadWrite});
  auto backing = std::make_unique<VirtualBacking>(driver, location, std::move(access));
  CuAddress base = 0;
  if (!backing->FitsUnits() || driver.AddressReserve(&base, options.reserved_bytes,
                                                     ReservedMemory::kUnitBytes, 0, 0) != cu::kSuccess) {
    return nullptr;
  }
  backing->MakeShareable();
  if (!backing->Commit(base, ReservedMemory::kUnitBytes).ok()) {
    backing->MakePrivate();
    if (!backing->Commit(base, ReservedMemory::kUnitBytes).ok()) {
      driver.AddressFree(base, options.reserved_bytes);
      return nullptr;
    }
  }
  backing->Decommit(base, ReservedMemory::kUnitBytes);
  options.base = base;
  return std::make_unique<ReservedMemory>(options, std::move(backing));
}

Result<std::unique_ptr<ReservedMemory>> MakeDeviceMemory(Gpu& gpu, ReservedMemoryOptions options,
                                                         const std::vector<int>& reachable_from) {
  options.reserved_bytes = AddressBytes(options.capacity_bytes);
  CuAddress base = 0;
  const CuResult reserved =
      gpu.driver().AddressReserve(&base, options.reserved_bytes, ReservedMemory::kUnitBytes, 0, 0);
  if (reserved != cu::kSuccess) {
    return Error{Code::kDeviceSetupError, Text("cannot set up ", options.name, ": ", options.reserved_bytes,
                                               " bytes of addresses: ", Describe(gpu.driver(), reserved))};
  }
  options.base = base;
  std::vector<CuAccess> access;
  access.reserve(reachable_from.size());
  for (const int ordinal : reachable_from)
    access.push_back({{cu::kLocationDevice, ordinal}, cu::kAccessReadWrite});
  const CuLocation location{cu::kLocationDevice, gpu.facts().ordinal};
  auto backing = std::make_unique<VirtualBacking>(gpu.driver(), location, std::move(access));
  if (gpu.facts().shares_memory) backing->MakeShareable();
  return std::make_unique<ReservedMemory>(options, std::move(backing));
}

Result<std::unique_ptr<ReservedMemory>> MakeRegisteredPinned(const Driver& driver,
                                                             HostRegistrations& registrations,
                                                             ReservedMemoryOptions options) {
  options.reserved_bytes = AddressBytes(options.capacity_bytes);
  auto base = ReserveAddresses(options.name, options.reserved_bytes);
  if (!base.ok()) return base.TakeStatus();
  options.base = *base;
  return std::make_unique<ReservedMemory>(
      options, std::make_unique<RegisteredBacking>(registrations, PinnedLocation(driver).id));
}

Result<std::unique_ptr<ReservedMemory>> MakeAliasedPinned(const Driver& driver,
                                                          HostRegistrations& registrations,
                                                          ReservedMemoryOptions options) {
  options.reserved_bytes = AddressBytes(options.capacity_bytes);
  auto base = ReserveAddresses(options.name, 2 * options.reserved_bytes);
  if (!base.ok()) return base.TakeStatus();
  options.base = *base;
  options.engine_delta = static_cast<std::ptrdiff_t>(options.reserved_bytes);
  return std::make_unique<ReservedMemory>(
      options,
      std::make_unique<AliasedBacking>(registrations, PinnedLocation(driver).id, options.engine_delta));
}

}  // namespace sampan::cuda
