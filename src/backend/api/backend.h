// The interface of a backend: memory, queues, blocking copies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "backend/api/copy_segment.h"
#include "backend/api/queue.h"
#include "backend/api/segment_list.h"
#include "backend/api/virtual_memory.h"
#include "base/error/status.h"

namespace sampan {

/// A block of memory of a backend.
struct MemoryBlock {
  std::uintptr_t address = 0;
  std::size_t bytes = 0;
  std::ptrdiff_t engine_delta = 0;
  std::uint32_t page_bytes = 4096;
};

struct MemoryInfo {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
};

/// The pages of a block. By size: huge pages for large blocks.
enum class Pages { kBySize, kNormal, kHuge };

/// A source of memory of one place. Thread-safe.
class MemorySource : public AddressOwner {
 public:
  virtual Result<MemoryBlock> Allocate(std::size_t bytes, Pages pages) = 0;
  virtual void Free(const MemoryBlock& block) noexcept = 0;
  virtual MemoryInfo Info() const = 0;
  /// Unused addresses behind each block.
  virtual std::size_t gap_bytes() const { return 0; }
  /// How other processes access the block. Fails with 207000 if they cannot.
  virtual Result<MemoryFile> FileOf(const MemoryBlock& /*block*/) const {
    return Error{Code::kFeatureNotSupport, "memory of this backend cannot be shared or mapped"};
  }
  /// The block is used only at the addresses where it is mapped. Its own address is not used.
  virtual void Hide(const MemoryBlock& /*block*/) {}
};

/// Gives devices access to host memory of the program. Thread-safe.
class HostRegistrar {
 public:
  virtual ~HostRegistrar() = default;
  virtual Status Register(void* address, std::size_t bytes, bool read_only) = 0;
  /// The engines' address of registered memory minus the program's.
  virtual std::ptrdiff_t EngineDelta(const void* /*address*/) const { return 0; }
  /// Called when the last task that uses the memory is completed.
  virtual void Unregister(void* address) noexcept = 0;
  /// True if one copy may continue from a registration into the next.
  virtual bool joins_neighbours() const = 0;
};

/// One device. Thread-safe.
class BackendDevice {
 public:
  virtual ~BackendDevice() = default;
  virtual MemorySource& memory() = 0;
  virtual Result<std::shared_ptr<Queue>> CreateQueue(const QueueOptions& options) = 0;
  /// Executes a copy or fill before it returns, outside every queue.
  virtual Status RunNow(Task task) = 0;
  /// Reads an aligned word of allocated memory that the device can access.
  virtual Result<std::uint64_t> LoadWord(const std::byte* word) = 0;
};

/// Opens devices. Thread-safe.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::int32_t device_count() const = 0;
  /// The device, opened on first use.
  virtual Result<BackendDevice*> Device(std::int32_t physical_id) = 0;
  /// True if one device can access the other's memory directly. Copies between them always work.
  virtual bool Reaches(std::int32_t /*from*/, std::int32_t /*to*/) const { return true; }
  /// Pinned host memory.
  virtual MemorySource& pinned_memory() = 0;
  /// Pinned memory that can be mapped and shared, if there is such memory.
  virtual MemorySource& pinned_memory_with_handles() { return pinned_memory(); }
  virtual HostRegistrar& host_registrar() = 0;
  /// The memory for the segments of batches.
  virtual SegmentStore& segment_store() = 0;
  /// Null if the backend has no mapped memory.
  virtual VirtualMemory* virtual_memory() { return nullptr; }
  /// Starts the thread that watches gates, if it does not run yet. Called before a gate is submitted, so that
  /// the call fails and not the stream. Throws ThreadStartError.
  virtual void WatchGates() {}
  /// Copies now, between addresses of the engines, on the calling thread; past the caches if asked. Returns
  /// false if the host cannot reach them.
  virtual bool CopyHere(const Segment& /*segment*/, bool /*past_caches*/) noexcept { return false; }
  /// True if queues support gates and effects.
  virtual bool has_signals() const { return false; }
};

}  // namespace sampan
