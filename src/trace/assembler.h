// Combines the records of all threads: submissions with executions, and both with the counters.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "summary/summary.h"
#include "trace/counters.h"
#include "trace/event_text.h"
#include "trace/thread_buffer.h"
#include "trace/trace_file.h"

namespace sampan::trace {

/// Takes records in any order. Keeps pending submissions; the depth of queues limits them. Not thread-safe.
class Assembler {
 public:
  /// The file may be null.
  Assembler(TraceFile* file, summary::Summary& summary, std::uint64_t process);

  void Take(const ThreadBuffer& thread, const RecordHead& record);
  /// By the queue's number: what it is held at, in words.
  using Reasons = std::unordered_map<std::uint64_t, std::string>;
  enum class Open { kLong, kAll };
  /// Adds calls and tasks that have not ended: those that last for long already, until the next time; or
  /// all that there are, for good.
  void AddOpen(std::span<const std::shared_ptr<ThreadBuffer>> threads, std::int64_t now_ns, Open which,
               const Reasons& reasons);
  /// The same, all of them, to another summary alone.
  void CountOpen(std::span<const std::shared_ptr<ThreadBuffer>> threads, std::int64_t now_ns,
                 summary::Summary& summary) const;
  /// All records before that time have been taken.
  void Advance(std::int64_t time_ns) { counters_.Advance(time_ns); }
  void Finish() { counters_.Finish(); }

 private:
  struct TaskId {
    std::uint64_t queue, task;
    bool operator==(const TaskId&) const = default;
  };
  struct TaskIdHash {
    std::size_t operator()(const TaskId& id) const {
      return static_cast<std::size_t>((id.queue << 40) ^ (id.task * 0x9E3779B97F4A7C15U));
    }
  };
  struct Submitted {
    TaskRecord record;
    std::vector<std::byte> more;
    std::uint64_t thread;
  };
  struct Executed {
    ExecutionRecord record;
    const char* executed_by;
    std::array<MemoryEnd, 2> ends{};  // if the record has them
  };
  /// The first task of a queue that is not over.
  struct OpenTask {
    const Submitted* task;
    std::uint64_t behind;  ///< tasks that wait for it in its queue
    std::int64_t begin_ns;
  };

  void TakeCall(const ThreadBuffer& thread, const CallRecord& call);
  void TakeTask(const ThreadBuffer& thread, const TaskRecord& task);
  void TakeShortCopy(const ThreadBuffer& thread, const ShortCopyRecord& copy);
  void TakeExecution(const ThreadBuffer& thread, const ExecutionRecord& execution);
  void Join(TaskRecord task, const void* more, std::uint64_t thread, const Executed& executed);
  void Finished(const FinishedTask& task);
  void AddOpenCall(const ThreadBuffer& thread, const OpenCall& call, std::int64_t now_ns, Open which);
  void AddOpenTasks(std::int64_t now_ns, Open which, const Reasons& reasons);
  std::vector<OpenTask> OpenTasks(std::int64_t now_ns) const;
  static summary::Unfinished UnfinishedOf(const ThreadBuffer& thread, const OpenCall& call,
                                          std::int64_t now_ns);
  static summary::Unfinished UnfinishedOf(const OpenTask& open, std::int64_t now_ns, std::string_view why);
  void TakeTransfer(const TransferRecord& transfer);
  using Lanes = std::vector<std::int64_t>;  // rows of things that overlap: when each becomes free
  /// Takes the first row that is free at `begin_ns`, until `end_ns`. Returns its number in rows.
  static std::uint64_t TakeLane(Lanes& lanes, std::int64_t begin_ns, std::int64_t end_ns);

  std::optional<EventText> events_;  // nothing without a file
  summary::Summary& summary_;
  Counters counters_;
  std::unordered_map<TaskId, Submitted, TaskIdHash> submitted_;
  std::unordered_map<TaskId, Executed, TaskIdHash> executed_;
  std::map<std::int32_t, Lanes> lanes_;  // of blocking copies
  struct PeerRows {
    std::uint64_t number = 0;
    Lanes lanes;
  };
  std::map<std::string, PeerRows, std::less<>> peers_;         // of other hosts
  std::unordered_map<std::uint64_t, std::int64_t> last_ends_;  // of the tasks of each living queue
};

}  // namespace sampan::trace
