// The trace record of a task, from the task itself.
#include "trace/task_record.h"

#include <algorithm>
#include <span>
#include <utility>

#include "backend/api/batch_entries.h"
#include "observe/hooks.h"
#include "observe/memory_end.h"

namespace sampan::trace {
namespace {

using observe::EndOf;
using summary::Form;
using summary::Operation;

void SetEnds(TaskDescription& description, Form form, std::size_t bytes, const MemoryEnd& dst,
             const MemoryEnd& src) {
  TaskRecord& record = description.record;
  record.form = form;
  record.bytes = bytes;
  record.dst = dst;
  record.src = src;
  record.operation = OperationOf(dst, src);
}

void FillPieces(const BatchTask& batch, TaskDescription& description) {
  const Allocation* dst_memory = nullptr;
  const Allocation* src_memory = nullptr;
  std::size_t count = 0;
  ForEntries(batch.segments.all(), [&](const Segment& entry) {
    dst_memory = AllocationAt(batch.memory, entry.dst, dst_memory);
    src_memory = AllocationAt(batch.memory, entry.src, src_memory);
    const MemoryEnd dst = EndOf(entry.dst, dst_memory);
    const MemoryEnd src = EndOf(entry.src, src_memory);
    description.pieces[count++] = {dst.allocation, dst.offset, src.allocation, src.offset, entry.bytes};
  });
  description.record.entries = static_cast<std::uint32_t>(count);
  description.more_bytes = count * sizeof(Piece);
}

/// The part of one side's memory that entries touch: of the first entry's allocation, or of pageable memory.
class ExtentFinder {
 public:
  ExtentFinder(const MemoryEnd& first, const std::byte* engine, const Allocation* allocation)
      : allocation_(first.allocation),
        begin_(engine - first.offset),
        bytes_(allocation == nullptr ? SIZE_MAX : allocation->facts.bytes),
        first_(first.offset),
        end_(first.offset) {}

  void Widen(const std::byte* engine, std::size_t bytes) {
    const auto offset = static_cast<std::size_t>(engine - begin_);
    if (offset >= bytes_) return;  // of another allocation
    first_ = std::min(first_, offset);
    end_ = std::max(end_, offset + bytes);
  }
  BatchOutline::Extent extent() const { return {allocation_, first_, end_}; }

 private:
  const std::uint64_t allocation_;
  const std::byte* const begin_;
  const std::size_t bytes_;
  std::size_t first_, end_;
};

/// Counts the entries, too.
void FillOutline(const BatchTask& batch, TaskDescription& description) {
  const Segment& first = batch.segments.front();
  ExtentFinder dsts(description.record.dst, first.dst, AllocationAt(batch.memory, first.dst, nullptr));
  ExtentFinder srcs(description.record.src, first.src, AllocationAt(batch.memory, first.src, nullptr));
  BatchOutline& outline = description.outline;
  outline.runs = 0;
  BatchOutline::SizeRun run{};
  BatchOutline::SizeRun rest{};  // bytes are their sum
  const auto close_run = [&] {
    if (run.entries == 0) return;
    if (outline.runs + 1 < outline.sizes.size()) {
      outline.sizes[outline.runs++] = run;
    } else {
      rest.bytes += run.bytes * run.entries;
      rest.entries += run.entries;
    }
  };
  std::uint32_t entries = 0;
  ForEntries(batch.segments.all(), [&](const Segment& entry) {
    ++entries;
    dsts.Widen(entry.dst, entry.bytes);
    srcs.Widen(entry.src, entry.bytes);
    if (entry.bytes == run.bytes) {
      ++run.entries;
    } else {
      close_run();
      run = {entry.bytes, 1};
    }
  });
  close_run();
  if (rest.entries != 0) outline.sizes[outline.runs++] = {rest.bytes / rest.entries, rest.entries};
  outline.dst = dsts.extent();
  outline.src = srcs.extent();
  description.record.entries = entries;
  description.more_bytes = sizeof(outline);
}

// ---- one for each body of a task ----

/// Tasks that copy nothing.
template <typename Other>
void FillBody(const Other&, TaskDescription&) {}

void FillBody(const CopyTask& task, TaskDescription& description) {
  SetEnds(description, Form::kLinear, task.segment.bytes, EndOf(task.segment.dst, task.dst.get()),
          EndOf(task.segment.src, task.src.get()));
}

void FillBody(const RowsTask& task, TaskDescription& description) {
  const Rows& rows = task.rows;
  SetEnds(description, Form::kRows, rows.width * rows.height, EndOf(rows.dst, task.dst.get()),
          EndOf(rows.src, task.src.get()));
  description.rows = {rows.width, rows.height, rows.dst_pitch, rows.src_pitch};
  description.more_bytes = sizeof(description.rows);
}

void FillBody(const BatchTask& batch, TaskDescription& description) {
  const Segment& first = batch.segments.front();
  const bool captured = batch.captured != nullptr;
  SetEnds(description, captured ? Form::kCaptured : Form::kBatch, batch.bytes,
          EndOf(first.dst, AllocationAt(batch.memory, first.dst, nullptr)),
          EndOf(first.src, AllocationAt(batch.memory, first.src, nullptr)));
  if (captured) {
    description.record.reason = "the source was taken at submission";
    return;
  }
  if (batch.segments.size() > kMaxPieces) FillOutline(batch, description);
  if (description.record.entries <= kMaxPieces) FillPieces(batch, description);
}

void FillBody(const FillTask& task, TaskDescription& description) {
  SetEnds(description, Form::kFill, task.bytes, EndOf(task.dst, task.memory.get()), {});
  description.record.operation = Operation::kFill;
}

void FillBody(const IndirectTask& task, TaskDescription& description) {
  const bool descriptor = task.content->form == IndirectTask::Content::Form::kDescriptor;
  description.record.form = descriptor ? Form::kDescriptor : Form::kOffset;
  description.record.bytes = task.content->bytes;
  description.record.operation = Operation::kDeviceToDevice;
}

void FillBody(const ReduceTask& task, TaskDescription& description) {
  SetEnds(description, Form::kReduce, task.segment.bytes, EndOf(task.segment.dst, task.dst.get()),
          EndOf(task.segment.src, task.src.get()));
  description.reduce = {static_cast<std::uint32_t>(task.operation), static_cast<std::uint32_t>(task.element)};
  description.more_bytes = sizeof(description.reduce);
}

void FillBody(const MultiAllocationTask& task, TaskDescription& description) {
  std::visit([&](const auto& body) { FillBody(body, description); }, task.content->task);
}

}  // namespace

void FillRecord(const Task& task, TaskDescription& description) {
  const auto* const host = std::get_if<HostTask>(&task);
  if (const Task* const copy = host != nullptr ? host->work->device_task() : nullptr) {
    FillRecord(*copy, description);
    description.record.path = summary::Path::kNetwork;
    description.record.reason = "memory of another host";
    return;
  }
  description.record.type = observe::TypeOf(task);
  std::visit([&](const auto& body) { FillBody(body, description); }, task);
}

}  // namespace sampan::trace
