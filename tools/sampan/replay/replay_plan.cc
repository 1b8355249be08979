// The steps of a replay: the copies of a trace, and everything that orders them.
#include "tools/sampan/replay/replay_plan.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "summary/activity_words.h"
#include "tools/sampan/replay/replay_fields.h"
#include "tools/sampan/replay/replay_order.h"
#include "tools/sampan/replay/replay_shape.h"
#include "tools/sampan/replay/replay_words.h"
#include "tools/sampan/shared/process/interrupt.h"
#include "tools/sampan/shared/trace/trace_summary.h"

namespace sampan::tool {
namespace {

using Kind = ReplayStep::Kind;
using summary::Form;
using summary::Operation;
using summary::TaskType;

class Planner {
 public:
  void Add(const TraceEvent& event);
  ReplayPlan Take(TraceFacts facts);

 private:
  void AddTask(const TraceEvent& event);
  void AddCopy(const TraceEvent& event, ReplayStep step);
  void AddWord(const TraceEvent& event, ReplayStep step);
  void AddCall(const TraceEvent& event);
  void AddRecord(const TraceEvent& event);
  bool TakeShape(const TraceEvent& event, ReplayStep& step);
  bool TakeBatch(const TraceEvent& event, ReplayStep& step);
  void LeaveOut(const std::string& what) { ++left_out_[what]; }
  void Touch(const ReplayPlace& place, std::uint64_t bytes, std::int32_t device);
  std::uint32_t ThreadOf(std::int64_t number);

  void LeaveOutOpenNotifies();
  void LeaveOutOpenWords();
  void Order();

  ReplayPlan plan_;
  ReplayWords words_;
  summary::Summary summary_;
  struct Submitter {
    std::int64_t thread = -1;
    std::int64_t call_ns = -1;  ///< begin of the call that submitted it; -1 if unknown
  };

  std::unordered_map<std::int64_t, Submitter> submitters_;  ///< by connection
  std::map<std::int64_t, std::uint32_t> threads_;
  std::map<std::string, std::size_t> left_out_;
};

std::uint32_t Planner::ThreadOf(std::int64_t number) {
  return threads_.try_emplace(number, static_cast<std::uint32_t>(threads_.size())).first->second;
}

void Planner::Add(const TraceEvent& event) {
  StopIfInterrupted();
  AddTo(summary_, event);
  if (IsTask(event)) {
    AddTask(event);
  } else if (event.phase == 'X' && DeviceOf(event) < 0) {
    AddCall(event);
  } else if (event.phase == 'i') {
    AddRecord(event);
  } else if (event.phase == 's') {
    std::int64_t connection = 0;
    std::from_chars(event.id.data(), event.id.data() + event.id.size(), connection);
    submitters_[connection].thread = event.thread;
  }
}

void Planner::AddTask(const TraceEvent& event) {
  ReplayStep step{.device = DeviceOf(event), .at_ns = SubmittedNs(event), .line = event.line};
  step.stream = event.Count("Stream Id", -1);
  step.task = event.Count("Task Id", -1);
  step.connection = event.Count("connection_id");
  if (IsUnfinished(event)) {
    LeaveOut("tasks that had not ended");
    return;
  }
  if (event.Find("discarded") != nullptr || event.Find("status") != nullptr) {
    LeaveOut("tasks that failed or were dropped");
    return;
  }
  if (step.task >= 0 && step.stream < 0) {
    LeaveOut("tasks without a stream");
    return;
  }
  switch (summary::Parse<TaskType>(event.Text("Task Type")).value_or(TaskType::kOther)) {
    case TaskType::kMemcpyAsync:
    case TaskType::kMemcpy:
    case TaskType::kMemsetAsync:
    case TaskType::kMemset:
    case TaskType::kReduceAsync:
      AddCopy(event, step);
      return;
    case TaskType::kEventRecord:
      step.kind = Kind::kRecordEvent;
      break;
    case TaskType::kEventWait:
      step.kind = Kind::kWaitForEvent;
      break;
    case TaskType::kEventReset:
      step.kind = Kind::kResetEvent;
      break;
    case TaskType::kNotifyRecord:
      step.kind = Kind::kRecordNotify;
      break;
    case TaskType::kNotifyWait:
      step.kind = Kind::kWaitForNotify;
      break;
    case TaskType::kValueWrite:
      step.kind = Kind::kWriteValue;
      AddWord(event, step);
      return;
    case TaskType::kValueWait:
      step.kind = Kind::kWaitForValue;
      AddWord(event, step);
      return;
    case TaskType::kHostFunction:
      step.kind = Kind::kHostFunction;
      step.bytes = static_cast<std::uint64_t>(event.duration_ns);
      break;
    case TaskType::kOther:
      LeaveOut("other tasks");
      return;
  }
  if (step.kind == Kind::kHostFunction) {
    plan_.steps.push_back(step);
    return;
  }
  const bool is_notify = step.kind == Kind::kRecordNotify || step.kind == Kind::kWaitForNotify;
  step.object = static_cast<std::uint64_t>(event.Count(is_notify ? "Notify Id" : "Event Id"));
  plan_.steps.push_back(step);
}

void Planner::AddCopy(const TraceEvent& event, ReplayStep step) {
  step.form = summary::Parse<Form>(event.Text("form")).value_or(Form::kNone);
  step.operation = summary::Parse<Operation>(event.Text("operation")).value_or(Operation::kNone);
  step.bytes = static_cast<std::uint64_t>(event.Count("size(B)"));
  // An asynchronous call with pageable memory blocks too, and has a stream.
  step.blocking = step.stream < 0;
  const bool is_indirect = step.form == Form::kDescriptor || step.form == Form::kOffset;
  if (is_indirect && event.Find("dst") == nullptr) {
    LeaveOut("copies whose operands only the device knew");
    return;
  }
  if (step.operation == Operation::kNone || step.bytes == 0 || !TakeShape(event, step)) {
    LeaveOut("copies whose shape is not in the trace");
    return;
  }
  ++plan_.copies;
  plan_.bytes += step.bytes;
  plan_.steps.push_back(step);
}

void Planner::AddWord(const TraceEvent& event, ReplayStep step) {
  const TraceJson* const value = event.Find("value");
  if (value == nullptr || !ReadPlace(event, "word", step.dst, step.dst_device)) {
    LeaveOut("words whose place is not in the trace");
    return;
  }
  step.object = ToAddress(*value);
  const std::int64_t end_ns = event.begin_ns + event.duration_ns;
  if (step.kind == Kind::kWriteValue) {
    words_.AddWrite(step.dst, step.object, end_ns);
  } else {
    step.detail = static_cast<std::size_t>(
        summary::Parse<summary::Condition>(event.Text("condition")).value_or(summary::Condition::kAtLeast));
    words_.AddWait(step, end_ns);
  }
  Touch(step.dst, sizeof(std::uint64_t), step.dst_device);
  plan_.steps.push_back(step);
}

bool Planner::TakeShape(const TraceEvent& event, ReplayStep& step) {
  std::uint64_t dst_bytes = step.bytes;
  std::uint64_t src_bytes = step.bytes;
  if (step.form == Form::kRows) {
    const TraceJson* const shape = event.Find("rows");
    if (shape == nullptr || !shape->is_object()) return false;
    ReplayRows rows{.width = UnsignedField(*shape, "width", 0),
                    .height = UnsignedField(*shape, "height", 0),
                    .dst_pitch = UnsignedField(*shape, "dst_pitch", 0),
                    .src_pitch = UnsignedField(*shape, "src_pitch", 0)};
    if (rows.height == 0 || step.bytes % rows.height != 0 || step.bytes / rows.height != rows.width)
      return false;
    const auto dst_extent = RowsExtent(rows.width, rows.height, rows.dst_pitch);
    const auto src_extent = RowsExtent(rows.width, rows.height, rows.src_pitch);
    if (!dst_extent || !src_extent) return false;
    dst_bytes = *dst_extent;
    src_bytes = *src_extent;
    step.detail = plan_.rows.size();
    plan_.rows.push_back(rows);
  }
  if (step.form == Form::kReduce) {
    const auto operation = summary::Parse<ReduceOperation>(event.Text("reduction"));
    const auto element = summary::Parse<ReduceElement>(event.Text("data_type"));
    if (!operation || !element) return false;
    step.detail = plan_.reductions.size();
    plan_.reductions.push_back({*operation, *element});
  }
  if (!ReadPlace(event, "dst", step.dst, step.dst_device)) return false;
  if (step.form != Form::kFill && !ReadPlace(event, "src", step.src, step.src_device)) return false;
  if (step.form == Form::kBatch) return TakeBatch(event, step);
  Touch(step.dst, dst_bytes, step.dst_device);
  if (step.form != Form::kFill) Touch(step.src, src_bytes, step.src_device);
  return step.form != Form::kNone;
}

bool Planner::TakeBatch(const TraceEvent& event, ReplayStep& step) {
  std::optional<std::vector<ReplayPiece>> pieces = ReadPieces(event, step.bytes);
  if (!pieces) return false;
  for (const ReplayPiece& piece : *pieces) {
    Touch(piece.dst, piece.bytes, step.dst_device);
    Touch(piece.src, piece.bytes, step.src_device);
  }
  step.detail = plan_.batches.size();
  plan_.batches.push_back(std::move(*pieces));
  return true;
}

/// Makes sure that the memory exists when the copy runs.
void Planner::Touch(const ReplayPlace& place, std::uint64_t bytes, std::int32_t device) {
  if (place.allocation == 0) {
    plan_.pageable.emplace_back(place.offset, place.offset + bytes);
    // Kept short while the trace is read: a loop over one buffer is one range.
    if (plan_.pageable.size() >= 100'000) JoinRanges(plan_.pageable);
    return;
  }
  ReplayAllocation& allocation =
      plan_.allocations.try_emplace(place.allocation, ReplayAllocation{.device = device}).first->second;
  allocation.bytes = std::max(allocation.bytes, place.offset + bytes);
}

void Planner::AddCall(const TraceEvent& event) {
  if (event.Text("level") == "hccl") return;  // the trace also has the calls inside of it
  if (const std::int64_t connection = event.Count("connection_id"); connection != 0)
    submitters_[connection].call_ns = event.begin_ns;
  const std::string_view awaited = event.Text("waits");
  if (awaited.empty()) return;
  if (event.Number("code") != 0 || IsUnfinished(event)) {
    LeaveOut("waits that failed or ran out of time");
    return;
  }
  ReplayStep step{.device = std::max(event.Device("Device Id"), 0), .at_ns = event.begin_ns};
  step.line = event.line;
  step.thread = ThreadOf(event.thread);
  step.stream = event.Count("Stream Id", -1);
  step.object = static_cast<std::uint64_t>(event.Count("Event Id"));
  step.kind = awaited == "stream"  ? Kind::kSynchronizeStream
              : awaited == "event" ? Kind::kSynchronizeEvent
                                   : Kind::kSynchronizeDevice;
  plan_.steps.push_back(step);
}

void Planner::AddRecord(const TraceEvent& event) {
  ReplayStep step{.device = event.Device("Device Id"), .at_ns = event.begin_ns};
  step.line = event.line;
  step.thread = ThreadOf(event.thread);
  step.stream = event.Count("Stream Id", -1);
  step.object = static_cast<std::uint64_t>(event.Count("allocation"));
  if (event.name == "Memory@allocate") {
    step.kind = Kind::kAllocate;
    ReplayAllocation& allocation = plan_.allocations[step.object];
    allocation.bytes = std::max(allocation.bytes, static_cast<std::uint64_t>(event.Count("size(B)")));
    allocation.device = event.Text("place") == "device" ? step.device : -1;
  } else if (event.name == "Memory@free") {
    step.kind = Kind::kFree;
  } else if (event.name == "Stream@create") {
    step.kind = Kind::kCreateStream;
    const TraceJson* const is_default = event.Find("default");
    if (is_default != nullptr && *is_default == true)
      plan_.default_streams[{step.device, step.stream}] = true;
  } else if (event.name == "Stream@destroy") {
    step.kind = Kind::kDestroyStream;
  } else {
    return;
  }
  plan_.steps.push_back(step);
}

/// Without a record in this trace, a wait for a notify never completes.
void Planner::LeaveOutOpenNotifies() {
  std::map<std::uint64_t, std::int64_t> records;
  for (const ReplayStep& step : plan_.steps) {
    if (step.kind == Kind::kRecordNotify) ++records[step.object];
    if (step.kind == Kind::kWaitForNotify) --records[step.object];
  }
  std::erase_if(plan_.steps, [&](const ReplayStep& step) {
    const bool is_open =
        (step.kind == Kind::kRecordNotify || step.kind == Kind::kWaitForNotify) && records[step.object] != 0;
    if (is_open) LeaveOut("notifies of other processes");
    return is_open;
  });
}

void Planner::LeaveOutOpenWords() {
  const std::set<std::int64_t> open = words_.FindOpenWaits();
  std::erase_if(plan_.steps, [&](const ReplayStep& step) {
    const bool is_open = step.kind == Kind::kWaitForValue && open.contains(step.connection);
    if (is_open) LeaveOut("waits for words that no write of the trace explains");
    return is_open;
  });
}

void Planner::Order() {
  for (ReplayStep& step : plan_.steps) {
    step.due_ns = step.at_ns;
    if (step.connection == 0) continue;
    const Submitter& submitter = submitters_[step.connection];
    step.thread = ThreadOf(submitter.thread);
    // A task may have waited for a free slot of its stream before it was submitted. The replay will wait
    // again.
    if (submitter.call_ns >= 0) step.due_ns = submitter.call_ns;
    // So may a copy of pageable memory. Other steps do not have to wait for it.
    if (step.task < 0) step.at_ns = step.due_ns;
  }
  submitters_ = {};  // frees as much memory as the steps take
  std::stable_sort(plan_.steps.begin(), plan_.steps.end(),
                   [](const ReplayStep& one, const ReplayStep& other) {
                     return std::tuple(one.at_ns, one.line) < std::tuple(other.at_ns, other.line);
                   });
  KeepOrderOfStreams(plan_.steps);
  std::int64_t first_ns = std::numeric_limits<std::int64_t>::max();
  for (const ReplayStep& step : plan_.steps)
    first_ns = std::min(first_ns, step.due_ns);
  for (ReplayStep& step : plan_.steps)
    step.due_ns -= first_ns;
}

ReplayPlan Planner::Take(TraceFacts facts) {
  LeaveOutOpenNotifies();
  LeaveOutOpenWords();
  Order();
  JoinRanges(plan_.pageable);
  for (const ReplayStep& step : plan_.steps)
    plan_.devices = std::max({plan_.devices, step.device + 1, step.dst_device + 1, step.src_device + 1});
  for (const auto& [what, count] : left_out_)
    plan_.left_out.push_back(std::to_string(count) + " " + what);
  plan_.threads = static_cast<std::uint32_t>(threads_.size());
  plan_.facts = std::move(facts);
  plan_.recorded = summary_.MakeReport();
  return std::move(plan_);
}

}  // namespace

ReplayPlan PlanReplay(const std::filesystem::path& trace) {
  Planner planner;
  TraceFacts facts = ReadTrace(trace, [&](const TraceEvent& event) { planner.Add(event); });
  return planner.Take(std::move(facts));
}

}  // namespace sampan::tool
