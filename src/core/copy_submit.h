// Carries out plans: queued on a stream, or before the call returns.
#pragma once

#include <memory>

#include "base/status.h"
#include "core/context.h"
#include "core/copy_plan.h"
#include "core/stream.h"
#include "core/task_trace.h"

namespace sampan {

/// Who asked, and for which stream.
struct CopyTarget {
  Context* context;  ///< the calling thread's, which keeps it alive during the call
  Stream* stream;    ///< kept alive by the thread as well; null: the context's default stream

  Stream& TheStream() const { return stream != nullptr ? *stream : *context->default_stream(); }
};

/// Refuses a stream that belongs to another context than the caller's.
Status CheckStreamContext(const CopyTarget& target);

/// For the asynchronous calls: as the plan's timing says.
Status SubmitPlan(const CopyTarget& target, Result<Plan>&& plan);

/// For the blocking calls: done on return, outside every stream. The reason is for traces.
Status RunPlan(Device& device, Result<Plan>&& plan, const BlockingReason& reason = {});
inline Status RunPlan(const Context& context, Result<Plan>&& plan, const BlockingReason& reason = {}) {
  return RunPlan(context.device(), std::move(plan), reason);
}

}  // namespace sampan
