// Memory of one place: a reserved range of addresses. Memory is committed to it in units.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backend/api/backend.h"
#include "backend/api/virtual_memory.h"
#include "backend/cuda/kernels/kernel_arguments.h"
#include "base/error/fault.h"

namespace sampan::cuda {

/// Commits memory to reserved addresses and removes it. Thread-safe.
class Backing {
 public:
  virtual ~Backing() = default;
  virtual Status Commit(std::uintptr_t address, std::size_t bytes) = 0;
  virtual void Decommit(std::uintptr_t address, std::size_t bytes) noexcept = 0;
  /// The handle of the memory at the address. Fails with 207000 if it has none.
  virtual Result<std::shared_ptr<const MemoryHandle>> HandleAt(std::uintptr_t /*address*/,
                                                               std::size_t /*bytes*/) const {
    return Error{Code::kFeatureNotSupport, "memory of this kind cannot be mapped by hand or shared"};
  }
};

/// Memory of a place outside its reserved range: mapped by the program, or imported. A copy may span
/// neighbours of one group.
struct OutsideRange {
  std::uintptr_t address;
  std::size_t bytes;
  std::uintptr_t group;
  MapAccess access;
};

/// The owner of memory outside the reserved range.
class OutsideMemory {
 public:
  virtual ~OutsideMemory() = default;
  /// Called when nothing can access the range at the address. Runs on any thread, with the lock of the
  /// place's memory held.
  virtual void Finish(std::uintptr_t address) noexcept = 0;
};

struct ReservedMemoryOptions {
  std::string name;
  std::uintptr_t base = 0;          ///< a multiple of the unit
  std::size_t reserved_bytes = 0;   ///< addresses
  std::size_t capacity_bytes = 0;   ///< memory
  bool host_visible = false;        ///< the program may read and write it
  std::ptrdiff_t engine_delta = 0;  ///< the engines' address minus the program's
  std::size_t gap_bytes = 0;        ///< unused addresses behind each block, in whole pages
  FaultPlan* faults = nullptr;
};

/// Blocks of up to half a unit share units, at least a page each. Larger blocks have units of their own. Uses
/// addresses round robin, so that a freed address is reused late. Thread-safe.
class ReservedMemory final : public MemorySource {
 public:
  static constexpr std::size_t kPageBytes = 4096;
  static constexpr std::size_t kUnitBytes = std::size_t{2} << 20;

  ReservedMemory(const ReservedMemoryOptions& options, std::unique_ptr<Backing> backing);
  ~ReservedMemory() override;

  Result<MemoryBlock> Allocate(std::size_t bytes, Pages pages) override;
  void Free(const MemoryBlock& block) noexcept override;
  MemoryInfo Info() const override;
  std::size_t gap_bytes() const override { return options_.gap_bytes; }
  Result<MemoryFile> FileOf(const MemoryBlock& block) const override;
  void Hide(const MemoryBlock& block) override;
  bool Owns(std::uintptr_t address) const override {
    return address - options_.base < options_.reserved_bytes;
  }

  /// While it exists, freed memory is not reused: a kernel that found the memory in its table may still
  /// access it.
  class Epoch;
  std::shared_ptr<Epoch> HoldFreed();
  /// Releases what was freed and is held no longer. Every allocation does that too.
  void ReleaseFreed() noexcept;

  /// A range that may only be read has the highest bit of its end set.
  struct Range {
    std::uintptr_t begin, end;
  };
  /// Changes with every allocation and free.
  std::uint64_t version() const;
  /// Writes the accessible ranges in ascending order, and returns their version.
  std::uint64_t CopyRanges(std::vector<Range>& ranges) const;

  /// Set once, before anything is added.
  void set_outside(OutsideMemory& outside) { outside_ = &outside; }
  void AddOutside(const OutsideRange& range);
  void SetOutsideAccess(std::uintptr_t address, MapAccess access);
  /// Calls Finish when all kernels that may have found it in their tables have completed.
  void EndOutside(std::uintptr_t address, std::size_t bytes) noexcept;

  /// Empties the range after its GPU was lost.
  void Forget() noexcept;

 private:
  static constexpr std::size_t kPagesPerUnit = kUnitBytes / kPageBytes;
  enum class UnitState : std::uint8_t { kFree, kOwn, kShared };
  struct SharedUnit {
    std::size_t index;
    std::size_t used_pages = 0;
    std::size_t next_page = 0;
    std::vector<bool> taken = std::vector<bool>(kPagesPerUnit);
  };

  /// Memory that kernels may access.
  struct Live {
    std::size_t bytes;
    std::uintptr_t group = 0;  // 0: it has no neighbours
    MapAccess access = MapAccess::kReadWrite;
  };

  bool Shares(std::size_t whole, bool huge) const { return !huge && whole <= kUnitBytes / 2; }
  Status OutOfMemory(std::size_t bytes, std::string_view why) const;
  /// Takes consecutive units, next-fit. Returns false if there are too few.
  bool TakeUnits(std::size_t count, UnitState state, std::size_t* first);
  void ReturnUnits(std::size_t first, std::size_t count) noexcept;
  Result<std::uintptr_t> TakePages(std::size_t pages);
  static bool TakeFrom(SharedUnit& unit, std::size_t pages, std::size_t* first);
  Result<std::uintptr_t> TakeOwn(std::size_t bytes);
  /// Frees the block now, or when the last epoch that may need it is released.
  void End(const MemoryBlock& block) noexcept;
  /// Releases the addresses and the memory of a freed block.
  void Release(const MemoryBlock& block) noexcept;
  void ReleaseUnheld() noexcept;
  std::size_t UnitsFor(std::size_t bytes) const {
    return (bytes + options_.gap_bytes + kUnitBytes - 1) / kUnitBytes;
  }
  std::size_t PagesFor(std::size_t bytes) const { return (bytes + options_.gap_bytes) / kPageBytes; }
  std::uintptr_t AddressOf(std::size_t unit) const { return options_.base + unit * kUnitBytes; }

  const ReservedMemoryOptions options_;
  const std::unique_ptr<Backing> backing_;
  OutsideMemory* outside_ = nullptr;
  mutable std::mutex mutex_;
  std::vector<UnitState> units_;
  std::size_t next_unit_ = 0;
  std::map<std::size_t, SharedUnit> shared_;  // by unit
  std::size_t next_shared_ = 0;
  std::size_t used_bytes_ = 0;
  std::map<std::uintptr_t, Live> live_;  // by address
  std::uint64_t version_ = 0;
  std::shared_ptr<Epoch> epoch_;
};

class ReservedMemory::Epoch {
 public:
  explicit Epoch(ReservedMemory& memory) : memory_(memory) {}
  ~Epoch();
  Epoch(const Epoch&) = delete;
  Epoch& operator=(const Epoch&) = delete;

 private:
  friend class ReservedMemory;
  ReservedMemory& memory_;
  std::vector<MemoryBlock> freed_;
  std::shared_ptr<Epoch> newer_;  // destroyed after this one, because its blocks may be in older tables too
};

}  // namespace sampan::cuda
