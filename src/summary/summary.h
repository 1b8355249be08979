// Counts what a program copied and gives advice, for a running program, a trace and a replay.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "summary/activity.h"

namespace sampan::summary {

/// One row of the table: copies of one operation and path.
struct Row {
  Operation operation = Operation::kNone;
  Path path = Path::kNone;
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;
  std::int64_t time_ns = 0;  ///< the sum of their durations
  bool timed = true;         ///< false: the device's times are unknown

  /// 10^9 bytes per second; 0 if the time is 0.
  double gigabytes_per_second() const {
    return time_ns > 0 ? static_cast<double>(bytes) / static_cast<double>(time_ns) : 0;
  }
};

/// The traffic over HCCL's links of one type.
struct LinkRow {
  std::string link;
  std::uint64_t copies = 0;  ///< including reductions
  std::uint64_t bytes = 0;
  std::int64_t time_ns = 0;  ///< the sum of their durations
  std::uint64_t signals = 0;
};

/// The traffic with a process of another host.
struct PeerRow {
  std::string peer;
  std::uint64_t transfers = 0, failed = 0;
  std::uint64_t bytes = 0, wire_bytes = 0;  ///< of those that succeeded, and of all
  std::int64_t time_ns = 0;                 ///< the sum of the durations of those that succeeded
};

/// Tasks that were asked for and not done. They are in no row and in no rate.
struct LostWork {
  std::uint64_t tasks = 0;
  std::uint64_t copies = 0;                     ///< of the tasks; fills and reductions, too
  std::uint64_t bytes = 0;                      ///< that the copies would have moved
  std::map<std::int32_t, std::uint64_t> codes;  ///< tasks by the code with which they failed
};

/// The whole summary as data.
struct Report {
  std::vector<Row> rows;  ///< by operation, then by path; without lost work
  LostWork failed;
  LostWork dropped;  ///< by an abort, a destroyed stream, or a failure before them
  std::uint64_t unfinished_count = 0;
  std::vector<std::string> unfinished;        ///< the first of them, in words
  std::uint64_t pageable_copies = 0;          ///< asynchronous calls with pageable memory
  std::uint64_t pageable_copies_blocked = 0;  ///< those that waited or copied before returning
  std::uint64_t deepest_queue = 0;
  std::int32_t deepest_queue_device = 0;
  std::uint32_t deepest_queue_stream = 0;
  std::int64_t host_wait_ns = 0;      ///< all of the next three
  std::int64_t synchronize_ns = 0;    ///< in calls that wait for the device
  std::int64_t queue_full_ns = 0;     ///< in submissions to a full stream
  std::int64_t pageable_wait_ns = 0;  ///< in copies with pageable memory, for the stream before them
  std::uint64_t calls = 0;            ///< public calls of any kind, without HCCL's
  std::uint64_t failed_calls = 0;
  std::uint64_t platform_calls = 0;  ///< of HCCL's platform layer
  std::uint64_t failed_platform_calls = 0;
  std::uint64_t kernel_copies = 0;  ///< copies and fills by kernels of a GPU
  double multiprocessor_ns = 0;     ///< their multiprocessors times their durations: at most so much
  std::vector<LinkRow> links;       ///< by name
  std::vector<PeerRow> peers;       ///< by name
  std::int64_t span_ns = 0;         ///< from the first to the last event
  std::vector<std::string> advice;  ///< a sentence or two each, with the figures that show it
};

/// Takes tasks and calls in any order. Advice about runs of copies needs the tasks of a stream in the order
/// of their submission. Memory grows with the number of streams only. Not thread-safe.
class Summary {
 public:
  void Add(const Task& task);
  void Add(const Call& call);
  void Add(const Transfer& transfer);
  void Add(const Wait& wait);
  void Add(const Depth& depth);
  void Add(const Unfinished& unfinished);

  Report MakeReport() const;

 private:
  /// Short copies of one direction, one right after the other on one stream.
  struct Run {
    std::uint64_t copies = 0, bytes = 0;
    Operation operation = Operation::kNone;
    std::int64_t first_ns = 0, last_ns = 0;  ///< of submission
    std::int64_t end_ns = 0;                 ///< of the last one
  };
  /// The sufficiently long runs of one direction.
  struct Runs {
    std::uint64_t copies = 0, bytes = 0, longest = 0;
    std::int64_t time_ns = 0;  ///< sum over all runs, from first submission to last completion
  };
  struct StreamFacts {
    Run current;
    Runs runs_in, runs_out;
    std::int64_t begin_ns = INT64_MAX, end_ns = INT64_MIN;  ///< of copies
    std::int64_t in_ns = 0, out_ns = 0;                     ///< of copies to the device and back
  };
  struct Volume {
    std::uint64_t copies = 0, bytes = 0;
    std::int64_t time_ns = 0;
  };

  void NoteTime(std::int64_t begin_ns, std::int64_t end_ns);
  void NoteLost(const Task& task);
  void NoteStream(const Task& task);
  void NoteLink(const Task& task);
  static void CloseRun(StreamFacts& stream);
  void AdviseBatch(Report& report) const;
  void AdvisePinned(Report& report) const;
  void AdviseSecondStream(Report& report) const;

  std::map<std::pair<Operation, Path>, Row> rows_;
  std::map<std::pair<std::int32_t, std::int64_t>, StreamFacts> streams_;
  std::map<std::string, LinkRow, std::less<>> links_;
  std::map<std::string, PeerRow, std::less<>> peers_;
  Volume pageable_, pinned_;  // copies between host and device, by the host's memory
  Report counted_;
  std::int64_t first_ns_ = INT64_MAX, last_ns_ = INT64_MIN;
};

/// The table and the advice as text, for a terminal.
std::string TerminalText(const Report& report);

}  // namespace sampan::summary
