// Hands tasks to the runtime: cut to the size that one task may have, each piece with its record.
#pragma once

#include <functional>
#include <string>

#include "hccl/task.h"

namespace sampan::plf {

/// Called for each piece that the runtime has accepted.
using Recorder = std::function<void(const hccl::TaskPara&)>;

/// Cuts a task at `most_bytes`. What was accepted before a failure stays queued.
HcclResult SubmitTask(const Task& task, u64 most_bytes, const Recorder& recorder);

/// The one record of a task as a whole.
hccl::TaskPara RecordOf(const Task& task);

/// A record in words: what, where, how much, over which link and with which rank.
std::string Describe(const hccl::TaskPara& para);

/// Where a notify is in its device's list; all ones when the runtime does not know it.
u64 NotifyOffset(HcclRtNotify notify);

}  // namespace sampan::plf
