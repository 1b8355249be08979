// The communicators of the process, by handle and by name.
#include "collectives/comm/registry.h"

#include <iterator>
#include <mutex>

#include "base/platform_bridge.h"

namespace sampan::collectives {
namespace {

constexpr std::uintptr_t kCommHandleBits = 0xC011EC7000000000;

}  // namespace

HcclComm CommRegistry::Add(std::shared_ptr<Communicator> communicator) {
  const std::lock_guard lock(mutex_);
  const auto handle = reinterpret_cast<HcclComm>(kCommHandleBits + kHandleStep * next_++);
  communicators_.emplace(handle, std::move(communicator));
  return handle;
}

void CommRegistry::Keep(KeptMemory memory) {
  if (memory.is_free()) return;
  const std::lock_guard lock(kept_mutex_);
  kept_.push_back(std::move(memory));
  has_kept_.store(true);
}

void CommRegistry::DropFreeMemory() {
  std::list<KeptMemory> free;  // dropped without the lock
  const std::lock_guard lock(kept_mutex_);
  for (auto each = kept_.begin(); each != kept_.end();) {
    const auto next = std::next(each);
    if (each->is_free()) free.splice(free.end(), kept_, each);
    each = next;
  }
  has_kept_.store(!kept_.empty());
}

std::shared_ptr<Communicator> CommRegistry::Find(HcclComm handle) {
  if (has_kept_.load(std::memory_order_relaxed)) DropFreeMemory();
  const std::shared_lock lock(mutex_);
  const auto found = communicators_.find(handle);
  return found == communicators_.end() ? nullptr : found->second;
}

HcclComm CommRegistry::FindByName(std::string_view name, s32 device, u32 rank) const {
  const std::shared_lock lock(mutex_);
  for (const auto& [handle, communicator] : communicators_) {
    const Communicator::Facts& facts = communicator->facts();
    if (facts.name == name && facts.device == device && (rank == kAnyRank || facts.rank == rank))
      return handle;
  }
  return nullptr;
}

void CommRegistry::Remove(HcclComm handle) {
  const std::lock_guard lock(mutex_);
  const auto found = communicators_.find(handle);
  if (found == communicators_.end()) return;
  const Communicator::Facts& facts = found->second->facts();
  reserved_.erase({facts.name, {facts.device, facts.rank}});
  communicators_.erase(found);
}

bool CommRegistry::Reserve(const std::string& name, s32 device, u32 rank) {
  const std::lock_guard lock(mutex_);
  return reserved_.emplace(name, std::pair{device, rank}).second;
}

void CommRegistry::Release(const std::string& name, s32 device, u32 rank) {
  const std::lock_guard lock(mutex_);
  reserved_.erase({name, {device, rank}});
}

void CommRegistry::TellStanding(u32 ways) const noexcept {
  const std::shared_lock lock(mutex_);
  for (const auto& [handle, communicator] : communicators_)
    communicator->TellStanding(ways);
}

std::string CommRegistry::PlaceText(s64 process, u64 place) {
  const std::lock_guard lock(places_mutex_);
  const auto [found, is_new] = places_.try_emplace({process, place});
  if (is_new) sampanDescribeCode(process, place, found->second);
  return found->second;
}

s32 CommRegistry::determinism(s32 device) const {
  const std::shared_lock lock(mutex_);
  const auto found = determinism_.find(device);
  return found == determinism_.end() ? -1 : found->second;
}

void CommRegistry::set_determinism(s32 device, s32 value) {
  const std::lock_guard lock(mutex_);
  determinism_[device] = value;
}

CommRegistry& TheRegistry() {
  static auto* const registry = new CommRegistry;
  return *registry;
}

}  // namespace sampan::collectives
