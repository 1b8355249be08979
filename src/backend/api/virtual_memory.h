// Addresses and memory apart: ranges of addresses, and memory that is put there, maybe of another process.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/status.h"

namespace sampan {

struct MemoryBlock;

/// A range of addresses that nothing else will get.
struct AddressRange {
  std::uintptr_t address = 0;
  std::size_t bytes = 0;
  std::ptrdiff_t engine_delta = 0;  ///< add to an address to get the copy engines' view
};

/// Where the bytes of a block are: a file that another process can open, and the place in it.
struct MemoryFile {
  int descriptor = -1;
  std::uint64_t offset = 0;
  std::size_t bytes = 0;
  bool host_visible = false;  ///< whether the program may read and write through its view
};

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
  /// Puts the file's bytes at a part of a range that is free.
  virtual Status Map(const AddressRange& part, const MemoryFile& file) = 0;
  virtual void Unmap(const AddressRange& part) noexcept = 0;
  /// Addresses of their own for the file's bytes, which may begin and end anywhere in a page.
  virtual Result<AddressRange> MapAnywhere(const MemoryFile& file) = 0;
  virtual void UnmapAnywhere(const AddressRange& range) noexcept = 0;
};

}  // namespace sampan
