// Asks the budget of the devices before a task writes device memory.
#pragma once

#include "backend/api/task.h"
#include "backend/emulated/memory/write_budget.h"
#include "base/error/status.h"

namespace sampan::emulated {

/// Fails with 207001 if the task would take more host memory than the devices may have. Tasks that write no
/// device memory are admitted. The destination of an indirect copy is not known yet:
/// AdmitWrite follows when it is.
[[gnu::noinline]] Status AdmitWrites(const Task& task, WriteBudget& budget);
[[gnu::noinline]] Status AdmitWrites(const CopyTask& task, WriteBudget& budget);
[[gnu::noinline]] Status AdmitWrites(const BatchTask& task, WriteBudget& budget);
[[gnu::noinline]] Status AdmitWrite(const std::byte* dst, std::size_t bytes, WriteBudget& budget);

}  // namespace sampan::emulated
