// Memory that the runtime knows. Its owner and the tasks that use it share the record.
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

/// True if [address, +bytes) is inside [begin, +size). An empty range may begin at the end.
constexpr bool RangeHolds(std::uintptr_t begin, std::size_t size, std::uintptr_t address, std::size_t bytes) {
  return address - begin <= size && bytes <= size - (address - begin);
}

/// Reclaims an allocation when no use is left. Called on the thread that releases the last use.
class AllocationOwner {
 public:
  virtual ~AllocationOwner() = default;
  virtual void Reclaim(Allocation& allocation) noexcept = 0;
};

/// The facts of an allocation. They do not change while it has users.
struct AllocationFacts {
  std::uintptr_t address = 0;       ///< the program's address
  std::size_t bytes = 0;            ///< what copies may access
  std::size_t asked_bytes = 0;      ///< what the program asked for, before rounding
  std::ptrdiff_t engine_delta = 0;  ///< the engines' address minus the program's
  Place place;
  std::uint32_t page_bytes = 4096;
  /// Devices need rights to access it: mapped memory, and host memory registered as read-only.
  bool has_rights = false;
  /// Devices need no peer access to it.
  bool open_to_peers = false;
  /// The reservation of mapped memory. Its parts are neighbours for the engines too.
  std::uint64_t reservation = 0;
  std::uint64_t serial = 0;  ///< counts allocations of the process, for messages
  const char* made_by = "";  ///< the public call that made it
  std::string backtrace;     ///< if SAMPAN_BACKTRACE=1

  bool registered_read_only() const { return has_rights && reservation == 0; }
};

/// Counts its users: the program, until it frees it, and every task queued on it. Thread-safe. Begun and
/// ended uses have separate counts in stripes. So threads do not share a cache line, and most count without
/// an atomic operation. All counts only grow. Records are reused and never unmapped, so TryUse may be called
/// on a reused record. It then returns false, or takes a use of the successor. The caller checks the facts,
/// which a use keeps from changing.
class Allocation {
 public:
  AllocationFacts facts;

  bool Contains(std::uintptr_t address) const { return address - facts.address < facts.bytes; }
  /// Returns true if [address, +bytes) is inside the allocation.
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

  /// The program's address of what is at an engine's address.
  std::uintptr_t ProgramView(const std::byte* engine) const {
    return reinterpret_cast<std::uintptr_t>(engine) - static_cast<std::uintptr_t>(facts.engine_delta);
  }

  /// Returns true if tasks that are queued on it may run: false after the program has freed it. Memory that
  /// was freed in stream order stays valid for earlier tasks.
  bool live() const {
    const State state = StateIn(life_.load(std::memory_order_acquire));
    return state != State::kFreed && state != State::kUnused;
  }
  bool parked() const { return StateIn(life_.load(std::memory_order_seq_cst)) == State::kParked; }

  /// The devices that may read and write it, one bit each. Used only if has_rights.
  std::atomic<std::uint64_t> readers{~std::uint64_t{0}};
  std::atomic<std::uint64_t> writers{~std::uint64_t{0}};

  /// Makes it live.
  void Begin(AllocationOwner& owner) { BeginIn(State::kLive, owner); }
  /// Makes it parked: only tasks that were queued before find it.
  void BeginParked(AllocationOwner& owner) { BeginIn(State::kParked, owner); }
  /// The program frees it. Returns false if it was not live. The caller has a use: the release of the last
  /// one reclaims it.
  bool MarkFreed() noexcept { return Change(State::kLive, State::kFreed); }
  /// Keeps it for the next allocation after the program freed it. TryUse fails meanwhile.
  bool Park() noexcept { return Change(State::kLive, State::kParked); }
  bool Unpark() noexcept { return Change(State::kParked, State::kLive); }
  /// Like MarkFreed for a parked one, but tasks that are queued on it still run.
  bool Retire() noexcept {
    if (!Change(State::kParked, State::kRetired)) return false;
    ReclaimIfUnused();
    return true;
  }
  bool TryUse() noexcept {
    return TryUseIn([](State state) { return state == State::kLive; });
  }
  /// The same, also for a parked one: for tasks that were queued before it was freed in stream order.
  bool TryUseParked() noexcept {
    return TryUseIn([](State state) { return state == State::kLive || state == State::kParked; });
  }
  void Release() noexcept {
    const std::size_t stripe = ThisThreadStripe();
    CountInStripe(stripes_[stripe].ended, stripe);
    if (Ended(life_.load(std::memory_order_seq_cst))) ReclaimIfUnused();
  }

 private:
  enum class State : std::uint8_t { kUnused, kLive, kParked, kRetired, kFreed };
  // life_: the state in the lowest byte, and above it the number of the record's life.
  static constexpr std::uint64_t kNextLife = 256;
  static State StateIn(std::uint64_t life) { return static_cast<State>(static_cast<std::uint8_t>(life)); }
  static std::uint64_t WithState(std::uint64_t life, State state) {
    return (life & ~(kNextLife - 1)) | static_cast<std::uint64_t>(state);
  }
  static bool Ended(std::uint64_t life) {
    return StateIn(life) == State::kFreed || StateIn(life) == State::kRetired;
  }
  void BeginIn(State state, AllocationOwner& owner) {
    SAMPAN_ASSERT(StateIn(life_.load()) == State::kUnused);
    owner_ = &owner;
    life_.store(WithState(life_.load(std::memory_order_relaxed) + kNextLife, state),
                std::memory_order_seq_cst);
  }
  bool Change(State from, State to) noexcept {
    std::uint64_t life = life_.load(std::memory_order_relaxed);
    while (StateIn(life) == from) {
      if (life_.compare_exchange_weak(life, WithState(life, to), std::memory_order_seq_cst)) return true;
    }
    return false;
  }

  template <typename Usable>
  bool TryUseIn(Usable usable) noexcept {
    const std::size_t stripe = ThisThreadStripe();
    CountInStripe(stripes_[stripe].begun, stripe);
    if (usable(StateIn(life_.load(std::memory_order_seq_cst)))) return true;
    Release();
    return false;
  }

  struct alignas(kCacheLineBytes) Stripe {
    std::atomic<std::uint64_t> begun{0};
    std::atomic<std::uint64_t> ended{0};
  };

  /// Call it after the allocation stopped being live. Equal counts mean that no use is left: an earlier use
  /// is counted here, and a later one sees the new state and accesses nothing. SeeOwnStripes divides earlier
  /// from later. Ended uses are read first, because they never overtake the begun ones. If another thread
  /// reclaims the record meanwhile, it may be reused already.
  [[gnu::cold, gnu::noinline]] void ReclaimIfUnused() noexcept {
    std::uint64_t life = life_.load(std::memory_order_seq_cst);
    if (!Ended(life)) return;
    if (!SeeOwnStripes()) return;  // the memory stays: a use of it may not be seen
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

/// Owns one use of an allocation, or nothing (pageable memory has no record). Move-only.
class AllocationUse {
 public:
  AllocationUse() = default;
  /// Takes over a use that is already counted.
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

/// One line for messages.
inline std::string Describe(const Allocation& allocation) {
  const AllocationFacts& facts = allocation.facts;
  const std::string rounded =
      facts.bytes == facts.asked_bytes ? "" : Text(" (", facts.bytes, " with rounding)");
  return Text("allocation #", facts.serial, " [", Hex(facts.address), ", +", facts.asked_bytes, " bytes",
              rounded, ", ", Describe(facts.place), ", made by ", facts.made_by, "]",
              facts.backtrace.empty() ? "" : " at\n", facts.backtrace);
}

}  // namespace sampan
