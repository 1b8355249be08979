// Measures how much of the machine other processes use during a measurement.
#pragma once

#include <optional>
#include <vector>

namespace sampan::tool {

/// Counts from its construction, on the cores that this process may use.
class BusyWatch {
 public:
  BusyWatch();

  /// The share of these cores' time that other processes used, from 0 to 1. Children count as this process
  /// after it has waited for them. Nothing if the system does not tell.
  std::optional<double> ShareOfOthers() const;

 private:
  struct Ticks {
    double busy = 0, all = 0;  ///< seconds of all cores together
    bool known = false;
  };
  Ticks ReadCores() const;

  const std::vector<int> cores_;
  const Ticks begin_;
  const double own_begin_;
};

}  // namespace sampan::tool
