// Times of one copy and of an alternative that does the same, taken in turn.
#include "measurement.h"

#include <algorithm>
#include <chrono>
#include <memory>

#include "acl_call.h"
#include "alternative.h"
#include "interrupt.h"

namespace sampan::tool {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

Timing Summarize(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  const std::size_t last = times.size() - 1;
  return {.median_seconds = times[times.size() / 2],
          .lower_seconds = times[last / 4],
          .upper_seconds = times[last - last / 4]};
}

}  // namespace

Measurement Measure(const CopyPlan& plan, const Session& session, double seconds,
                    std::string_view alternative) {
  constexpr int kWarmUps = 3;
  constexpr std::size_t kFewestRounds = 7;
  constexpr std::size_t kMostRounds = 1'000'000;
  CopyCase copy(plan);
  const std::string what = std::string(CallOf(plan.form)) + ", " + PathName(plan);
  const auto copy_once = [&] {
    Require(copy.Issue(session.stream()), what.c_str());
    Require(session.Synchronize(), what.c_str());
  };

  Measurement result;
  const aclError first = copy.Issue(session.stream());
  if (first == ACL_ERROR_RT_FEATURE_NOT_SUPPORT) {
    result.offered = false;
    return result;
  }
  Require(first, what.c_str());
  Require(session.Synchronize(), what.c_str());
  for (int i = 1; i < kWarmUps; ++i)
    copy_once();
  const std::unique_ptr<Alternative> other = MakeAlternative(alternative, plan, copy);
  other->Run();

  std::vector<double> ours;
  std::vector<double> theirs;
  const auto begin = Clock::now();
  while (ours.size() < kMostRounds && !Interrupted() &&
         (ours.size() < kFewestRounds || SecondsSince(begin) < seconds)) {
    auto start = Clock::now();
    copy_once();
    ours.push_back(SecondsSince(start));
    start = Clock::now();
    other->Run();
    theirs.push_back(SecondsSince(start));
  }
  if (ours.empty()) return result;
  result.rounds = ours.size();
  result.sampan = Summarize(std::move(ours));
  result.alternative = Summarize(std::move(theirs));
  copy.Clear();
  copy_once();
  result.fault = copy.FindFault();
  return result;
}

}  // namespace sampan::tool
