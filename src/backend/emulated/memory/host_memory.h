// What memory the host has for the emulated devices: its own figures, and the limits of control groups.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace sampan::emulated {

/// Reads the figures at each call. The groups are those in which the process is when the object is made.
/// Thread-safe.
class HostMemory {
 public:
  /// `root` is the folder with `proc` and `sys`.
  explicit HostMemory(std::string root = "");

  /// All memory; a control group's limit if that is less. The same each time.
  std::size_t AllBytes() const;
  /// What the process can use now without harming the host.
  std::size_t AvailableBytes() const;
  /// What other programs always keep.
  std::size_t ReserveBytes() const;
  /// What is available beyond the reserve.
  std::size_t SpareBytes() const;

 private:
  const std::string root_;
  std::vector<std::string> groups_;  // folders of the process's control groups, and of the groups above
};

}  // namespace sampan::emulated
