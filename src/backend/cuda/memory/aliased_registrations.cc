// Host memory that is registered with the driver at a second address.
#include "backend/cuda/memory/aliased_registrations.h"

#include <cstdint>

#include "base/error/text.h"
#include "base/system/page_size.h"

namespace sampan::cuda {
namespace {

bool IsWholePages(const void* address, std::size_t bytes) {
  return (reinterpret_cast<std::uintptr_t>(address) | bytes) % HostPageBytes() == 0;
}

void* Moved(void* address, std::ptrdiff_t delta) {
  return static_cast<std::byte*>(address) + delta;
}

}  // namespace

bool AliasedRegistrations::Knows(const void* address) const {
  const std::lock_guard lock(mutex_);
  return aliased_.contains(address);
}

AliasedRegistrations::Alias* AliasedRegistrations::Begin(const void* address) {
  const std::lock_guard lock(mutex_);
  const auto [entry, is_new] = aliased_.try_emplace(address);
  return is_new ? &entry->second : nullptr;
}

void AliasedRegistrations::Forget(void* address, const Alias& alias) noexcept {
  if (alias.made) aliases_.Unregister(address);
  const std::lock_guard lock(mutex_);
  aliased_.erase(address);
}

Status AliasedRegistrations::Register(void* address, std::size_t bytes, bool read_only) {
  // An earlier registration may wait only until its copies are retired.
  if (Knows(address)) sweep_();
  Alias* const alias = Begin(address);
  if (alias == nullptr)
    return {Code::kHostMemoryAlreadyRegistered,
            Text("[", Hex(address), ", +", bytes, " bytes] is registered with the driver already")};
  // Without the lock: the driver's answer may lead to a sweep, which unregisters.
  try {
    Status status;
    if (IsWholePages(address, bytes)) {
      status = aliases_.Register(address, bytes, read_only);
      alias->made = status.ok();
      alias->delta = alias->made ? aliases_.EngineDelta(address) : 0;
    }
    if (status.ok()) status = registrations_.Register(Moved(address, alias->delta), bytes, read_only);
    if (!status.ok()) Forget(address, *alias);
    return status;
  } catch (...) {
    Forget(address, *alias);
    throw;
  }
}

void AliasedRegistrations::Unregister(void* address) noexcept {
  Alias alias;
  {
    const std::lock_guard lock(mutex_);
    const auto found = aliased_.find(address);
    if (found == aliased_.end()) return;
    alias = found->second;
  }
  registrations_.Unregister(Moved(address, alias.delta));
  Forget(address, alias);
}

std::ptrdiff_t AliasedRegistrations::EngineDelta(const void* address) const {
  const std::lock_guard lock(mutex_);
  const auto found = aliased_.find(address);
  return found != aliased_.end() ? found->second.delta : 0;
}

}  // namespace sampan::cuda
