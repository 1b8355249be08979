// What the program has called when communicators change.
#include "collectives/comm/state_callbacks.h"

#include <algorithm>

#include "base/error/text.h"
#include "hccl/report.h"

namespace sampan::collectives {

void StateCallbacks::Set(const std::string& name, HcclCommStateCallback callback, void* args) {
  const std::lock_guard lock(mutex_);
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& each) { return each.name == name; });
  if (found == entries_.end())
    entries_.push_back({name, callback, args});
  else
    *found = {name, callback, args};
}

HcclResult StateCallbacks::Call(const char* function, HcclComm comm, HcclCommStatePhase phase) const {
  std::vector<Entry> entries;
  {
    const std::lock_guard lock(mutex_);
    entries = entries_;
  }
  for (const Entry& each : entries) {
    const HcclResult result = each.callback(comm, phase, each.args);
    if (result != HCCL_SUCCESS)
      return hccl::Fail(
          function, result,
          Text("the state callback '", each.name, "' failed in phase ", static_cast<s32>(phase)));
  }
  return HCCL_SUCCESS;
}

}  // namespace sampan::collectives
