// The checker's part for memory, streams and failed tasks, and for the end of the process.
#include <algorithm>
#include <array>
#include <exception>
#include <string_view>

#include "check/checker.h"
#include "check/host/page_guard.h"
#include "check/host/system_calls.h"
#include "observe/hooks.h"

namespace sampan::check {
namespace {

/// Failures that the program saw before their execution was told. More of them are old: it was told long ago.
constexpr std::size_t kMaxToldFailures = 4096;

}  // namespace

void Checker::OnStream(const observe::StreamEvent& event) noexcept {
  try {
    const StateLock lock(lock_);
    if (event.destroyed) {
      // Other streams may stand, or copies with a descriptor be queued, so the histories are not dropped.
      for (CheckedMemory* const memory : open_)
        memory->history.ForgetQueue(event.queue.number);
      HostLearned();
      std::erase_if(summed_, [&](CheckedMemory* memory) {
        memory->sources.ForgetQueue(event.queue.number);
        return memory->sources.empty();
      });
      order_.RemoveQueue(event.queue);
      std::erase_if(indirect_, [&](const auto& copy) { return copy.first.first == event.queue.number; });
      if (const auto stream = streams_.find(event.queue.number); stream != streams_.end()) {
        held_.Remove(stream->second.held);
        streams_.erase(stream);
      }
      return;
    }
    if (observe::ThisThread().serves_operator) return;
    order_.AddQueue(event.queue, event.timeline);
    LivingStream& stream = streams_[event.queue.number];
    stream = {event.queue, event.of_context, MadeHere()};
    CountHeld(stream);
  } catch (const std::exception&) {
    // Without memory for it the stream is not judged.
  }
}

void Checker::OnObject(const observe::ObjectEvent& event) noexcept {
  try {
    const StateLock lock(lock_);
    if (event.destroyed) {
      const auto object = objects_.find(event.handle);
      if (object == objects_.end()) return;
      held_.Remove(object->second.held);
      objects_.erase(object);
      return;
    }
    if (observe::ThisThread().serves_operator) return;
    LivingObject& object = objects_[event.handle];
    object = {event.kind, event.device, MadeHere()};
    CountHeld(object);
  } catch (const std::exception&) {
    // Without memory for it the object is no leak.
  }
}

Checker::MadeBy Checker::MadeHere() noexcept {
  const ThreadMark& thread = ThisThreadMark();
  return {thread.outer, CaptureStack(), thread.number};
}

void Checker::OnMemory(const observe::MemoryEvent& event) noexcept {
  // Files that were loaded in the meantime may hand this memory to the system.
  if (guards_pages_ && !event.freed() && !event.place.on_device()) WatchSystemCalls();
  try {
    const bool may_be_summed = sums_sources_ && !event.freed() && MayBeSummed(event);
    const StateLock lock(lock_);
    if (event.freed()) return Freed(event);
    if (observe::ThisThread().serves_operator) return;
    CheckedMemory& memory = memory_.Add(event);
    memory.stack = CaptureStack();
    memory.thread = ThisThreadMark().number;
    const bool own = event.kind == observe::MemoryKind::kOwn || event.kind == observe::MemoryKind::kPool;
    memory.knows_writes = own && event.place.on_device() && finds_unwritten_;
    if (event.kind == observe::MemoryKind::kRegistered) has_registered_.store(true);
    if (guards_pages_ && memory.can_guard()) {
      guardable_begin_.store(std::min(guardable_begin_.load(), event.address));
      guardable_end_.store(std::max(guardable_end_.load(), memory.end()));
      if (event.kind == observe::MemoryKind::kOwn) SetPages({event.address, memory.end()}, PageLevel::kAll);
    }
    if (may_be_summed) NoteUnguarded(memory);
    CountHeld(memory);
  } catch (const std::exception&) {
    // Without memory for it the allocation is not judged.
  }
}

void Checker::Freed(const observe::MemoryEvent& event) {
  CheckedMemory* const memory = memory_.Find(event.allocation);
  if (memory == nullptr) return;
  const ThreadMark& thread = ThisThreadMark();
  const std::uint32_t stack = CaptureStack();
  if (event.change == observe::MemoryChange::kFreed) {
    const AccessReport freeing{.call = thread.outer,
                               .does = "free",
                               .thread = thread.number,
                               .range = {0, event.bytes},
                               .stack = stack};
    Conflict open = memory->history.FindOpen(order_.host());
    const OrderedTask* const waiting = order_.WaitingForWordIn(event.allocation);
    if (open.site == nullptr && waiting != nullptr) {
      const TaskAccess& word = waiting->accesses.front();
      open = {waiting->site.get(), word.shape.range, word.shape.range, word.use};
    }
    if (open.site != nullptr) ReportFreed(*memory, open, freeing);
    memory_.NoteFreed({event.address, event.bytes, event.usable_bytes, event.allocation, event.made_by,
                       thread.outer, event.place, event.kind == observe::MemoryKind::kRegistered,
                       memory->stack, stack, thread.number});
  }
  const bool keeps_out = guards_pages_ && memory->can_guard() && event.kind == observe::MemoryKind::kOwn;
  if (keeps_out) {
    SetPages({event.address, memory->end()}, PageLevel::kNothing);
  } else {
    memory->guard.OpenAll();
  }
  // A word that is made there later has other writes.
  order_.WordOverwritten(
      reinterpret_cast<const std::byte*>(event.address + static_cast<std::uintptr_t>(event.engine_delta)),
      memory->facts.usable_bytes);
  held_.Remove(memory->held);
  std::erase(open_, memory);
  std::erase(to_guard_, memory);
  std::erase(summed_, memory);
  guarded_.erase(memory);
  memory_.Remove(*memory);
}

// ---- failures ----

void Checker::NoteFailure(const observe::Execution& execution, const SharedSite& site) {
  const auto failure = failures_.try_emplace({execution.task.queue.number, execution.task.number}).first;
  if (failure->second.was_told) {
    failures_.erase(failure);
  } else {
    failure->second.code = execution.code;
    failure->second.site = site;
  }
}

void Checker::OnFailureSeen(const QueueLabel& queue, std::uint64_t task) noexcept {
  const StateLock lock(lock_);
  if (task == 0) {
    std::erase_if(failures_, [&](const auto& failure) { return failure.first.first == queue.number; });
    return;
  }
  const auto known = failures_.find({queue.number, task});
  if (known != failures_.end() && !known->second.was_told) {
    failures_.erase(known);
    return;
  }
  try {
    failures_[{queue.number, task}].was_told = true;  // its execution is told later
    if (failures_.size() <= kMaxToldFailures) return;
    std::erase_if(failures_, [&](const auto& each) {
      return each.second.was_told && (each.first.first != queue.number || each.first.second != task);
    });
  } catch (const std::exception&) {
    // Without memory for it the failure is reported at the end.
  }
}

// ---- the end ----

void Checker::Finish() noexcept {
  if (!active_.exchange(false)) return;
  const StateLock lock(lock_);
  try {
    for (const auto& [key, failure] : failures_) {
      if (failure.site == nullptr || failure.was_told) continue;
      const TaskSite& site = *failure.site;
      MessageText message;
      message.Add("the task of {0} failed with code ").Add(failure.code);
      message.Add(", and no call told the program");
      const AccessReport task{.call = site.call,
                              .does = "write",
                              .device = site.queue.device,
                              .stream = site.queue.stream,
                              .thread = site.thread,
                              .stack = site.stack};
      ReportOne(FindingKind::kFailedTask, message.text(), "synchronize the stream of {0} and check the code",
                task, nullptr);
    }
    ReportLeaks();
  } catch (const std::exception&) {
    // Ends with what was found.
  }
  for (CheckedMemory* const memory : guarded_)
    memory->guard.OpenAll();
  findings_.Finish("exit");
}

void Checker::FinishAt(std::string_view reason) noexcept {
  if (!active_.exchange(false)) return;
  const StateLock lock(lock_);
  findings_.Finish(reason);
}

void Checker::Abandon() noexcept {
  active_.store(false);
}

}  // namespace sampan::check
