// All memory that the runtime knows of: what lies at an address, and who still uses it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

#include "backend/api/allocation.h"
#include "backend/api/backend.h"
#include "backend/api/task.h"
#include "base/status.h"
#include "core/memory/backtrace.h"
#include "core/memory/freed_order.h"
#include "core/memory/page_map.h"

namespace sampan {

/// How a program made memory known; decides which call may end it.
enum class MemoryOrigin : std::uint8_t { kDevice, kPinned, kRegistered, kMapped, kImported, kPool };

/// Holds the memory behind an allocation, if that is not simply a block of a source. Destroyed when nothing
/// can touch the memory any more, on the thread that ended the last use.
class MemoryKeeper {
 public:
  virtual ~MemoryKeeper() = default;
};

/// Thread-safe; finding takes no lock. Freed memory goes back to its source when the last task that uses it
/// completes. So an address is never reused while a queued copy could write there.
class MemoryRegistry final : public AddressResolver, private AllocationOwner {
 public:
  explicit MemoryRegistry(bool with_backtraces)
      : backtraces_(with_backtraces ? std::make_unique<Backtraces>() : nullptr) {}

  struct AllocationRequest {
    MemorySource& source;
    Place place;
    std::size_t asked_bytes;
    std::size_t usable_bytes;  ///< what copies may touch
    const char* made_by;
    Pages pages = Pages::kBySize;
  };
  Result<void*> Allocate(const AllocationRequest& request);
  /// A block of the source. If none is free, blocks that other processes have released are freed first.
  Result<MemoryBlock> TakeBlock(MemorySource& source, std::size_t bytes, Pages pages);
  struct RegistrationRequest {
    HostRegistrar& registrar;
    void* address;
    std::size_t bytes;
    bool read_only;
    const char* made_by;
  };
  /// Makes the program's own host memory known as pinned.
  Status Register(const RegistrationRequest& request);
  /// Makes memory known that was made elsewhere; the keeper goes when the last use has ended. The result is
  /// the live record, for as long as the caller does not end it.
  Result<Allocation*> Adopt(AllocationFacts facts, std::shared_ptr<MemoryKeeper> keeper, MemoryOrigin origin,
                            std::uint64_t devices_with_rights = ~std::uint64_t{0});
  /// Ends the life of the memory that begins at the address. The code is for one that does not; the message
  /// names the argument.
  Status End(std::string_view name, void* address, MemoryOrigin origin, Code unknown_code);
  /// A parked allocation lives again, for a caller that asks for that many bytes. It keeps its record if no
  /// fact changes, otherwise it gets a new one. Queued tasks on it still run. Throws std::bad_alloc with
  /// nothing changed.
  Allocation* Revive(Allocation& parked, std::size_t asked_bytes);
  /// Takes an adopted, parked allocation out; what is queued on it still runs.
  void Retire(Allocation& allocation) noexcept;
  /// The serial number of the newest allocation.
  std::uint64_t Newest() const;
  /// Ends all memory of a device up to that number.
  void EndAllOf(std::int32_t device, std::uint64_t newest) noexcept;

  /// A use of the live allocation that the address lies in; empty when there is none.
  AllocationUse Find(std::uintptr_t address) const { return AllocationUse(FindCounted(address)); }
  /// The same for a caller that adopts the counted use itself; null when there is none.
  Allocation* FindCounted(std::uintptr_t address) const noexcept {
    Allocation* const found = pages_.Find(address);
    if (found == nullptr) return nullptr;
    if (found->TryUse()) [[likely]] {
      // The use makes sure that the record is live and its facts are fixed, even if it was recycled a moment
      // ago.
      if (found->Contains(address)) [[likely]]
        return found;
      found->Release();
    }
    return FindAgain(address);
  }
  /// A range that a source owns: an address there is never ordinary host memory.
  void AddSource(const AddressOwner& source);
  bool InSource(std::uintptr_t address) const;

  /// The uses of all allocations that [address, +bytes) touches, beginning with the given one. Neighbours in
  /// one reservation count as one, and registrations too if the backend says so. Fails, with the code, if the
  /// range leaves them.
  Status FindNeighbours(const AllocationUse& first, std::uintptr_t address, std::size_t bytes, Code code,
                        std::vector<AllocationUse>& more) const;
  Result<Resolved> ResolveDevice(std::uintptr_t address, std::size_t bytes, std::int32_t device,
                                 Access access) override;

  MemoryOrigin OriginOf(const Allocation& allocation) const;
  /// For an adopted allocation that the caller has a use of.
  const std::shared_ptr<MemoryKeeper>& KeeperOf(const Allocation& allocation) const {
    return static_cast<const Record&>(allocation).origin.keeper;
  }
  /// The block of a source's that the allocation is; null for adopted and registered memory.
  struct Backing {
    MemorySource* source;
    MemoryBlock block;
  };
  Backing BackingOf(const Allocation& allocation) const;
  /// The block of this allocation was given to other processes: the listener frees it when they are done.
  void MarkShared(Allocation& allocation);
  class SharedBlocks {
   public:
    virtual ~SharedBlocks() = default;
    /// The program's allocation with that serial number is gone.
    virtual void Ended(std::uint64_t serial) noexcept = 0;
    /// This process does not use the block any more.
    virtual void Free(std::uint64_t serial, MemorySource& source, const MemoryBlock& block) noexcept = 0;
    /// Frees blocks that other processes have let go of: checks some of the waiting blocks, or all. Returns
    /// true if a block was freed.
    enum class Effort : bool { kSome, kAll };
    virtual bool FreeReleased(Effort effort) noexcept = 0;
  };
  void set_shared_blocks(SharedBlocks* blocks) { shared_blocks_ = blocks; }

 private:
  /// What memory goes back to: its source, the registrar of the program's own, or its keeper.
  struct Origin {
    MemoryOrigin kind = MemoryOrigin::kDevice;
    MemorySource* source = nullptr;
    MemoryBlock block;
    HostRegistrar* registrar = nullptr;
    std::shared_ptr<MemoryKeeper> keeper;
  };
  struct Record : Allocation {
    Origin origin;
    std::atomic<bool> shared{false};
  };

  /// Whether one copy may go on from an allocation into the one that begins behind it.
  static bool Adjoin(const Allocation& one, const Allocation& next);
  /// For an address that the map had an answer for which no longer fits.
  Allocation* FindAgain(std::uintptr_t address) const noexcept;
  /// The facts, with the caller's backtrace where the settings ask for it.
  AllocationFacts FactsOf(AllocationFacts facts) const;
  /// Refuses a range of which a page is known.
  Status CheckUnknown(std::uintptr_t address, std::size_t bytes);
  static constexpr std::uint64_t kAllDevices = ~std::uint64_t{0};
  /// Devices that may read and write memory, a bit each.
  struct Rights {
    std::uint64_t readers = kAllDevices, writers = kAllDevices;
  };
  /// Makes the memory findable, in the place of a parked record if there is one for it. Throws std::bad_alloc
  /// with nothing changed.
  Result<Allocation*> Publish(AllocationFacts facts, Origin origin, const Rights& rights,
                              const Record* parked = nullptr);
  Record& TakeRecord();
  /// Takes an ended record out of the map. The caller has a use of it: nothing may be let go under the lock.
  void Unpublish(Record& record) noexcept;
  void Reclaim(Allocation& allocation) noexcept override;

  const std::unique_ptr<Backtraces> backtraces_;  // null where the settings do not ask for them
  PageMap pages_;
  mutable std::shared_mutex sources_mutex_;
  std::vector<const AddressOwner*> sources_;
  SharedBlocks* shared_blocks_ = nullptr;  // set before there are threads
  mutable std::mutex mutex_;               // writers of pages_, and the records below
  std::deque<Record> records_;
  std::vector<Record*> unused_records_;
  std::uint64_t serial_ = 0;
  FreedOrder freed_;
};

}  // namespace sampan
