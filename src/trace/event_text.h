// The events of a trace as text; docs/TRACE.md describes them.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "trace/event_line.h"
#include "trace/open_calls.h"
#include "trace/record.h"
#include "trace/trace_file.h"

namespace sampan::trace {

/// Rows of a device's area.
inline constexpr std::uint64_t kEngineRow = 1'000'000, kBlockingRow = 2'000'000, kOperatorRow = 3'000'000,
                               kLaneStep = 10'000'000;

/// A completed task with all its data.
struct FinishedTask {
  const TaskRecord& record;  ///< with its beginning and its end
  const void* more;          ///< the data behind the record
  std::uint64_t thread;      ///< the thread that submitted it
  std::uint64_t row;
  const char* executed_by;
  bool discarded;
  bool timed;  ///< the times are those of the work itself
};

/// Writes events to a file. Names areas and rows before they are first used. Not thread-safe.
class EventText {
 public:
  EventText(TraceFile& file, std::uint64_t process) : file_(file), process_(process) {}

  /// With a peer, it is a call of HCCL.
  void AddCall(std::uint64_t thread, const std::string& thread_name, const CallRecord& call,
               const Peer* peer);
  void AddWait(std::uint64_t thread, const std::string& thread_name, const WaitRecord& wait);
  void AddMemory(std::uint64_t thread, const std::string& thread_name, const MemoryRecord& memory);
  void AddStream(std::uint64_t thread, const std::string& thread_name, const StreamRecord& stream);
  /// Adds the slice in its stream and the arrow to it.
  void AddTask(const FinishedTask& task);
  /// What has not ended at that time. Kept until FlushOpen, then in the file until its next write.
  void AddOpenCall(std::uint64_t thread, const std::string& thread_name, const OpenCall& call,
                   std::int64_t now_ns);
  /// Its end is that time. `behind`: tasks that wait for it in its stream; `reason`: why it has not ended.
  void AddOpenTask(const FinishedTask& task, std::uint64_t behind, std::string_view reason);
  void FlushOpen();
  /// A task, or a share of it, on the row of an engine.
  void AddEnginePart(std::uint32_t engine, const ShareRecord& part, const char* part_name);
  /// An operator over its tasks, on a row of its own: its waits and its copies are inside.
  void AddOperator(const OperatorRecord& record);
  /// A transfer, on a row of its peer.
  void AddTransfer(std::uint64_t row, const TransferRecord& record);
  void AddQueueDepth(const QueueLabel& queue, std::int64_t time_ns, std::int64_t tasks);
  void AddBytesInFlight(std::int32_t device, std::int64_t time_ns, std::int64_t bytes);

 private:
  std::uint64_t CallsArea() const { return process_ * 128; }
  std::uint64_t DeviceArea(std::int32_t device) const {
    return process_ * 128 + 1 + static_cast<std::uint64_t>(device);
  }
  std::uint64_t PeersArea() const { return process_ * 128 + 127; }
  void NameArea(std::uint64_t area, const char* name, const std::string& label);
  void NameRow(std::uint64_t area, std::uint64_t row, const std::string& name);
  void NameThread(std::uint64_t thread, const std::string& name);
  void NameDeviceRow(std::int32_t device, std::uint64_t row);
  struct SliceLook {
    std::int64_t begin_ns, end_ns;
    bool failed = false;  ///< viewers draw it in red
  };
  /// Up to the opening bracket of the arguments.
  EventLine& BeginSlice(std::string_view area_prefix, std::string_view name, std::uint64_t area,
                        std::uint64_t row, const SliceLook& slice);
  EventLine& BeginInstant(std::string_view name, std::uint64_t thread, std::int64_t time_ns);
  void AddFlowBegin(const FinishedTask& task);
  void AddFlowEnd(const FinishedTask& task);
  void AppendCopy(const FinishedTask& task);
  void AppendMemory(const char* key, const MemoryEnd& end);
  void AppendBatch(const FinishedTask& task);
  void AppendWord(const FinishedTask& task);
  void AppendPeer(const Peer& peer);
  void AppendAwaited(summary::Awaited awaited, std::int32_t device, std::uint32_t object, std::uint64_t task);
  /// The arguments of a task that say what it is about.
  void AppendSubject(const FinishedTask& task);
  void Emit() {
    if (is_open_) {
      open_lines_.emplace_back(line_.text());
    } else {
      file_.Add(line_.text());
    }
    line_.Clear();
  }

  TraceFile& file_;
  const std::uint64_t process_;
  EventLine line_;
  bool is_open_ = false;                 // the line is of something that has not ended
  std::vector<std::string> open_lines_;  // such lines; the names of their rows go into the file before them
  std::set<std::pair<std::uint64_t, std::uint64_t>> named_;  // areas (row 0 of ~) and rows
  std::uint64_t last_named_area_ = 0, last_named_row_ = 0;
};

}  // namespace sampan::trace
