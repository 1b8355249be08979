// The observer that records: leaves what it is told in the buffer of the calling thread.
#include "trace/tracer.h"

#include <algorithm>
#include <exception>

#include "observe/event_clock.h"

namespace sampan::trace {
namespace {

using observe::NowNs;
using summary::Form;
using summary::Memory;
using summary::TaskType;

void PushTask(ThreadState& thread) {
  TaskDescription& description = thread.submitting;
  thread.buffer->Push(RecordKind::kTask, description.record, &description.rows, description.more_bytes);
}

/// The one record of a call whose only task is a linear copy that was done at once: the usual case. Returns
/// false if such a record has no room for what is known.
bool KeepAsShortCopy(const TaskRecord& task, ThreadState& thread, const observe::Execution& execution) {
  Call* const call = thread.call();
  if (task.form != Form::kLinear || execution.code != 0 || task.peer.known() || task.bytes > UINT32_MAX)
    return false;
  if (thread.calls.size() != 1 || call->platform || call->connection != task.connection) return false;
  const auto of_stream = [&](const MemoryEnd& end) {
    return end.memory == Memory::kPinned ||
           (end.memory == Memory::kDevice && end.device == task.queue.device);
  };
  if (!of_stream(task.dst) || !of_stream(task.src)) return false;
  const auto since_begin = [&](std::int64_t ns) {
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(ns - call->begin_ns, 0, UINT32_MAX));
  };
  ShortCopyRecord& record = thread.short_copy;
  using Record = ShortCopyRecord;
  record.head.flags =
      static_cast<std::uint8_t>((task.dst.memory == Memory::kDevice ? Record::kToDevice : 0) |
                                (task.src.memory == Memory::kDevice ? Record::kFromDevice : 0));
  record.head.code = 0;
  record.begin_ns = call->begin_ns;
  record.ready_ns = since_begin(call->ready_ns);
  record.copy_begin_ns = since_begin(execution.begin_ns);
  record.copy_end_ns = since_begin(execution.end_ns);
  record.bytes = static_cast<std::uint32_t>(task.bytes);
  record.queue = task.queue;
  record.task = task.task;
  record.connection = task.connection;
  record.dst_allocation = task.dst.allocation;
  record.dst_offset = task.dst.offset;
  record.src_allocation = task.src.allocation;
  record.src_offset = task.src.offset;
  call->did_short_copy = true;
  return true;
}

/// The rest of a blocking task's record.
void FinishBlocking(TaskRecord& record, const observe::Execution& execution) {
  record.begin_ns = execution.begin_ns;
  record.submitted_ns = execution.begin_ns;
  record.end_ns = execution.end_ns;
  record.head.code = execution.code;
  record.multiprocessors = execution.multiprocessors;
  if (execution.path != summary::Path::kNone) record.path = execution.path;
  if (execution.reason != nullptr) record.reason = execution.reason;
}

/// The same of one that its submitter executed at once.
void FinishAtOnce(TaskRecord& record, const observe::Execution& execution) {
  if (execution.bytes != 0) record.bytes = execution.bytes;
  if (execution.knows_ends) {
    record.dst = execution.ends[0];
    record.src = execution.ends[1];
  }
  record.head.flags = TaskRecord::kExecuted;
  record.head.code = execution.code;
  record.begin_ns = execution.begin_ns;
  record.end_ns = execution.end_ns;
  record.submitted_ns = std::min(record.submitted_ns, record.begin_ns);
  if (record.form != Form::kNone) {
    record.path = summary::Path::kAtOnce;
    record.reason = kShortReason;
  }
}

}  // namespace

void Tracer::OnThreadBegan(const ThreadRole&) noexcept {
  ThisThread();  // now, rather than during its first task
}

void Tracer::OnCallBegan(const char* name, const Peer* peer) noexcept {
  ThreadState* const thread = ThisThread();
  if (thread == nullptr) return;
  if (thread->untraced_calls != 0) {
    ++thread->untraced_calls;
    return;
  }
  try {
    Call& call = thread->calls.emplace_back();
    call.platform = peer != nullptr;
    if (peer != nullptr) call.peer = *peer;
    call.begin_ns = NowNs();
    call.ready_ns = call.begin_ns;
    thread->buffer->open_calls().Push(
        {.name = name,
         .begin_ns = call.begin_ns,
         .kind = call.platform ? OpenCall::Kind::kPlatformCall : OpenCall::Kind::kCall});
  } catch (const std::exception&) {
    ++thread->untraced_calls;
  }
}

void Tracer::OnCallEnded(const char* name, std::int32_t code) noexcept {
  ThreadState* const thread = ThisThread();
  if (thread == nullptr) return;
  if (thread->untraced_calls != 0) {
    --thread->untraced_calls;
    return;
  }
  if (thread->calls.empty()) return;   // the trace began inside of the call
  thread->buffer->open_calls().Pop();  // first: the writer must not find the call twice
  const Call& call = thread->calls.back();
  if (call.did_short_copy && code == 0) {
    thread->short_copy.name = name;
    thread->buffer->Push(RecordKind::kShortCopy, thread->short_copy);
  } else {
    CallRecord record{{.code = code},      name,
                      call.begin_ns,       NowNs(),
                      call.connection,     call.awaited.kind,
                      call.awaited.device, call.awaited.object,
                      call.awaited.task};
    if (call.platform) record.head.flags = CallRecord::kPlatform;
    thread->buffer->Push(RecordKind::kCall, record, &call.peer, call.platform ? sizeof(call.peer) : 0);
  }
  thread->calls.pop_back();
}

void Tracer::OnCallAwaits(const observe::AwaitedWork& awaited) noexcept {
  ThreadState* const thread = ThisThread();
  if (thread == nullptr || thread->call() == nullptr) return;
  thread->call()->awaited = awaited;
  if (thread->host_waits == 0)
    thread->buffer->open_calls().SetAwaited(awaited.kind, awaited.device, awaited.object, awaited.task);
}

void Tracer::OnHostWaitBegan(const observe::HostWaitBegin& wait) noexcept {
  ThreadState* const thread = ThisThread();
  if (thread == nullptr) return;
  ++thread->host_waits;
  thread->buffer->open_calls().Push({.begin_ns = wait.begin_ns,
                                     .kind = OpenCall::Kind::kWait,
                                     .reason = wait.reason,
                                     .device = wait.queue.device,
                                     .object = wait.queue.stream});
}

void Tracer::OnHostWait(const observe::HostWaitEvent& wait) noexcept {
  ThreadState* const thread = ThisThread();
  if (thread == nullptr) return;
  if (thread->host_waits != 0) {  // else the trace began inside of the wait
    --thread->host_waits;
    thread->buffer->open_calls().Pop();
  }
  if (Call* const call = thread->call()) {
    call->ready_ns = wait.end_ns;
    call->awaited.kind = summary::Awaited::kNothing;  // the wait has a slice of its own
  }
  WaitRecord record{{}, wait.begin_ns, wait.end_ns, wait.queue.device, wait.queue.stream, wait.reason};
  thread->buffer->Push(RecordKind::kWait, record);
}

void Tracer::OnSubmitting(const observe::Submission& submission, const Task& task) noexcept {
  ThreadState* const thread = ThisThread();
  if (thread == nullptr) return;
  TaskDescription& description = thread->submitting;
  TaskRecord& record = description.record;
  record = {};
  description.more_bytes = 0;
  record.entries = 1;
  record.reason = submission.blocking != nullptr ? submission.blocking->text : "in stream order";
  record.path = summary::Path::kEngine;
  record.queue = submission.queue;
  FillRecord(task, description);
  if (submission.subject != nullptr) {
    record.type = submission.subject->type;
    record.object = submission.subject->object;
    if (record.type == TaskType::kValueWrite || record.type == TaskType::kValueWait) {
      record.dst = submission.word.place;
      description.word = {submission.word.value, submission.word.condition};
      description.more_bytes = sizeof(description.word);
    }
  }
  if (submission.blocking != nullptr) {
    record.head.flags = static_cast<std::uint8_t>(
        TaskRecord::kBlocking | (submission.blocking->asynchronous_call ? TaskRecord::kAsynchronousCall : 0));
    record.type = record.form == Form::kFill ? TaskType::kMemset : TaskType::kMemcpy;
    record.path = summary::Path::kBlocking;
  }
  record.peer = submission.peer;
  record.connection = submission.serial;
  // Calls around the one that submits began with it.
  for (auto call = thread->calls.rbegin(); call != thread->calls.rend() && call->connection == 0; ++call)
    call->connection = record.connection;
}

void Tracer::OnSubmitted(const observe::Submission& submission, std::uint64_t number,
                         const observe::Execution* execution) noexcept {
  ThreadState* const thread = ThisThread();
  if (thread == nullptr) return;
  TaskRecord& record = thread->submitting.record;
  if (record.connection != submission.serial) return;  // the trace began in between
  record.task = number;
  if (submission.blocking != nullptr) {
    FinishBlocking(record, *execution);
    return PushTask(*thread);
  }
  // Since the call could submit; a wait for room has moved that.
  record.submitted_ns = thread->call() != nullptr ? thread->call()->ready_ns : NowNs();
  if (execution != nullptr) {
    if (KeepAsShortCopy(record, *thread, *execution)) return;
    FinishAtOnce(record, *execution);
  }
  PushTask(*thread);
}

void Tracer::OnExecuted(const observe::Execution& execution) noexcept {
  ThreadState* const thread = ThisThread();
  if (thread == nullptr) return;
  ExecutionRecord record{};
  record.head.flags =
      static_cast<std::uint8_t>((execution.discarded ? ExecutionRecord::kDiscarded : 0) |
                                (execution.shared ? ExecutionRecord::kShared : 0) |
                                (execution.knows_ends ? ExecutionRecord::kEnds : 0) |
                                (execution.by_driver ? ExecutionRecord::kByDriver : 0) |
                                (execution.by_driver && execution.timed ? ExecutionRecord::kTimed : 0));
  record.head.code = execution.code;
  record.queue = execution.task.queue;
  record.task = execution.task.number;
  record.end_ns = execution.end_ns;
  record.begin_ns = execution.begin_ns != 0 ? execution.begin_ns : record.end_ns;
  record.bytes = execution.bytes;
  record.reason = execution.reason;
  record.multiprocessors = execution.multiprocessors;
  record.path = execution.path;
  record.type = execution.task.type;
  thread->buffer->Push(RecordKind::kExecution, record, execution.ends.data(),
                       execution.knows_ends ? sizeof(execution.ends) : 0);
}

void Tracer::OnHelped(const observe::TaskKey& task, std::int64_t begin_ns) noexcept {
  ThreadState* const thread = ThisThread();
  if (thread == nullptr) return;
  ShareRecord record{{}, task.queue, task.number, begin_ns, NowNs(), task.type};
  thread->buffer->Push(RecordKind::kShare, record);
}

void Tracer::OnOperator(const observe::OperatorEvent& event) noexcept {
  ThreadState* const thread = ThisThread();
  if (thread == nullptr) return;
  OperatorRecord record{.head = {},
                        .queue = event.queue,
                        .name = event.name,
                        .algorithm = event.algorithm,
                        .bytes = event.bytes,
                        .rank = event.rank,
                        .ranks = event.ranks,
                        .slowest = event.slowest,
                        .begin_ns = event.begin_ns,
                        .met_ns = event.met_ns,
                        .moved_ns = event.moved_ns,
                        .end_ns = event.end_ns};
  thread->buffer->Push(RecordKind::kOperator, record);
}

void Tracer::OnTransfer(const observe::TransferEvent& event) noexcept {
  ThreadState* const thread = ThisThread();
  if (thread == nullptr) return;
  TransferRecord record{.head = {.code = event.code},
                        .begin_ns = event.begin_ns,
                        .end_ns = event.end_ns,
                        .bytes = event.bytes,
                        .wire_bytes = event.wire_bytes,
                        .peer_text = {},
                        .peer_bytes = 0,
                        .kind = event.kind};
  record.peer_bytes =
      static_cast<std::uint8_t>(event.peer.copy(record.peer_text.data(), record.peer_text.size()));
  thread->buffer->Push(RecordKind::kTransfer, record);
}

void Tracer::OnMemory(const observe::MemoryEvent& event) noexcept {
  ThreadState* const thread = ThisThread();
  if (thread == nullptr) return;
  MemoryRecord record{.head = {.flags = event.freed() ? MemoryRecord::kFreed : std::uint8_t{0}},
                      .time_ns = NowNs(),
                      .allocation = event.allocation,
                      .bytes = event.bytes,
                      .address = event.address,
                      .call = event.made_by,
                      .memory = event.place.on_device() ? Memory::kDevice : Memory::kPinned,
                      .device = event.place.device};
  thread->buffer->Push(RecordKind::kMemory, record);
}

void Tracer::OnStream(const observe::StreamEvent& event) noexcept {
  ThreadState* const thread = ThisThread();
  if (thread == nullptr) return;
  StreamRecord record{{.flags = static_cast<std::uint8_t>((event.destroyed ? StreamRecord::kDestroyed : 0) |
                                                          (event.of_context ? StreamRecord::kDefault : 0))},
                      NowNs(),
                      event.queue};
  thread->buffer->Push(RecordKind::kStream, record);
}

}  // namespace sampan::trace
