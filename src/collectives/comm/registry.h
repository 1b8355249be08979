// The communicators of the process, by handle and by name.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collectives/comm/communicator.h"
#include "collectives/comm/state_callbacks.h"

namespace sampan::collectives {

/// Handles look like addresses, but are none. They are this far apart.
inline constexpr std::uintptr_t kHandleStep = 16;

/// Memory of an operator that failed. Other ranks may still be accessing it.
struct KeptMemory {
  std::vector<std::shared_ptr<HeldMemory>> held;
  std::function<bool()> is_free;  ///< whether no other rank accesses it, now and later
};

/// Thread-safe. Handles are numbers that are never reused, so a destroyed one is always detected. Never
/// destroyed: streams may still run when the process exits.
class CommRegistry {
 public:
  HcclComm Add(std::shared_ptr<Communicator> communicator);
  std::shared_ptr<Communicator> Find(HcclComm handle);
  /// The communicator with this name on the device; of any rank if `rank` is kAnyRank.
  static constexpr u32 kAnyRank = UINT32_MAX;
  HcclComm FindByName(std::string_view name, s32 device, u32 rank = kAnyRank) const;
  void Remove(HcclComm handle);

  /// Reserves a name while its communicator is being made. False: it exists, or is being made.
  bool Reserve(const std::string& name, s32 device, u32 rank);
  void Release(const std::string& name, s32 device, u32 rank);

  /// Keeps memory from being reused until it is free. Each later look for a communicator tries.
  void Keep(KeptMemory memory);

  /// Tells the other ranks of all communicators, as StreamWork::TellStanding.
  void TellStanding(u32 ways) const noexcept;

  /// A place in the program of a process, in words. Reading debug information takes long, and programs call
  /// at few places.
  std::string PlaceText(s64 process, u64 place);

  /// What the program has called when communicators change.
  StateCallbacks& state_callbacks() { return state_callbacks_; }

  /// What HcclSetConfig has set for a device: -1 if nothing.
  s32 determinism(s32 device) const;
  void set_determinism(s32 device, s32 value);

 private:
  void DropFreeMemory();

  mutable std::shared_mutex mutex_;
  std::map<HcclComm, std::shared_ptr<Communicator>> communicators_;
  std::set<std::pair<std::string, std::pair<s32, u32>>> reserved_;
  std::map<s32, s32> determinism_;
  std::uintptr_t next_ = 1;
  std::mutex kept_mutex_;
  std::list<KeptMemory> kept_;         // under it
  std::atomic<bool> has_kept_{false};  // that the list is not empty
  std::mutex places_mutex_;
  std::map<std::pair<s64, u64>, std::string> places_;
  StateCallbacks state_callbacks_;
};

CommRegistry& TheRegistry();

/// Keeps a name for a communicator that is being made.
class NameReservation {
 public:
  NameReservation(const std::string& name, s32 device, u32 rank)
      : name_(name), device_(device), rank_(rank), is_held_(TheRegistry().Reserve(name, device, rank)) {}
  ~NameReservation() {
    if (is_held_) TheRegistry().Release(name_, device_, rank_);
  }
  NameReservation(const NameReservation&) = delete;
  NameReservation& operator=(const NameReservation&) = delete;
  bool is_held() const { return is_held_; }
  /// The registry releases it with the communicator.
  void Keep() { is_held_ = false; }

 private:
  const std::string name_;
  const s32 device_;
  const u32 rank_;
  bool is_held_;
};

}  // namespace sampan::collectives
