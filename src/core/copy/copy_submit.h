// Executes plans: queued on a stream, or before the call returns.
#pragma once

#include <optional>
#include <utility>

#include "base/error/status.h"
#include "core/copy/copy_plan.h"
#include "core/objects/context.h"
#include "core/streams/stream.h"

namespace sampan::core {

/// The caller's context, and the stream of the copy.
struct CopyTarget {
  Context* context;  ///< of the calling thread, which keeps it alive during the call
  Stream* stream;    ///< kept alive by the thread as well; null: the context's default stream

  Stream& TheStream() const { return stream != nullptr ? *stream : *context->default_stream(); }
};

/// Executes the plan before it returns, outside every stream. For an asynchronous call it first checks the
/// stream, or waits for it, as the plan's timing says.
[[gnu::noinline]] Status RunPlan(Device& device, Plan&& plan,
                                 const std::optional<CopyTarget>& asynchronous = std::nullopt);

/// For the asynchronous calls. The plan's timing decides.
inline Status SubmitPlan(CopyTarget target, Plan&& plan) {
  if (plan.timing != Timing::kQueued) [[unlikely]]
    return RunPlan(target.context->device(), std::move(plan), target);
  Stream& stream = target.TheStream();
  if (Status own = target.context->CheckOwns(stream); !own.ok()) [[unlikely]]
    return own;
  return stream.Enqueue(std::move(plan.task));
}

}  // namespace sampan::core
