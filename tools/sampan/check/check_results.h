// What the user hears of one run: findings that are wanted, each once.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "tools/sampan/check/finding/finding.h"
#include "tools/sampan/check/program/raw_findings.h"
#include "tools/sampan/check/suppressions.h"

namespace sampan::tool {

/// Which findings are wanted.
struct CheckFilter {
  std::set<std::string, std::less<>> only;  ///< kinds; empty: all
  bool leaks = true;
  Suppressions suppressions;
};

/// Merges what the processes of a run found. Not thread-safe.
class CheckResults {
 public:
  using Tell = std::function<void(const Finding&)>;

  /// `tell` is called for each wanted finding when it is new.
  CheckResults(const CheckFilter& filter, Tell tell) : filter_(filter), tell_(std::move(tell)) {}

  void Add(RawNews news);

  std::size_t suppressed() const { return suppressed_.size(); }
  /// Findings in the order in which they were made, with their counts.
  std::vector<Finding> Take();

 private:
  bool IsWanted(const Finding& finding);

  const CheckFilter& filter_;
  Tell tell_;
  std::vector<Finding> findings_;
  std::map<std::string, std::size_t, std::less<>> positions_;  ///< of ids
  std::map<RawNumber, std::size_t> numbers_;                   ///< positions of what a process numbered
  std::map<RawNumber, std::uint64_t> counts_;
  std::set<std::string, std::less<>> suppressed_;
};

}  // namespace sampan::tool
