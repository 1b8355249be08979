// The memory that a task accesses.
#include "check/order/task_accesses.h"

#include <algorithm>
#include <span>
#include <variant>

#include "backend/api/batch_entries.h"

namespace sampan::check {
namespace {

constexpr std::uint64_t kDescriptorBytes = 32;

class Collector {
 public:
  Collector(TaskAccesses& accesses, bool is_batch_call)
      : accesses_(accesses), is_batch_call_(is_batch_call) {}

  void operator()(const CopyTask& task) { Copy(task.segment, task.dst.get(), task.src.get()); }
  void operator()(const ReduceTask& task) { Copy(task.segment, task.dst.get(), task.src.get()); }
  void operator()(const RowsTask& task) {
    const Rows& rows = task.rows;
    AddRows(task.src.get(), rows.src, rows.src_pitch, rows, Use::kRead);
    AddRows(task.dst.get(), rows.dst, rows.dst_pitch, rows, Use::kWrite);
  }
  void operator()(const BatchTask& task) {
    more_ = task.memory;
    if (task.pageable) accesses_.pageable = true;
    const std::span<const Segment> segments = task.segments.all();
    accesses_.all.reserve(2 * segments.size());
    const Allocation* dst = nullptr;
    const Allocation* src = nullptr;
    std::int32_t number = -1;
    ForEntries(segments, [&](const Segment& entry) {
      ++number;
      entry_ = is_batch_call_ ? number : -1;
      dst = AllocationAt(task.memory, entry.dst, dst);
      src = AllocationAt(task.memory, entry.src, src);
      if (task.captured == nullptr) Add(src, entry.src, entry.bytes, Use::kRead);
      Add(dst, entry.dst, entry.bytes, Use::kWrite);
    });
  }
  void operator()(const FillTask& task) {
    accesses_.fills = true;
    Add(task.memory.get(), task.dst, task.bytes, Use::kWrite);
  }
  void operator()(const IndirectTask& task) {
    const IndirectTask::Content& content = *task.content;
    const bool descriptor = content.form == IndirectTask::Content::Form::kDescriptor;
    for (std::size_t i = 0; i < (descriptor ? 1 : 2); ++i) {
      Add(content.operands_memory[i].get(), content.operands[i],
          descriptor ? kDescriptorBytes : sizeof(std::uint64_t), Use::kOperand);
    }
  }
  void operator()(const EffectTask& task) {
    for (const EffectAccess& each : task.effect->Accesses())
      Add(each.memory, each.engine, each.bytes, each.writes ? Use::kWrite : Use::kRead);
  }
  void operator()(const MultiAllocationTask& task) {
    more_ = task.content->uses;
    std::visit(*this, task.content->task);
  }
  template <typename Other>
  void operator()(const Other&) {}

 private:
  void Copy(const Segment& segment, const Allocation* dst, const Allocation* src) {
    Add(src, segment.src, segment.bytes, Use::kRead);
    Add(dst, segment.dst, segment.bytes, Use::kWrite);
  }
  /// A range may go on in a neighbour, at the address where its memory ends.
  void Add(const Allocation* memory, const std::byte* engine, std::uint64_t bytes, Use use) {
    if (memory == nullptr) {
      accesses_.pageable = true;
      return;
    }
    while (memory != nullptr && bytes != 0) {
      const std::uintptr_t address = memory->ProgramView(engine);
      const std::uint64_t inside = std::min<std::uint64_t>(bytes, memory->BytesFrom(address));
      const std::uint64_t begin = address - memory->facts.address;
      accesses_.all.push_back({memory->facts.serial, {{begin, begin + inside}}, use, entry_});
      engine += inside;
      bytes -= inside;
      memory = bytes == 0 ? nullptr : AllocationAt(more_, engine, nullptr);
    }
  }
  void AddRows(const Allocation* memory, const std::byte* first, std::size_t pitch, const Rows& rows,
               Use use) {
    if (memory == nullptr) {
      accesses_.pageable = true;
      return;
    }
    const std::uint64_t begin = memory->ProgramView(first) - memory->facts.address;
    const std::uint64_t end = begin + (rows.height - 1) * pitch + rows.width;
    if (pitch == rows.width || rows.height == 1) return Add(memory, first, end - begin, use);
    if (end <= memory->facts.bytes) {
      accesses_.all.push_back({memory->facts.serial, {{begin, end}, pitch, rows.width}, use, entry_});
      return;
    }
    for (std::size_t row = 0; row < rows.height; ++row) {
      const std::byte* const at = first + row * pitch;
      Add(AllocationAt(more_, at, memory), at, rows.width, use);
    }
  }

  TaskAccesses& accesses_;
  const bool is_batch_call_;
  std::int32_t entry_ = -1;
  std::span<const AllocationUse> more_;
};

}  // namespace

void AddWord(const observe::Submission& submission, TaskAccesses& accesses) {
  const observe::MemoryEnd& word = submission.word.place;
  if (submission.subject == nullptr || word.allocation == 0) return;
  const auto type = submission.subject->type;
  if (type != observe::TaskType::kValueWrite && type != observe::TaskType::kValueWait) return;
  accesses.all.push_back({word.allocation,
                          {{word.offset, word.offset + sizeof(std::uint64_t)}},
                          type == observe::TaskType::kValueWait ? Use::kWordWait : Use::kWordWrite});
}

TaskAccesses AccessesOf(const Task& task, bool is_batch_call) {
  TaskAccesses accesses;
  std::visit(Collector(accesses, is_batch_call), task);
  return accesses;
}

}  // namespace sampan::check
