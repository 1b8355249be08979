// Copies with a descriptor or with offsets: what they access is known when they have run.
#include <algorithm>
#include <utility>

#include "check/checker.h"

namespace sampan::check {

void Checker::AddExecutedEnds(const observe::Execution& execution) {
  const auto found = indirect_.find({execution.task.queue.number, execution.task.number});
  if (found == indirect_.end()) return;
  found->second.ends = execution.ends;
  found->second.bytes = execution.bytes;
  found->second.has_run = true;
  // Until the model has executed it, it is not known what comes before it.
  const auto [queue, number] = found->first;
  if (!order_.IsExecuted(queue, number)) return;
  JudgeEnds(found, order_.Before(queue, number));
  if (indirect_.empty()) HostLearned();
}

void Checker::JudgeEnds(Indirects::iterator at, const OrderClock& before) {
  const Indirect copy = std::move(at->second);
  indirect_.erase(at);
  const TaskSite& site = *copy.site;
  const Acting acting{&site, site.call, site.stack, site.thread, site.queue.device};
  for (std::size_t side = 0; side < copy.ends.size(); ++side) {
    const observe::MemoryEnd& end = copy.ends[side];
    if (end.allocation == 0 || copy.bytes == 0) continue;
    const TaskAccess access{
        end.allocation, {{end.offset, end.offset + copy.bytes}}, side == 0 ? Use::kWrite : Use::kRead};
    JudgeLate(access, acting, copy.site, before);
  }
}

void Checker::JudgeLate(const TaskAccess& access, const Acting& acting, const SharedSite& site,
                        const OrderClock& before) {
  CheckedMemory* const memory = memory_.Find(access.allocation);
  if (memory == nullptr) return;
  const std::uint64_t queue = site->queue.number;
  const Conflict other =
      memory->history.FindConflict(access, queue, site->number, before, [&](const TaskSite& each) {
        return order_.Before(each.queue.number, each.number).At(queue) >= site->number;
      });
  if (other.site != nullptr) ReportConflict(*memory, other, access, acting, false);
  if (access.use == Use::kWrite && memory->knows_writes) memory->written.Add(access.shape);
  AddToHistory(*memory, access, site);
}

}  // namespace sampan::check
