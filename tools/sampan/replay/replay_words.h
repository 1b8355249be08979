// Decides which waits for words in device memory can be repeated.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "summary/activity.h"
#include "tools/sampan/replay/replay_plan.h"

namespace sampan::tool {

/// Returns true if the word satisfies the condition of a wait.
bool Fits(std::uint64_t word, std::uint64_t value, summary::Condition condition);

/// Collects the writes and waits of a trace. A wait is repeated if a matching write completed before it.
/// Other changes of the word (by a copy, the host, another process) differ in a replay. So the wait might
/// never complete.
class ReplayWords {
 public:
  void AddWrite(const ReplayPlace& word, std::uint64_t value, std::int64_t end_ns) {
    writes_[{word.allocation, word.offset}].push_back({value, end_ns});
  }
  void AddWait(const ReplayStep& step, std::int64_t end_ns) { waits_.push_back({step, end_ns}); }

  /// The connections of waits that no write explains.
  std::set<std::int64_t> FindOpenWaits() const;

 private:
  struct Write {
    std::uint64_t value;
    std::int64_t end_ns;
  };
  struct Wait {
    ReplayStep step;
    std::int64_t end_ns;
  };

  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<Write>> writes_;  ///< by place
  std::vector<Wait> waits_;
};

}  // namespace sampan::tool
