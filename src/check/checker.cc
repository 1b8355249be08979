// The observer that judges the order of accesses.
#include "check/checker.h"

#include <unistd.h>

#include <algorithm>
#include <exception>
#include <new>
#include <string_view>
#include <utility>
#include <variant>

#include "check/findings/thread_owned.h"
#include "check/host/host_faults.h"
#include "check/host/page_guard.h"
#include "check/host/system_calls.h"
#include "observe/hooks.h"

namespace sampan::check {
namespace {

[[gnu::tls_model("initial-exec")]] constinit thread_local ThreadMark thread_mark;
constinit std::atomic<std::uint32_t> threads{0};

bool EndsWork(std::string_view call) {
  return call.starts_with("aclrtResetDevice") || call.starts_with("aclFinalize");
}
/// The call lets another process write to memory, or makes a second address of it.
bool HidesWrites(std::string_view call) {
  return call.find("Export") != std::string_view::npos || call.find("Ipc") != std::string_view::npos ||
         call.find("Shareable") != std::string_view::npos;
}

/// The operator itself is judged. What moves its bytes is not.
bool ServesOperator() noexcept {
  return observe::ThisThread().serves_operator;
}

}  // namespace

ThreadMark& ThisThreadMark() noexcept {
  if (thread_mark.number == 0) thread_mark.number = threads.fetch_add(1, std::memory_order_relaxed) + 1;
  return thread_mark;
}

bool Checker::Start(Findings::Options options, const Scope& scope) {
  if (!stacks_.Start()) return false;
  guards_pages_ = scope.guards_pages;
  finds_unwritten_ = scope.finds_unwritten;
  sums_sources_ = scope.sums_sources;
  findings_.Start(std::move(options), stacks_);
  if (!scope.held_counts.empty()) held_.Start(scope.held_counts);
  active_.store(true);
  return true;
}

std::uint32_t Checker::CaptureStack() noexcept {
  Stacks::Captured stack;
  Stacks::Capture(stack);
  return stacks_.Intern(stack);
}

// ---- calls ----

void Checker::OnCallBegan(const char* name, const observe::Peer* peer) noexcept {
  ThreadMark& thread = ThisThreadMark();
  if (guards_pages_ && !std::exchange(thread.takes_faults, true)) OpenOurSignals();
  if (thread.calls++ == 0) {
    thread.outer = name;
    thread.in_hccl = peer != nullptr;
  }
  thread.inner = name;
}

void Checker::OnCallEnded(const char* name, std::int32_t code) noexcept {
  ThreadMark& thread = ThisThreadMark();
  if (thread.waits) NoteGoesOn();
  if (thread.calls != 0) --thread.calls;
  thread.inner = thread.calls == 0 ? nullptr : thread.outer;
  if (thread.submits_writes) {  // the task was refused
    const StateLock lock(lock_);
    EndWrites();
  }
  if (code != 0) return;
  if (EndsWork(name) || HidesWrites(name)) {
    const StateLock lock(lock_);
    if (EndsWork(name) && !std::exchange(was_reset_, true)) held_.ForgetDevices();
    writes_hidden_ |= HidesWrites(name);
  }
}

void Checker::OnCallAwaits(const observe::AwaitedWork& awaited) noexcept {
  if (ServesOperator()) return;
  ThreadMark& thread = ThisThreadMark();
  const std::string_view call = thread.inner == nullptr ? "" : thread.inner;
  if (call.find("Timeout") == std::string_view::npos) NoteWaiting(awaited);
}

void Checker::OnHostWaitBegan(const observe::HostWaitBegin& wait) noexcept {
  if (!ServesOperator()) NoteWaiting({observe::Awaited::kStream, wait.queue.device, wait.queue.stream});
}

void Checker::OnHostWait(const observe::HostWaitEvent&) noexcept {
  NoteGoesOn();
}

void Checker::NoteWaiting(const observe::AwaitedWork& awaited) noexcept {
  ThreadMark& thread = ThisThreadMark();
  const StateLock lock(lock_);
  const auto same = [&](const WaitingCall& each) { return each.thread == thread.number; };
  auto at = std::find_if(waiting_.begin(), waiting_.end(), same);
  if (at == waiting_.end())
    at = std::find_if(waiting_.begin(), waiting_.end(),
                      [](const WaitingCall& each) { return each.thread == 0; });
  if (at == waiting_.end()) return;
  *at = {thread.number, thread.outer, awaited, CaptureStack(), ::gettid()};
  thread.waits = true;
}

void Checker::NoteGoesOn() noexcept {
  ThreadMark& thread = ThisThreadMark();
  thread.waits = false;
  const StateLock lock(lock_);
  for (WaitingCall& each : waiting_) {
    if (each.thread == thread.number) each = {};
  }
}

std::vector<std::int64_t> Checker::WaitingThreads() {
  const StateLock lock(lock_);
  std::vector<std::int64_t> threads_in_waits;
  for (const WaitingCall& each : waiting_) {
    if (each.thread != 0) threads_in_waits.push_back(each.system_thread);
  }
  return threads_in_waits;
}

bool Checker::MayEndFromOutside(std::uint64_t queue) noexcept {
  const StateLock lock(lock_);
  const OrderedTask* const head = order_.Head(queue);
  return head == nullptr || head->step.shared ||
         (head->step.kind == OrderStep::Kind::kWaitForWord && writes_hidden_);
}

Checker::Submitting& Checker::Pending() {
  Submitting* const pending = ThreadOwned<Submitting>();
  if (pending == nullptr) throw std::bad_alloc();
  return *pending;
}

void Checker::OnSubmitting(const observe::Submission& submission, const Task& task) noexcept {
  if (ServesOperator()) return;
  const ThreadMark& thread = ThisThreadMark();
  if (guards_pages_) WatchSystemCalls();  // of files that were loaded in the meantime
  try {
    Submitting& pending = Pending();
    const std::string_view inner = thread.inner == nullptr ? "" : thread.inner;
    pending.accesses = AccessesOf(task, inner.find("Batch") != std::string_view::npos);
    pending.step = StepOf(task, submission);
    AddWord(submission, pending.accesses);
    // Its ranks wait for one another by means that are not all seen.
    if (thread.in_hccl && pending.step.kind == OrderStep::Kind::kSignal) pending.step.shared = true;
    pending.call = thread.outer;
    pending.indirect = std::holds_alternative<IndirectTask>(task);
    Stacks::Captured stack;
    Stacks::Capture(stack);
    const StateLock lock(lock_);
    pending.stack = stacks_.Intern(stack);
    BeginWrites(pending);
    if (submission.blocking != nullptr) JudgeBlocking(pending, submission);
  } catch (const std::exception&) {
    // Without memory for it the task is not judged.
  }
}

void Checker::JudgeBlocking(const Submitting& task, const observe::Submission& submission) {
  const Acting acting{.call = task.call,
                      .stack = task.stack,
                      .thread = ThisThreadMark().number,
                      .device = submission.queue.device};
  if (submission.blocking->asynchronous_call && task.accesses.pageable) {
    AccessReport report = ReportOf({}, acting);
    report.does =
        task.accesses.all.empty() || task.accesses.all.front().use == Use::kWrite ? "read" : "write";
    if (submission.queue.number != 0) report.stream = submission.queue.stream;
    ReportOne(
        FindingKind::kPageableAsync,
        "the asynchronous call of {0} was given pageable memory: it waited for its stream and copied before "
        "it returned; with another release the memory may be used later",
        "allocate the host memory of {0} with aclrtMallocHost, or register it with aclrtHostRegister", report,
        nullptr);
  }
  for (const TaskAccess& access : task.accesses.all)
    Judge(access, acting, nullptr, order_.host(), task.accesses.fills);
  JudgeEntries(task, submission.queue);
}

void Checker::JudgeEntries(const Submitting& task, const QueueLabel& queue) {
  if (task.accesses.all.empty() || task.accesses.all.back().entry <= 0) return;
  auto site = std::make_shared<const TaskSite>(TaskSite{
      {kBlockingQueue, queue.device, queue.stream}, 1, 0, task.call, ThisThreadMark().number, task.stack});
  const Acting acting{site.get(), site->call, site->stack, site->thread, queue.device};
  std::unordered_map<std::uint64_t, AccessHistory> entries;
  for (const TaskAccess& access : task.accesses.all) {
    AccessHistory& history = entries[access.allocation];
    const Conflict other = history.FindConflict(access, kBlockingQueue, 1, {});
    const CheckedMemory* const memory = memory_.Find(access.allocation);
    if (other.site != nullptr && memory != nullptr) ReportConflict(*memory, other, access, acting, false);
    history.Add(access, site);
  }
}

void Checker::OnSubmitted(const observe::Submission& submission, std::uint64_t number,
                          const observe::Execution* execution) noexcept {
  if (ServesOperator() || (submission.blocking != nullptr && !ThisThreadMark().submits_writes)) return;
  try {
    Submitting& pending = Pending();
    const std::pair key(submission.queue.number, number);
    const StateLock lock(lock_);
    EndWrites();
    if (submission.blocking != nullptr) return;
    auto site = std::make_shared<const TaskSite>(
        TaskSite{submission.queue, number, ++sites_, pending.call, ThisThreadMark().number, pending.stack});
    if (pending.indirect && execution == nullptr && !order_.IsOver(key.first, number))
      indirect_[key].site = site;
    if (execution == nullptr && !order_.IsOver(key.first, number)) in_queues_[key] = site;
    const auto failed = failures_.find(key);
    if (failed != failures_.end() && failed->second.site == nullptr) failed->second.site = site;
    const bool reads_operands = pending.indirect && execution != nullptr && execution->knows_ends;
    if (execution != nullptr && execution->code != 0) NoteFailure(*execution, site);
    order_.Submitted({site, pending.step, std::move(pending.accesses.all)});
    if (reads_operands) {
      indirect_[key].site = site;
      AddExecutedEnds(*execution);
    }
    if (execution != nullptr) order_.Executed(key.first, number, false);
  } catch (const std::exception&) {
    // As above.
  }
}

void Checker::OnExecuted(const observe::Execution& execution) noexcept {
  try {
    const StateLock lock(lock_);
    const std::pair key(execution.task.queue.number, execution.task.number);
    if (execution.code != 0) {
      const auto task = in_queues_.find(key);
      NoteFailure(execution, task == in_queues_.end() ? nullptr : task->second);
    }
    order_.Executed(key.first, key.second, execution.discarded);
    if (execution.knows_ends) {
      AddExecutedEnds(execution);
    } else if (indirect_.erase(key) != 0 && indirect_.empty()) {
      HostLearned();
    }
    in_queues_.erase(key);
  } catch (const std::exception&) {
    // As above.
  }
}

void Checker::AddToHistory(CheckedMemory& memory, const TaskAccess& access, const SharedSite& site) {
  memory.history.Add(access, site);
  if (std::exchange(memory.is_open, true)) return;
  open_.push_back(&memory);
}

void Checker::OnStep(const OrderedTask& task, const OrderClock& before) {
  const TaskSite& site = *task.site;
  const Acting acting{&site, site.call, site.stack, site.thread, site.queue.device};
  for (const TaskAccess& access : task.accesses)
    Judge(access, acting, task.site, before, false);
  const auto copy = indirect_.find({site.queue.number, site.number});
  if (copy != indirect_.end() && copy->second.has_run) JudgeEnds(copy, before);
  GuardNoted();
  if (task.step.kind == OrderStep::Kind::kWord) {
    const auto engine = reinterpret_cast<std::uintptr_t>(task.step.target);
    memory_.ForAll([&](CheckedMemory& memory) {
      const std::uintptr_t begin =
          memory.facts.address + static_cast<std::uintptr_t>(memory.facts.engine_delta);
      if (engine - begin < memory.facts.usable_bytes)
        memory.written.Add({{engine - begin, engine - begin + sizeof(std::uint64_t)}});
    });
  }
}

void Checker::Judge(const TaskAccess& access, const Acting& acting, const SharedSite& site,
                    const OrderClock& before, bool fills) {
  CheckedMemory* const memory = memory_.Find(access.allocation);
  if (memory == nullptr) return;
  const std::uint64_t queue = site == nullptr ? 0 : site->queue.number;
  const Conflict earlier =
      memory->history.FindConflict(access, queue, site == nullptr ? 0 : site->number, before);
  if (earlier.site != nullptr) ReportConflict(*memory, earlier, access, acting, fills);
  if (access.use == Use::kWrite) {
    if (memory->knows_writes) memory->written.Add(access.shape);
    if (order_.tracks_words()) {
      const auto engine = memory->facts.address + static_cast<std::uintptr_t>(memory->facts.engine_delta);
      order_.WordOverwritten(reinterpret_cast<const std::byte*>(engine + access.shape.range.begin),
                             access.shape.range.bytes());
    }
  } else if (access.use < Use::kWordWrite && memory->knows_writes && !writes_hidden_ &&
             !memory->written.Any(access.shape.range)) {
    ReportUnwritten(*memory, access, acting);
  }
  if (site == nullptr) return;
  SumSource(*memory, access, site);
  AddToHistory(*memory, access, site);
  if (guards_pages_ && memory->can_guard()) NoteGuard(*memory, access);
}

void Checker::OnLostSignal(const LostSignal& lost) {
  const auto report = [](const TaskSite& site) {
    return AccessReport{.call = site.call,
                        .does = "record",
                        .device = site.queue.device,
                        .stream = site.queue.stream,
                        .thread = site.thread,
                        .stack = site.stack};
  };
  const std::array accesses = {report(*lost.first), report(*lost.second)};
  MessageText message;
  message.Add("notify ").Add(lost.object);
  message.Add(" is recorded in {1} while the signal of {0} is not taken yet: one of the two signals is lost");
  findings_.Report(
      {.kind = FindingKind::kLostSignal,
       .message = message.text(),
       .fix = "let the stream of {1} wait until the signal of {0} was taken: a second notify in the "
              "other direction, or an event behind the wait",
       .accesses = accesses});
}

// ---- what the program knows ----

void Checker::HostLearned(const TaskSite* teller) {
  JudgeSources(teller);
  // Copies whose ends are not known yet are judged against all that is not before them.
  if (indirect_.empty()) {
    std::erase_if(open_, [&](CheckedMemory* memory) {
      memory->history.Forget(order_.settled());
      memory->is_open = !memory->history.empty();
      return !memory->is_open;
    });
  }
  std::erase_if(guarded_, [&](CheckedMemory* memory) {
    if (memory->history.empty()) {
      memory->guard.OpenAll();
    } else {
      memory->guard.OpenUnneeded(
          [&](const Range& pages) { return NeededLevel(*memory, pages) != PageLevel::kAll; });
    }
    return memory->guard.is_empty();
  });
}

void Checker::OnLearned(const Timeline& timeline, std::uint64_t task) noexcept {
  if (ServesOperator()) return;
  try {
    const StateLock lock(lock_);
    order_.Learned(&timeline, task);
    HostLearned();
  } catch (const std::exception&) {
    // Without memory for it the order is not known: nothing more is judged.
    active_.store(false);
  }
}

void Checker::OnHostCode(const observe::TaskKey& task) noexcept {
  try {
    const StateLock lock(lock_);
    order_.Learned(task.queue.number, task.number - 1);
    const auto site = in_queues_.find({task.queue.number, task.number});
    HostLearned(site == in_queues_.end() ? nullptr : site->second.get());
  } catch (const std::exception&) {
    active_.store(false);
  }
}

void Checker::OnHostWrote(const observe::MemoryEnd& begin, std::uint64_t bytes) noexcept {
  if (ServesOperator()) return;
  try {
    const StateLock lock(lock_);
    const ThreadMark& thread = ThisThreadMark();
    const Acting acting{
        .call = thread.outer, .stack = CaptureStack(), .thread = thread.number, .device = begin.device};
    const TaskAccess access{begin.allocation, {{begin.offset, begin.offset + bytes}}, Use::kWrite};
    if (CheckedMemory* const memory = memory_.Find(begin.allocation)) memory->sources.Drop(access.shape);
    Judge(access, acting, nullptr, order_.host(), false);
  } catch (const std::exception&) {
    // Without memory for it the write is not judged.
  }
}

void Checker::OnSignalCleared(const void* target) noexcept {
  const StateLock lock(lock_);
  order_.SignalCleared(target);
}

}  // namespace sampan::check
