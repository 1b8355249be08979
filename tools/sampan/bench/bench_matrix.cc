// The cases of `sampan bench`.
#include "tools/sampan/bench/bench_matrix.h"

#include <algorithm>

#include "tools/sampan/shared/output/quantities.h"

namespace sampan::tool {
namespace {

constexpr std::string_view kHccl = "hccl";
constexpr std::string_view kAll = "all";

struct Path {
  std::string_view group;
  bench::Form form;
  bench::Place src;
  bench::Place dst;
};

std::vector<Path> AllPaths() {
  using enum bench::Form;
  using enum bench::Place;
  return {{"linear", kQueued, kPinned, kDevice},     {"linear", kQueued, kDevice, kPinned},
          {"linear", kQueued, kPageable, kDevice},   {"linear", kQueued, kDevice, kPageable},
          {"linear", kQueued, kDevice, kDevice},     {"linear", kQueued, kDevice, kPeer},
          {"2d", kRowsQueued, kPinned, kDevice},     {"2d", kRowsQueued, kDevice, kPinned},
          {"batch", kBatchQueued, kPinned, kDevice}, {"batch", kBatchQueued, kDevice, kPinned},
          {"desc", kDescriptor, kDevice, kDevice}};
}

/// Rows of 1 KiB at twice their width, and pieces of 4 KiB: like caches of attention keys and values.
bench::Shape ShapeOf(std::string_view group, std::size_t bytes) {
  if (group == "2d") {
    const std::size_t width = std::min<std::size_t>(bytes, 1024);
    return {.bytes = width, .count = bytes / width, .pitch = 2 * width};
  }
  if (group == "batch") {
    const std::size_t piece = std::min<std::size_t>(bytes, 4096);
    return {.bytes = piece, .count = bytes / piece};
  }
  return {.bytes = bytes};
}

BenchCase CaseOf(std::string_view group, const bench::CopyPlan& plan) {
  return {group,
          std::string(CallOf(plan.form)),
          PathName(plan),
          plan.shape.payload(),
          plan.shape.bytes,
          plan.shape.count,
          plan};
}

BenchCase CaseOf(const RankPlan& plan) {
  return {kHccl, CallOf(plan), PathName(plan), plan.bytes, plan.bytes, 1, plan};
}

void AddRanks(const std::vector<std::size_t>& sizes, std::vector<BenchCase>& cases) {
  using Kind = RankPlan::Kind;
  for (const Kind kind : {Kind::kCopyLocal, Kind::kCopyToPeer}) {
    for (const std::size_t bytes : sizes)
      cases.push_back(CaseOf({kind, bytes}));
  }
  cases.push_back(CaseOf({Kind::kSignal}));
}

}  // namespace

std::string BenchCase::Describe() const {
  std::string text = std::string(group) + ", ";
  if (std::holds_alternative<RankPlan>(plan)) text += call + ", ";
  return text + path + (has_rate() ? ", " + ShowBytes(bytes) : "");
}

bool HasRanks(std::string_view group) {
  return group == kHccl || group == kAll;
}

std::vector<BenchCase> BenchMatrix(std::string_view group, const std::vector<std::size_t>& sizes,
                                   bool with_peer) {
  std::vector<BenchCase> cases;
  for (const Path& path : AllPaths()) {
    if ((group != kAll && group != path.group) || (path.dst == bench::Place::kPeer && !with_peer)) continue;
    for (const std::size_t bytes : sizes)
      cases.push_back(CaseOf(path.group, {path.form, path.src, path.dst, ShapeOf(path.group, bytes)}));
  }
  if (HasRanks(group)) AddRanks(sizes, cases);
  return cases;
}

}  // namespace sampan::tool
