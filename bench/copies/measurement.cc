// Times one copy and its alternative, alternately.
#include "bench/copies/measurement.h"

#include <memory>

#include "bench/copies/alternative.h"
#include "bench/measure/acl_call.h"

namespace bench {

Measurement Measure(const CopyPlan& plan, const Session& session, std::string_view alternative,
                    const TurnLimits& limits) {
  constexpr int kWarmUps = 3;
  const std::string name = std::string(CallOf(plan.form)) + ", " + PathName(plan);
  CopyCase copy(plan);
  const aclError first = copy.Issue(session.stream());
  if (first == ACL_ERROR_RT_FEATURE_NOT_SUPPORT) return {.offered = false};
  Require(first, name.c_str());
  Require(session.Synchronize(), name.c_str());
  const auto copy_once = [&] {
    Require(copy.Issue(session.stream()), name.c_str());
    Require(session.Synchronize(), name.c_str());
  };
  for (int i = 1; i < kWarmUps; ++i)
    copy_once();
  const std::unique_ptr<Alternative> other = MakeAlternative(alternative, plan, copy);
  other->Run();
  const auto times = TakeTurns({Timed(copy_once), Timed([&] { other->Run(); })}, Until(limits));
  Measurement result{.rounds = times[0].size()};
  if (result.rounds == 0) return result;
  result.sampan = Summarize(times[0]);
  result.alternative = Summarize(times[1]);
  copy.Clear();
  copy_once();
  result.fault = copy.FindFault();
  return result;
}

}  // namespace bench
