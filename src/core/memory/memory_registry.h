// All memory that the runtime knows: which allocation is at an address, and its uses.
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
#include "base/error/assert.h"
#include "base/error/status.h"
#include "core/memory/freed_order.h"
#include "core/memory/origin/backtrace.h"
#include "core/memory/page_map.h"
#include "observe/observer.h"

namespace sampan::core {

/// How the memory was created. It decides which call may free it.
enum class MemoryOrigin : std::uint8_t { kDevice, kPinned, kRegistered, kMapped, kImported, kPool };

class Stream;

/// Owns the memory of an allocation that is not a block of a source. Destroyed with the last use, on the
/// thread that releases it.
class MemoryKeeper {
 public:
  virtual ~MemoryKeeper() = default;
  /// Returns true if the memory was freed in stream order and work before that free is pending.
  virtual bool FreeIsPending() const { return false; }
  /// The program frees the memory at once, while work before an earlier free is pending. Returns false if it
  /// was freed meanwhile. May throw std::bad_alloc, and then changes nothing.
  virtual bool FreeBehindPending() { return false; }
  // For memory that BeginHandover names: work of its earlier owner may still access it.
  /// Returns true if that work is over.
  virtual bool HandoverIsOver() { return true; }
  /// Makes the stream wait for that work, unless it does already. Returns the first of its waits, 0 if there
  /// is none. `memory` is the record that the caller uses.
  virtual Result<std::uint64_t> AwaitHandover(Stream& /*stream*/, Allocation& /*memory*/) {
    return std::uint64_t{0};
  }
};

/// Thread-safe. Find takes no lock. Freed memory goes back to its source when the last task that uses it
/// completes. So an address is never reused while a queued copy could write there.
class MemoryRegistry final : public AddressResolver, private AllocationOwner {
 public:
  explicit MemoryRegistry(bool with_backtraces)
      : backtraces_(with_backtraces ? std::make_unique<Backtraces>() : nullptr) {}

  struct AllocationRequest {
    MemorySource& source;
    Place place;
    std::size_t asked_bytes;
    std::size_t usable_bytes;  ///< what copies may access
    const char* made_by;
    Pages pages = Pages::kBySize;
  };
  Result<void*> Allocate(const AllocationRequest& request);
  /// Takes a block of the source. If none is free, first frees blocks that other processes have released.
  Result<MemoryBlock> TakeBlock(MemorySource& source, std::size_t bytes, Pages pages);
  struct RegistrationRequest {
    HostRegistrar& registrar;
    void* address;
    std::size_t bytes;
    bool read_only;
    const char* made_by;
  };
  /// Registers host memory of the program as pinned.
  Status Register(const RegistrationRequest& request);
  /// Registers memory that was created elsewhere. The keeper is destroyed with the last use. Returns the
  /// record, valid until the caller closes it.
  Result<Allocation*> Adopt(AllocationFacts facts, std::shared_ptr<MemoryKeeper> keeper, MemoryOrigin origin,
                            std::uint64_t devices_with_rights = ~std::uint64_t{0});
  /// Frees the memory that begins at the address. `unknown_code` is the code if there is none; `name` is the
  /// argument's name in messages. `change` tells observers whether the program frees it, or a queue behind
  /// the work that used it.
  Status End(std::string_view name, void* address, MemoryOrigin origin, Code unknown_code,
             observe::MemoryChange change = observe::MemoryChange::kFreed);
  /// Reopens a parked allocation for a caller that asks for this many bytes. It keeps its record if no fact
  /// changes and no work before its free is pending. Otherwise it gets a new one: the caller may free that,
  /// and queued tasks of the earlier owner still run. May throw std::bad_alloc, and then changes nothing.
  Allocation* Revive(Allocation& parked, std::size_t asked_bytes, bool work_is_pending);
  /// Frees a live, adopted allocation. Tasks queued on it fail. Tasks that look up its address still find a
  /// parked record, which is returned. Returns null if it was not live. May throw std::bad_alloc, and then
  /// changes nothing.
  Allocation* FreeAndLinger(Allocation& allocation);
  /// Removes an adopted, parked allocation. Tasks queued on it still run.
  void Retire(Allocation& allocation) noexcept;
  /// The same for what FreeAndLinger returned. Observers were told of the free.
  void RetireLingering(Allocation& lingering) noexcept;
  /// Memory is live before the work of its earlier owner is over. Lasts until EndHandover, or until the
  /// memory is freed at once.
  void BeginHandover(Allocation& allocation) noexcept {
    if (!static_cast<Record&>(allocation).in_handover.exchange(true)) handovers_.fetch_add(1);
  }
  void EndHandover(Allocation& allocation) noexcept {
    if (static_cast<Record&>(allocation).in_handover.exchange(false)) handovers_.fetch_sub(1);
  }
  bool AnyHandover() const { return handovers_.load(std::memory_order_relaxed) != 0; }
  /// The keeper of memory in such a handover; null for all other memory. The caller has a use of it.
  MemoryKeeper* HandoverOf(const AllocationUse& use) const;
  /// Refuses memory that work of its earlier owner may still access, for work that cannot wait.
  Status CheckHandover(const AllocationUse& use) const;
  /// The serial number of the newest allocation.
  std::uint64_t Newest() const;
  /// Frees all memory of a device up to that number.
  void EndAllOf(std::int32_t device, std::uint64_t newest) noexcept;

  /// Returns a use of the live allocation at the address, or an empty one.
  AllocationUse Find(std::uintptr_t address) const { return AllocationUse(FindCounted(address)); }
  /// The same for a queued task. It also finds memory that was freed in stream order, while work before that
  /// free is pending.
  AllocationUse FindForQueued(std::uintptr_t address) const;
  /// The live allocation that holds [address, +bytes), for a caller that adopts the counted use itself. Null
  /// does not mean that there is none: the allocation may have been made a moment ago. `bytes` is not 0.
  Allocation* FindHolding(std::uintptr_t address, std::size_t bytes) const noexcept {
    SAMPAN_ASSERT(bytes != 0);
    Allocation* const found = pages_.Find(address);
    if (found == nullptr || !found->TryUse()) return nullptr;
    // The use keeps the record live and its facts fixed, even if it was recycled a moment ago.
    if (found->Holds(address, bytes)) [[likely]]
      return found;
    found->Release();
    return nullptr;
  }
  /// Returns a use of a registration in [address, +bytes) that copies must not write, or an empty one.
  AllocationUse FindReadOnlyRegistration(std::uintptr_t address, std::size_t bytes) const;
  /// Adds a range that a source owns. An address there is never ordinary host memory.
  void AddSource(const AddressOwner& source);
  bool InSource(std::uintptr_t address) const;

  /// Finds the uses of all allocations in [address, +bytes), starting with `first`. A copy may span
  /// neighbours in one reservation, and registrations if the backend allows it. Fails with the code if the
  /// range leaves them.
  Status FindNeighbours(const AllocationUse& first, std::uintptr_t address, std::size_t bytes, Code code,
                        std::vector<AllocationUse>& more) const;
  Result<Resolved> ResolveDevice(std::uintptr_t address, std::size_t bytes, std::int32_t device,
                                 Access access) override;

  MemoryOrigin OriginOf(const Allocation& allocation) const;
  /// For an adopted allocation. The caller must have a use of it.
  const std::shared_ptr<MemoryKeeper>& KeeperOf(const Allocation& allocation) const {
    return static_cast<const Record&>(allocation).origin.keeper;
  }
  /// The source and block of an allocation; null for adopted and registered memory.
  struct Backing {
    MemorySource* source;
    MemoryBlock block;
  };
  Backing BackingOf(const Allocation& allocation) const;
  /// Other processes may import the block of this allocation. SharedBlocks frees it when they have closed it.
  void MarkShared(Allocation& allocation);
  class SharedBlocks {
   public:
    virtual ~SharedBlocks() = default;
    /// The program freed the allocation with this serial number.
    virtual void Ended(std::uint64_t serial) noexcept = 0;
    /// This process has no use of the block left.
    virtual void Free(std::uint64_t serial, MemorySource& source, const MemoryBlock& block) noexcept = 0;
    /// Frees blocks that other processes have released. Checks some or all of the parked blocks. Returns true
    /// if a block was freed.
    enum class Effort : bool { kSome, kAll };
    virtual bool FreeReleased(Effort effort) noexcept = 0;
  };
  void set_shared_blocks(SharedBlocks* blocks) { shared_blocks_ = blocks; }

 private:
  /// Where memory goes back to: its source, its registrar, or its keeper.
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
    std::atomic<bool> in_handover{false};
  };

  /// Returns true if a copy may continue from an allocation into the next one.
  static bool Adjoin(const Allocation& one, const Allocation& next);
  /// The live allocation that the address lies in, with its use counted; null when there is none.
  Allocation* FindCounted(std::uintptr_t address) const noexcept;
  /// The facts, with the caller's backtrace where the settings ask for it.
  AllocationFacts FactsOf(AllocationFacts facts) const;
  /// Refuses a range if one of its pages belongs to an allocation.
  Status CheckUnknown(std::uintptr_t address, std::size_t bytes);
  static constexpr std::uint64_t kAllDevices = ~std::uint64_t{0};
  /// The devices that may read and write the memory, one bit each.
  struct Rights {
    std::uint64_t readers = kAllDevices, writers = kAllDevices;
  };
  /// Inserts the memory into the map, in the place of a parked record if there is one. May throw
  /// std::bad_alloc, and then changes nothing.
  Result<Allocation*> Publish(AllocationFacts facts, Origin origin, const Rights& rights,
                              const Record* parked = nullptr);
  Record& TakeRecord();
  static void Tell(const Record& record, observe::MemoryChange change) noexcept;
  /// Removes a closed record from the map. The caller has a use of it, because no last use may be released
  /// under the lock.
  void Unpublish(Record& record) noexcept;
  void Reclaim(Allocation& allocation) noexcept override;

  const std::unique_ptr<Backtraces> backtraces_;  // null if the settings do not ask for them
  std::atomic<std::size_t> handovers_{0};         // read with each submission
  PageMap pages_;
  mutable std::shared_mutex sources_mutex_;
  std::vector<const AddressOwner*> sources_;
  SharedBlocks* shared_blocks_ = nullptr;  // set before other threads start
  mutable std::mutex mutex_;               // writers of pages_, and the records below
  std::atomic<std::size_t> read_only_registrations_{0};
  std::deque<Record> records_;
  std::vector<Record*> unused_records_;
  std::uint64_t serial_ = 0;
  FreedOrder freed_;
};

}  // namespace sampan::core
