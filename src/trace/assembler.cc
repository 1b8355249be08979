// Combines the records of all threads: submissions with executions, and both with the counters.
#include "trace/assembler.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error/text.h"
#include "summary/activity_words.h"

namespace sampan::trace {
namespace {

using summary::WordOf;

template <typename Record>
const Record& As(const RecordHead& head) {
  return *reinterpret_cast<const Record*>(&head);
}

/// The data behind a record.
const void* Behind(const TaskRecord& record) {
  return &record + 1;
}

const char* ExecutorName(const ThreadBuffer& thread, const ExecutionRecord& execution) {
  if ((execution.head.flags & ExecutionRecord::kByDriver) != 0) return "driver";
  switch (thread.role().kind) {
    case ThreadRole::Kind::kEngine:
      return "engine";
    case ThreadRole::Kind::kWatch:
      return "watch";
    case ThreadRole::Kind::kProgram:
      break;
  }
  return "caller";
}

/// Engines have rows of their own. A thread of the program that executes tasks uses the row of its calls.
bool IsEngine(const ThreadBuffer& thread) {
  return thread.role().kind == ThreadRole::Kind::kEngine;
}

/// After so long, a call or a task is in the trace before it ends.
constexpr std::int64_t kLongNs = 500'000'000;

bool HasObject(summary::TaskType type) {
  using summary::TaskType;
  return type == TaskType::kEventRecord || type == TaskType::kEventWait || type == TaskType::kEventReset ||
         type == TaskType::kNotifyRecord || type == TaskType::kNotifyWait;
}

bool MovesBytes(summary::TaskType type) {
  using summary::TaskType;
  return type == TaskType::kMemcpyAsync || type == TaskType::kMemsetAsync || type == TaskType::kReduceAsync;
}

summary::Task SummaryOf(const FinishedTask& task) {
  const TaskRecord& record = task.record;
  const bool streamed = record.queue.number != 0;
  return {.type = record.type,
          .form = record.form,
          .operation = record.operation,
          .path = record.path,
          .dst = record.dst.memory,
          .src = record.src.memory,
          .discarded = task.discarded,
          .status = record.head.code,
          .asynchronous_call = (record.head.flags & TaskRecord::kAsynchronousCall) != 0,
          .timed = task.timed,
          .device = record.queue.device,
          .stream = streamed ? static_cast<std::int64_t>(record.queue.stream) : -1,
          .thread = task.thread,
          .bytes = record.bytes,
          .entries = record.entries,
          .multiprocessors = record.multiprocessors,
          .link = record.peer.link != nullptr ? record.peer.link : std::string_view(),
          .submitted_ns = record.submitted_ns,
          .begin_ns = record.begin_ns,
          .end_ns = record.end_ns};
}

}  // namespace

Assembler::Assembler(TraceFile* file, summary::Summary& summary, std::uint64_t process)
    : summary_(summary), counters_([this](const Counters::Sample& sample) {
        if (sample.kind == Counters::Kind::kQueueDepth) {
          summary_.Add(summary::Depth{sample.queue.device, sample.queue.stream,
                                      static_cast<std::uint64_t>(sample.value)});
          if (events_) events_->AddQueueDepth(sample.queue, sample.time_ns, sample.value);
        } else if (events_) {
          events_->AddBytesInFlight(sample.queue.device, sample.time_ns, sample.value);
        }
      }) {
  if (file != nullptr) events_.emplace(*file, process);
}

void Assembler::Take(const ThreadBuffer& thread, const RecordHead& record) {
  switch (record.kind) {
    case RecordKind::kCall:
      return TakeCall(thread, As<CallRecord>(record));
    case RecordKind::kTask:
      return TakeTask(thread, As<TaskRecord>(record));
    case RecordKind::kShortCopy:
      return TakeShortCopy(thread, As<ShortCopyRecord>(record));
    case RecordKind::kExecution:
      return TakeExecution(thread, As<ExecutionRecord>(record));
    case RecordKind::kShare:
      if (events_ && IsEngine(thread))
        events_->AddEnginePart(thread.role().number, As<ShareRecord>(record), "share");
      return;
    case RecordKind::kWait: {
      const auto& wait = As<WaitRecord>(record);
      summary_.Add(summary::Wait{wait.reason, thread.thread(), wait.begin_ns, wait.end_ns});
      if (events_) events_->AddWait(thread.thread(), thread.name(), wait);
      return;
    }
    case RecordKind::kMemory:
      if (events_) events_->AddMemory(thread.thread(), thread.name(), As<MemoryRecord>(record));
      return;
    case RecordKind::kStream:
      if ((record.flags & StreamRecord::kDestroyed) != 0)
        last_ends_.erase(As<StreamRecord>(record).queue.number);
      if (events_) events_->AddStream(thread.thread(), thread.name(), As<StreamRecord>(record));
      return;
    case RecordKind::kOperator:
      if (events_) events_->AddOperator(As<OperatorRecord>(record));
      return;
    case RecordKind::kTransfer:
      return TakeTransfer(As<TransferRecord>(record));
    case RecordKind::kFiller:
      return;
  }
}

void Assembler::TakeCall(const ThreadBuffer& thread, const CallRecord& call) {
  const bool platform = (call.head.flags & CallRecord::kPlatform) != 0;
  summary_.Add(summary::Call{call.name, thread.thread(), call.head.code, platform, call.awaited,
                             call.begin_ns, call.end_ns});
  if (events_) {
    events_->AddCall(thread.thread(), thread.name(), call,
                     platform ? reinterpret_cast<const Peer*>(&call + 1) : nullptr);
  }
}

void Assembler::TakeTask(const ThreadBuffer& thread, const TaskRecord& task) {
  using Kind = Counters::Kind;
  if ((task.head.flags & TaskRecord::kBlocking) != 0) {
    counters_.Change(Kind::kBytesInFlight, task.queue, task.submitted_ns,
                     static_cast<std::int64_t>(task.bytes));
    counters_.Change(Kind::kBytesInFlight, task.queue, task.end_ns, -static_cast<std::int64_t>(task.bytes));
    const std::uint64_t row = kBlockingRow + TakeLane(lanes_[task.queue.device], task.begin_ns, task.end_ns);
    return Finished({task, Behind(task), thread.thread(), row, "caller", false, true});
  }
  if ((task.head.flags & TaskRecord::kExecuted) != 0) {  // it was never in the queue
    return Finished({task, Behind(task), thread.thread(), task.queue.stream, "caller", false, true});
  }
  counters_.Change(Kind::kQueueDepth, task.queue, task.submitted_ns, 1);
  if (task.bytes != 0)
    counters_.Change(Kind::kBytesInFlight, task.queue, task.submitted_ns,
                     static_cast<std::int64_t>(task.bytes));
  const TaskId id{task.queue.number, task.task};
  if (const auto executed = executed_.extract(id)) {
    return Join(task, Behind(task), thread.thread(), executed.mapped());
  }
  const auto* const more = static_cast<const std::byte*>(Behind(task));
  const std::size_t more_bytes = task.head.words * sizeof(std::uint64_t) - sizeof(TaskRecord);
  submitted_.emplace(id, Submitted{task, {more, more + more_bytes}, thread.thread()});
}

/// Expands it to the records of the call and the copy.
void Assembler::TakeShortCopy(const ThreadBuffer& thread, const ShortCopyRecord& copy) {
  using summary::Memory;
  const auto end = [&](std::uint8_t on_device, std::uint64_t allocation, std::uint64_t offset) {
    const bool device = (copy.head.flags & on_device) != 0;
    return MemoryEnd{allocation, offset, device ? Memory::kDevice : Memory::kPinned,
                     device ? copy.queue.device : 0};
  };
  TaskRecord task{};
  task.head.flags = TaskRecord::kExecuted;
  task.connection = copy.connection;
  task.submitted_ns = copy.begin_ns + copy.ready_ns;
  task.begin_ns = copy.begin_ns + copy.copy_begin_ns;
  task.end_ns = copy.begin_ns + copy.copy_end_ns;
  task.queue = copy.queue;
  task.task = copy.task;
  task.bytes = copy.bytes;
  task.type = summary::TaskType::kMemcpyAsync;
  task.form = summary::Form::kLinear;
  task.path = summary::Path::kAtOnce;
  task.reason = kShortReason;
  task.entries = 1;
  task.dst = end(ShortCopyRecord::kToDevice, copy.dst_allocation, copy.dst_offset);
  task.src = end(ShortCopyRecord::kFromDevice, copy.src_allocation, copy.src_offset);
  task.operation = OperationOf(task.dst, task.src);
  Finished({task, nullptr, thread.thread(), task.queue.stream, "caller", false, true});
  CallRecord call{};
  call.name = copy.name;
  call.begin_ns = copy.begin_ns;
  call.end_ns = task.end_ns;
  call.connection = copy.connection;
  TakeCall(thread, call);
}

void Assembler::TakeExecution(const ThreadBuffer& thread, const ExecutionRecord& execution) {
  const bool discarded = (execution.head.flags & ExecutionRecord::kDiscarded) != 0;
  if (events_ && !discarded && IsEngine(thread) && MovesBytes(execution.type)) {
    events_->AddEnginePart(thread.role().number,
                           {{.code = execution.head.code},
                            execution.queue,
                            execution.task,
                            execution.begin_ns,
                            execution.end_ns,
                            execution.type},
                           "whole");
  }
  const TaskId id{execution.queue.number, execution.task};
  Executed executed{execution, ExecutorName(thread, execution)};
  if ((execution.head.flags & ExecutionRecord::kEnds) != 0)
    std::memcpy(executed.ends.data(), &execution + 1, sizeof(executed.ends));
  if (const auto submitted = submitted_.extract(id)) {
    const Submitted& task = submitted.mapped();
    return Join(task.record, task.more.data(), task.thread, executed);
  }
  executed_.emplace(id, executed);
}

void Assembler::Join(TaskRecord task, const void* more, std::uint64_t thread, const Executed& executed) {
  using Kind = Counters::Kind;
  const ExecutionRecord& execution = executed.record;
  counters_.Change(Kind::kQueueDepth, task.queue, execution.end_ns, -1);
  if (task.bytes != 0)
    counters_.Change(Kind::kBytesInFlight, task.queue, execution.end_ns,
                     -static_cast<std::int64_t>(task.bytes));
  task.begin_ns = execution.begin_ns;
  task.end_ns = execution.end_ns;
  task.head.code = execution.head.code;
  if (execution.bytes != 0) task.bytes = execution.bytes;
  if ((execution.head.flags & ExecutionRecord::kEnds) != 0) {
    task.dst = executed.ends[0];
    task.src = executed.ends[1];
  }
  task.multiprocessors = execution.multiprocessors;
  if (execution.path != summary::Path::kNone) task.path = execution.path;
  if (execution.reason != nullptr) task.reason = execution.reason;
  if ((execution.head.flags & ExecutionRecord::kShared) != 0) {
    task.path = summary::Path::kShared;
    task.reason = "512 KiB or more: idle engines take part";
  }
  const bool timed = (execution.head.flags & (ExecutionRecord::kByDriver | ExecutionRecord::kTimed)) !=
                     ExecutionRecord::kByDriver;
  // Tasks of one stream never overlap: no lanes.
  Finished({task, more, thread, task.queue.stream, executed.executed_by,
            (execution.head.flags & ExecutionRecord::kDiscarded) != 0, timed});
}

void Assembler::AddOpen(std::span<const std::shared_ptr<ThreadBuffer>> threads, std::int64_t now_ns,
                        Open which, const Reasons& reasons) {
  for (const auto& thread : threads) {
    thread->open_calls().Read([&](const OpenCall& call) { AddOpenCall(*thread, call, now_ns, which); });
  }
  AddOpenTasks(now_ns, which, reasons);
  if (events_) events_->FlushOpen();
}

void Assembler::CountOpen(std::span<const std::shared_ptr<ThreadBuffer>> threads, std::int64_t now_ns,
                          summary::Summary& summary) const {
  for (const auto& thread : threads) {
    thread->open_calls().Read([&](const OpenCall& call) {
      if (now_ns >= call.begin_ns) summary.Add(UnfinishedOf(*thread, call, now_ns));
    });
  }
  for (const OpenTask& open : OpenTasks(now_ns))
    summary.Add(UnfinishedOf(open, now_ns, ""));
}

void Assembler::AddOpenCall(const ThreadBuffer& thread, const OpenCall& call, std::int64_t now_ns,
                            Open which) {
  if (now_ns < call.begin_ns || (which == Open::kLong && now_ns - call.begin_ns < kLongNs)) return;
  if (events_) events_->AddOpenCall(thread.thread(), thread.name(), call, now_ns);
  if (which == Open::kAll) summary_.Add(UnfinishedOf(thread, call, now_ns));
}

summary::Unfinished Assembler::UnfinishedOf(const ThreadBuffer& thread, const OpenCall& call,
                                            std::int64_t now_ns) {
  const bool is_wait = call.kind == OpenCall::Kind::kWait;
  const bool has_stream = is_wait || call.awaited == summary::Awaited::kStream;
  summary::Unfinished open{.name = is_wait ? Text("Wait@", WordOf(call.reason)) : std::string(call.name),
                           .thread = thread.thread(),
                           .awaited = call.awaited,
                           .device = call.device,
                           .begin_ns = call.begin_ns,
                           .end_ns = now_ns};
  if (is_wait) open.host_wait = call.reason;
  if (has_stream) open.stream = call.object;
  if (call.awaited == summary::Awaited::kEvent) open.object = call.object;
  return open;
}

/// Of each queue the first task that is not over.
std::vector<Assembler::OpenTask> Assembler::OpenTasks(std::int64_t now_ns) const {
  std::map<std::uint64_t, OpenTask> heads;
  for (const auto& [id, task] : submitted_) {
    const auto [head, is_new] = heads.try_emplace(id.queue, OpenTask{&task, 0, 0});
    if (!is_new) head->second.behind += 1;
    if (task.record.task < head->second.task->record.task) head->second.task = &task;
  }
  std::vector<OpenTask> open;
  for (auto& [queue, head] : heads) {
    const auto last_end = last_ends_.find(queue);
    head.begin_ns =
        std::max(head.task->record.submitted_ns, last_end != last_ends_.end() ? last_end->second : 0);
    if (head.begin_ns <= now_ns) open.push_back(head);
  }
  return open;
}

summary::Unfinished Assembler::UnfinishedOf(const OpenTask& open, std::int64_t now_ns, std::string_view why) {
  const TaskRecord& record = open.task->record;
  summary::Unfinished unfinished{.name = std::string(WordOf(record.type)),
                                 .of_stream = true,
                                 .device = record.queue.device,
                                 .stream = record.queue.stream,
                                 .task = record.task,
                                 .behind = open.behind,
                                 .reason = std::string(why),
                                 .begin_ns = open.begin_ns,
                                 .end_ns = now_ns};
  if (HasObject(record.type)) unfinished.object = record.object;
  return unfinished;
}

void Assembler::AddOpenTasks(std::int64_t now_ns, Open which, const Reasons& reasons) {
  for (const OpenTask& open : OpenTasks(now_ns)) {
    if (which == Open::kLong && now_ns - open.begin_ns < kLongNs) continue;
    TaskRecord record = open.task->record;
    record.begin_ns = open.begin_ns;
    record.end_ns = now_ns;
    const auto reason = reasons.find(record.queue.number);
    const std::string_view why = reason != reasons.end() ? std::string_view(reason->second) : "";
    if (events_) {
      events_->AddOpenTask(
          {record, open.task->more.data(), open.task->thread, record.queue.stream, "", false, false},
          open.behind, why);
    }
    if (which == Open::kAll) summary_.Add(UnfinishedOf(open, now_ns, why));
  }
}

void Assembler::Finished(const FinishedTask& task) {
  if (task.record.queue.number != 0) {
    std::int64_t& last_end = last_ends_[task.record.queue.number];
    last_end = std::max(last_end, task.record.end_ns);
  }
  summary_.Add(SummaryOf(task));
  if (events_) events_->AddTask(task);
}

void Assembler::TakeTransfer(const TransferRecord& transfer) {
  summary_.Add(summary::Transfer{transfer.peer(), transfer.head.code, transfer.bytes, transfer.wire_bytes,
                                 transfer.begin_ns, transfer.end_ns});
  auto found = peers_.find(transfer.peer());
  if (found == peers_.end())
    found = peers_.emplace(std::string(transfer.peer()), PeerRows{.number = peers_.size()}).first;
  PeerRows& rows = found->second;
  if (events_)
    events_->AddTransfer(rows.number + TakeLane(rows.lanes, transfer.begin_ns, transfer.end_ns), transfer);
}

std::uint64_t Assembler::TakeLane(Lanes& lanes, std::int64_t begin_ns, std::int64_t end_ns) {
  auto lane = std::find_if(lanes.begin(), lanes.end(), [&](std::int64_t free) { return free <= begin_ns; });
  if (lane == lanes.end()) lane = lanes.insert(lanes.end(), 0);
  *lane = end_ns;
  return static_cast<std::uint64_t>(lane - lanes.begin()) * kLaneStep;
}

}  // namespace sampan::trace
