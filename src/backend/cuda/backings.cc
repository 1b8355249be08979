// The two kinds of memory that a reserved range can have behind it: a GPU's, and pinned host memory.
#include "backend/cuda/backings.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/text.h"

namespace sampan::cuda {
namespace {

/// Addresses per byte of capacity: the larger, the longer a freed address stays unused.
constexpr std::size_t kAddressesPerByte = 4;

std::size_t AddressBytes(std::size_t capacity_bytes) {
  const std::size_t units = capacity_bytes / ReservedMemory::kUnitBytes + 1;
  return units * kAddressesPerByte * ReservedMemory::kUnitBytes;
}

class DeviceBacking final : public Backing {
 public:
  DeviceBacking(Gpu& gpu, const std::vector<int>& reachable_from) : gpu_(gpu) {
    properties_.location = {cu::kLocationDevice, gpu.facts().ordinal};
    for (const int ordinal : reachable_from)
      access_.push_back({{cu::kLocationDevice, ordinal}, cu::kAccessReadWrite});
  }

  Status Commit(std::uintptr_t address, std::size_t bytes) override {
    const ContextScope scope(gpu_);
    const Driver& driver = gpu_.driver();
    CuMemoryHandle handle = 0;
    if (const CuResult made = driver.MemCreate(&handle, bytes, &properties_, 0); made != cu::kSuccess) {
      return gpu_.Check(made, "cuMemCreate");
    }
    CuResult result = driver.MemMap(address, bytes, 0, handle, 0);
    if (result == cu::kSuccess) {
      result = driver.MemSetAccess(address, bytes, access_.data(), access_.size());
      if (result != cu::kSuccess) driver.MemUnmap(address, bytes);
    }
    driver.MemRelease(handle);  // what is mapped stays until it is unmapped
    return gpu_.Check(result, "mapping device memory");
  }

  void Decommit(std::uintptr_t address, std::size_t bytes) noexcept override {
    const ContextScope scope(gpu_);
    gpu_.driver().MemUnmap(address, bytes);
  }

 private:
  Gpu& gpu_;
  CuAllocationProperties properties_;
  std::vector<CuAccess> access_;
};

class PinnedBacking final : public Backing {
 public:
  explicit PinnedBacking(HostRegistrations& registrations) : registrations_(registrations) {}

  Status Commit(std::uintptr_t address, std::size_t bytes) override {
    void* const memory = reinterpret_cast<void*>(address);
    if (::mmap(memory, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
        MAP_FAILED)
      return {Code::kMemoryAllocation, Text("the system has none: ", std::strerror(errno))};
    ::madvise(memory, bytes, MADV_HUGEPAGE);
    Status registered = registrations_.RegisterNew(memory, bytes);
    if (!registered.ok()) Unmap(memory, bytes);
    return registered;
  }

  void Decommit(std::uintptr_t address, std::size_t bytes) noexcept override {
    void* const memory = reinterpret_cast<void*>(address);
    registrations_.Unregister(memory);
    Unmap(memory, bytes);
  }

 private:
  static void Unmap(void* memory, std::size_t bytes) noexcept {
    ::mmap(memory, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  }

  HostRegistrations& registrations_;
};

}  // namespace

Result<std::unique_ptr<ReservedMemory>> MakeDeviceMemory(Gpu& gpu, ReservedMemoryOptions options,
                                                         const std::vector<int>& reachable_from) {
  options.reserved_bytes = AddressBytes(options.capacity_bytes);
  const ContextScope scope(gpu);
  CuAddress base = 0;
  const CuResult reserved =
      gpu.driver().AddressReserve(&base, options.reserved_bytes, ReservedMemory::kUnitBytes, 0, 0);
  if (reserved != cu::kSuccess) {
    return Error{Code::kDeviceSetupError, Text("cannot set up ", options.name, ": ", options.reserved_bytes,
                                               " bytes of addresses: ", Describe(gpu.driver(), reserved))};
  }
  options.base = base;
  return std::make_unique<ReservedMemory>(options, std::make_unique<DeviceBacking>(gpu, reachable_from));
}

Result<std::unique_ptr<ReservedMemory>> MakePinnedMemory(HostRegistrations& registrations,
                                                         ReservedMemoryOptions options) {
  options.reserved_bytes = AddressBytes(options.capacity_bytes);
  // One unit more, so that the range can begin on a unit's boundary.
  void* const start = ::mmap(nullptr, options.reserved_bytes + ReservedMemory::kUnitBytes, PROT_NONE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) {
    return Error{Code::kDeviceSetupError, Text("cannot set up ", options.name, ": ", options.reserved_bytes,
                                               " bytes of addresses: ", std::strerror(errno))};
  }
  const auto address = reinterpret_cast<std::uintptr_t>(start);
  options.base =
      (address + ReservedMemory::kUnitBytes - 1) / ReservedMemory::kUnitBytes * ReservedMemory::kUnitBytes;
  return std::make_unique<ReservedMemory>(options, std::make_unique<PinnedBacking>(registrations));
}

}  // namespace sampan::cuda
