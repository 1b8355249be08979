// What a queue is called.
#pragma once

#include <cstdint>

namespace sampan {

/// Given at the creation of a queue. The number is never reused; the number of its stream may be.
struct QueueLabel {
  std::uint64_t number = 0;  ///< 0: no queue
  std::int32_t device = 0;
  std::uint32_t stream = 0;
};

}  // namespace sampan
