// A range of addresses backed by one memory file, which is mapped twice: for the program and for the engines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "backend/api/backend.h"
#include "backend/emulated/memory/host_budget.h"
#include "backend/emulated/memory/write_budget.h"
#include "base/containers/free_ranges.h"
#include "base/error/fault.h"
#include "base/system/descriptor.h"

namespace sampan::emulated {

struct ArenaOptions {
  std::string name;
  std::size_t capacity_bytes = 0;       ///< limit of all live blocks together
  std::size_t gap_bytes = 0;            ///< addresses behind each block that no block has, in whole pages
  bool host_visible = false;            ///< the program may read and write through its view
  HostBudget* reserved_from = nullptr;  ///< each block is taken from it whole; null: none
  WriteBudget* written_from = nullptr;  ///< pages are taken from it when they are written; null: none
  std::optional<std::byte> fresh_byte;  ///< fills each new block; otherwise it has zeros
  FaultPlan* faults = nullptr;
};

/// Allocates page-aligned blocks. Uses addresses round robin, so that a freed address is reused late. The
/// pages of a freed block go back to the system immediately. Thread-safe.
class Arena final : public MemorySource {
 public:
  static Result<std::unique_ptr<Arena>> Create(const ArenaOptions& options);
  ~Arena() override;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  Result<MemoryBlock> Allocate(std::size_t bytes, Pages pages) override;
  void Free(const MemoryBlock& block) noexcept override;
  MemoryInfo Info() const override;
  std::size_t gap_bytes() const override { return options_.gap_bytes; }
  Result<MemoryFile> FileOf(const MemoryBlock& block) const override {
    return MemoryFile{.descriptor = file_.get(),
                      .offset = block.address - user_base_,
                      .bytes = block.bytes,
                      .host_visible = options_.host_visible};
  }
  bool Owns(std::uintptr_t address) const override { return address - user_base_ < address_space_bytes_; }

  /// Addresses of an arena. With more than its capacity, a freed address stays unused longer.
  static std::size_t AddressBytes(std::size_t capacity_bytes);

 private:
  Arena(const ArenaOptions& options, std::size_t address_space_bytes);

  Status Map();
  /// Why the budgets have no room for the block; null: they have, and it is taken.
  const char* TakeFromBudgets(std::size_t bytes);
  void GiveBackToBudgets(std::size_t bytes);
  Status FillFresh(const MemoryBlock& block);
  void Return(const MemoryBlock& block) noexcept;

  const ArenaOptions options_;
  const std::size_t address_space_bytes_;
  Descriptor file_;
  std::uintptr_t user_base_ = 0;
  std::uintptr_t engine_base_ = 0;

  mutable std::mutex mutex_;
  FreeRanges free_ranges_;  // in whole pages
  std::size_t used_bytes_ = 0;
};

}  // namespace sampan::emulated
