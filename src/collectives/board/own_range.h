// The device memory that ranks of this process have told other ranks of.
#pragma once

#include <cstddef>

#include "hccl/base.h"

namespace sampan::collectives {

/// A range that a rank of this process has announced, for as long as others may access it. Ranks of one
/// process access each other's memory by address: an address that is not known here is nonsense. Move-only.
class OwnRange {
 public:
  OwnRange() = default;
  OwnRange(const std::byte* engine, u64 bytes);
  ~OwnRange();
  OwnRange(OwnRange&& that) noexcept;
  OwnRange& operator=(OwnRange&& that) noexcept;

  /// Whether such a range exists now. Thread-safe.
  static bool IsKnown(const std::byte* engine, u64 bytes);

 private:
  const std::byte* engine_ = nullptr;
  u64 bytes_ = 0;
};

}  // namespace sampan::collectives
