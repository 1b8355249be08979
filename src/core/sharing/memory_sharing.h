// Device memory that several processes use: exports, imports by key, and when memory is freed.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "backend/api/backend.h"
#include "base/error/status.h"
#include "core/memory/memory_registry.h"
#include "core/sharing/foreign_boards.h"
#include "core/sharing/network_keys.h"
#include "core/sharing/share_board.h"

namespace sampan::core {

/// Thread-safe. A block that other processes imported goes back to its source when the last of them has
/// released it. Every later allocation checks some of these blocks, or all if memory is exhausted.
class MemorySharing final : public MemoryRegistry::SharedBlocks {
 public:
  MemorySharing(MemoryRegistry& memory, VirtualMemory* views, ShareBoard& board, ForeignBoards& others,
                const NetworkKeys& keys)
      : memory_(memory), views_(views), board_(board), others_(others), keys_(keys) {
    memory_.set_shared_blocks(this);
  }

  struct ExportRequest {
    void* address;
    std::size_t bytes;
    bool for_all_processes;
    std::int32_t physical_device;  ///< of the memory; the same number in all processes
  };
  /// Returns a key for [address, +bytes) of memory of aclrtMalloc.
  Result<std::string> Export(const ExportRequest& request);
  /// Where this program sees the memory of a physical device: its place, and the device's physical number.
  struct ImportPlace {
    Place place;
    std::int32_t physical_device;
  };
  using PlaceOf = std::function<ImportPlace(std::int32_t physical_device)>;
  Result<void*> Import(const std::string& key, const PlaceOf& place_of);
  Status Admit(const std::string& key, std::span<const std::int32_t> processes);
  /// Adds processes of one host, this one or another, which may import it from there.
  Status AdmitOfServer(const std::string& key, std::uint32_t server, std::span<const std::int32_t> processes);
  Status CheckExported(const std::string& key);
  /// Closes the import of the key if there is one, otherwise the export.
  Status Close(const std::string& key);

  /// For blocks that are no allocations. Returns a number for the calls below.
  std::uint64_t Share(std::shared_ptr<OwnCell> cell);
  void Ended(std::uint64_t serial) noexcept override;
  void Free(std::uint64_t serial, MemorySource& source, const MemoryBlock& block) noexcept override;
  bool FreeReleased(Effort effort) noexcept override;

 private:
  struct OwnExport {
    std::shared_ptr<OwnCell> cell;
    std::uint64_t serial;
    MemoryFile file;
    std::unique_ptr<Loan> loan;
  };
  using Exports = std::map<std::string, OwnExport, std::less<>>;
  struct SharedBlock {
    /// A cell, and its place among the exports while its key is open.
    struct Cell {
      std::shared_ptr<OwnCell> cell;
      std::optional<Exports::iterator> key;
    };
    std::map<const OwnCell*, Cell> cells;
    MemorySource* source = nullptr;
    MemoryBlock block;
  };
  static bool HeldElsewhere(const SharedBlock& shared);
  Status Lend(OwnExport& exported);
  Result<void*> ImportFromPeer(const std::string& key, const PeerName& owner, Place place);
  /// Makes imported memory known by its key.
  Result<void*> AddImport(const std::string& key, AllocationFacts facts,
                          std::shared_ptr<MemoryKeeper> keeper);

  MemoryRegistry& memory_;
  VirtualMemory* const views_;
  ShareBoard& board_;
  ForeignBoards& others_;
  const NetworkKeys& keys_;
  std::mutex mutex_;
  std::map<std::uint64_t, SharedBlock> shared_;  // by the allocation's serial number
  std::map<std::uint64_t, SharedBlock> parked_;  // no longer used here, but held by other processes
  std::atomic<std::size_t> parked_count_{0};
  std::uint64_t next_parked_ = 0;  // where the next partial check begins
  Exports exports_;
  std::multimap<std::string, void*, std::less<>> imports_;
  std::uint64_t next_number_ = std::uint64_t{1} << 63;
};

}  // namespace sampan::core
