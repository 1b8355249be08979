// The trace records of submitted tasks, and of copies outside every stream.
#include "core/objects/task_trace.h"

#include <algorithm>
#include <span>
#include <utility>

#include "backend/api/trace_end.h"
#include "trace/trace.h"

namespace sampan {
namespace {

using summary::Form;
using summary::Memory;
using summary::Operation;
using summary::TaskType;

/// A record that is being built, and the data that follows it.
struct Description {
  trace::TaskRecord record{};
  union {
    trace::RowsShape rows;
    trace::Piece pieces[trace::kMaxPieces];
    trace::BatchOutline outline;
    trace::ReduceShape reduce;
    trace::WordShape word;
  };
  std::size_t more_bytes = 0;

  Description() {}  // NOLINT(cppcoreguidelines-pro-type-member-init): what is behind is written where needed
};

void SetEnds(Description& description, Form form, std::size_t bytes, const trace::MemoryEnd& dst,
             const trace::MemoryEnd& src) {
  trace::TaskRecord& record = description.record;
  record.type = TaskType::kMemcpyAsync;
  record.form = form;
  record.bytes = bytes;
  record.dst = dst;
  record.src = src;
  record.operation = trace::OperationOf(dst, src);
}

/// Finds the allocations of a batch's entries. Neighbours are usually in the same one.
class SideFinder {
 public:
  explicit SideFinder(const BatchTask::Memory& memory) : memory_(memory) {}

  const Allocation* Find(const std::byte* engine) {
    if (last_ != nullptr && Holds(*last_, engine)) return last_;
    const auto found = std::find_if(memory_.begin(), memory_.end(), [&](const AllocationUse& use) {
      return use && Holds(*use.get(), engine);
    });
    last_ = found == memory_.end() ? nullptr : found->get();
    return last_;
  }

 private:
  static bool Holds(const Allocation& allocation, const std::byte* engine) {
    return allocation.Contains(reinterpret_cast<std::uintptr_t>(engine) -
                               static_cast<std::uintptr_t>(allocation.facts.engine_delta));
  }

  const BatchTask::Memory& memory_;
  const Allocation* last_ = nullptr;
};

/// Calls `each(segment)` for the entries of a batch as the program gave them.
template <typename Each>
void ForEntries(std::span<const Segment> segments, Each each) {
  for (std::size_t i = 0; i < segments.size(); ++i) {
    Segment entry = segments[i];
    while (entry.bytes % BatchTask::kMaxSegmentBytes == 0 && i + 1 < segments.size() &&
           segments[i + 1].dst == entry.dst + entry.bytes && segments[i + 1].src == entry.src + entry.bytes) {
      entry.bytes += segments[++i].bytes;
    }
    each(entry);
  }
}

void FillPieces(const BatchTask& batch, Description& description) {
  SideFinder dsts(batch.memory);
  SideFinder srcs(batch.memory);
  std::size_t count = 0;
  ForEntries(batch.segments.all(), [&](const Segment& entry) {
    const trace::MemoryEnd dst = EndOf(entry.dst, dsts.Find(entry.dst));
    const trace::MemoryEnd src = EndOf(entry.src, srcs.Find(entry.src));
    description.pieces[count++] = {dst.allocation, dst.offset, src.allocation, src.offset, entry.bytes};
  });
  description.record.entries = static_cast<std::uint32_t>(count);
  description.more_bytes = count * sizeof(trace::Piece);
}

/// The part of one side's memory that entries touch: of the first entry's allocation, or of pageable memory.
class ExtentFinder {
 public:
  ExtentFinder(const trace::MemoryEnd& first, const std::byte* engine, const Allocation* allocation)
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
  trace::BatchOutline::Extent extent() const { return {allocation_, first_, end_}; }

 private:
  const std::uint64_t allocation_;
  const std::byte* const begin_;
  const std::size_t bytes_;
  std::size_t first_, end_;
};

/// Counts the entries, too.
void FillOutline(const BatchTask& batch, Description& description) {
  const Segment& first = batch.segments.front();
  ExtentFinder dsts(description.record.dst, first.dst, SideFinder(batch.memory).Find(first.dst));
  ExtentFinder srcs(description.record.src, first.src, SideFinder(batch.memory).Find(first.src));
  trace::BatchOutline& outline = description.outline;
  outline.runs = 0;
  trace::BatchOutline::SizeRun run{};
  trace::BatchOutline::SizeRun rest{};  // bytes are their sum
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

void FillRecord(const CopyTask& task, Description& description) {
  SetEnds(description, Form::kLinear, task.segment.bytes, EndOf(task.segment.dst, task.dst.get()),
          EndOf(task.segment.src, task.src.get()));
}

void FillRecord(const RowsTask& task, Description& description) {
  const Rows& rows = task.rows;
  SetEnds(description, Form::kRows, rows.width * rows.height, EndOf(rows.dst, task.dst.get()),
          EndOf(rows.src, task.src.get()));
  description.rows = {rows.width, rows.height, rows.dst_pitch, rows.src_pitch};
  description.more_bytes = sizeof(description.rows);
}

void FillRecord(const BatchTask& batch, Description& description) {
  const Segment& first = batch.segments.front();
  const bool captured = batch.captured != nullptr;
  SetEnds(description, captured ? Form::kCaptured : Form::kBatch, batch.bytes,
          EndOf(first.dst, SideFinder(batch.memory).Find(first.dst)),
          EndOf(first.src, SideFinder(batch.memory).Find(first.src)));
  if (captured) {
    description.record.reason = "the source was taken at submission";
    return;
  }
  if (batch.segments.size() > trace::kMaxPieces) FillOutline(batch, description);
  if (description.record.entries <= trace::kMaxPieces) FillPieces(batch, description);
}

void FillRecord(const FillTask& task, Description& description) {
  SetEnds(description, Form::kFill, task.bytes, EndOf(task.dst, task.memory.get()), {});
  description.record.type = TaskType::kMemsetAsync;
  description.record.operation = Operation::kFill;
}

void FillRecord(const IndirectTask& task, Description& description) {
  const bool descriptor = task.content->form == IndirectTask::Content::Form::kDescriptor;
  description.record.type = TaskType::kMemcpyAsync;
  description.record.form = descriptor ? Form::kDescriptor : Form::kOffset;
  description.record.bytes = task.content->bytes;
  description.record.operation = Operation::kDeviceToDevice;
}

void FillRecord(const ReduceTask& task, Description& description) {
  SetEnds(description, Form::kReduce, task.segment.bytes, EndOf(task.segment.dst, task.dst.get()),
          EndOf(task.segment.src, task.src.get()));
  description.record.type = TaskType::kReduceAsync;
  description.reduce = {static_cast<std::uint32_t>(task.operation), static_cast<std::uint32_t>(task.element)};
  description.more_bytes = sizeof(description.reduce);
}

void FillRecord(const WaitTask&, Description& description) {
  description.record.type = TaskType::kEventWait;
}
void FillRecord(const MarkTask&, Description& description) {
  description.record.type = TaskType::kEventRecord;
}
void FillRecord(const HostTask&, Description& description) {
  description.record.type = TaskType::kHostFunction;
}

void FillRecord(const Task& task, Description& description);

void FillRecord(const MultiAllocationTask& task, Description& description) {
  FillRecord(task.content->task, description);
}

/// Gates and effects are named by the thread that submits them.
template <typename Other>
void FillRecord(const Other&, Description& description) {
  description.record.type = TaskType::kOther;
}

void FillRecord(const Task& task, Description& description) {
  std::visit([&](const auto& body) { FillRecord(body, description); }, task);
}

/// Begins the record of a task that the calling thread submits or runs next.
void Begin(const Task& task, trace::ThreadState& thread, const char* reason, Description& description) {
  trace::TaskRecord& record = description.record;
  record.entries = 1;
  record.reason = reason;
  record.path = summary::Path::kEngine;
  FillRecord(task, description);
  if (thread.subject != nullptr) {
    record.type = thread.subject->type;
    record.object = thread.subject->object;
    if (record.type == TaskType::kValueWrite || record.type == TaskType::kValueWait) {
      record.dst = thread.word.place;
      description.word = thread.word.shape;
      description.more_bytes = sizeof(description.word);
    }
  }
  record.peer = thread.peer;
  record.connection = thread.TakeConnection();
  // The outer calls of the submitting call belong to the same connection.
  for (trace::Call* call = thread.call; call != nullptr && call->connection == 0; call = call->outer)
    call->connection = record.connection;
}

void Push(trace::ThreadState& thread, Description& description) {
  thread.buffer->Push(trace::RecordKind::kTask, description.record, &description.rows,
                      description.more_bytes);
}

/// Writes one record for a call with one linear copy that was executed at once, the most frequent case.
/// Returns false if the data do not fit into such a record.
bool KeepAsShortCopy(const trace::TaskRecord& task, trace::ThreadState& thread) {
  trace::Call* const call = thread.call;
  if (task.form != Form::kLinear || thread.failure != 0 || task.peer.known() || task.bytes > UINT32_MAX)
    return false;
  if (call == nullptr || call->outer != nullptr || call->connection != task.connection) return false;
  const auto of_stream = [&](const trace::MemoryEnd& end) {
    return end.memory == Memory::kPinned ||
           (end.memory == Memory::kDevice && end.device == task.queue.device);
  };
  if (!of_stream(task.dst) || !of_stream(task.src)) return false;
  const auto since_begin = [&](std::int64_t ns) {
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(ns - call->begin_ns, 0, UINT32_MAX));
  };
  trace::ShortCopyRecord& record = thread.short_copy;
  using Record = trace::ShortCopyRecord;
  record.head.flags =
      static_cast<std::uint8_t>((task.dst.memory == Memory::kDevice ? Record::kToDevice : 0) |
                                (task.src.memory == Memory::kDevice ? Record::kFromDevice : 0));
  record.head.code = 0;
  record.begin_ns = call->begin_ns;
  record.ready_ns = since_begin(call->ready_ns);
  record.copy_begin_ns = since_begin(thread.at_once_begin_ns);
  record.copy_end_ns = since_begin(thread.at_once_end_ns);
  record.bytes = static_cast<std::uint32_t>(task.bytes);
  record.queue = task.queue;
  record.task = task.task;
  record.connection = task.connection;
  record.dst_allocation = task.dst.allocation;
  record.dst_offset = task.dst.offset;
  record.src_allocation = task.src.allocation;
  record.src_offset = task.src.offset;
  call->did_short_copy = true;
  return true;
}

}  // namespace

Result<std::uint64_t> SubmitTraced(Queue& queue, Task&& task) {
  trace::ThreadState& thread = trace::ThisThread();
  Description description;
  Begin(task, thread, "in stream order", description);
  thread.at_once_begin_ns = 0;
  thread.failure = 0;
  thread.bytes = 0;
  thread.knows_ends = false;
  auto number = queue.Submit(std::move(task));
  if (!number.ok()) return number;
  trace::TaskRecord& record = description.record;
  record.queue = queue.label();
  record.task = *number;
  // Since the call could submit; a wait for room has moved that.
  record.submitted_ns = thread.call != nullptr ? thread.call->ready_ns : trace::NowNs();
  if (thread.at_once_begin_ns != 0) {
    if (KeepAsShortCopy(record, thread)) return number;
    if (thread.bytes != 0) record.bytes = thread.bytes;
    if (thread.knows_ends) {
      record.dst = thread.ends[0];
      record.src = thread.ends[1];
    }
    record.head.flags = trace::TaskRecord::kExecuted;
    record.head.code = thread.failure;
    record.begin_ns = thread.at_once_begin_ns;
    record.end_ns = thread.at_once_end_ns;
    record.submitted_ns = std::min(record.submitted_ns, record.begin_ns);
    if (record.form != Form::kNone) {
      record.path = summary::Path::kAtOnce;
      record.reason = trace::kShortReason;
    }
  }
  Push(thread, description);
  return number;
}

Status RunTraced(BackendDevice& device, std::int32_t device_id, Task&& task, const BlockingReason& reason) {
  trace::ThreadState& thread = trace::ThisThread();
  Description description;
  Begin(task, thread, reason.text, description);
  trace::TaskRecord& record = description.record;
  record.head.flags = static_cast<std::uint8_t>(
      trace::TaskRecord::kBlocking | (reason.asynchronous_call ? trace::TaskRecord::kAsynchronousCall : 0));
  record.type = record.form == Form::kFill ? TaskType::kMemset : TaskType::kMemcpy;
  record.path = summary::Path::kBlocking;
  record.queue = reason.queue;
  record.queue.device = device_id;
  trace::QueueLabel outside;
  outside.device = device_id;
  trace::BeginExecution({outside, record.connection, record.type});
  record.begin_ns = trace::NowNs();
  record.submitted_ns = record.begin_ns;
  Status status = device.RunNow(std::move(task));
  record.end_ns = trace::NowNs();
  record.head.code = static_cast<std::int32_t>(status.code());
  if (thread.path != summary::Path::kNone) record.path = thread.path;
  if (thread.reason != nullptr) record.reason = thread.reason;
  Push(thread, description);
  return status;
}

}  // namespace sampan
