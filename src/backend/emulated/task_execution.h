// Executes the tasks that move or mark something.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstring>

#include "backend/api/task.h"
#include "backend/api/task_memory.h"
#include "backend/emulated/copy_kernels.h"
#include "backend/emulated/queue_scheduler.h"
#include "base/status.h"
#include "trace/record.h"

namespace sampan::emulated {

/// Tasks with so many bytes in all are short, whatever their form.
inline constexpr std::size_t kBytesAlwaysShort = 4096;
/// Requests from this size on are worth sharing between engines. Shorter ones stay in the caches.
inline constexpr std::size_t kShareFromBytes = std::size_t{512} << 10;
static_assert(CachingFor(kShareFromBytes - 1) == Caching::kKeep);
/// A task that takes less is executed at once. Waking an engine takes its submitter 3 us if the engine wakes
/// on an idle core, and 48 us if it takes the submitter's (bench_small).
inline constexpr std::chrono::nanoseconds kHandOverTime{5'200};

/// About how long copying takes: by the bytes, and by the pieces that they come in (bench_small: 5 to 7 ns an
/// entry with its plan; 50 bytes a ns in the caches, 10 in memory).
constexpr std::chrono::nanoseconds EstimatedTime(std::size_t bytes, std::size_t pieces) {
  constexpr std::size_t kBytesPerNs = 32, kNsPerPiece = 4;
  return std::chrono::nanoseconds(bytes / kBytesPerNs + pieces * kNsPerPiece);
}

/// What makes a task short: so many bytes in all, or no long piece and little time.
struct ShortLimits {
  std::size_t piece_bytes;
  std::chrono::nanoseconds time;

  constexpr bool Hold(std::size_t bytes, std::size_t pieces, std::size_t longest) const {
    return bytes <= kBytesAlwaysShort || (longest <= piece_bytes && EstimatedTime(bytes, pieces) <= time);
  }
};
/// For the thread that submits a task to an idle queue. Long pieces are an engine's: the program goes on.
inline constexpr ShortLimits kShortAtOnce{kBytesAlwaysShort, kHandOverTime};

/// Returns true if the limits hold for the task, and it cannot block.
[[gnu::noinline]] bool IsOtherShort(const Task& task, const ShortLimits& limits);
inline bool IsShort(const Task& task, const ShortLimits& limits) {
  const auto* const copy = std::get_if<CopyTask>(&task);
  if (copy == nullptr) return IsOtherShort(task, limits);
  return limits.Hold(copy->segment.bytes, 1, copy->segment.bytes);
}

/// What an indirect copy finds in device memory. The addresses are the program's.
struct Operands {
  std::uintptr_t dst, src;
  std::size_t bytes;
};
Operands LoadOperands(const IndirectTask::Content& content);

/// What the task is called on the rows of engines.
summary::TaskType TraceType(const Task& task);

/// Does the task now; large ones are shared with idle engines. Waits and host work are the queue's own.
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
