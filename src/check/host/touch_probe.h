// Whether the program touches a buffer between the copies that use it.
#pragma once

#include <cstdint>

#include "check/order/shape.h"

namespace sampan::check {

/// Protecting a page costs about 0.1 us if the program has used it. It costs next to nothing if its page
/// table entry is empty. So the entries of buffers that the program leaves alone are emptied; the bytes stay
/// where they are. A few pages tell: they are emptied before one copy. If the program uses the buffer, they
/// are filled before the next one. Then emptying would cost more than it saves. Not thread-safe.
class TouchProbe {
 public:
  /// The pages are about to be kept from the program. They are shared memory.
  void BeforeGuard(const Range& pages) noexcept;

 private:
  Range probed_;   // a page that tells; empty: none
  Range emptied_;  // what the program has left alone since
  std::uint32_t guards_ = 0;
  std::uint32_t skips_ = 0;  // guards until the next try
};

}  // namespace sampan::check
