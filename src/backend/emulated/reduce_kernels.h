// The arithmetic of a copy engine: combines a source into a destination, element by element.
#pragma once

#include "backend/api/task.h"

namespace sampan::emulated {

constexpr std::size_t ElementBytes(ReduceTask::Element element) {
  switch (element) {
    case ReduceTask::Element::kInt8:
      return 1;
    case ReduceTask::Element::kInt16:
    case ReduceTask::Element::kHalf:
    case ReduceTask::Element::kBrainFloat:
      return 2;
    case ReduceTask::Element::kInt32:
    case ReduceTask::Element::kFloat:
      return 4;
  }
  return 1;
}

/// dst[i] = dst[i] op src[i], any alignment; the bytes are whole elements. Integers wrap around, halves and
/// brain floats are added in single precision and rounded to the nearest, ties to even.
void Reduce(const Segment& segment, ReduceTask::Operation operation, ReduceTask::Element element) noexcept;

}  // namespace sampan::emulated
