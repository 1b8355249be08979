// What is mapped at addresses of the process.
#pragma once

#include <cstdint>
#include <vector>

#include "check/order/shape.h"

namespace sampan::check {

/// A mapping, cut to the range that was asked for.
struct Mapping {
  Range range;
  bool writable = false;  ///< and readable
  bool shared = false, anonymous = false;
  std::uint64_t device = 0, inode = 0;  ///< of its file
};

/// The mappings in a range of addresses, by address. Allocates.
std::vector<Mapping> MappingsIn(const Range& wanted);

}  // namespace sampan::check
