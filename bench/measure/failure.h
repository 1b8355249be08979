// The error type of measurements.
#pragma once

#include <stdexcept>

namespace bench {

/// A measurement that cannot continue. The message says what failed and why.
class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace bench
