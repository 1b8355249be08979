// Memory without an address: of aclrtMallocPhysical, or imported from another process.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "backend/api/backend.h"
#include "core/sharing/lent_physical.h"
#include "core/sharing/memory_sharing.h"

namespace sampan::core {

/// The properties that the program gave, with the values of the public header.
struct PhysicalProperties {
  std::uint32_t attribute = 0;
  std::uint32_t location_id = 0, location_type = 0;
};

/// How other processes name shared physical memory.
enum class ShareForm {
  kNumber,  ///< 64 bits, for processes of this host
  kFabric,  ///< 128 bytes
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
  struct Import {
    std::shared_ptr<ForeignCell> cell;  ///< null: another host's
    ShareForm form;
    std::shared_ptr<PeerMemory> peer;  ///< null: this host's
  };
  PhysicalMemory(MemorySharing& sharing, Import import, const MemoryFile& file, Place place,
                 const PhysicalProperties& properties)
      : sharing_(sharing), file_(file), place_(place), properties_(properties), import_(std::move(import)) {}
  ~PhysicalMemory() {
    if (source_ == nullptr) return;
    loan_.reset();  // no other host reaches the memory from here on
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
  std::shared_ptr<PeerMemory> peer() const { return import_ ? import_->peer : nullptr; }
  void set_loan(std::unique_ptr<Loan> loan) { loan_ = std::move(loan); }
  /// The program's newest handle of it, which may be freed by now.
  void* handle() const { return handle_.load(); }
  void set_handle(void* handle) { handle_.store(handle); }

  /// Returns nothing for memory of this process.
  std::optional<ShareForm> imported_as() const {
    return import_ ? std::optional(import_->form) : std::nullopt;
  }

  /// Returns the cell by which other processes import it. It has one form, and a fabric handle only once.
  Result<std::shared_ptr<OwnCell>> Export(ShareBoard& board, ShareForm form, bool for_all_processes) {
    if (import_) return Error{Code::kFeatureNotSupport, "imported memory is its maker's to export"};
    const std::lock_guard lock(mutex_);
    if (own_ != nullptr && (form == ShareForm::kFabric || form_ == ShareForm::kFabric)) {
      return Error{Code::kParamInvalid, Text("handle: this memory was exported already, as ",
                                             form_ == ShareForm::kFabric ? "FABRIC" : "DEFAULT",
                                             ", and memory has one shareable handle: use that one")};
    }
    if (own_ == nullptr) {
      auto cell =
          board.Take(SharedKind::kPhysical,
                     form == ShareForm::kFabric ? ShareBoard::FoundBy::kKey : ShareBoard::FoundBy::kNumber);
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
      form_ = form;
    }
    if (for_all_processes) own_->AdmitAll();
    return own_;
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
  const std::optional<Import> import_;
  mutable std::mutex mutex_;
  std::shared_ptr<OwnCell> own_;
  ShareForm form_{};  // of own_
  std::uint64_t number_ = 0;
  std::atomic<void*> handle_{nullptr};
  std::unique_ptr<Loan> loan_;  // of exported memory
};

}  // namespace sampan::core
