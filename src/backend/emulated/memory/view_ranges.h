// Reserved addresses of the emulated devices. Each reservation has two ranges: for the program and for the
// engines.
#pragma once

#include <array>
#include <map>
#include <shared_mutex>

#include "backend/api/virtual_memory.h"

namespace sampan::emulated {

/// Thread-safe. Neighbours in the program's range are neighbours in the engines' range too.
class ViewRanges final : public VirtualMemory {
 public:
  Result<AddressRange> Reserve(std::size_t bytes, std::uintptr_t wish) override;
  void Release(const AddressRange& range) noexcept override;
  Status Map(const AddressRange& part, const MemoryFile& file, MapAccess access) override;
  void Unmap(const AddressRange& part) noexcept override;
  Result<AddressRange> MapAnywhere(const MemoryFile& file) override;
  void UnmapAnywhere(const AddressRange& range) noexcept override;
  bool Owns(std::uintptr_t address) const override;

 private:
  /// The addresses of this many closed imports stay unused. So a dangling pointer to a closed import reaches
  /// no other memory.
  static constexpr std::size_t kKeptBack = 64;

  void Drop(const AddressRange& range) noexcept;
  /// Adds the range to the runtime's addresses. On failure, returns it to the system.
  Result<AddressRange> Keep(const AddressRange& range);

  mutable std::shared_mutex mutex_;
  std::map<std::uintptr_t, std::size_t> owned_;  // whole pages
  std::array<AddressRange, kKeptBack> kept_back_{};
  std::size_t next_kept_ = 0;
};

}  // namespace sampan::emulated
