// Virtual memory: ranges of addresses, and physical memory mapped there, of this process or another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/error/status.h"
#include "base/system/descriptor.h"

namespace sampan {

struct MemoryBlock;

/// A range of reserved addresses.
struct AddressRange {
  std::uintptr_t address = 0;
  std::size_t bytes = 0;
  std::ptrdiff_t engine_delta = 0;  ///< the engines' address minus the program's
};

/// Memory with a handle of the backend. Thread-safe.
class MemoryHandle {
 public:
  explicit MemoryHandle(std::size_t all_bytes) : bytes(all_bytes) {}
  virtual ~MemoryHandle() = default;
  /// A descriptor of the memory that works in any process.
  virtual Result<Descriptor> Export() const = 0;

  const std::size_t bytes;  ///< it can be mapped only as a whole
};

/// Where the bytes of a block are: a file that another process can open, or the backend's handle, and the
/// offset in it.
struct MemoryFile {
  int descriptor = -1;
  std::shared_ptr<const MemoryHandle> handle;  ///< if there is no descriptor
  std::uint64_t offset = 0;
  std::size_t bytes = 0;
  bool host_visible = false;  ///< the program may read and write through its view
  std::int32_t device = -1;   ///< the device that it belongs to here, by physical id; -1: host memory
};

/// The access of a device to mapped memory.
enum class MapAccess { kNone, kRead, kReadWrite };

/// Knows which addresses are its own. Thread-safe.
class AddressOwner {
 public:
  virtual ~AddressOwner() = default;
  /// True for all addresses of its ranges, even if nothing is there.
  virtual bool Owns(std::uintptr_t address) const = 0;
};

/// Thread-safe. Mappings stay valid when the process that created the file exits.
class VirtualMemory : public AddressOwner {
 public:
  /// Multiple of addresses, sizes and offsets.
  static constexpr std::size_t kGranularity = std::size_t{2} << 20;

  /// Reserves the range at `wish` if that is not 0 and free, otherwise anywhere.
  virtual Result<AddressRange> Reserve(std::size_t bytes, std::uintptr_t wish) = 0;
  /// Nothing may be mapped there.
  virtual void Release(const AddressRange& range) noexcept = 0;
  /// Maps the file at a free part of a range. `access` is that of the memory's own device.
  virtual Status Map(const AddressRange& part, const MemoryFile& file, MapAccess access) = 0;
  /// Changes the access, for copies that look up their operands when they execute.
  virtual void SetAccess(const AddressRange& /*part*/, MapAccess /*access*/) {}
  virtual void Unmap(const AddressRange& part) noexcept = 0;
  /// Ends the uses of completed work that the backend has not noticed yet.
  virtual void Sweep() {}
  /// Maps the file at new addresses. Its bytes may begin and end anywhere in a page.
  virtual Result<AddressRange> MapAnywhere(const MemoryFile& file) = 0;
  virtual void UnmapAnywhere(const AddressRange& range) noexcept = 0;
  /// The handle of memory that another process has exported.
  virtual Result<std::shared_ptr<const MemoryHandle>> Import(const Descriptor& /*descriptor*/,
                                                             std::size_t /*bytes*/) {
    return Error{Code::kFeatureNotSupport, "memory of another kind of device cannot be mapped here"};
  }
};

}  // namespace sampan
