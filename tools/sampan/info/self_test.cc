// Copies once on every path. Checks that the right bytes arrived and no others changed.
#include "tools/sampan/info/self_test.h"

#include <algorithm>
#include <exception>
#include <initializer_list>
#include <utility>

#include "bench/measure/acl_call.h"
#include "bench/measure/timing.h"

namespace sampan::tool {
namespace {

/// Odd sizes, large enough that copies are split.
constexpr bench::Shape kRunShape{.bytes = (std::size_t{1} << 20) + 13};
constexpr bench::Shape kRowsShape{.bytes = 997, .count = 301, .pitch = 1500};
constexpr bench::Shape kPiecesShape{.bytes = 4099, .count = 127};

/// Pairs of source and destination.
using Ways = std::vector<std::pair<bench::Place, bench::Place>>;

std::vector<bench::CopyPlan> AllPaths(bool with_peer) {
  using enum bench::Form;
  using enum bench::Place;
  std::vector<bench::CopyPlan> plans;
  const auto add = [&](std::initializer_list<bench::Form> forms, const Ways& ways,
                       const bench::Shape& shape) {
    for (const bench::Form form : forms) {
      for (const auto& [src, dst] : ways)
        plans.push_back({form, src, dst, shape});
    }
  };
  const Ways across = {{kPinned, kDevice}, {kDevice, kPinned}, {kPageable, kDevice}, {kDevice, kPageable}};
  add({kBlocking}, {{kPageable, kPageable}, {kPinned, kPinned}}, kRunShape);
  add({kBlocking, kQueued}, across, kRunShape);
  add({kBlocking, kQueued}, {{kDevice, kDevice}}, kRunShape);
  if (with_peer) add({kBlocking, kQueued}, {{kDevice, kPeer}, {kPeer, kDevice}}, kRunShape);
  add({kRows, kRowsQueued}, across, kRowsShape);
  add({kBatch}, across, kPiecesShape);
  add({kBatchQueued}, {{kPinned, kDevice}, {kDevice, kPinned}}, kPiecesShape);
  add({kDescriptor, kOffset}, {{kDevice, kDevice}}, kRunShape);
  add({kFill, kFillQueued}, {{kDevice, kDevice}}, kRunShape);
  return plans;
}

PathResult Failed(PathResult result, const std::string& detail) {
  result.outcome = Outcome::kFailed;
  result.detail = detail;
  return result;
}

PathResult Try(const bench::CopyPlan& plan, const bench::Session& session) {
  PathResult result{.call = std::string(CallOf(plan.form)), .path = PathName(plan)};
  try {
    bench::CopyCase copy(plan);
    aclError code = copy.Issue(session.stream());
    if (code == ACL_ERROR_RT_FEATURE_NOT_SUPPORT) {
      result.outcome = Outcome::kNotOffered;
      return result;
    }
    if (code == ACL_SUCCESS) code = session.Synchronize();
    if (code != ACL_SUCCESS) return Failed(result, std::to_string(code) + ": " + bench::RecentMessage());
    if (const auto fault = copy.FindFault()) return Failed(result, *fault);
    result.outcome = Outcome::kVerified;
    return result;
  } catch (const std::exception& error) {
    return Failed(result, error.what());
  }
}

}  // namespace

std::string_view NameOf(Outcome outcome) {
  switch (outcome) {
    case Outcome::kVerified:
      return "verified";
    case Outcome::kNotOffered:
      return "not offered";
    case Outcome::kFailed:
      return "FAILED";
  }
  return "";
}

std::size_t SelfTest::Count(Outcome outcome) const {
  return static_cast<std::size_t>(std::count_if(
      paths.begin(), paths.end(), [&](const PathResult& result) { return result.outcome == outcome; }));
}

SelfTest RunSelfTest(const bench::Session& session) {
  const bench::Stopwatch watch;
  SelfTest test;
  for (const bench::CopyPlan& plan : AllPaths(session.has_peer()))
    test.paths.push_back(Try(plan, session));
  test.seconds = watch.Seconds();
  return test;
}

}  // namespace sampan::tool
