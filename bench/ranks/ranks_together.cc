// What the ranks of a measurement do together: begin at the same time, agree on results, share the machine.
#include "bench/ranks/ranks_together.h"

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "bench/measure/timing.h"
#include "check.h"

namespace bench {

using collectives::Check;

namespace {

double Slowest(hccl::RankGroup& group, double mine) {
  double slowest = 0;
  for (const std::string& text : Tell(group, std::to_string(static_cast<s64>(mine * 1e9))))
    slowest = std::max(slowest, std::stod(text) * 1e-9);
  return slowest;
}

}  // namespace

std::vector<std::string> Tell(hccl::RankGroup& group, const std::string& mine) {
  std::vector<std::vector<u8>> all;
  Check(group.Exchange({mine.begin(), mine.end()}, all));
  std::vector<std::string> texts;
  for (const std::vector<u8>& text : all)
    texts.emplace_back(text.begin(), text.end());
  return texts;
}

double SlowestRank(CommRank& rank, const std::function<void()>& work) {
  rank.Meet();
  return Slowest(rank.group(), SecondsOf(work));
}

double SlowestRank(hccl::RankGroup& group, const std::function<void()>& work) {
  Check(group.Barrier());
  return Slowest(group, SecondsOf(work));
}

std::string WhyWrongAnywhere(CommRank& rank, const OperatorCase& what) {
  for (const std::string& text : Tell(rank.group(), rank.WhyWrong(what))) {
    if (!text.empty()) return text;
  }
  return "";
}

void ShareCores(u32 ranks) {
  const char* const backend = std::getenv("SAMPAN_BACKEND");
  if (backend != nullptr && std::string(backend) != "emulated") return;
  const unsigned engines = std::max(1U, std::thread::hardware_concurrency() / ranks);
  ::setenv("SAMPAN_ENGINES", std::to_string(std::min(engines, 4U)).c_str(), 0);
}

}  // namespace bench
