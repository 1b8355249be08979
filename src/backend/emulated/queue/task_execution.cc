// Executes copies, fills, reductions, marks and effects.
#include "backend/emulated/queue/task_execution.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>

#include "backend/api/indirect_operand.h"
#include "backend/api/queue.h"
#include "backend/api/task_memory.h"
#include "backend/emulated/kernels/copy_kernels.h"
#include "backend/emulated/kernels/line_kernels.h"
#include "base/containers/round.h"
#include "base/error/assert.h"
#include "base/error/text.h"
#include "base/time/clock.h"
#include "observe/hooks.h"

namespace sampan::emulated {
namespace {

/// The chunk size of a shared request: large enough to pay for the hand-over.
constexpr std::size_t kChunkBytes = std::size_t{256} << 10;

/// Calls `part(first, count)` for all of [0, items). If the bytes make sharing worthwhile, engines share it
/// in chunks.
template <typename Part>
[[gnu::noinline]] void ShareChunks(std::size_t items, std::size_t travelling_bytes, QueueScheduler& scheduler,
                                   Part part) {
  SAMPAN_ASSERT(items > 0 && travelling_bytes >= kShareFromBytes);
  const std::size_t chunk_items = std::max<std::size_t>(items / DivideUp(travelling_bytes, kChunkBytes), 1);
  const auto run = [&](std::size_t chunk) {
    const std::size_t first = chunk * chunk_items;
    part(first, std::min(chunk_items, items - first));
  };
  scheduler.Run(MakeChunkedWork(DivideUp(items, chunk_items), run));
}
template <typename Part>
void Share(std::size_t items, std::size_t travelling_bytes, QueueScheduler& scheduler, Part part) {
  if (travelling_bytes < kShareFromBytes) return part(std::size_t{0}, items);
  ShareChunks(items, travelling_bytes, scheduler, part);
}

Status Execute(CopyTask& task, QueueScheduler& scheduler) {
  if (Status live = CheckLive(task.dst, task.src); !live.ok()) return live;
  Move(task, scheduler);
  return {};
}

Status Execute(BatchTask& task, QueueScheduler& scheduler) {
  if (Status live = CheckLive(task); !live.ok()) return live;
  scheduler.Arrange(task.segments.all());
  Move(task, scheduler);
  return {};
}

/// The bytes that move through the caches. For short rows far apart, the touched lines are many times the
/// rows.
std::size_t TravellingBytes(const Rows& rows) {
  const std::size_t touched = RoundUp(rows.width, kLineBytes) + kLineBytes;
  return rows.height * std::min(touched, std::max(rows.src_pitch, rows.dst_pitch));
}

Status Execute(RowsTask& task, QueueScheduler& scheduler) {
  if (Status live = CheckLive(task.dst, task.src); !live.ok()) return live;
  const Rows& rows = task.rows;
  const Caching caching = CachingFor(rows.width * rows.height);
  Share(rows.height, TravellingBytes(rows), scheduler, [&](std::size_t first, std::size_t count) {
    CopyRows({rows.dst + first * rows.dst_pitch, rows.src + first * rows.src_pitch, rows.dst_pitch,
              rows.src_pitch, rows.width, count},
             caching);
  });
  return {};
}

Status Execute(FillTask& task, QueueScheduler& scheduler) {
  if (Status live = CheckLive(task.memory); !live.ok()) return live;
  const Caching caching = CachingFor(task.bytes);
  // Counts in units of the pattern, so that every part begins with the pattern's first byte.
  constexpr std::size_t kUnit = sizeof(task.pattern);
  Share(DivideUp(task.bytes, kUnit), task.bytes, scheduler, [&](std::size_t first, std::size_t count) {
    const std::size_t begin = first * kUnit;
    FillBytes(task.dst + begin, task.pattern, std::min(count * kUnit, task.bytes - begin), caching);
  });
  return {};
}

template <typename T>
T Load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

}  // namespace

Operands LoadOperands(const IndirectTask::Content& content) {
  if (content.form == IndirectTask::Content::Form::kDescriptor) {
    const std::byte* descriptor = content.operands[0];
    return {Load<std::uint64_t>(descriptor + content.dst_at),
            Load<std::uint64_t>(descriptor + content.src_at),
            Load<std::uint32_t>(descriptor + content.length_at)};
  }
  return {Load<std::uint64_t>(content.operands[0]) + content.dst_offset,
          Load<std::uint64_t>(content.operands[1]) + content.src_offset, content.bytes};
}

namespace {

Status Execute(IndirectTask& task, QueueScheduler& scheduler) {
  SAMPAN_ASSERT(task.content != nullptr && task.content->resolver != nullptr);
  const IndirectTask::Content& content = *task.content;
  if (Status live = CheckLive(content.operands_memory[0], content.operands_memory[1]); !live.ok())
    return live;
  const auto [dst, src, bytes] = LoadOperands(content);
  if (bytes == 0) return {};
  observe::NoteBytes(bytes);
  using Access = AddressResolver::Access;
  auto to = ResolveOperand(content, Access::kWrite, dst, bytes);
  if (!to.ok()) return to.TakeStatus();
  auto from = ResolveOperand(content, Access::kRead, src, bytes);
  if (!from.ok()) return from.TakeStatus();
  if (observe::On()) {
    const auto end = [](const AddressResolver::Resolved& place) {
      return observe::EndOf(place.engine, place.memory.empty() ? nullptr : place.memory.front().get());
    };
    observe::NoteEnds(end(*to), end(*from));
  }
  if (WriteBudget* const budget = scheduler.CountedWrites()) [[unlikely]] {
    if (Status admitted = AdmitWrite(to->engine, bytes, *budget); !admitted.ok()) return admitted;
  }
  Move({{to->engine, from->engine, bytes}, {}, {}, Direction::kDeviceToDevice}, scheduler);
  return {};
}

Status Execute(MarkTask& task, QueueScheduler&) {
  task.mark->time_ns.store(NowNs(), std::memory_order_release);
  return {};
}

Status Execute(EffectTask& task, QueueScheduler&) {
  return task.effect->Apply();
}

Status Execute(WordTask& task, QueueScheduler&) {
  if (Status live = CheckLive(task.memory); !live.ok()) return live;
  SAMPAN_ASSERT(reinterpret_cast<std::uintptr_t>(task.word) % sizeof(std::uint64_t) == 0);
  std::atomic_ref(*reinterpret_cast<std::uint64_t*>(task.word)).store(task.value, std::memory_order_seq_cst);
  return {};
}

Status Execute(GateTask&, QueueScheduler&) {
  return {};  // passed already
}

Status Execute(ReduceTask& task, QueueScheduler& scheduler) {
  if (Status live = CheckLive(task.dst, task.src); !live.ok()) return live;
  const std::size_t unit = ElementBytes(task.element);
  SAMPAN_ASSERT(task.segment.bytes % unit == 0);
  const Segment& all = task.segment;
  Share(all.bytes / unit, all.bytes, scheduler, [&](std::size_t first, std::size_t count) {
    Reduce({all.dst + first * unit, all.src + first * unit, count}, task.operation, task.element);
  });
  return {};
}

Status Execute(MultiAllocationTask& task, QueueScheduler& scheduler) {
  if (Status live = CheckLive(task); !live.ok()) return live;
  return Execute(task.content->task, scheduler);
}

template <typename Other>
Status Execute(Other&, QueueScheduler&) {
  return {Code::kInternalError, "a task that only a queue can execute"};
}

}  // namespace

namespace {

/// A task's bytes, the number of its pieces, and the longest piece.
struct Amount {
  std::size_t bytes, pieces, longest;
};

/// Returns nothing for tasks that do not copy, and for effects that may wait for other threads.
std::optional<Amount> AmountOf(const Task& task) {
  const auto in_one = [](std::size_t bytes) { return Amount{bytes, 1, bytes}; };
  if (const auto* batch = std::get_if<BatchTask>(&task))
    return Amount{batch->bytes, batch->segments.size(), batch->longest};
  if (const auto* rows = std::get_if<RowsTask>(&task))
    return Amount{rows->rows.width * rows->rows.height, rows->rows.height, rows->rows.width};
  if (const auto* copy = std::get_if<CopyTask>(&task)) return in_one(copy->segment.bytes);
  if (const auto* fill = std::get_if<FillTask>(&task)) return in_one(fill->bytes);
  if (const auto* reduce = std::get_if<ReduceTask>(&task)) return in_one(reduce->segment.bytes);
  if (const auto* effect = std::get_if<EffectTask>(&task); effect && !effect->effect->is_for_submitter())
    return in_one(effect->effect->bytes());
  // The operands may change until the copy executes: the amount is an estimate.
  if (const auto* indirect = std::get_if<IndirectTask>(&task))
    return in_one(LoadOperands(*indirect->content).bytes);
  if (const auto* multi = std::get_if<MultiAllocationTask>(&task)) return AmountOf(multi->content->task);
  return std::nullopt;
}

}  // namespace

bool IsShort(const Task& task, const ShortLimits& limits) {
  if (const auto amount = AmountOf(task)) return limits.Hold(amount->bytes, amount->pieces, amount->longest);
  if (const auto* gate = std::get_if<GateTask>(&task)) return gate->gate->Open();
  return std::holds_alternative<MarkTask>(task) || std::holds_alternative<WordTask>(task);
}

void ShareCopy(const Segment& segment, QueueScheduler& scheduler) {
  const Caching caching = CachingFor(segment.bytes);
  ShareChunks(segment.bytes, segment.bytes, scheduler, [&](std::size_t first, std::size_t bytes) {
    CopyBytes(segment.dst + first, segment.src + first, bytes, caching);
  });
}

void ShareBatch(std::span<Segment> segments, std::size_t bytes, QueueScheduler& scheduler) {
  const Caching caching = CachingFor(bytes);
  ShareChunks(segments.size(), bytes, scheduler, [&](std::size_t first, std::size_t count) {
    CopySegments(segments.subspan(first, count), caching);
  });
}

Status Execute(Task& task, QueueScheduler& scheduler) {
  if (WriteBudget* const budget = scheduler.CountedWrites()) [[unlikely]] {
    if (Status admitted = AdmitWrites(task, *budget); !admitted.ok()) return admitted;
  }
  return std::visit([&](auto& body) { return Execute(body, scheduler); }, task);
}

}  // namespace sampan::emulated
