// Carries out plans: queued on a stream, or before the call returns.
#include "core/copy_submit.h"

#include <utility>

#include "base/text.h"
#include "core/device.h"

namespace sampan {

Status CheckStreamContext(const CopyTarget& target) {
  if (target.context->Owns(target.TheStream())) return {};
  return {Code::kStreamContext,
          Text("stream ", target.TheStream().id(), " belongs to another context than the calling thread's")};
}

namespace {

/// Before a copy with pageable memory: everything in the stream is over then.
Status Drain(Stream& stream) {
  const trace::HostWait traced(summary::WaitReason::kPageable, stream.label());
  return stream.Synchronize(kNever);
}

}  // namespace

Status SubmitPlan(const CopyTarget& target, Result<Plan>&& plan) {
  if (!plan.ok()) return plan.TakeStatus();
  switch (plan->timing) {
    case Timing::kNothing:
      return {};
    case Timing::kDrainThenNow:
      if (Status drained = Drain(target.TheStream()); !drained.ok()) return drained;
      return RunPlan(*target.context, std::move(plan),
                     {true, target.TheStream().label(),
                      "pageable host memory: the call waits for its stream and copies before it returns"});
    case Timing::kNow:
      if (Status own = CheckStreamContext(target); !own.ok()) return own;
      return RunPlan(*target.context, std::move(plan),
                     {true, target.TheStream().label(), "host memory: done before the call returns"});
    case Timing::kQueued:
      break;
  }
  if (Status own = CheckStreamContext(target); !own.ok()) return own;
  return target.TheStream().Enqueue(std::move(plan->task));
}

Status RunPlan(Device& device, Result<Plan>&& plan, const BlockingReason& reason) {
  if (!plan.ok()) return plan.TakeStatus();
  if (plan->timing == Timing::kNothing) return {};
  auto opened = device.Open();
  if (!opened.ok()) return opened.TakeStatus();
  if (trace::On()) return RunTraced(**opened, device.id(), std::move(plan->task), reason);
  return (*opened)->RunNow(std::move(plan->task));
}

}  // namespace sampan
