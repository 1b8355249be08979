// Decides which waits for words in device memory can be repeated.
#include "tools/sampan/replay/replay_words.h"

#include <algorithm>

namespace sampan::tool {

bool Fits(std::uint64_t word, std::uint64_t value, summary::Condition condition) {
  switch (condition) {
    case summary::Condition::kAtLeast:
      return static_cast<std::int64_t>(word - value) >= 0;
    case summary::Condition::kEqual:
      return word == value;
    case summary::Condition::kAnd:
      return (word & value) != 0;
    case summary::Condition::kNor:
      return ~(word | value) != 0;
  }
  return false;
}

std::set<std::int64_t> ReplayWords::FindOpenWaits() const {
  std::set<std::int64_t> open;
  for (const auto& [step, end_ns] : waits_) {
    const auto writes = writes_.find({step.dst.allocation, step.dst.offset});
    const bool explained =
        writes != writes_.end() &&
        std::any_of(writes->second.begin(), writes->second.end(),
                    [&wait = step, until_ns = end_ns](const Write& write) {
                      return write.end_ns <= until_ns &&
                             Fits(write.value, wait.object, static_cast<summary::Condition>(wait.detail));
                    });
    if (!explained) open.insert(step.connection);
  }
  return open;
}

}  // namespace sampan::tool
