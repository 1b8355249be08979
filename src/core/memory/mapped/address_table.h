// Reserved addresses and the physical memory that is mapped there.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "backend/api/backend.h"
#include "base/error/status.h"
#include "core/memory/mapped/physical_memory.h"
#include "core/memory/memory_registry.h"

namespace sampan::core {

/// Thread-safe. Unmapped addresses are reused when the last task queued on them has completed.
class AddressTable {
 public:
  AddressTable(MemoryRegistry& memory, VirtualMemory* views) : memory_(memory), views_(views) {
    if (views_ != nullptr) memory_.AddSource(*views_);
  }

  Result<void*> Reserve(std::size_t bytes, void* wish);
  Status Release(void* address);
  Status Map(void* address, std::size_t bytes, std::shared_ptr<PhysicalMemory> physical, MapAccess access,
             const char* made_by);
  Status Unmap(void* address);
  /// Sets the rights of one device on a whole mapping.
  Status SetAccess(void* address, std::size_t bytes, std::int32_t device, MapAccess access);
  Result<MapAccess> Access(void* address, std::int32_t device);
  /// Returns the memory that is mapped at the address.
  Result<std::shared_ptr<PhysicalMemory>> PhysicalAt(void* address);

 private:
  class Reservation;
  class MappedPiece;
  struct Mapping {
    std::size_t bytes;
    std::shared_ptr<PhysicalMemory> physical;
    std::uint64_t readers, writers;  // devices with explicit rights, as bits
  };

  Result<std::map<std::uintptr_t, Mapping>::iterator> Find(void* address);
  std::shared_ptr<Reservation> ReservationAt(std::uintptr_t address, std::size_t bytes);

  MemoryRegistry& memory_;
  VirtualMemory* const views_;
  std::mutex mutex_;
  std::map<std::uintptr_t, std::shared_ptr<Reservation>> reservations_;
  std::map<std::uintptr_t, Mapping> mappings_;
  std::uint64_t next_id_ = 1;
};

}  // namespace sampan::core
