// A copy that is made over and over, for its times.
#include "bench/copies/repeated_copy.h"

#include "bench/measure/acl_call.h"
#include "bench/measure/timing.h"

namespace bench {

RepeatedCopy::RepeatedCopy(const CopyPlan& plan, const Session& session)
    : copy_(plan), session_(session), name_(std::string(CallOf(plan.form)) + ", " + PathName(plan)) {}

bool RepeatedCopy::Begin() {
  constexpr int kWarmUps = 3;
  const aclError first = copy_.Issue(session_.stream());
  if (first == ACL_ERROR_RT_FEATURE_NOT_SUPPORT) return false;
  Require(first, name_.c_str());
  Require(session_.Synchronize(), name_.c_str());
  for (int i = 1; i < kWarmUps; ++i)
    Once();
  return true;
}

void RepeatedCopy::Once() {
  Require(copy_.Issue(session_.stream()), name_.c_str());
  Require(session_.Synchronize(), name_.c_str());
}

double RepeatedCopy::TimeOnce() {
  const Stopwatch watch;
  Once();
  return watch.Seconds();
}

std::optional<std::string> RepeatedCopy::Verify() {
  copy_.Clear();
  Once();
  return copy_.FindFault();
}

void RepeatFor(double seconds, bool (*stopped)(), const std::function<void()>& round) {
  constexpr std::size_t kFewestRounds = 7;
  constexpr std::size_t kMostRounds = 1'000'000;
  const Stopwatch watch;
  for (std::size_t rounds = 0;
       rounds < kMostRounds && !stopped() && (rounds < kFewestRounds || watch.Seconds() < seconds); ++rounds)
    round();
}

}  // namespace bench
