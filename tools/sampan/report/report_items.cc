// The items of a report's timeline: slices, and groups of slices if there are too many.
#include "tools/sampan/report/report_items.h"

#include <algorithm>
#include <tuple>

namespace sampan::tool {
namespace {

constexpr std::int64_t kFirstResolutionNs = 1000;
/// The maximum number of names in a group, because adding one searches the list.
constexpr std::size_t kMaxNames = 24;

bool ComesBefore(const ReportItem& one, const ReportItem& other) {
  return std::tuple(one.track, one.begin_ns, -one.duration_ns) <
         std::tuple(other.track, other.begin_ns, -other.duration_ns);
}

SliceGroup GroupOf(const ReportItem& item) {
  if (item.group) return *item.group;
  SliceGroup group{.slices = 1,
                   .busy_ns = item.duration_ns,
                   .failed = item.failed,
                   .tints = 1U << item.tint,
                   .names = {{item.name, 1}}};
  if (item.bytes) {
    group.copies = 1;
    group.bytes = group.min_bytes = group.max_bytes = *item.bytes;
  }
  return group;
}

/// Merges `item` into `into`, which begins earlier on the same track.
void Merge(ReportItem& into, const ReportItem& item) {
  if (!into.group) {
    into.group = GroupOf(into);
    into.connection = 0;
    into.is_task = false;
    into.bytes.reset();
    into.shape = 0;
    into.arguments = {};
  }
  if (item.stream != into.stream) into.stream = -1;
  into.group->Add(GroupOf(item));
  const std::int64_t end_ns = std::max(into.end_ns(), item.end_ns());
  into.duration_ns = end_ns - into.begin_ns;
  const auto commonest = std::max_element(into.group->names.begin(), into.group->names.end(),
                                          [](const auto& a, const auto& b) { return a.second < b.second; });
  // A failure is seen however many others are around it.
  if (item.failed || (commonest->first == item.name && !into.failed)) into.tint = item.tint;
  into.failed = into.failed || item.failed;
  into.name = commonest->first;
}

}  // namespace

void SliceGroup::Add(const SliceGroup& other) {
  if (other.copies > 0) {
    min_bytes = copies > 0 ? std::min(min_bytes, other.min_bytes) : other.min_bytes;
    max_bytes = std::max(max_bytes, other.max_bytes);
  }
  slices += other.slices;
  copies += other.copies;
  busy_ns += other.busy_ns;
  bytes += other.bytes;
  failed += other.failed;
  tints |= other.tints;
  for (const auto& [name, count] : other.names) {
    const auto same = std::find_if(names.begin(), names.end(),
                                   [&wanted = name](const auto& each) { return each.first == wanted; });
    if (same != names.end())
      same->second += count;
    else if (names.size() < kMaxNames)
      names.emplace_back(name, count);
    else
      other_names += count;
  }
  other_names += other.other_names;
}

void ReportItems::Add(ReportItem item) {
  items_.push_back(std::move(item));
  // Coarsens only at twice the limit, so that its cost is spread over many items.
  if (items_.size() >= 2 * max_items_) Coarsen();
}

void ReportItems::AddSubmission(const Submission& submission) {
  if (forgotten_.erase(submission.connection) == 0) submissions_.emplace(submission.connection, submission);
}

void ReportItems::Forget(std::int64_t connection) {
  if (submissions_.erase(connection) == 0) forgotten_.insert(connection);
}

void ReportItems::Coarsen() {
  std::sort(items_.begin(), items_.end(), ComesBefore);
  while (items_.size() > max_items_) {
    resolution_ns_ = resolution_ns_ == 0 ? kFirstResolutionNs : 2 * resolution_ns_;
    std::size_t kept = 0;
    for (ReportItem& item : items_) {
      ReportItem* const last = kept > 0 ? &items_[kept - 1] : nullptr;
      const bool joins = last != nullptr && last->track == item.track && item.duration_ns < resolution_ns_ &&
                         last->duration_ns < resolution_ns_ &&
                         item.begin_ns / resolution_ns_ == last->begin_ns / resolution_ns_;
      if (!joins) {
        if (&items_[kept] != &item) items_[kept] = std::move(item);
        ++kept;
        continue;
      }
      for (const ReportItem* lost :
           {static_cast<const ReportItem*>(last), static_cast<const ReportItem*>(&item)}) {
        if (lost->is_task) Forget(lost->connection);
      }
      Merge(*last, item);
    }
    if (kept == items_.size() && resolution_ns_ > (std::int64_t{1} << 60)) break;  // nothing is left to merge
    items_.resize(kept);
  }
}

std::vector<ReportItem> ReportItems::Take() {
  if (items_.size() > max_items_) Coarsen();
  std::sort(items_.begin(), items_.end(), ComesBefore);
  return std::move(items_);
}

}  // namespace sampan::tool
