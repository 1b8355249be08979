// Counts the open descriptors of the process, to find those that an input leaks.
#pragma once

#include <filesystem>
#include <iterator>

#include "tests/fuzz/fuzz_failure.h"

namespace sampan::fuzz {

inline long OpenDescriptorCount() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                       std::filesystem::directory_iterator());
}

/// For targets whose threads may still close some: fails when far more are open than one input can need.
inline void CheckDescriptorCount() {
  constexpr long kMaxDescriptors = 400;
  if (const long count = OpenDescriptorCount(); count > kMaxDescriptors)
    FailInput("descriptors are leaked", count);
}

}  // namespace sampan::fuzz
