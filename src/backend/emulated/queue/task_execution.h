// Executes copies, fills, reductions, marks and effects.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstring>

#include "backend/api/task.h"
#include "backend/api/task_memory.h"
#include "backend/emulated/kernels/copy_kernels.h"
#include "backend/emulated/schedule/queue_scheduler.h"
#include "base/error/status.h"
#include "trace/record.h"

namespace sampan::emulated {

/// Tasks with at most this many bytes are short, in any form.
inline constexpr std::size_t kBytesAlwaysShort = 4096;
/// From this size on, sharing between engines pays. Smaller requests stay in the caches.
inline constexpr std::size_t kShareFromBytes = std::size_t{512} << 10;
static_assert(CachingFor(kShareFromBytes - 1) == Caching::kKeep);
/// A task that takes less time is executed at once. Waking an engine on an idle core costs the submitter 3
/// us. If the engine takes the submitter's core, it costs 48 us (bench_small).
inline constexpr std::chrono::nanoseconds kHandOverTime{5'200};

/// Estimates how long a copy takes from its bytes and pieces. bench_small: 5 to 7 ns per entry with its plan;
/// 50 bytes per ns in the caches, 10 in memory.
constexpr std::chrono::nanoseconds EstimatedTime(std::size_t bytes, std::size_t pieces) {
  constexpr std::size_t kBytesPerNs = 32, kNsPerPiece = 4;
  return std::chrono::nanoseconds(bytes / kBytesPerNs + pieces * kNsPerPiece);
}

/// A task is short if it has few bytes, or no long piece and takes little time.
struct ShortLimits {
  std::size_t piece_bytes;
  std::chrono::nanoseconds time;

  constexpr bool Hold(std::size_t bytes, std::size_t pieces, std::size_t longest) const {
    return bytes <= kBytesAlwaysShort || (longest <= piece_bytes && EstimatedTime(bytes, pieces) <= time);
  }
};
/// Limits for a thread that submits a task to an idle queue. An engine executes long pieces, so that the
/// program continues.
inline constexpr ShortLimits kShortAtOnce{kBytesAlwaysShort, kHandOverTime};

/// Returns true if the task is inside the limits and cannot block.
[[gnu::noinline]] bool IsOtherShort(const Task& task, const ShortLimits& limits);
inline bool IsShort(const Task& task, const ShortLimits& limits) {
  const auto* const copy = std::get_if<CopyTask>(&task);
  if (copy == nullptr) return IsOtherShort(task, limits);
  return limits.Hold(copy->segment.bytes, 1, copy->segment.bytes);
}

/// The task's name on the rows of engines.
summary::TaskType TraceType(const Task& task);

/// Executes the task now. Shares large copies with idle engines. The queue itself handles waits and host
/// functions.
[[gnu::noinline]] Status ExecuteOther(Task& task, QueueScheduler& scheduler);
[[gnu::noinline]] void ShareCopy(const Segment& segment, QueueScheduler& scheduler);
inline Status ExecuteCopy(const CopyTask& task, QueueScheduler& scheduler) {
  if (!Live(task.dst) || !Live(task.src)) [[unlikely]]
    return CheckLive(task.dst, task.src);
  const auto& [dst, src, bytes] = task.segment;
  if (bytes >= kShareFromBytes) [[unlikely]] {
    ShareCopy(task.segment, scheduler);
  } else {
    std::memmove(dst, src, bytes);
  }
  return {};
}
inline Status ExecuteTask(Task& task, QueueScheduler& scheduler) {
  const auto* const copy = std::get_if<CopyTask>(&task);
  return copy != nullptr ? ExecuteCopy(*copy, scheduler) : ExecuteOther(task, scheduler);
}

}  // namespace sampan::emulated
