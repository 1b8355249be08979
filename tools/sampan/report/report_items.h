// The items of a report's timeline: slices, and groups of slices if there are too many.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace sampan::tool {

/// Slices that begin within the same short time on the same track.
struct SliceGroup {
  std::size_t slices = 0;
  std::size_t copies = 0;
  std::int64_t busy_ns = 0;
  std::uint64_t bytes = 0;
  std::uint64_t min_bytes = 0;  ///< of one copy
  std::uint64_t max_bytes = 0;
  std::size_t failed = 0;
  std::uint32_t tints = 0;                                   ///< those that there are, a bit each
  std::vector<std::pair<std::uint32_t, std::size_t>> names;  ///< how many of each
  std::size_t other_names = 0;                               ///< slices whose name is not listed

  void Add(const SliceGroup& other);
};

/// One slice, or a group of them.
struct ReportItem {
  std::uint32_t track = 0;
  std::uint32_t name = 0;
  std::uint32_t tint = 0;
  std::uint32_t shape = 0;  ///< which arguments it has
  std::int64_t begin_ns = 0;
  std::int64_t duration_ns = 0;
  std::int64_t connection = 0;         ///< 0 for none
  bool is_task = false;                ///< what a stream did; its call and its engines share its connection
  std::int64_t stream = -1;            ///< -1 for none
  std::int64_t task = -1;              ///< its number in the stream
  std::optional<std::uint64_t> bytes;  ///< of a copy
  bool failed = false;                 ///< it, or one of its group
  std::string arguments;               ///< their values as JSON, joined by commas
  std::optional<SliceGroup> group;

  std::int64_t end_ns() const { return begin_ns + duration_ns; }
};

/// Takes any number of slices in any order and keeps at most `max_items` items. Merges slices that are
/// shorter than the resolution and begin in the same interval. The resolution grows until all fit.
class ReportItems {
 public:
  explicit ReportItems(std::size_t max_items) : max_items_(max_items) {}

  void Add(ReportItem item);

  /// The position of the call that submitted a task.
  struct Submission {
    std::int64_t connection;
    std::uint32_t track;
    std::int64_t at_ns;
  };
  void AddSubmission(const Submission& submission);

  /// The items ordered by track and begin, the longer first. Call it once, at the end.
  std::vector<ReportItem> Take();

  /// Of tasks that are shown by themselves.
  const std::unordered_map<std::int64_t, Submission>& submissions() const { return submissions_; }
  /// Shorter slices may be in groups; 0 if all slices are shown.
  std::int64_t resolution_ns() const { return resolution_ns_; }

 private:
  void Coarsen();
  void Forget(std::int64_t connection);

  std::size_t max_items_;
  std::int64_t resolution_ns_ = 0;
  std::vector<ReportItem> items_;
  std::unordered_map<std::int64_t, Submission> submissions_;
  std::unordered_set<std::int64_t> forgotten_;  ///< tasks in groups whose submissions have not come yet
};

}  // namespace sampan::tool
