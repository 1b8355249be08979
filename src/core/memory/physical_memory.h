// Memory without an address: of aclrtMallocPhysical, or imported from another process.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "backend/api/backend.h"
#include "core/sharing/memory_sharing.h"

namespace sampan {

/// The properties that the program gave, with the values of the public header.
struct PhysicalProperties {
  std::uint32_t attribute = 0;
  std::uint32_t location_id = 0, location_type = 0;
};

/// Thread-safe. Handles and mappings share it. The last of them, in any process, frees the memory.
class PhysicalMemory {
 public:
  PhysicalMemory(MemorySharing& sharing, MemorySource& source, const MemoryBlock& block,
                 const MemoryFile& file, Place place, const PhysicalProperties& properties)
      : sharing_(sharing),
        source_(&source),
        block_(block),
        file_(file),
        place_(place),
        properties_(properties) {}
  PhysicalMemory(MemorySharing& sharing, std::shared_ptr<ForeignCell> cell, const MemoryFile& file,
                 Place place, const PhysicalProperties& properties)
      : sharing_(sharing), file_(file), place_(place), properties_(properties), foreign_(std::move(cell)) {}
  ~PhysicalMemory() {
    if (source_ == nullptr) return;
    if (number_ != 0) {
      sharing_.Ended(number_);
      sharing_.Free(number_, *source_, block_);
    } else {
      source_->Free(block_);
    }
  }
  PhysicalMemory(const PhysicalMemory&) = delete;
  PhysicalMemory& operator=(const PhysicalMemory&) = delete;

  std::size_t bytes() const { return file_.bytes; }
  const MemoryFile& file() const { return file_; }
  Place place() const { return place_; }
  const PhysicalProperties& properties() const { return properties_; }

  /// Returns the number by which other processes import it, the same each time.
  Result<std::uint64_t> Export(ShareBoard& board, bool for_all_processes) {
    if (foreign_ != nullptr) {
      return Error{Code::kFeatureNotSupport, "imported memory is its maker's to export"};
    }
    const std::lock_guard lock(mutex_);
    if (own_ == nullptr) {
      auto cell = board.Take(SharedKind::kPhysical, ShareBoard::FoundBy::kNumber);
      if (!cell.ok()) return cell.TakeStatus();
      if (Status set = (*cell)->SetExtent(file_, {.offset = file_.offset,
                                                  .bytes = file_.bytes,
                                                  .page_bytes = block_.page_bytes,
                                                  .attribute = properties_.attribute,
                                                  .location_id = properties_.location_id,
                                                  .location_type = properties_.location_type});
          !set.ok()) {
        return set;
      }
      number_ = sharing_.Share(*cell);
      own_ = std::move(*cell);
    }
    if (for_all_processes) (*own_)->for_all_processes.store(1);
    return own_->Number();
  }
  /// Null if it was not exported.
  std::shared_ptr<OwnCell> own_cell() const {
    const std::lock_guard lock(mutex_);
    return own_;
  }

 private:
  MemorySharing& sharing_;
  MemorySource* const source_ = nullptr;
  const MemoryBlock block_{};
  const MemoryFile file_;
  const Place place_;
  const PhysicalProperties properties_;
  const std::shared_ptr<ForeignCell> foreign_;
  mutable std::mutex mutex_;
  std::shared_ptr<OwnCell> own_;
  std::uint64_t number_ = 0;
};

}  // namespace sampan
