// Second addresses of registered memory, which the engines use under check.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "backend/api/backend.h"
#include "base/threads/fork_lock.h"
#include "check/order/shape.h"

namespace sampan::check {

/// Gives the pages of a registration another address, so that protecting the program's addresses stops the
/// program alone. Private memory becomes shared memory with the same bytes meanwhile, and private again when
/// it is unregistered. Memory of other kinds (private files, stacks, memory that is not writable) has one
/// address. The host's accesses to it are not judged. Thread-safe. Never destroyed.
class HostAliases final : public HostRegistrar {
 public:
  Status Register(void* address, std::size_t bytes, bool read_only) override;
  void Unregister(void* address) noexcept override;
  bool joins_neighbours() const override { return true; }
  std::ptrdiff_t EngineDelta(const void* address) const override;

  /// The program frees or unmaps its addresses. Work that is queued writes to the alias from now on, and not
  /// to what the program has there next.
  void Detach(const Range& addresses) noexcept;
  /// Makes the memory of a forked child its own.
  void LeaveInChild() noexcept;

  /// True if no other process has the pages around the addresses. Allocates.
  bool IsPrivate(const Range& addresses) const;

  /// Waits while the page is moved. False if it is not. Async-signal-safe.
  static bool WaitForMove(std::uintptr_t address) noexcept;

 private:
  struct Alias {
    Range pages;                          // of the program
    std::vector<Range> moved;             // that were private
    std::uint64_t device = 0, inode = 0;  // of the file that they moved to
    std::uint32_t registrations = 1;      // the later ones came while copies of the first were queued
  };

  static bool Make(const Range& pages, Alias& alias);
  static void MakePrivate(const Alias& alias) noexcept;

  mutable ForkLock lock_{ForkLock::Rank::kLeaf};
  std::map<std::uintptr_t, Alias> aliases_;
};

}  // namespace sampan::check
