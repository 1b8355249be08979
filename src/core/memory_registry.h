// All memory that the runtime knows of: what lies at an address, and who still uses it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

#include "backend/api/allocation.h"
#include "backend/api/backend.h"
#include "backend/api/task.h"
#include "base/status.h"
#include "core/page_map.h"

namespace sampan {

/// How a program made memory known; decides which call may end it.
enum class MemoryOrigin : std::uint8_t { kDevice, kPinned, kRegistered };

/// Thread-safe; finding takes no lock. Freed memory goes back to its source when the last task using it is
/// over, so an address is never handed out again while a queued copy could still write there.
class MemoryRegistry final : public AddressResolver, private AllocationOwner {
 public:
  explicit MemoryRegistry(bool with_backtraces) : with_backtraces_(with_backtraces) {}

  struct AllocationRequest {
    MemorySource& source;
    Place place;
    std::size_t asked_bytes;
    std::size_t usable_bytes;  ///< what copies may touch
    const char* made_by;
    Pages pages = Pages::kBySize;
  };
  Result<void*> Allocate(const AllocationRequest& request);
  struct RegistrationRequest {
    HostRegistrar& registrar;
    void* address;
    std::size_t bytes;
    bool read_only;
    const char* made_by;
  };
  /// Makes the program's own host memory known as pinned.
  Status Register(const RegistrationRequest& request);
  /// Ends the life of the memory that begins at the address. The code is for one that does not.
  Status End(void* address, MemoryOrigin origin, Code unknown_code);
  /// Ends all memory of a device.
  void EndAllOf(std::int32_t device) noexcept;

  /// A use of the live allocation that the address lies in; empty when there is none.
  AllocationUse Find(std::uintptr_t address) const {
    Allocation* const found = pages_.Find(address);
    if (found == nullptr) return {};
    if (found->TryUse()) [[likely]] {
      // Live, and with its facts fixed by the use: whatever the record was a moment ago, it is the answer
      // now.
      AllocationUse use(found);
      if (found->Contains(address)) [[likely]]
        return use;
    }
    return FindAgain(address);
  }
  /// A range that a source owns: an address there is never ordinary host memory.
  void AddSource(const MemorySource& source);
  bool InSource(std::uintptr_t address) const;

  Result<AllocationUse> ResolveDevice(std::uintptr_t address, std::size_t bytes,
                                      std::int32_t device) override;

  MemoryOrigin OriginOf(const Allocation& allocation) const;

 private:
  /// Whom memory goes back to: its source, or the registrar of the program's own.
  struct Origin {
    MemoryOrigin kind = MemoryOrigin::kDevice;
    MemorySource* source = nullptr;
    MemoryBlock block;
    HostRegistrar* registrar = nullptr;
  };
  struct Record : Allocation {
    Origin origin;
  };

  /// For an address that the map had an answer for which no longer fits.
  AllocationUse FindAgain(std::uintptr_t address) const;
  /// The facts, with the caller's backtrace where the settings ask for it.
  AllocationFacts FactsOf(AllocationFacts facts) const;
  /// Refuses a range of which a page is known.
  Status CheckUnknown(std::uintptr_t address, std::size_t bytes);
  /// Makes the memory findable. Throws std::bad_alloc with nothing changed.
  Status Publish(AllocationFacts facts, const Origin& origin);
  Record& TakeRecord();
  /// Takes an ended record out of the map. The caller has a use of it: nothing may be let go under the lock.
  void Unpublish(Record& record) noexcept;
  void Reclaim(Allocation& allocation) noexcept override;

  const bool with_backtraces_;
  PageMap pages_;
  mutable std::shared_mutex sources_mutex_;
  std::vector<const MemorySource*> sources_;
  std::mutex mutex_;  // writers of pages_, and the records below
  std::deque<Record> records_;
  std::vector<Record*> unused_records_;
  std::uint64_t serial_ = 0;
};

}  // namespace sampan
