// The order between a free and the next allocation of the same addresses, for tools that look for races.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include "base/threads/thread_sanitizer.h"

namespace sampan::core {

/// What two owners do with the same addresses, one after the other, is no race. Used only where races are
/// looked for. Not thread-safe.
class FreedOrder {
 public:
  /// The calling thread ends the range. Without memory for it, nothing is remembered.
  void Freed(std::uintptr_t address, std::size_t bytes) noexcept;
  /// The calling thread begins a range. It follows the ends of what lay there.
  void Allocated(std::uintptr_t address, std::size_t bytes);

  /// A free is an access: what uses the memory meanwhile lacks a synchronisation.
  static void TellFree(std::uintptr_t address, std::size_t bytes) noexcept;

 private:
  struct Range {
    std::uintptr_t end;
    std::shared_ptr<const races::Key> key;
  };

  std::map<std::uintptr_t, Range> freed_;  // by their beginnings; apart
};

}  // namespace sampan::core
