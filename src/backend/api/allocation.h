// A piece of memory that the runtime knows, shared by its owner and by the tasks that use it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "backend/api/place.h"

namespace sampan {

class Allocation;

/// Takes an allocation back when nobody uses it any more. Called on whichever thread let go last.
class AllocationOwner {
 public:
  virtual ~AllocationOwner() = default;
  virtual void Reclaim(Allocation& allocation) noexcept = 0;
};

/// What is known of an allocation; fixed while it has users.
struct AllocationFacts {
  std::uintptr_t address = 0;       ///< where the program sees it
  std::size_t bytes = 0;            ///< what copies may touch
  std::size_t asked_bytes = 0;      ///< what the program asked for, before rounding
  std::ptrdiff_t engine_delta = 0;  ///< add to the program's address to get the copy engines' view
  Place place;
  std::uint32_t page_bytes = 4096;
  std::uint64_t serial = 0;  ///< counts allocations of the process, for messages
  const char* made_by = "";  ///< the public call that made it
  std::string backtrace;     ///< where, when SAMPAN_BACKTRACE=1
};

/// Counts its users: the program (until it frees) and every task queued on it. Thread-safe. The records are
/// pooled and never unmapped, so TryUse may be called on one that is being recycled: it then answers false,
/// or takes a use of the successor, which the caller detects by looking the address up again.
class Allocation {
 public:
  AllocationFacts facts;

  bool Contains(std::uintptr_t address) const { return address - facts.address < facts.bytes; }
  /// Bytes from the address to the end of the allocation.
  std::size_t BytesFrom(std::uintptr_t address) const { return facts.bytes - (address - facts.address); }
  std::byte* EngineView(std::uintptr_t address) const {
    return reinterpret_cast<std::byte*>(address + static_cast<std::uintptr_t>(facts.engine_delta));
  }

  /// False once the program has freed it.
  bool live() const { return live_.load(std::memory_order_acquire); }
  /// The program frees it; says whether it was still live.
  bool EndLife() { return live_.exchange(false, std::memory_order_acq_rel); }

  /// Starts its life with one use, the program's.
  void Begin(AllocationOwner& owner) {
    owner_ = &owner;
    live_.store(true, std::memory_order_relaxed);
    uses_.store(1, std::memory_order_release);
  }
  bool TryUse() {
    std::uint32_t uses = uses_.load(std::memory_order_relaxed);
    while (uses != 0) {
      if (uses_.compare_exchange_weak(uses, uses + 1, std::memory_order_acquire, std::memory_order_relaxed))
        return true;
    }
    return false;
  }
  void Use() { uses_.fetch_add(1, std::memory_order_relaxed); }
  void Release() noexcept {
    if (uses_.fetch_sub(1, std::memory_order_acq_rel) == 1) owner_->Reclaim(*this);
  }

 private:
  std::atomic<std::uint32_t> uses_{0};
  std::atomic<bool> live_{false};
  AllocationOwner* owner_ = nullptr;
};

/// Holds one use of an allocation, or nothing (pageable memory has no record). Move-only.
class AllocationUse {
 public:
  AllocationUse() = default;
  /// Adopts a use that was already counted.
  explicit AllocationUse(Allocation* counted) : allocation_(counted) {}
  AllocationUse(AllocationUse&& other) noexcept : allocation_(std::exchange(other.allocation_, nullptr)) {}
  AllocationUse& operator=(AllocationUse&& other) noexcept {
    std::swap(allocation_, other.allocation_);
    return *this;
  }
  ~AllocationUse() {
    if (allocation_ != nullptr) allocation_->Release();
  }

  AllocationUse Share() const {
    if (allocation_ != nullptr) allocation_->Use();
    return AllocationUse(allocation_);
  }
  Allocation* get() const { return allocation_; }
  Allocation* operator->() const { return allocation_; }
  explicit operator bool() const { return allocation_ != nullptr; }

 private:
  Allocation* allocation_ = nullptr;
};

/// One line that names an allocation to a person.
inline std::string Describe(const Allocation& allocation) {
  const AllocationFacts& facts = allocation.facts;
  const std::string rounded =
      facts.bytes == facts.asked_bytes ? "" : Text(" (", facts.bytes, " with rounding)");
  return Text("allocation #", facts.serial, " [", Hex(facts.address), ", +", facts.asked_bytes, " bytes",
              rounded, ", ", Describe(facts.place), ", made by ", facts.made_by, "]",
              facts.backtrace.empty() ? "" : " at\n", facts.backtrace);
}

}  // namespace sampan
