// Reserved addresses of the emulated devices: two ranges each, the program's view and the engines' view.
#pragma once

#include <array>
#include <map>
#include <shared_mutex>

#include "backend/api/virtual_memory.h"

namespace sampan::emulated {

/// Thread-safe. The engines see the neighbours of one reservation as neighbours too.
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
  /// How many imports' addresses stay unused after their end. A pointer that outlived its import then reaches
  /// no other memory.
  static constexpr std::size_t kKeptBack = 64;

  void Drop(const AddressRange& range) noexcept;
  /// Makes the range the runtime's; gives it back to the system where that fails.
  Result<AddressRange> Keep(const AddressRange& range);

  mutable std::shared_mutex mutex_;
  std::map<std::uintptr_t, std::size_t> owned_;  // whole pages
  std::array<AddressRange, kKeptBack> kept_back_{};
  std::size_t next_kept_ = 0;
};

}  // namespace sampan::emulated
