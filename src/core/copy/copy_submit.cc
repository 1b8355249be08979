// Executes plans: queued on a stream, or before the call returns.
#include "core/copy/copy_submit.h"

#include <utility>

#include "backend/api/task_memory.h"
#include "base/error/assert.h"
#include "base/threads/threads.h"
#include "core/copy/peer_copy.h"
#include "core/objects/device.h"
#include "core/streams/observed_submit.h"
#include "observe/hooks.h"

namespace sampan::core {
namespace {

/// Waits for all work of the stream, before a copy of pageable memory.
Status Drain(Stream& stream, const Task& task) {
  if (auto waits = stream.AwaitHandovers(task); !waits.ok()) return waits.TakeStatus();
  const observe::HostWait wait(observe::WaitReason::kPageable, stream.label());
  return stream.Synchronize(kNever);
}

}  // namespace

Status RunPlan(Device& device, Plan&& plan, const std::optional<CopyTarget>& asynchronous) {
  // The asynchronous calls have none of their own.
  std::optional<NoCancellation> no_cancellation;
  observe::BlockingReason reason;
  if (plan.timing == Timing::kNothing) return {};
  if (asynchronous) {
    SAMPAN_ASSERT(plan.timing != Timing::kQueued);
    no_cancellation.emplace();
    Stream& stream = asynchronous->TheStream();
    const bool drains = plan.timing == Timing::kDrainThenNow;
    Status ready = drains ? Drain(stream, plan.task) : asynchronous->context->CheckOwns(stream);
    if (!ready.ok()) return ready;
    reason = {true, stream.label(),
              drains ? "pageable host memory: the call waits for its stream and copies before it returns"
                     : "host memory: done before the call returns"};
  }
  SAMPAN_ASSERT(!std::holds_alternative<NoTask>(plan.task));
  if (device.memory().AnyHandover()) [[unlikely]] {
    const auto check = [&](const AllocationUse& use) { return device.memory().CheckHandover(use); };
    if (Status checked = VisitUses(plan.task, check); !checked.ok()) return checked;
  }
  if (const auto* outside = std::get_if<HostTask>(&plan.task)) {
    HostWork& work = *outside->work;
    const Task* const told = work.device_task() != nullptr ? work.device_task() : &plan.task;
    if (observe::On()) return RunObserved(device.id(), *told, reason, [&] { return RunOutside(work); });
    return RunOutside(work);
  }
  auto opened = device.Open();
  if (!opened.ok()) return opened.TakeStatus();
  const auto run = [&] { return (*opened)->RunNow(std::move(plan.task)); };
  return observe::On() ? RunObserved(device.id(), plan.task, reason, run) : run();
}

}  // namespace sampan::core
