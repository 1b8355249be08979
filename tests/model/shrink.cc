// Makes a failing program small.
#include "tests/model/shrink.h"

#include <algorithm>
#include <cstddef>

namespace sampan::model {

Program Shrink(Program program, const std::function<bool(const Program&)>& fails) {
  for (std::size_t piece = program.size() / 2; piece > 0;) {
    bool dropped = false;
    // From the end: what comes late depends on what comes early.
    for (std::size_t end = program.size(); end > 0;) {
      const std::size_t begin = end > piece ? end - piece : 0;
      Program candidate(program.begin(), program.begin() + static_cast<std::ptrdiff_t>(begin));
      candidate.insert(candidate.end(), program.begin() + static_cast<std::ptrdiff_t>(end), program.end());
      if (fails(candidate)) {
        program = std::move(candidate);
        dropped = true;
      }
      end = begin;
    }
    if (!dropped || piece > 1) piece /= 2;
    piece = std::min(piece, std::max<std::size_t>(program.size(), 1));
  }
  return program;
}

}  // namespace sampan::model
