// Times one copy and its alternative, alternately.
#include "bench/copies/measurement.h"

#include <array>
#include <memory>

#include "bench/copies/alternative.h"
#include "bench/measure/acl_call.h"

namespace bench {
namespace {

/// Two events of the runtime.
class TwoEvents {
 public:
  TwoEvents() {
    for (aclrtEvent& event : events_)
      BENCH_ACL(aclrtCreateEvent(&event));
  }
  ~TwoEvents() {
    for (aclrtEvent event : events_)
      ::aclrtDestroyEvent(event);
  }
  TwoEvents(const TwoEvents&) = delete;
  TwoEvents& operator=(const TwoEvents&) = delete;

  aclrtEvent operator[](int which) const { return events_[static_cast<std::size_t>(which)]; }

 private:
  std::array<aclrtEvent, 2> events_{};
};

Disturbance MeasureBeside(DisturbanceMeter& meter, CopyCase& copy, const Measurement& alone,
                          const CopyPlan& plan, const Session& session) {
  const TwoEvents events;
  return meter.Measure(
      {.bytes = plan.shape.payload(),
       .submit = [&](int) { BENCH_ACL(copy.Issue(session.stream())); },
       .record = [&](int which) { BENCH_ACL(aclrtRecordEvent(events[which], session.stream())); },
       .await = [&](int which) { BENCH_ACL(aclrtSynchronizeEvent(events[which])); },
       .drain = [&] { BENCH_ACL(session.Synchronize()); },
       .seconds = alone.sampan.median_seconds});
}

}  // namespace

Measurement Measure(const CopyPlan& plan, const Session& session, std::string_view alternative,
                    const TurnLimits& limits, DisturbanceMeter* meter) {
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
  if (meter != nullptr) result.beside = MeasureBeside(*meter, copy, result, plan, session);
  copy.Clear();
  copy_once();
  result.fault = copy.FindFault();
  return result;
}

}  // namespace bench
