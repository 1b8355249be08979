// Copies once on every path, and proves that the right bytes arrived and no others changed.
#include "tools/sampan/info/self_test.h"

#include <algorithm>
#include <exception>
#include <initializer_list>
#include <utility>

#include "tools/sampan/bench/copies/acl_call.h"
#include "tools/sampan/bench/copies/stopwatch.h"

namespace sampan::tool {
namespace {

/// Odd sizes, large enough that copies are split.
constexpr Shape kRunShape{.bytes = (std::size_t{1} << 20) + 13};
constexpr Shape kRowsShape{.bytes = 997, .count = 301, .pitch = 1500};
constexpr Shape kPiecesShape{.bytes = 4099, .count = 127};

/// Pairs of source and destination.
using Ways = std::vector<std::pair<Place, Place>>;

std::vector<CopyPlan> AllPaths(bool with_peer) {
  using enum Form;
  using enum Place;
  std::vector<CopyPlan> plans;
  const auto add = [&](std::initializer_list<Form> forms, const Ways& ways, const Shape& shape) {
    for (const Form form : forms) {
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

PathResult Try(const CopyPlan& plan, const Session& session) {
  PathResult result{.call = std::string(CallOf(plan.form)), .path = PathName(plan)};
  try {
    CopyCase copy(plan);
    aclError code = copy.Issue(session.stream());
    if (code == ACL_ERROR_RT_FEATURE_NOT_SUPPORT) {
      result.outcome = Outcome::kNotOffered;
      return result;
    }
    if (code == ACL_SUCCESS) code = session.Synchronize();
    if (code != ACL_SUCCESS) return Failed(result, std::to_string(code) + ": " + RecentMessage());
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

SelfTest RunSelfTest(const Session& session) {
  const Stopwatch watch;
  SelfTest test;
  for (const CopyPlan& plan : AllPaths(session.has_peer()))
    test.paths.push_back(Try(plan, session));
  test.seconds = watch.Seconds();
  return test;
}

}  // namespace sampan::tool
