// The arithmetic of reductions: combines a source into a destination, element by element.
#pragma once

#include <cstddef>

#include "base/reduce/reduce_types.h"

namespace sampan {

/// `count` elements in memory of any alignment.
struct ReduceOperands {
  std::byte* dst;
  const std::byte* src;
  std::size_t count;
};

/// dst[i] = dst[i] op src[i]. Integers wrap around. Halves and brain floats are added and multiplied in
/// single precision and rounded to the nearest, ties to even. Maximum and minimum of floats: -0 is less than
/// +0. A NaN on either side gives the positive quiet NaN, so the order of reductions does not matter.
void Reduce(const ReduceOperands& operands, ReduceOperation operation, ReduceElement element) noexcept;

/// For tests and benchmarks: the same with the instructions of `level`; false where this machine has none.
enum class ReduceLevel { kPlain, kAvx2 };
bool ReduceAt(ReduceLevel level, const ReduceOperands& operands, ReduceOperation operation,
              ReduceElement element) noexcept;

}  // namespace sampan
