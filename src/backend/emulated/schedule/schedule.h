// The order and the time at which an emulated device executes tasks, where the rules leave them open.
#pragma once

#include <cstdint>

namespace sampan::emulated {

struct Schedule {
  enum class Kind {
    kParallel,  ///< copy engines run as fast as they can
    kEarly,     ///< every task runs as soon as the rules permit, before its submission returns
    kLate,      ///< a task runs only when a thread waits for it
    kSeeded,    ///< a random legal order, the same for the same seed
  };
  Kind kind = Kind::kParallel;
  std::uint64_t seed = 0;
};

}  // namespace sampan::emulated
