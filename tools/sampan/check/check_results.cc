// What the user hears of one run: findings that are wanted, each once.
#include "tools/sampan/check/check_results.h"

#include <algorithm>

namespace sampan::tool {

std::size_t CheckedRun::CountErrors() const {
  return static_cast<std::size_t>(std::count_if(findings.begin(), findings.end(),
                                                [](const Finding& finding) { return finding.is_error; }));
}

bool CheckResults::IsWanted(const Finding& finding) {
  if (!filter_.only.empty() && !filter_.only.contains(finding.kind)) return false;
  if (!filter_.leaks && finding.kind == "leak") return false;
  if (!filter_.suppressions.Match(finding)) return true;
  suppressed_.insert(finding.id);
  return false;
}

void CheckResults::Add(RawNews news) {
  if (news.count) {
    if (const auto counted = counts_.find(news.of); counted != counts_.end()) counted->second = *news.count;
    return;
  }
  if (!news.finding || !IsWanted(*news.finding)) return;
  const auto [position, is_new] = positions_.try_emplace(news.finding->id, findings_.size());
  numbers_[news.of] = position->second;
  counts_[news.of] = 1;
  if (!is_new) return;
  findings_.push_back(std::move(*news.finding));
  tell_(findings_.back());
}

std::vector<Finding> CheckResults::Take() {
  for (Finding& finding : findings_)
    finding.count = 0;
  for (const auto& [number, position] : numbers_)
    findings_[position].count += counts_[number];
  return std::move(findings_);
}

}  // namespace sampan::tool
