// Times of one copy and of an alternative that does the same, taken in turn.
#include "measurement.h"

#include <algorithm>
#include <chrono>
#include <functional>
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

}  // namespace

Timing Summarize(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  const std::size_t last = times.size() - 1;
  return {.median_seconds = times[times.size() / 2],
          .lower_seconds = times[last / 4],
          .upper_seconds = times[last - last / 4]};
}

namespace {

/// A copy that is made over and over.
class RepeatedCopy {
 public:
  RepeatedCopy(const CopyPlan& plan, const Session& session)
      : copy_(plan), session_(session), what_(std::string(CallOf(plan.form)) + ", " + PathName(plan)) {}

  /// Warms up; false when the imitated chip has no such copy.
  bool Begin() {
    constexpr int kWarmUps = 3;
    const aclError first = copy_.Issue(session_.stream());
    if (first == ACL_ERROR_RT_FEATURE_NOT_SUPPORT) return false;
    Require(first, what_.c_str());
    Require(session_.Synchronize(), what_.c_str());
    for (int i = 1; i < kWarmUps; ++i)
      Once();
    return true;
  }
  void Once() {
    Require(copy_.Issue(session_.stream()), what_.c_str());
    Require(session_.Synchronize(), what_.c_str());
  }
  double TimeOnce() {
    const auto start = Clock::now();
    Once();
    return SecondsSince(start);
  }
  /// What is wrong with the bytes of one more.
  std::optional<std::string> Verify() {
    copy_.Clear();
    Once();
    return copy_.FindFault();
  }
  const CopyCase& copy() const { return copy_; }

 private:
  CopyCase copy_;
  const Session& session_;
  const std::string what_;
};

/// Calls `round` often enough, for about so long.
void RepeatFor(double seconds, const std::function<void()>& round) {
  constexpr std::size_t kFewestRounds = 7;
  constexpr std::size_t kMostRounds = 1'000'000;
  const auto begin = Clock::now();
  for (std::size_t rounds = 0;
       rounds < kMostRounds && !Interrupted() && (rounds < kFewestRounds || SecondsSince(begin) < seconds);
       ++rounds)
    round();
}

}  // namespace

Measurement Measure(const CopyPlan& plan, const Session& session, double seconds,
                    std::string_view alternative) {
  RepeatedCopy copy(plan, session);
  Measurement result;
  result.offered = copy.Begin();
  if (!result.offered) return result;
  const std::unique_ptr<Alternative> other = MakeAlternative(alternative, plan, copy.copy());
  other->Run();
  std::vector<double> ours;
  std::vector<double> theirs;
  RepeatFor(seconds, [&] {
    ours.push_back(copy.TimeOnce());
    const auto start = Clock::now();
    other->Run();
    theirs.push_back(SecondsSince(start));
  });
  if (ours.empty()) return result;
  result.rounds = ours.size();
  result.sampan = Summarize(std::move(ours));
  result.alternative = Summarize(std::move(theirs));
  result.fault = copy.Verify();
  return result;
}

Measurement MeasureAlone(const CopyPlan& plan, const Session& session, double seconds) {
  RepeatedCopy copy(plan, session);
  Measurement result;
  result.offered = copy.Begin();
  if (!result.offered) return result;
  std::vector<double> times;
  RepeatFor(seconds, [&] { times.push_back(copy.TimeOnce()); });
  if (times.empty()) return result;
  result.rounds = times.size();
  result.sampan = Summarize(std::move(times));
  result.fault = copy.Verify();
  return result;
}

}  // namespace sampan::tool
