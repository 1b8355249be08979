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

/// dst[i] = dst[i] op src[i]. Integers wrap around. Sums and products of 16-bit floats are computed in single
/// precision and rounded to nearest, ties to even. For maximum and minimum, -0 is less than +0. A NaN operand
/// gives the positive quiet NaN, so the order of reductions does not matter.
void Reduce(const ReduceOperands& operands, ReduceOperation operation, ReduceElement element) noexcept;

/// For tests and benchmarks: uses the instructions of `level`. Returns false if the machine lacks them.
enum class ReduceLevel { kPlain, kAvx2 };
bool ReduceAt(ReduceLevel level, const ReduceOperands& operands, ReduceOperation operation,
              ReduceElement element) noexcept;

}  // namespace sampan
