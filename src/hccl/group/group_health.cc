// Whether a rank's group is broken, as far as the rank knows.
#include "hccl/group/group_health.h"

#include <exception>
#include <utility>

namespace sampan::hccl {

bool GroupHealth::Break(HcclResult code, std::string reason, Detected detected) {
  const std::lock_guard lock(mutex_);
  if (is_broken()) return false;
  reason_ = std::move(reason);
  has_report_ = detected == Detected::kHere;  // before a call can see that the group is broken, and leave
  code_.store(code, std::memory_order_release);
  return true;
}

void GroupHealth::BreakHere(HcclResult code, std::string reason) noexcept {
  if (Break(code, std::move(reason), Detected::kHere)) wake_up_.Wake();
}

}  // namespace sampan::hccl
