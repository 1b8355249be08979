// Memory of one place: a reserved range of addresses that gets memory behind it piece by piece.
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

/// Puts memory behind reserved addresses and takes it away. Thread-safe.
class Backing {
 public:
  virtual ~Backing() = default;
  virtual Status Commit(std::uintptr_t address, std::size_t bytes) = 0;
  virtual void Decommit(std::uintptr_t address, std::size_t bytes) noexcept = 0;
  /// What was committed there, by a handle; 207000 where there is none.
  virtual Result<std::shared_ptr<const MemoryHandle>> HandleAt(std::uintptr_t /*address*/,
                                                               std::size_t /*bytes*/) const {
    return Error{Code::kFeatureNotSupport, "memory of this kind cannot be mapped by hand or shared"};
  }
};

/// Memory of a place that lies outside its reserved range: mapped by the program, or imported. Neighbours of
/// one group count as one.
struct OutsideRange {
  std::uintptr_t address;
  std::size_t bytes;
  std::uintptr_t group;
  MapAccess access;
};

/// Who mapped it.
class OutsideMemory {
 public:
  virtual ~OutsideMemory() = default;
  /// Nothing can touch the range at the address any more. Called on any thread, with the lock of the place's
  /// memory.
  virtual void Finish(std::uintptr_t address) noexcept = 0;
};

struct ReservedMemoryOptions {
  std::string name;
  std::uintptr_t base = 0;         ///< a multiple of the unit
  std::size_t reserved_bytes = 0;  ///< addresses
  std::size_t capacity_bytes = 0;  ///< memory
  bool host_visible = false;       ///< whether the program may read and write it
  FaultPlan* faults = nullptr;
};

/// Blocks of up to half a unit share units, at least a page each; larger ones have units of their own.
/// Addresses are handed out round robin, so a freed address is not reused soon. Thread-safe.
class ReservedMemory final : public MemorySource {
 public:
  static constexpr std::size_t kPageBytes = 4096;
  static constexpr std::size_t kUnitBytes = std::size_t{2} << 20;

  ReservedMemory(const ReservedMemoryOptions& options, std::unique_ptr<Backing> backing);
  ~ReservedMemory() override;

  Result<MemoryBlock> Allocate(std::size_t bytes, Pages pages) override;
  void Free(const MemoryBlock& block) noexcept override;
  MemoryInfo Info() const override;
  Result<MemoryFile> FileOf(const MemoryBlock& block) const override;
  void Hide(const MemoryBlock& block) override;
  bool Owns(std::uintptr_t address) const override {
    return address - options_.base < options_.reserved_bytes;
  }

  /// While it lives, memory that is freed is not reused: a kernel that found the memory in its table may
  /// still touch it.
  class Epoch;
  std::shared_ptr<Epoch> HoldFreed();

  /// A range that may only be read has the highest bit of its end set.
  struct Range {
    std::uintptr_t begin, end;
  };
  /// Counts changes of what is allocated.
  std::uint64_t version() const;
  /// What may be touched, in ascending order, and the version that this is.
  std::uint64_t CopyRanges(std::vector<Range>& ranges) const;

  /// Set once, before anything is added.
  void set_outside(OutsideMemory& outside) { outside_ = &outside; }
  void AddOutside(const OutsideRange& range);
  void SetOutsideAccess(std::uintptr_t address, MapAccess access);
  /// Has it finished when no kernel that found it in its table can touch it any more.
  void EndOutside(std::uintptr_t address, std::size_t bytes) noexcept;

  /// The memory behind all addresses is gone (its GPU was lost). Starts with an empty range.
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

  /// Memory that kernels may touch.
  struct Live {
    std::size_t bytes;
    std::uintptr_t group = 0;  // 0: it has no neighbours
    MapAccess access = MapAccess::kReadWrite;
  };

  bool Shares(std::size_t whole, bool huge) const { return !huge && whole <= kUnitBytes / 2; }
  Status OutOfMemory(std::size_t bytes, std::string_view why) const;
  /// Units in a row, next-fit; false when there are not that many.
  bool TakeUnits(std::size_t count, UnitState state, std::size_t* first);
  void ReturnUnits(std::size_t first, std::size_t count) noexcept;
  Result<std::uintptr_t> TakePages(std::size_t pages);
  static bool TakeFrom(SharedUnit& unit, std::size_t pages, std::size_t* first);
  Result<std::uintptr_t> TakeOwn(std::size_t bytes);
  /// Frees what is at the address, now or when the last hold ends.
  void End(const MemoryBlock& block) noexcept;
  /// Lets addresses and memory of an ended block go.
  void Release(const MemoryBlock& block) noexcept;
  void ReleaseUnheld() noexcept;
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
  std::shared_ptr<Epoch> newer_;  // ends after this one: its blocks may be in older tables too
};

}  // namespace sampan::cuda
