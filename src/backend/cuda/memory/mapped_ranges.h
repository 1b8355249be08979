// Addresses that programs reserve, and their mappings, by the driver's virtual memory management.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <shared_mutex>
#include <vector>

#include "backend/api/virtual_memory.h"
#include "backend/cuda/driver.h"
#include "backend/cuda/memory/reserved_memory.h"

namespace sampan::cuda {

/// Thread-safe. Mapped memory is in its device's table, in which kernels look up operands. It stays mapped
/// until all kernels that may have found it have completed.
class MappedRanges final : public VirtualMemory, private OutsideMemory {
 public:
  /// Who can access memory of a device (-1: host memory): which GPUs, and the host.
  using AccessOf = std::function<std::vector<CuAccess>(std::int32_t device)>;
  /// `sweep` retires completed tasks on all devices.
  MappedRanges(const Driver& driver, std::size_t devices, AccessOf access_of, std::function<void()> sweep)
      : driver_(driver), access_of_(std::move(access_of)), sweep_(std::move(sweep)), tables_(devices) {}

  /// Called when the device is open. From now on its memory knows the mappings.
  void Attach(std::int32_t device, ReservedMemory& memory);

  Result<AddressRange> Reserve(std::size_t bytes, std::uintptr_t wish) override;
  void Release(const AddressRange& range) noexcept override;
  Status Map(const AddressRange& part, const MemoryFile& file, MapAccess access) override;
  void SetAccess(const AddressRange& part, MapAccess access) override;
  void Unmap(const AddressRange& seen) noexcept override;
  void Sweep() override { sweep_(); }
  Result<AddressRange> MapAnywhere(const MemoryFile& file) override;
  void UnmapAnywhere(const AddressRange& range) noexcept override;
  Result<std::shared_ptr<const MemoryHandle>> Import(const Descriptor& descriptor,
                                                     std::size_t bytes) override;
  bool Owns(std::uintptr_t address) const override;

 private:
  /// The addresses of this many closed imports stay unused. So a dangling pointer to a closed import reaches
  /// no other memory.
  static constexpr std::size_t kKeptBack = 64;

  struct Range {
    std::size_t bytes = 0;
    bool for_import = false;
    bool released = false;
    std::size_t pieces = 0;
  };
  /// A mapping of a whole handle. The program sees a part of it.
  struct Piece {
    std::size_t bytes = 0;
    std::uintptr_t range = 0;  // the range that contains it
    AddressRange seen;
    std::int32_t device = -1;
    MapAccess access = MapAccess::kReadWrite;
    bool mapped = false, ending = false;
  };
  using Ranges = std::map<std::uintptr_t, Range>;
  using Pieces = std::map<std::uintptr_t, Piece>;

  static OutsideRange OutsideOf(const Piece& piece);
  ReservedMemory* TableOf(std::int32_t device) const;
  Result<std::uintptr_t> ReserveRange(const Range& range, std::uintptr_t wish);
  Status MapPiece(std::uintptr_t at, const Piece& piece, const MemoryFile& file);
  Status MapHandle(std::uintptr_t at, const Piece& piece, const MemoryFile& file);
  void Finish(std::uintptr_t address) noexcept override;
  /// Waits while something is being unmapped there, up to half a second.
  void AwaitUnmapped(const AddressRange& part);
  // Call it with the lock held.
  /// The first piece that overlaps, or the end.
  Pieces::const_iterator PieceIn(std::uintptr_t address, std::size_t bytes) const;
  Pieces::iterator PieceAt(std::uintptr_t address);
  /// Frees the addresses of a released range without mappings.
  void FreeIfUnused(Ranges::iterator range) noexcept;

  const Driver& driver_;
  const AccessOf access_of_;
  const std::function<void()> sweep_;  // may unmap: called without a lock of this class
  std::shared_mutex attaching_;        // taken before all other locks
  std::vector<ReservedMemory*> tables_;
  mutable std::shared_mutex mutex_;  // taken after a table's lock
  Ranges ranges_;
  Pieces pieces_;
  std::array<std::uintptr_t, kKeptBack> kept_back_{};
  std::size_t next_kept_ = 0;
};

}  // namespace sampan::cuda
