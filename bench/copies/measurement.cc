// Times of one copy and of an alternative that does the same, taken in turn.
#include "bench/copies/measurement.h"

#include <algorithm>
#include <memory>

#include "bench/copies/alternative.h"
#include "bench/copies/repeated_copy.h"
#include "bench/measure/timing.h"

namespace bench {

Timing Summarize(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  const std::size_t last = times.size() - 1;
  return {.median_seconds = times[times.size() / 2],
          .lower_seconds = times[last / 4],
          .upper_seconds = times[last - last / 4]};
}

Measurement Measure(const CopyPlan& plan, const Session& session, double seconds,
                    std::string_view alternative, bool (*stopped)()) {
  RepeatedCopy copy(plan, session);
  Measurement result;
  result.offered = copy.Begin();
  if (!result.offered) return result;
  const std::unique_ptr<Alternative> other = MakeAlternative(alternative, plan, copy.copy());
  other->Run();
  std::vector<double> ours;
  std::vector<double> theirs;
  RepeatFor(seconds, stopped, [&] {
    ours.push_back(copy.TimeOnce());
    const Stopwatch watch;
    other->Run();
    theirs.push_back(watch.Seconds());
  });
  if (ours.empty()) return result;
  result.rounds = ours.size();
  result.sampan = Summarize(std::move(ours));
  result.alternative = Summarize(std::move(theirs));
  result.fault = copy.Verify();
  return result;
}

}  // namespace bench
