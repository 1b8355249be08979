// The machine of a measurement.
#pragma once

#include <string>

namespace sampan::tool {

struct Machine {
  std::string processor;
  unsigned cores = 0;
  std::string system;  ///< kernel and architecture
};

Machine ThisMachine();

}  // namespace sampan::tool
