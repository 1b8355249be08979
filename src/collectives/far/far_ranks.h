// Which ranks run on which host, and what is known of those on other hosts.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/system/host_identity.h"
#include "hccl/base.h"

namespace sampan::collectives {

/// Thread-safe. By the ranks of the whole communicator. In one of one host, no rank is far.
class FarRanks {
 public:
  struct Seat {
    HostIdentity host;
    u32 server = 0;  ///< of a rank table: its servers count as hosts
    s64 process = 0;
    std::string address{};  ///< of the host, for messages

    bool IsBeside(const Seat& other) const { return host == other.host && server == other.server; }
  };

  FarRanks() = default;
  FarRanks(std::vector<Seat> seats, u32 own) : seats_(std::move(seats)), own_(own) {}
  FarRanks& operator=(FarRanks&& that) noexcept {
    seats_ = std::move(that.seats_);
    own_ = that.own_;
    return *this;
  }

  bool IsFar(u32 rank) const { return !seats_.empty() && !seats_[rank].IsBeside(seats_[own_]); }
  bool any() const;
  /// Whose board the ranks of this host use: the first one of them.
  u32 BoardOwner() const;
  bool IsFirstOfItsHost(u32 rank) const;
  const Seat& seat(u32 rank) const { return seats_[rank]; }

  /// The texts of places in the programs of far ranks, as they told them.
  void KeepPlace(u32 rank, u64 place, std::string text);
  std::string PlaceText(u32 rank, u64 place) const;

 private:
  std::vector<Seat> seats_;  // set before other threads know it
  u32 own_ = 0;
  mutable std::mutex mutex_;
  std::map<std::pair<u32, u64>, std::string> places_;
};

}  // namespace sampan::collectives
