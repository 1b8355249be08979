// What ThreadSanitizer is told of a queue.
#include "backend/emulated/queue/race_watch.h"

#include <string>
#include <variant>

#include "backend/api/batch_entries.h"
#include "backend/api/task_memory.h"
#include "backend/emulated/queue/task_execution.h"
#include "base/error/text.h"

namespace sampan::emulated {
namespace {

/// Says what the tasks read and write, at the program's addresses.
class Teller {
 public:
  explicit Teller(const races::CallStack* stack) : accesses_(stack) {}

  void operator()(const CopyTask& task) { Copy(task.segment, task.dst.get(), task.src.get()); }
  void operator()(const ReduceTask& task) { Copy(task.segment, task.dst.get(), task.src.get()); }
  void operator()(const RowsTask& task) {
    const Rows& rows = task.rows;
    for (std::size_t row = 0; row < rows.height; ++row) {
      Copy({rows.dst + row * rows.dst_pitch, rows.src + row * rows.src_pitch, rows.width}, task.dst.get(),
           task.src.get());
    }
  }
  void operator()(const BatchTask& task) {
    const Allocation* dst = nullptr;
    const Allocation* src = nullptr;
    for (const Segment& segment : task.segments.all()) {
      dst = AllocationAt(task.memory, segment.dst, dst);
      src = AllocationAt(task.memory, segment.src, src);
      Copy(segment, dst, src);
    }
  }
  void operator()(const FillTask& task) {
    accesses_.Write(ProgramView(task.dst, task.memory.get()), task.bytes);
  }
  void operator()(const IndirectTask& task) {
    const IndirectTask::Content& content = *task.content;
    if (!Live(content.operands_memory[0]) || !Live(content.operands_memory[1])) return;
    const bool is_descriptor = content.form == IndirectTask::Content::Form::kDescriptor;
    for (std::size_t i = 0; i < (is_descriptor ? 1 : 2); ++i) {
      accesses_.Read(ProgramView(content.operands[i], content.operands_memory[i].get()),
                     is_descriptor ? kDescriptorBytes : sizeof(std::uint64_t));
    }
    const auto [dst, src, bytes] = LoadOperands(content);
    using Access = AddressResolver::Access;
    // Bad operands make the task fail, without an access.
    if (bytes == 0 || !content.resolver->ResolveDevice(dst, bytes, content.device, Access::kWrite).ok() ||
        !content.resolver->ResolveDevice(src, bytes, content.device, Access::kRead).ok())
      return;
    accesses_.Read(src, bytes);
    accesses_.Write(dst, bytes);
  }
  void operator()(const MarkTask& task) { races::Release(task.mark.get()); }
  void operator()(const MultiAllocationTask& task) { std::visit(*this, task.content->task); }
  template <typename Other>
  void operator()(const Other&) {}  // touches no memory that the program can touch

 private:
  static constexpr std::size_t kDescriptorBytes = 32;

  static std::uintptr_t ProgramView(const std::byte* engine, const Allocation* memory) {
    return memory == nullptr ? reinterpret_cast<std::uintptr_t>(engine) : memory->ProgramView(engine);
  }
  void Copy(const Segment& segment, const Allocation* dst, const Allocation* src) {
    accesses_.Read(ProgramView(segment.src, src), segment.bytes);
    accesses_.Write(ProgramView(segment.dst, dst), segment.bytes);
  }

  races::Accesses accesses_;
};

}  // namespace

std::unique_ptr<RaceWatch> RaceWatch::Create(const QueueLabel& label, std::uint64_t depth) {
  if (!races::Watched()) return nullptr;
  const races::RuntimeCode runtime_code;
  return std::unique_ptr<RaceWatch>(new RaceWatch(label, depth));
}

RaceWatch::RaceWatch(const QueueLabel& label, std::uint64_t depth)
    : fiber_(Text("stream ", label.stream, " of device ", label.device).c_str()), slots_(depth) {}

void RaceWatch::Submitted(std::uint64_t number, const races::CallStack& stack) {
  Slot& slot = SlotOf(number);
  slot.stack = stack;
  races::Release(&slot.submitted);
}

void RaceWatch::Observed(std::uint64_t number) {
  if (number != 0) races::Acquire(&SlotOf(number).completed);
}

void RaceWatch::Begin(std::uint64_t number) {
  Acquire(&SlotOf(number).submitted);
}

void RaceWatch::Tell(std::uint64_t number, const Task& task) {
  std::visit(Teller(&SlotOf(number).stack), task);
  races::Release(&races::device_memory);  // before another stream can see what the task wrote
}

void RaceWatch::Complete(std::uint64_t number) {
  const races::Fiber::Scope as_queue(fiber_);
  races::Release(&SlotOf(number).completed);
}

void RaceWatch::Acquire(const void* key) {
  const races::Fiber::Scope as_queue(fiber_);
  races::Acquire(key);
}

void RaceWatch::Release(const void* key) {
  const races::Fiber::Scope as_queue(fiber_);
  races::Release(key);
}

void TellRaces(const Task& task) {
  races::CallStack stack;
  stack.Capture();
  stack.KeepCall();
  std::visit(Teller(&stack), task);
}

}  // namespace sampan::emulated
