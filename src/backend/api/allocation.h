// A piece of memory that the runtime knows, shared by its owner and by the tasks that use it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "backend/api/place.h"
#include "base/error/assert.h"
#include "base/threads/thread_stripe.h"

namespace sampan {

class Allocation;

/// True if [address, +bytes) lies in [begin, +size), at the end of which it may begin if it is empty.
constexpr bool RangeHolds(std::uintptr_t begin, std::size_t size, std::uintptr_t address, std::size_t bytes) {
  return address - begin <= size && bytes <= size - (address - begin);
}

/// Takes an allocation back when no use is left. Called on the thread that ended the last one.
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
  /// Devices need rights to touch it: mapped memory, and host memory that was registered as read-only.
  bool has_rights = false;
  /// Of mapped memory: the reservation that it is part of, whose parts are neighbours for the engines too.
  std::uint64_t reservation = 0;
  std::uint64_t serial = 0;  ///< counts allocations of the process, for messages
  const char* made_by = "";  ///< the public call that made it
  std::string backtrace;     ///< where, when SAMPAN_BACKTRACE=1

  bool registered_read_only() const { return has_rights && reservation == 0; }
};

/// Counts its users: the program, until it frees, and every task queued on it. Thread-safe. Begun and ended
/// uses are counted apart and in stripes, so that threads do not share a cache line. All counts only grow.
/// Records are pooled and never unmapped, so TryUse may be called on a recycled record. It then returns
/// false, or takes a use of the successor. The caller tells the two by the facts, which the use fixes.
class Allocation {
 public:
  AllocationFacts facts;

  bool Contains(std::uintptr_t address) const { return address - facts.address < facts.bytes; }
  /// True if [address, +bytes) lies inside.
  bool Holds(std::uintptr_t address, std::size_t bytes) const {
    return RangeHolds(facts.address, facts.bytes, address, bytes);
  }
  /// Bytes from the address to the end of the allocation.
  std::size_t BytesFrom(std::uintptr_t address) const {
    SAMPAN_ASSERT(Holds(address, 0));
    return facts.bytes - (address - facts.address);
  }
  std::byte* EngineView(std::uintptr_t address) const {
    return reinterpret_cast<std::byte*>(address + static_cast<std::uintptr_t>(facts.engine_delta));
  }

  /// Whether tasks that are queued on it may run: false once the program has freed it. Memory that went back
  /// to a pool in stream order stays good for what was queued before.
  bool live() const {
    const State state = StateIn(life_.load(std::memory_order_acquire));
    return state != State::kFreed && state != State::kUnused;
  }
  bool parked() const { return StateIn(life_.load(std::memory_order_seq_cst)) == State::kParked; }

  /// Which devices may read and write it, a bit each. Used only if the facts say so.
  std::atomic<std::uint64_t> readers{~std::uint64_t{0}};
  std::atomic<std::uint64_t> writers{~std::uint64_t{0}};

  /// Starts its life.
  void Begin(AllocationOwner& owner) {
    SAMPAN_ASSERT(StateIn(life_.load()) == State::kUnused);
    owner_ = &owner;
    life_.store(WithState(life_.load(std::memory_order_relaxed) + kNextLife, State::kLive),
                std::memory_order_seq_cst);
  }
  /// The program frees it; says whether it was still live. It is reclaimed now, or with the end of the last
  /// use.
  bool EndLife() noexcept {
    if (!Change(State::kLive, State::kFreed)) return false;
    ReclaimIfUnused();
    return true;
  }
  /// The program gives it up, and it is kept for the next caller that asks: no use can begin meanwhile.
  bool Park() noexcept { return Change(State::kLive, State::kParked); }
  bool Unpark() noexcept { return Change(State::kParked, State::kLive); }
  /// Ends a parked one; like EndLife, but what is queued on it still runs.
  bool Retire() noexcept {
    if (!Change(State::kParked, State::kRetired)) return false;
    ReclaimIfUnused();
    return true;
  }
  bool TryUse() noexcept {
    stripes_[ThisThreadStripe()].begun.fetch_add(1, std::memory_order_seq_cst);
    if (StateIn(life_.load(std::memory_order_seq_cst)) == State::kLive) return true;
    Release();
    return false;
  }
  void Release() noexcept {
    stripes_[ThisThreadStripe()].ended.fetch_add(1, std::memory_order_seq_cst);
    if (Ended(life_.load(std::memory_order_seq_cst))) ReclaimIfUnused();
  }

 private:
  enum class State : std::uint8_t { kUnused, kLive, kParked, kRetired, kFreed };
  // A life: the state in the lowest byte, and above it which life of the record it is.
  static constexpr std::uint64_t kNextLife = 256;
  static State StateIn(std::uint64_t life) { return static_cast<State>(static_cast<std::uint8_t>(life)); }
  static std::uint64_t WithState(std::uint64_t life, State state) {
    return (life & ~(kNextLife - 1)) | static_cast<std::uint64_t>(state);
  }
  static bool Ended(std::uint64_t life) {
    return StateIn(life) == State::kFreed || StateIn(life) == State::kRetired;
  }
  bool Change(State from, State to) noexcept {
    std::uint64_t life = life_.load(std::memory_order_relaxed);
    while (StateIn(life) == from) {
      if (life_.compare_exchange_weak(life, WithState(life, to), std::memory_order_seq_cst)) return true;
    }
    return false;
  }

  struct alignas(kCacheLineBytes) Stripe {
    std::atomic<std::uint64_t> begun{0};
    std::atomic<std::uint64_t> ended{0};
  };

  /// Call it after the life ended. Equal counts mean that no use is left: an earlier use is counted here, and
  /// a later one sees the end of the life and touches nothing. Ended uses are read first, because they never
  /// overtake the begun ones. If another thread reclaims the record meanwhile, the record may be in its next
  /// life.
  [[gnu::cold, gnu::noinline]] void ReclaimIfUnused() noexcept {
    std::uint64_t life = life_.load(std::memory_order_seq_cst);
    if (!Ended(life)) return;
    std::uint64_t left = 0;
    for (const Stripe& stripe : stripes_)
      left -= stripe.ended.load(std::memory_order_seq_cst);
    for (const Stripe& stripe : stripes_)
      left += stripe.begun.load(std::memory_order_seq_cst);
    SAMPAN_ASSERT(left <= UINT64_MAX / 2);  // no more ends than beginnings
    if (left != 0) return;
    if (life_.compare_exchange_strong(life, WithState(life, State::kUnused))) owner_->Reclaim(*this);
  }

  std::atomic<std::uint64_t> life_{0};
  AllocationOwner* owner_ = nullptr;
  std::array<Stripe, kThreadStripes> stripes_;
};

/// Holds one use of an allocation, or nothing (pageable memory has no record). Move-only.
class AllocationUse {
 public:
  AllocationUse() = default;
  /// Adopts a use that was already counted.
  explicit AllocationUse(Allocation* counted) : allocation_(counted) {}
  AllocationUse(AllocationUse&& other) noexcept : allocation_(std::exchange(other.allocation_, nullptr)) {}
  AllocationUse& operator=(AllocationUse&& other) noexcept {
    LetGo(std::exchange(allocation_, std::exchange(other.allocation_, nullptr)));
    return *this;
  }
  ~AllocationUse() { LetGo(allocation_); }

  Allocation* get() const { return allocation_; }
  Allocation* operator->() const { return allocation_; }
  explicit operator bool() const { return allocation_ != nullptr; }

 private:
  static void LetGo(Allocation* allocation) noexcept {
    if (allocation != nullptr) allocation->Release();
  }

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
