// Executes plans: queued on a stream, or before the call returns.
#pragma once

#include <memory>

#include "base/error/status.h"
#include "core/copy/copy_plan.h"
#include "core/objects/context.h"
#include "core/streams/stream.h"
#include "observe/observer.h"

namespace sampan::core {

/// The caller's context, and the stream of the copy.
struct CopyTarget {
  Context* context;  ///< of the calling thread, which keeps it alive during the call
  Stream* stream;    ///< kept alive by the thread as well; null: the context's default stream

  Stream& TheStream() const { return stream != nullptr ? *stream : *context->default_stream(); }
};

/// The error for a stream of another context.
[[gnu::cold, gnu::noinline]] Status OfOtherContext(const Stream& stream);
inline Status CheckStreamContext(CopyTarget target) {
  const Stream& stream = target.TheStream();
  return target.context->Owns(stream) ? Status() : OfOtherContext(stream);
}

/// For the asynchronous calls. The plan's timing decides. SubmitUnqueued executes before it returns.
[[gnu::noinline]] Status SubmitUnqueued(CopyTarget target, Plan&& plan);
inline Status SubmitPlan(CopyTarget target, Plan&& plan) {
  if (plan.timing != Timing::kQueued) [[unlikely]]
    return SubmitUnqueued(target, std::move(plan));
  Stream& stream = target.TheStream();
  if (!target.context->Owns(stream)) [[unlikely]]
    return OfOtherContext(stream);
  return stream.Enqueue(std::move(plan.task));
}

/// For the blocking calls: done on return, outside every stream. The reason is for observers.
Status RunPlan(Device& device, Plan&& plan, const observe::BlockingReason& reason = {});

}  // namespace sampan::core
