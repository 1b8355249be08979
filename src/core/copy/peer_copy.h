// Copies and fills of memory on other hosts.
#pragma once

#include "base/error/status.h"
#include "core/copy/copy_plan.h"

namespace sampan::core {

/// If the plan's task touches memory of another host, replaces it by one that the network executes. The queue
/// waits for it like for work of the host.
Status RouteToPeers(PlanContext context, Plan& plan);

/// Executes such a task before it returns.
Status RunOutside(HostWork& work);

}  // namespace sampan::core
