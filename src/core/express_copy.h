// The shortest way of the most frequent calls: plain copies that nothing stands in the way of. What they run
// through is marked hot, in every layer: that code lies together then, and a caller whose own code, or a
// driver's, fills the caches finds it sooner.
#pragma once

#include "core/copy_plan.h"
#include "core/stream.h"

namespace sampan {

/// Gives an asynchronous linear copy to its stream, one of the caller's context, without a plan and without a
/// task, where the stream's queue has a lane for that and everything about the request is plain: each end
/// lies in one allocation without rights, at least one of them on the caller's device and none on another.
/// False: nothing was done, and whatever there is to say against the request is for its plan to say.
bool TryExpressCopy(const LinearRequest& request, Stream& stream, const PlanContext& context);

/// The same for a batch of few entries with one attribute, which all lie in the same two allocations.
bool TryExpressBatch(const BatchRequest& request, Stream& stream, const PlanContext& context);

}  // namespace sampan
