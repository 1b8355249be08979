// Virtual memory: ranges of addresses, and physical memory mapped there, of this process or another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/error/status.h"
#include "base/system/descriptor.h"

namespace sampan {

struct MemoryBlock;

/// A range of addresses that nothing else will get.
struct AddressRange {
  std::uintptr_t address = 0;
  std::size_t bytes = 0;
  std::ptrdiff_t engine_delta = 0;  ///< add to an address to get the copy engines' view
};

/// Memory that a backend knows by a handle of its own. Thread-safe.
class MemoryHandle {
 public:
  explicit MemoryHandle(std::size_t all_bytes) : bytes(all_bytes) {}
  virtual ~MemoryHandle() = default;
  /// A descriptor that stands for the memory in any process.
  virtual Result<Descriptor> Export() const = 0;

  const std::size_t bytes;  ///< it can only be mapped as a whole
};

/// Where the bytes of a block are: a file that another process can open, or the backend's handle, and the
/// offset in it.
struct MemoryFile {
  int descriptor = -1;
  std::shared_ptr<const MemoryHandle> handle;  ///< where there is no descriptor
  std::uint64_t offset = 0;
  std::size_t bytes = 0;
  bool host_visible = false;  ///< whether the program may read and write through its view
  std::int32_t device = -1;   ///< the device whose memory it counts as here, by physical id; -1: the host's
};

/// What a device may do with mapped memory.
enum class MapAccess { kNone, kRead, kReadWrite };

/// Knows which addresses are its own. Thread-safe.
class AddressOwner {
 public:
  virtual ~AddressOwner() = default;
  /// True for any address of its ranges, whether something is there or not.
  virtual bool Owns(std::uintptr_t address) const = 0;
};

/// Thread-safe. What it maps stays mapped when the file's maker ends.
class VirtualMemory : public AddressOwner {
 public:
  /// Multiple of addresses, sizes and offsets.
  static constexpr std::size_t kGranularity = std::size_t{2} << 20;

  /// At the wished address if it is free and one is given, anywhere else otherwise.
  virtual Result<AddressRange> Reserve(std::size_t bytes, std::uintptr_t wish) = 0;
  /// Nothing may be mapped there any more.
  virtual void Release(const AddressRange& range) noexcept = 0;
  /// Puts the file's bytes at a part of a range that is free. The access is that of the memory's own device.
  virtual Status Map(const AddressRange& part, const MemoryFile& file, MapAccess access) = 0;
  /// Changes it, for copies whose operands are looked up when they run.
  virtual void SetAccess(const AddressRange& /*part*/, MapAccess /*access*/) {}
  virtual void Unmap(const AddressRange& part) noexcept = 0;
  /// Addresses of their own for the file's bytes, which may begin and end anywhere in a page.
  virtual Result<AddressRange> MapAnywhere(const MemoryFile& file) = 0;
  virtual void UnmapAnywhere(const AddressRange& range) noexcept = 0;
  /// The handle of memory that another process has exported.
  virtual Result<std::shared_ptr<const MemoryHandle>> Import(const Descriptor& /*descriptor*/,
                                                             std::size_t /*bytes*/) {
    return Error{Code::kFeatureNotSupport, "memory of another kind of device cannot be mapped here"};
  }
};

}  // namespace sampan
