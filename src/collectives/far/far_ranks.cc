// Which ranks run on which host, and what is known of those on other hosts.
#include "collectives/far/far_ranks.h"

#include <algorithm>

namespace sampan::collectives {
namespace {

/// A program calls at few places. More are not kept.
constexpr std::size_t kMaxPlaces = 10'000;

}  // namespace

bool FarRanks::any() const {
  return std::any_of(seats_.begin(), seats_.end(),
                     [&](const Seat& each) { return !each.IsBeside(seats_[own_]); });
}

u32 FarRanks::BoardOwner() const {
  u32 rank = 0;
  while (IsFar(rank))
    ++rank;
  return rank;
}

bool FarRanks::IsFirstOfItsHost(u32 rank) const {
  for (u32 before = 0; before < rank; ++before) {
    if (seats_[before].IsBeside(seats_[rank])) return false;
  }
  return true;
}

void FarRanks::KeepPlace(u32 rank, u64 place, std::string text) {
  const std::lock_guard lock(mutex_);
  if (places_.size() < kMaxPlaces) places_[{rank, place}] = std::move(text);
}

std::string FarRanks::PlaceText(u32 rank, u64 place) const {
  const std::lock_guard lock(mutex_);
  const auto found = places_.find({rank, place});
  return found == places_.end() ? std::string() : found->second;
}

}  // namespace sampan::collectives
