// The shortest way of the most frequent call: a short copy that nothing stands in the way of.
#pragma once

#include "core/copy_plan.h"
#include "core/stream.h"

namespace sampan {

/// Does an asynchronous linear copy on the spot, on a stream of the caller's context, where its queue permits
/// that and everything about the request is plain: each end lies in one allocation without rights, at least
/// one of them on the caller's device and none on another. False: nothing was done, and whatever there is to
/// say against the request is for its plan to say.
bool TryExpressCopy(const LinearRequest& request, Stream& stream, const PlanContext& context);

}  // namespace sampan
