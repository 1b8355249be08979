// Asks the budget of the devices before a task writes device memory.
#include "backend/emulated/queue/write_admission.h"

#include <algorithm>
#include <variant>

#include "base/containers/round.h"
#include "base/system/page_size.h"

namespace sampan::emulated {
namespace {

/// The bytes of all pages that a piece may touch.
std::size_t BoundOf(std::size_t bytes) {
  return RoundUp(bytes, HostPageBytes()) + HostPageBytes();
}

bool WritesDevice(Direction direction) {
  return direction == Direction::kHostToDevice || direction == Direction::kDeviceToDevice;
}

}  // namespace

Status AdmitWrite(const std::byte* dst, std::size_t bytes, WriteBudget& budget) {
  return budget.Admit(BoundOf(bytes), [&] { return budget.MissingBytes(dst, bytes); });
}

Status AdmitWrites(const CopyTask& task, WriteBudget& budget) {
  return WritesDevice(task.direction) ? AdmitWrite(task.segment.dst, task.segment.bytes, budget) : Status();
}

Status AdmitWrites(const BatchTask& task, WriteBudget& budget) {
  if (!WritesDevice(task.direction)) return {};
  const std::size_t bound = task.bytes + task.segments.size() * 2 * HostPageBytes();
  return budget.Admit(bound, [&] {
    std::size_t missing = 0;
    for (const Segment& segment : task.segments.all())
      missing += budget.MissingBytes(segment.dst, segment.bytes);
    return missing;
  });
}

namespace {

Status AdmitRows(const RowsTask& task, WriteBudget& budget) {
  if (!WritesDevice(task.direction)) return {};
  const Rows& rows = task.rows;
  return budget.Admit(rows.height * BoundOf(rows.width), [&] {
    std::size_t missing = 0;
    for (std::size_t row = 0; row < rows.height; ++row)
      missing += budget.MissingBytes(rows.dst + row * rows.dst_pitch, rows.width);
    return missing;
  });
}

/// Before any rank moves a byte: they write each other's memory, so each admits its own.
Status AdmitEffect(Effect& effect, WriteBudget& budget) {
  for (const EffectAccess& access : effect.MemoryToWrite()) {
    if (!access.writes || access.bytes == 0) continue;
    if (Status admitted = AdmitWrite(access.engine, access.bytes, budget); !admitted.ok()) {
      effect.NoteRefused(admitted);
      return admitted;
    }
  }
  return {};
}

}  // namespace

Status AdmitWrites(const Task& task, WriteBudget& budget) {
  if (const auto* copy = std::get_if<CopyTask>(&task)) return AdmitWrites(*copy, budget);
  if (const auto* batch = std::get_if<BatchTask>(&task)) return AdmitWrites(*batch, budget);
  if (const auto* rows = std::get_if<RowsTask>(&task)) return AdmitRows(*rows, budget);
  if (const auto* fill = std::get_if<FillTask>(&task)) return AdmitWrite(fill->dst, fill->bytes, budget);
  if (const auto* reduce = std::get_if<ReduceTask>(&task))
    return AdmitWrite(reduce->segment.dst, reduce->segment.bytes, budget);
  if (const auto* word = std::get_if<WordTask>(&task))
    return AdmitWrite(word->word, sizeof(word->value), budget);
  if (const auto* effect = std::get_if<EffectTask>(&task)) return AdmitEffect(*effect->effect, budget);
  if (const auto* multi = std::get_if<MultiAllocationTask>(&task))
    return AdmitWrites(multi->content->task, budget);
  return {};
}

}  // namespace sampan::emulated
