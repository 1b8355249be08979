// The reference's mappings and rights that change while work is queued.
#include <algorithm>

#include "tests/model/model.h"

namespace sampan::model {

Verdict Model::Unmap(const Operation& op) {
  Buffer& buffer = buffers_[op.slot];
  if (buffer.state != Buffer::State::kLive || buffer.memory != Memory::kMapped || buffer.unmapped) {
    return Undetermined();
  }
  std::set<int> held;
  Verdict verdict;
  for (const Access& access : buffer.accesses) {
    if (host().Covers(access.track, access.tick)) continue;
    const Task& task = history_.tasks()[access.task];
    // Whether it started already must be known, and that it looks at one allocation on each side.
    const bool fails_for_sure =
        Held(task.clock) && task.kind != Task::Kind::kIndirect && task.uses.size() <= 2 && !StopsAt(task);
    if (fails_for_sure) {
      held.insert(access.task);
    } else {
      verdict.unordered_with.push_back(task.stream);
    }
  }
  if (!verdict.unordered_with.empty()) return verdict;
  for (const int task : held) {
    if (history_.tasks()[task].failure == ACL_SUCCESS) history_.Fail(task, ACL_ERROR_RT_SYS_DMA);
  }
  buffer.unmapped = true;
  return Answer(ACL_SUCCESS);
}

bool Model::StopsAt(const Task& task) const {
  return std::any_of(streams_.begin(), streams_.end(),
                     [&](const Stream& stream) { return stream.number == task.stream && stream.stops; });
}

Verdict Model::MapAgain(const Operation& op) {
  Buffer& buffer = buffers_[op.slot];
  if (buffer.state != Buffer::State::kLive || !buffer.unmapped) return Undetermined();
  Verdict verdict;
  bool in_use = false;
  for (const Access& access : buffer.accesses) {
    if (host().Covers(access.track, access.tick)) continue;
    const Task& task = history_.tasks()[access.task];
    in_use = true;
    if (!Held(task.clock)) verdict.unordered_with.push_back(task.stream);
  }
  if (!verdict.unordered_with.empty()) return verdict;
  if (in_use) return Answer(ACL_ERROR_RT_PARAM_INVALID);
  buffer.unmapped = false;
  buffer.rights = {Rights::kAll, Rights::kAll};
  return Answer(ACL_SUCCESS);
}

Verdict Model::SetAccess(const Operation& op) {
  Buffer& buffer = buffers_[op.slot];
  if (buffer.state != Buffer::State::kLive || buffer.memory != Memory::kMapped || buffer.unmapped) {
    return Undetermined();
  }
  Verdict verdict;
  for (const Access& access : buffer.accesses) {
    const Task& task = history_.tasks()[access.task];
    if (task.kind != Task::Kind::kIndirect || host().Covers(access.track, access.tick)) continue;
    verdict.unordered_with.push_back(task.stream);  // it looks at the rights when it runs
  }
  if (!verdict.unordered_with.empty()) return verdict;
  buffer.rights[op.device] = static_cast<Rights>(op.value);
  return Answer(ACL_SUCCESS);
}

}  // namespace sampan::model
