// The hooks by which the layers tell what they do.
#include "observe/hooks.h"

namespace sampan::observe {
namespace {

/// Serial numbers that a thread takes at a time.
constexpr std::uint64_t kSerialBlock = 1024;

std::uint64_t TakeSerial(ThreadContext& thread) {
  static constinit std::atomic<std::uint64_t> taken{0};
  if (thread.next_serial == thread.end_serial) {
    thread.next_serial = taken.fetch_add(kSerialBlock) + 1;
    thread.end_serial = thread.next_serial + kSerialBlock;
  }
  return thread.next_serial++;
}

}  // namespace

void SetRole(ThreadRole role) noexcept {
  ThisThread().role = role;
  if (On()) Tell([&](Observer& observer) { observer.OnThreadBegan(role); });
}

void BeginCall(const char* name, const Peer* peer) noexcept {
  Tell([&](Observer& observer) { observer.OnCallBegan(name, peer); });
}

void EndCall(const char* name, std::int32_t code) noexcept {
  Tell([&](Observer& observer) { observer.OnCallEnded(name, code); });
}

void TellAwaited(const AwaitedWork& awaited) noexcept {
  Tell([&](Observer& observer) { observer.OnCallAwaits(awaited); });
}

std::int64_t HostWait::Begin() noexcept {
  const HostWaitBegin event{reason_, queue_, NowNs()};
  Tell([&](Observer& observer) { observer.OnHostWaitBegan(event); });
  return event.begin_ns;
}

void HostWait::End() noexcept {
  const HostWaitEvent event{reason_, queue_, begin_ns_, NowNs()};
  Tell([&](Observer& observer) { observer.OnHostWait(event); });
}

TaskType TypeOf(const Task& task) {
  if (std::holds_alternative<CopyTask>(task)) return TaskType::kMemcpyAsync;
  if (const auto* multi = std::get_if<MultiAllocationTask>(&task)) return TypeOf(multi->content->task);
  if (std::holds_alternative<FillTask>(task)) return TaskType::kMemsetAsync;
  if (std::holds_alternative<ReduceTask>(task)) return TaskType::kReduceAsync;
  if (std::holds_alternative<WaitTask>(task)) return TaskType::kEventWait;
  if (std::holds_alternative<MarkTask>(task)) return TaskType::kEventRecord;
  if (std::holds_alternative<HostTask>(task)) return TaskType::kHostFunction;
  const bool copies = std::holds_alternative<RowsTask>(task) || std::holds_alternative<BatchTask>(task) ||
                      std::holds_alternative<IndirectTask>(task);
  return copies ? TaskType::kMemcpyAsync : TaskType::kOther;  // gates and effects are what their subject says
}

Submission BeginSubmission(const QueueLabel& queue, const BlockingReason* blocking,
                           const Task& task) noexcept {
  ThreadContext& thread = ThisThread();
  thread.executing.at_once = false;
  const Submission submission{.serial = TakeSerial(thread),
                              .queue = queue,
                              .peer = thread.peer,
                              .subject = thread.subject,
                              .word = thread.word,
                              .blocking = blocking};
  Tell([&](Observer& observer) { observer.OnSubmitting(submission, task); });
  return submission;
}

void EndSubmission(const Submission& submission, std::uint64_t number) noexcept {
  const Execution& executed = ThisThread().executing;
  const Execution* const execution = number == 0 || executed.at_once ? &executed : nullptr;
  Tell([&](Observer& observer) { observer.OnSubmitted(submission, number, execution); });
}

void EndExecution(std::int64_t begin_ns, bool discarded) noexcept {
  Execution& execution = ThisThread().executing;
  execution.begin_ns = begin_ns;
  execution.end_ns = NowNs();
  execution.discarded = discarded;
  TellExecution(execution);
}

void TellExecution(const Execution& execution) noexcept {
  Tell([&](Observer& observer) { observer.OnExecuted(execution); });
}

void TellOperator(const OperatorEvent& event) noexcept {
  Tell([&](Observer& observer) { observer.OnOperator(event); });
}

void TellTransfer(const TransferEvent& event) noexcept {
  Tell([&](Observer& observer) { observer.OnTransfer(event); });
}

void EndShare(const TaskKey& task, std::int64_t begin_ns) noexcept {
  Tell([&](Observer& observer) { observer.OnHelped(task, begin_ns); });
}

void TellHostCode(const QueueLabel& queue, std::uint64_t task) noexcept {
  const TaskKey key{queue, task, TaskType::kHostFunction};
  Tell([&](Observer& observer) { observer.OnHostCode(key); });
}

void TellFailureSeen(const QueueLabel& queue, std::uint64_t task) noexcept {
  Tell([&](Observer& observer) { observer.OnFailureSeen(queue, task); });
}

void TellMistake(const Mistake& mistake) noexcept {
  Tell([&](Observer& observer) { observer.OnMistake(mistake); });
}

void TellHostWrote(const MemoryEnd& begin, std::uint64_t bytes) noexcept {
  Tell([&](Observer& observer) { observer.OnHostWrote(begin, bytes); });
}

void TellSignalCleared(const void* target) noexcept {
  Tell([&](Observer& observer) { observer.OnSignalCleared(target); });
}

void TellLearned(const Timeline& timeline, std::uint64_t task) noexcept {
  Tell([&](Observer& observer) { observer.OnLearned(timeline, task); });
}

void TellMemory(const MemoryEvent& event) noexcept {
  Tell([&](Observer& observer) { observer.OnMemory(event); });
}

void TellStream(const StreamEvent& event) noexcept {
  Tell([&](Observer& observer) { observer.OnStream(event); });
}

void TellObject(const ObjectEvent& event) noexcept {
  Tell([&](Observer& observer) { observer.OnObject(event); });
}

}  // namespace sampan::observe
