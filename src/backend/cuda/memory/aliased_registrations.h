// Host memory that is registered with the driver at a second address. So the checker may protect the
// program's address.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>

#include "backend/api/backend.h"
#include "backend/cuda/memory/host_registrations.h"

namespace sampan::cuda {

/// Memory that is not made of whole pages keeps one address: its neighbours may be registered too, and a GPU
/// would not follow a page that moves back. Thread-safe. The registrars must outlive it.
class AliasedRegistrations final : public HostRegistrar {
 public:
  /// `sweep` retires completed tasks, which releases their memory.
  AliasedRegistrations(HostRegistrar& aliases, HostRegistrations& registrations, std::function<void()> sweep)
      : aliases_(aliases), registrations_(registrations), sweep_(std::move(sweep)) {}

  Status Register(void* address, std::size_t bytes, bool read_only) override;
  void Unregister(void* address) noexcept override;
  std::ptrdiff_t EngineDelta(const void* address) const override;
  bool joins_neighbours() const override { return registrations_.joins_neighbours(); }

 private:
  struct Alias {
    std::ptrdiff_t delta = 0;
    bool made = false;
  };

  bool Knows(const void* address) const;
  /// A new entry. Null if there is one.
  Alias* Begin(const void* address);
  void Forget(void* address, const Alias& alias) noexcept;

  HostRegistrar& aliases_;
  HostRegistrations& registrations_;
  const std::function<void()> sweep_;
  mutable std::mutex mutex_;
  std::map<const void*, Alias> aliased_;  // by the program's address
};

}  // namespace sampan::cuda
