// The error type of measurements: what was wanted and why it failed.
#pragma once

#include <stdexcept>

namespace bench {

/// A measurement that cannot go on. The message says what failed and why.
class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace bench
