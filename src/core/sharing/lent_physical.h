// Memory that processes of other hosts may use.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "backend/api/peer_network.h"
#include "backend/api/virtual_memory.h"
#include "core/sharing/share_board.h"

namespace sampan::core {

/// Maps the memory once for the network's threads.
class LentPhysical : public LentMemory {
 public:
  LentPhysical(VirtualMemory& views, const MemoryFile& file, std::shared_ptr<OwnCell> cell,
               const PeerMemoryFacts& facts)
      : views_(views), file_(file), cell_(std::move(cell)), facts_(facts) {}
  ~LentPhysical() override {
    if (range_.bytes != 0) views_.UnmapAnywhere(range_);
  }
  LentPhysical(const LentPhysical&) = delete;
  LentPhysical& operator=(const LentPhysical&) = delete;

  const PeerMemoryFacts& facts() const override { return facts_; }
  bool Admits(const PeerProcess& importer) const override { return cell_->Admits(importer.process); }
  Result<std::byte*> Map() override {
    const std::lock_guard lock(mutex_);
    if (range_.bytes != 0) return Begin();
    auto range = views_.MapAnywhere(file_);
    if (!range.ok()) return range.TakeStatus();
    range_ = *range;
    return Begin();
  }

 private:
  std::byte* Begin() const {
    return reinterpret_cast<std::byte*>(range_.address + static_cast<std::uintptr_t>(range_.engine_delta));
  }

  VirtualMemory& views_;
  const MemoryFile file_;
  const std::shared_ptr<OwnCell> cell_;
  const PeerMemoryFacts facts_;
  std::mutex mutex_;
  AddressRange range_;  // under the lock
};

/// The same for memory with a key, whose list names servers too.
class LentByKey final : public LentPhysical {
 public:
  LentByKey(VirtualMemory& views, const MemoryFile& file, const std::shared_ptr<OwnCell>& cell)
      : LentPhysical(views, file, cell, {.bytes = file.bytes}), cell_(cell) {}
  bool Admits(const PeerProcess& importer) const override { return cell_->AdmitsOfServer(importer); }

 private:
  const std::shared_ptr<OwnCell> cell_;
};

/// Takes memory back from the network when it is destroyed.
class Loan {
 public:
  Loan(PeerNetwork& network, std::uint32_t cell) : network_(network), cell_(cell) {}
  ~Loan() { network_.TakeBack(cell_); }
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;

 private:
  PeerNetwork& network_;
  const std::uint32_t cell_;
};

}  // namespace sampan::core
