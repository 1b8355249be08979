// What the ranks of a measurement do together: begin at the same time, agree on results, share the machine.
#include "bench/ranks/ranks_together.h"

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "bench/measure/timing.h"
#include "check.h"
#include "verified_run.h"

namespace bench {

using collectives::Check;
using collectives::Rank;

std::vector<std::string> Tell(Rank& rank, const std::string& mine) {
  std::vector<std::vector<u8>> all;
  Check(rank.group().Exchange({mine.begin(), mine.end()}, all));
  std::vector<std::string> texts;
  for (const std::vector<u8>& text : all)
    texts.emplace_back(text.begin(), text.end());
  return texts;
}

double SlowestRank(Rank& rank, const std::function<void()>& work) {
  Check(rank.group().Barrier());
  const double seconds = SecondsOf(work);
  double slowest = 0;
  for (const std::string& text : Tell(rank, std::to_string(static_cast<s64>(seconds * 1e9))))
    slowest = std::max(slowest, std::stod(text) * 1e-9);
  return slowest;
}

std::string WhyWrong(Rank& rank, const collectives::Case& what) {
  std::string mine;
  try {
    collectives::RunVerified(rank, what);
  } catch (const collectives::Mismatch& wrong) {
    mine = wrong.what();
  }
  for (const std::string& text : Tell(rank, mine)) {
    if (!text.empty()) return text;
  }
  return "";
}

collectives::Case SizedCase(collectives::Case what, u64 size, u32 ranks) {
  what.count = 1;
  what.seed = size;
  what.count = std::max<u64>(1, size / DataSize(what, ranks));
  return what;
}

u64 DataSize(const collectives::Case& what, u32 ranks) {
  const collectives::Room room = collectives::RoomFor(what, ranks);
  return std::max(room.input_bytes, room.output_bytes);
}

void ShareCores(u32 ranks) {
  const char* const backend = std::getenv("SAMPAN_BACKEND");
  if (backend != nullptr && std::string(backend) != "emulated") return;
  const unsigned engines = std::max(1U, std::thread::hardware_concurrency() / ranks);
  ::setenv("SAMPAN_ENGINES", std::to_string(std::min(engines, 4U)).c_str(), 0);
}

}  // namespace bench
