// Executes copies, fills, reductions, marks and effects.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "backend/api/task.h"
#include "backend/api/task_memory.h"
#include "backend/emulated/kernels/copy_kernels.h"
#include "backend/emulated/queue/write_admission.h"
#include "backend/emulated/schedule/queue_scheduler.h"
#include "base/error/assert.h"
#include "base/error/status.h"

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

/// Calls `use` with the task's body if it is a copy or a batch, which most tasks are; otherwise with the
/// task.
template <typename Use>
decltype(auto) WithBody(Task& task, Use use) {
  if (auto* const copy = std::get_if<CopyTask>(&task)) return use(*copy);
  if (auto* const batch = std::get_if<BatchTask>(&task)) return use(*batch);
  return use(task);
}

/// Returns true if the limits hold for the task, and it cannot block.
inline bool IsShort(const CopyTask& copy, const ShortLimits& limits) {
  return limits.Hold(copy.segment.bytes, 1, copy.segment.bytes);
}
inline bool IsShort(const BatchTask& batch, const ShortLimits& limits) {
  return limits.Hold(batch.bytes, batch.segments.size(), batch.longest);
}
[[gnu::noinline]] bool IsShort(const Task& task, const ShortLimits& limits);

/// The operands of an indirect copy, read from device memory. The addresses are the program's.
struct Operands {
  std::uintptr_t dst, src;
  std::size_t bytes;
};
Operands LoadOperands(const IndirectTask::Content& content);

// Moves the bytes of a task whose memory is live; large ones are shared with idle engines.
[[gnu::noinline]] void ShareCopy(const Segment& segment, QueueScheduler& scheduler);
inline void Move(const CopyTask& copy, QueueScheduler& scheduler) {
  const auto& [dst, src, bytes] = copy.segment;
  if (bytes >= kShareFromBytes) [[unlikely]]
    return ShareCopy(copy.segment, scheduler);
  std::memmove(dst, src, bytes);
}
[[gnu::noinline]] void ShareBatch(std::span<Segment> segments, std::size_t bytes, QueueScheduler& scheduler);
inline void Move(BatchTask& batch, QueueScheduler& scheduler) {
  SAMPAN_ASSERT(!batch.segments.empty() && batch.bytes >= batch.segments.size());
  const std::span<Segment> segments = batch.segments.all();
  if (batch.bytes >= kShareFromBytes) [[unlikely]]
    return ShareBatch(segments, batch.bytes, scheduler);
  CopySegments(segments, Caching::kKeep);
}

/// Does a task that was queued; its memory may have been freed since then. Waits and host work are the
/// queue's own.
[[gnu::noinline]] Status Execute(Task& task, QueueScheduler& scheduler);

// Does a task that was not queued: copies find their memory as it was planned.
inline Status ExecuteUnqueued(Task& task, QueueScheduler& scheduler) {
  return Execute(task, scheduler);
}
template <typename Copies>
Status ExecuteUnqueued(Copies& body, QueueScheduler& scheduler) {
  if (WriteBudget* const budget = scheduler.CountedWrites()) [[unlikely]] {
    if (Status admitted = AdmitWrites(body, *budget); !admitted.ok()) return admitted;
  }
  Move(body, scheduler);
  return {};
}

}  // namespace sampan::emulated
