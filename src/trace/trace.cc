// The hooks through which the runtime tells what happens.
#include "trace/trace.h"

#include <new>
#include <utility>

namespace sampan::trace {

namespace {

void Begin(Call& call, const char* name, OpenCall::Kind kind) noexcept {
  if (!HasThreadState()) return;  // the call is not traced
  ThreadState& thread = ThisThread();
  call.outer = std::exchange(thread.call, &call);
  call.connection = 0;
  call.did_short_copy = false;
  call.awaited = summary::Awaited::kNothing;
  call.begin_ns = NowNs();
  call.ready_ns = call.begin_ns;
  thread.buffer->open_calls().Push({.name = name, .begin_ns = call.begin_ns, .kind = kind});
}

void PushCall(ThreadState& thread, const Call& call, const char* name, std::int32_t code, const Peer* peer) {
  CallRecord record{{.code = code}, name,        call.begin_ns, NowNs(),  call.connection,
                    call.awaited,   call.device, call.object,   call.task};
  if (peer != nullptr) record.head.flags = CallRecord::kPlatform;
  thread.buffer->Push(RecordKind::kCall, record, peer, peer != nullptr ? sizeof(*peer) : 0);
}

}  // namespace

void BeginCall(Call& call, const char* name) noexcept {
  Begin(call, name, OpenCall::Kind::kCall);
}

void EndCall(Call& call, const char* name, std::int32_t code) noexcept {
  ThreadState& thread = ThisThread();
  thread.call = call.outer;
  thread.buffer->open_calls().Pop();  // first: the writer must not find the call twice
  if (call.did_short_copy && code == 0) {
    thread.short_copy.name = name;
    thread.buffer->Push(RecordKind::kShortCopy, thread.short_copy);
  } else {
    PushCall(thread, call, name, code, nullptr);
  }
}

bool BeginPlatformCall(const char* name, const Peer& peer) noexcept {
  try {
    Begin(ThisThread().platform_calls.emplace_back(PlatformCall{{}, peer}).call, name,
          OpenCall::Kind::kPlatformCall);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void EndPlatformCall(const char* name, std::int32_t code) noexcept {
  ThreadState& thread = ThisThread();
  const PlatformCall& ended = thread.platform_calls.back();
  thread.call = ended.call.outer;
  thread.buffer->open_calls().Pop();
  PushCall(thread, ended.call, name, code, &ended.peer);
  thread.platform_calls.pop_back();
}

void NoteAwaited(summary::Awaited awaited, std::int32_t device, std::uint32_t object, std::uint64_t task) {
  Call* const call = ThisThread().call;
  if (call == nullptr) return;
  call->awaited = awaited;
  call->device = device;
  call->object = object;
  call->task = task;
  ThisThread().buffer->open_calls().SetAwaited(awaited, device, object, task);
}

std::int64_t HostWait::Begin() noexcept {
  const std::int64_t now_ns = NowNs();
  if (!HasThreadState()) return 0;
  ThisThread().buffer->open_calls().Push({.begin_ns = now_ns,
                                          .kind = OpenCall::Kind::kWait,
                                          .reason = reason_,
                                          .device = queue_.device,
                                          .object = queue_.stream});
  return now_ns;
}

void HostWait::End() noexcept {
  ThreadState& thread = ThisThread();
  const std::int64_t end_ns = NowNs();
  thread.buffer->open_calls().Pop();
  if (thread.call != nullptr) {
    thread.call->ready_ns = end_ns;
    thread.call->awaited = summary::Awaited::kNothing;  // the wait has a slice of its own
  }
  WaitRecord record{{}, begin_ns_, end_ns, queue_.device, queue_.stream, reason_};
  thread.buffer->Push(RecordKind::kWait, record);
}

std::uint64_t NextQueueNumber() {
  static constinit std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

void EndAtOnce(std::int64_t begin_ns) {
  ThreadState& thread = ThisThread();
  thread.at_once_begin_ns = begin_ns;
  thread.at_once_end_ns = NowNs();
}

void BeginExecution(const TaskKey& task) {
  ThreadState& thread = ThisThread();
  thread.executing = task;
  thread.shared = false;
  thread.failure = 0;
  thread.bytes = 0;
  thread.knows_ends = false;
  thread.path = summary::Path::kNone;
  thread.reason = nullptr;
}

void EndExecution(std::int64_t begin_ns, bool discarded) {
  ThreadState& thread = ThisThread();
  ExecutionRecord record{};
  record.head.flags = static_cast<std::uint8_t>((discarded ? ExecutionRecord::kDiscarded : 0) |
                                                (thread.shared ? ExecutionRecord::kShared : 0) |
                                                (thread.knows_ends ? ExecutionRecord::kEnds : 0));
  record.head.code = thread.failure;
  record.queue = thread.executing.queue;
  record.task = thread.executing.task;
  record.end_ns = NowNs();
  record.begin_ns = begin_ns != 0 ? begin_ns : record.end_ns;
  record.bytes = thread.bytes;
  record.reason = thread.reason;
  record.path = thread.path;
  record.type = thread.executing.type;
  thread.buffer->Push(RecordKind::kExecution, record, thread.ends.data(),
                      thread.knows_ends ? sizeof(thread.ends) : 0);
}

void NoteExecution(const ExecutionRecord& record) {
  ExecutionRecord copy = record;
  ThisThread().buffer->Push(RecordKind::kExecution, copy);
}

void EndShare(const TaskKey& task, std::int64_t begin_ns) {
  ShareRecord record{{}, task.queue, task.task, begin_ns, NowNs(), task.type};
  ThisThread().buffer->Push(RecordKind::kShare, record);
}

void NoteMemory(const MemoryRecord& record) {
  MemoryRecord copy = record;
  copy.time_ns = NowNs();
  ThisThread().buffer->Push(RecordKind::kMemory, copy);
}

void NoteStream(const QueueLabel& queue, std::uint8_t flags) {
  StreamRecord record{{.flags = flags}, NowNs(), queue};
  ThisThread().buffer->Push(RecordKind::kStream, record);
}

}  // namespace sampan::trace
