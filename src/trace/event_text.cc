// The events of a trace as text; docs/TRACE.md describes them.
#include "trace/event_text.h"

#include <algorithm>

#include "base/error/text.h"
#include "summary/activity_words.h"

namespace sampan::trace {
namespace {

using summary::WordOf;

constexpr std::uint64_t kAreaItself = UINT64_MAX;
/// The colour of what failed, by the name that viewers of Chrome traces know.
constexpr std::string_view kRed = ",\"cname\":\"terrible\"";

std::string RowName(std::uint64_t row) {
  const std::uint64_t lane = row / kLaneStep;
  const std::uint64_t first = row % kLaneStep;
  std::string name = first >= kOperatorRow   ? Text("Operators of stream ", first - kOperatorRow)
                     : first >= kBlockingRow ? std::string("Blocking copies")
                     : first >= kEngineRow   ? Text("Copy engine ", first - kEngineRow)
                                             : Text("Stream ", first);
  if (lane != 0) name += Text(" (", lane + 1, ")");
  return name;
}

/// Gigabytes a second in thousandths.
std::uint64_t Megabytes(std::uint64_t bytes, std::int64_t ns) {
  return ns <= 0 ? 0
                 : static_cast<std::uint64_t>(static_cast<double>(bytes) * 1000 / static_cast<double>(ns));
}

}  // namespace

void EventText::NameArea(std::uint64_t area, const char* name, const std::string& label) {
  if (!named_.emplace(area, kAreaItself).second) return;
  const auto add = [&](const char* key, const char* argument, auto... value) {
    line_.Add("{\"name\":\"", key, "\",\"ph\":\"M\",\"pid\":", area, ",\"tid\":0,\"args\":{\"", argument,
              "\":", value..., "}}");
    Emit();
  };
  add("process_name", "name", Quoted{name});
  add("process_labels", "labels", Quoted{label});
  add("process_sort_index", "sort_index", area % 128);
}

void EventText::NameRow(std::uint64_t area, std::uint64_t row, const std::string& name) {
  if (!named_.emplace(area, row).second) return;
  line_.Add("{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":", area, ",\"tid\":", row,
            ",\"args\":{\"name\":", Quoted{name}, "}}");
  Emit();
  // Lanes directly follow the row that they belong to. The operators of a stream stand before the stream.
  const std::uint64_t first = row % kLaneStep;
  const std::uint64_t order = area == CallsArea()     ? row
                              : first >= kOperatorRow ? (first - kOperatorRow) * 128
                                                      : first * 128 + 1 + row / kLaneStep;
  line_.Add("{\"name\":\"thread_sort_index\",\"ph\":\"M\",\"pid\":", area, ",\"tid\":", row,
            ",\"args\":{\"sort_index\":", order, "}}");
  Emit();
}

void EventText::NameThread(std::uint64_t thread, const std::string& name) {
  if (last_named_area_ == CallsArea() && last_named_row_ == thread) return;
  NameArea(CallsArea(), "CANN", "CPU");
  NameRow(CallsArea(), thread, Text("Thread ", thread, name.empty() ? "" : " ", name));
  last_named_area_ = CallsArea();
  last_named_row_ = thread;
}

void EventText::NameDeviceRow(std::int32_t device, std::uint64_t row) {
  const std::uint64_t area = DeviceArea(device);
  if (named_.contains({area, row})) return;
  NameArea(area, "Ascend Hardware", Text("NPU ", device));
  NameRow(area, row, RowName(row));
}

EventLine& EventText::BeginSlice(std::string_view area_prefix, std::string_view name, std::uint64_t area,
                                 std::uint64_t row, const SliceLook& slice) {
  return line_.Add("{\"name\":\"", area_prefix, name, "\",\"ph\":\"X\",\"pid\":", area, ",\"tid\":", row,
                   ",\"ts\":", Microseconds{slice.begin_ns},
                   ",\"dur\":", Microseconds{slice.end_ns - slice.begin_ns}, slice.failed ? kRed : "",
                   ",\"args\":{");
}

void EventText::AddCall(std::uint64_t thread, const std::string& thread_name, const CallRecord& call,
                        const Peer* peer) {
  NameThread(thread, thread_name);
  BeginSlice(peer != nullptr ? "HCCL@" : "AscendCL@", call.name, CallsArea(), thread,
             {call.begin_ns, call.end_ns, call.head.code != 0})
      .Add("\"Thread Id\":", thread, ",\"level\":\"", peer != nullptr ? "hccl" : "acl", "\"");
  if (peer != nullptr) AppendPeer(*peer);
  if (call.head.code != 0) line_.Add(",\"code\":", call.head.code);
  if (call.connection != 0) line_.Add(",\"connection_id\":", call.connection);
  AppendAwaited(call.awaited, call.device, call.object, call.task);
  line_.Add("}}");
  Emit();
}

void EventText::AppendAwaited(summary::Awaited awaited, std::int32_t device, std::uint32_t object,
                              std::uint64_t task) {
  if (awaited != summary::Awaited::kNothing) line_.Add(",\"waits\":\"", WordOf(awaited), "\"");
  switch (awaited) {
    case summary::Awaited::kStream:
      line_.Add(",\"Device Id\":", device, ",\"Stream Id\":", object, ",\"Task Id\":", task);
      break;
    case summary::Awaited::kEvent:
      line_.Add(",\"Event Id\":", object);
      break;
    case summary::Awaited::kDevice:
      line_.Add(",\"Device Id\":", device);
      break;
    case summary::Awaited::kNothing:
      break;
  }
}

void EventText::AddOpenCall(std::uint64_t thread, const std::string& thread_name, const OpenCall& call,
                            std::int64_t now_ns) {
  NameThread(thread, thread_name);
  const bool is_wait = call.kind == OpenCall::Kind::kWait;
  const bool is_platform = call.kind == OpenCall::Kind::kPlatformCall;
  is_open_ = true;
  BeginSlice(is_wait       ? "Wait@"
             : is_platform ? "HCCL@"
                           : "AscendCL@",
             is_wait ? WordOf(call.reason) : call.name, CallsArea(), thread, {call.begin_ns, now_ns})
      .Add("\"Thread Id\":", thread, ",\"level\":\"",
           is_wait       ? "wait"
           : is_platform ? "hccl"
                         : "acl",
           "\",\"unfinished\":true");
  if (is_wait) {
    line_.Add(",\"Device Id\":", call.device, ",\"Stream Id\":", call.object);
  } else {
    AppendAwaited(call.awaited, call.device, call.object, call.task);
  }
  line_.Add("}}");
  Emit();
  is_open_ = false;
}

void EventText::AddOpenTask(const FinishedTask& task, std::uint64_t behind, std::string_view reason) {
  const TaskRecord& record = task.record;
  NameDeviceRow(record.queue.device, task.row);
  is_open_ = true;
  AddFlowBegin(task);
  const std::string_view type = WordOf(record.type);
  BeginSlice("", type, DeviceArea(record.queue.device), task.row, {record.begin_ns, record.end_ns})
      .Add("\"Stream Id\":", record.queue.stream, ",\"Task Id\":", record.task,
           ",\"connection_id\":", record.connection, ",\"Task Type\":\"", type,
           "\",\"submitted\":", Microseconds{record.submitted_ns},
           ",\"unfinished\":true,\"queued behind\":", behind);
  // A batch, which is no wait, may need the whole line.
  if (!reason.empty() && record.form == summary::Form::kNone) line_.Add(",\"waits for\":", Quoted{reason});
  AppendSubject(task);
  line_.Add("}}");
  Emit();
  AddFlowEnd(task);
  is_open_ = false;
}

void EventText::AddWait(std::uint64_t thread, const std::string& thread_name, const WaitRecord& wait) {
  NameThread(thread, thread_name);
  BeginSlice("Wait@", WordOf(wait.reason), CallsArea(), thread, {wait.begin_ns, wait.end_ns})
      .Add("\"Thread Id\":", thread, ",\"level\":\"wait\",\"Device Id\":", wait.device,
           ",\"Stream Id\":", wait.stream, "}}");
  Emit();
}

EventLine& EventText::BeginInstant(std::string_view name, std::uint64_t thread, std::int64_t time_ns) {
  return line_.Add("{\"name\":\"", name, "\",\"ph\":\"i\",\"s\":\"t\",\"pid\":", CallsArea(),
                   ",\"tid\":", thread, ",\"ts\":", Microseconds{time_ns}, ",\"args\":{");
}

void EventText::AddMemory(std::uint64_t thread, const std::string& thread_name, const MemoryRecord& memory) {
  NameThread(thread, thread_name);
  const bool freed = (memory.head.flags & MemoryRecord::kFreed) != 0;
  BeginInstant(freed ? "Memory@free" : "Memory@allocate", thread, memory.time_ns)
      .Add("\"allocation\":", memory.allocation, ",\"size(B)\":", memory.bytes);
  if (!freed) {
    line_.Add(",\"place\":\"", WordOf(memory.memory), "\"");
    if (memory.memory == summary::Memory::kDevice) line_.Add(",\"Device Id\":", memory.device);
    line_.Add(",\"address\":", HexAddress{memory.address}, ",\"call\":", Quoted{memory.call});
  }
  line_.Add("}}");
  Emit();
}

void EventText::AddStream(std::uint64_t thread, const std::string& thread_name, const StreamRecord& stream) {
  NameThread(thread, thread_name);
  const bool destroyed = (stream.head.flags & StreamRecord::kDestroyed) != 0;
  BeginInstant(destroyed ? "Stream@destroy" : "Stream@create", thread, stream.time_ns)
      .Add("\"Device Id\":", stream.queue.device, ",\"Stream Id\":", stream.queue.stream);
  if (!destroyed) {
    line_.Add(",\"default\":", (stream.head.flags & StreamRecord::kDefault) != 0 ? "true" : "false");
  }
  line_.Add("}}");
  Emit();
}

void EventText::AddTask(const FinishedTask& task) {
  const TaskRecord& record = task.record;
  NameDeviceRow(record.queue.device, task.row);
  AddFlowBegin(task);
  const std::string_view type = WordOf(record.type);
  BeginSlice("", type, DeviceArea(record.queue.device), task.row,
             {record.begin_ns, record.end_ns, record.head.code != 0});
  const bool streamed = record.queue.number != 0;
  if (streamed) line_.Add("\"Stream Id\":", record.queue.stream, ",");
  if (streamed && record.task != 0) line_.Add("\"Task Id\":", record.task, ",");
  line_.Add("\"connection_id\":", record.connection, ",\"Task Type\":\"", type,
            "\",\"submitted\":", Microseconds{record.submitted_ns}, ",\"executed by\":\"", task.executed_by,
            "\"");
  if (record.head.code != 0) line_.Add(",\"status\":", record.head.code);
  if (task.discarded) line_.Add(",\"discarded\":true");
  AppendSubject(task);
  line_.Add("}}");
  Emit();
  AddFlowEnd(task);
}

void EventText::FlushOpen() {
  for (const std::string& line : open_lines_)
    file_.AddOpen(line);
  open_lines_.clear();
}

void EventText::AppendSubject(const FinishedTask& task) {
  const TaskRecord& record = task.record;
  switch (record.type) {
    case summary::TaskType::kEventRecord:
    case summary::TaskType::kEventWait:
    case summary::TaskType::kEventReset:
      line_.Add(",\"Event Id\":", record.object);
      break;
    case summary::TaskType::kNotifyRecord:
    case summary::TaskType::kNotifyWait:
      line_.Add(",\"Notify Id\":", record.object);
      break;
    case summary::TaskType::kValueWrite:
    case summary::TaskType::kValueWait:
      AppendWord(task);
      break;
    default:
      break;
  }
  if (record.form != summary::Form::kNone) AppendCopy(task);
  AppendPeer(record.peer);
}

/// Readers sort by time and bind an arrow to the slice that began last. Of events at the same time, the later
/// one in the file counts as later. So the call must come first.
void EventText::AddFlowBegin(const FinishedTask& task) {
  const TaskRecord& record = task.record;
  line_.Add("{\"name\":\"HostToDevice", record.connection,
            "\",\"ph\":\"s\",\"cat\":\"HostToDevice\",\"id\":\"", record.connection,
            "\",\"pid\":", CallsArea(), ",\"tid\":", task.thread,
            ",\"ts\":", Microseconds{std::min(record.submitted_ns + 1, record.begin_ns)}, "}");
  Emit();
}

void EventText::AddFlowEnd(const FinishedTask& task) {
  const TaskRecord& record = task.record;
  line_.Add("{\"name\":\"HostToDevice", record.connection,
            "\",\"ph\":\"f\",\"bp\":\"e\",\"cat\":\"HostToDevice\",\"id\":\"", record.connection,
            "\",\"pid\":", DeviceArea(record.queue.device), ",\"tid\":", task.row,
            ",\"ts\":", Microseconds{record.begin_ns}, "}");
  Emit();
}

void EventText::AppendMemory(const char* key, const MemoryEnd& end) {
  if (end.memory == summary::Memory::kNone) return;
  line_.Add(",\"", key, "\":{\"place\":\"", WordOf(end.memory), "\"");
  if (end.memory == summary::Memory::kDevice) line_.Add(",\"device\":", end.device);
  if (end.allocation != 0) {
    line_.Add(",\"allocation\":", end.allocation, ",\"offset\":", end.offset, "}");
  } else {
    line_.Add(",\"address\":", HexAddress{end.offset}, "}");
  }
}

void EventText::AppendCopy(const FinishedTask& task) {
  const TaskRecord& record = task.record;
  line_.Add(",\"size(B)\":", record.bytes);
  if (task.timed && !task.discarded && record.head.code == 0) {
    const std::uint64_t rate = Megabytes(record.bytes, record.end_ns - record.begin_ns);
    line_.Add(",\"bandwidth(GB/s)\":", Microseconds{static_cast<std::int64_t>(rate)});
  }
  if (record.operation != summary::Operation::kNone)
    line_.Add(",\"operation\":\"", WordOf(record.operation), "\"");
  line_.Add(",\"form\":\"", WordOf(record.form), "\",\"path\":\"", WordOf(record.path),
            "\",\"reason\":", Quoted{record.reason});
  if (record.multiprocessors != 0) line_.Add(",\"multiprocessors\":", record.multiprocessors);
  AppendMemory("dst", record.dst);
  AppendMemory("src", record.src);
  if (record.form == summary::Form::kRows) {
    const auto& rows = *static_cast<const RowsShape*>(task.more);
    line_.Add(",\"rows\":{\"width\":", rows.width, ",\"height\":", rows.height,
              ",\"dst_pitch\":", rows.dst_pitch, ",\"src_pitch\":", rows.src_pitch, "}");
  }
  if (record.form == summary::Form::kBatch) AppendBatch(task);
  if (record.form == summary::Form::kReduce) {
    const auto& shape = *static_cast<const ReduceShape*>(task.more);
    line_.Add(",\"reduction\":\"", WordOf(static_cast<ReduceOperation>(shape.operation)),
              "\",\"data_type\":\"", WordOf(static_cast<ReduceElement>(shape.element)), "\"");
  }
}

void EventText::AppendWord(const FinishedTask& task) {
  AppendMemory("word", task.record.dst);
  const auto& shape = *static_cast<const WordShape*>(task.more);
  line_.Add(",\"value\":", HexAddress{shape.value});
  if (task.record.type == summary::TaskType::kValueWait)
    line_.Add(",\"condition\":\"", WordOf(static_cast<summary::Condition>(shape.condition)), "\"");
}

void EventText::AppendPeer(const Peer& peer) {
  if (!peer.known()) return;
  if (peer.link != nullptr) line_.Add(",\"link\":", Quoted{peer.link});
  line_.Add(",\"remote_rank\":", peer.rank);
}

void EventText::AppendBatch(const FinishedTask& task) {
  const std::uint32_t entries = task.record.entries;
  line_.Add(",\"entries\":", entries);
  if (entries <= kMaxPieces) {
    const auto* const pieces = static_cast<const Piece*>(task.more);
    line_.Add(",\"pieces\":[");
    for (std::uint32_t i = 0; i < entries; ++i) {
      const Piece& piece = pieces[i];
      line_.Add(i == 0 ? "[" : ",[", piece.dst_allocation, ",", piece.dst_offset, ",", piece.src_allocation,
                ",", piece.src_offset, ",", piece.bytes, "]");
    }
    line_.Add("]");
    return;
  }
  const auto& outline = *static_cast<const BatchOutline*>(task.more);
  line_.Add(",\"sizes\":[");
  for (std::uint64_t i = 0; i < outline.runs; ++i) {
    line_.Add(i == 0 ? "[" : ",[", outline.sizes[i].bytes, ",", outline.sizes[i].entries, "]");
  }
  line_.Add("],\"dst_extent\":[", outline.dst.allocation, ",", outline.dst.first, ",", outline.dst.end,
            "],\"src_extent\":[", outline.src.allocation, ",", outline.src.first, ",", outline.src.end, "]");
}

void EventText::AddEnginePart(std::uint32_t engine, const ShareRecord& part, const char* part_name) {
  const std::uint64_t row = kEngineRow + engine;
  NameDeviceRow(part.queue.device, row);
  BeginSlice("", WordOf(part.type), DeviceArea(part.queue.device), row,
             {part.begin_ns, part.end_ns, part.head.code != 0});
  if (part.queue.number != 0) {
    line_.Add("\"Stream Id\":", part.queue.stream, ",\"Task Id\":", part.task);
  } else {
    line_.Add("\"connection_id\":", part.task);
  }
  if (part.head.code != 0) line_.Add(",\"status\":", part.head.code);
  line_.Add(",\"part\":\"", part_name, "\"}}");
  Emit();
}

void EventText::AddOperator(const OperatorRecord& record) {
  const std::uint64_t row = kOperatorRow + record.queue.stream, area = DeviceArea(record.queue.device);
  NameDeviceRow(record.queue.device, row);
  const auto end = [&] {
    line_.Add("}}");
    Emit();
  };
  const auto part = [&](std::string_view name, std::int64_t begin_ns, std::int64_t end_ns) -> EventLine& {
    return BeginSlice("", name, area, row, {begin_ns, end_ns}).Add("\"operator\":", Quoted{record.name});
  };
  BeginSlice("", record.name, area, row, {record.begin_ns, record.end_ns})
      .Add("\"Stream Id\":", record.queue.stream, ",\"algorithm\":", Quoted{record.algorithm},
           ",\"size(B)\":", record.bytes, ",\"rank\":", record.rank, ",\"ranks\":", record.ranks,
           ",\"slowest rank\":", record.slowest,
           ",\"waited(us)\":", Microseconds{record.met_ns - record.begin_ns});
  end();
  part("wait for the slowest rank", record.begin_ns, record.met_ns).Add(",\"rank\":", record.slowest);
  end();
  part("copies", record.met_ns, record.moved_ns).Add(",\"size(B)\":", record.bytes);
  end();
  part("wait for the end of all ranks", record.moved_ns, record.end_ns);
  end();
}

void EventText::AddTransfer(std::uint64_t row, const TransferRecord& record) {
  NameArea(PeersArea(), "Other hosts", "network");
  const std::uint64_t lane = row / kLaneStep;
  NameRow(PeersArea(), row, Text(record.peer(), lane != 0 ? Text(" (", lane + 1, ")") : ""));
  BeginSlice("", WordOf(record.kind), PeersArea(), row,
             {record.begin_ns, record.end_ns, record.head.code != 0})
      .Add("\"level\":\"peer\",\"peer\":", Quoted{record.peer()}, ",\"size(B)\":", record.bytes,
           ",\"on the wire(B)\":", record.wire_bytes);
  if (record.head.code != 0) {
    line_.Add(",\"code\":", record.head.code);
  } else if (record.bytes != 0) {
    const std::uint64_t rate = Megabytes(record.bytes, record.end_ns - record.begin_ns);
    line_.Add(",\"bandwidth(GB/s)\":", Microseconds{static_cast<std::int64_t>(rate)});
  }
  line_.Add("}}");
  Emit();
}

void EventText::AddQueueDepth(const QueueLabel& queue, std::int64_t time_ns, std::int64_t tasks) {
  NameDeviceRow(queue.device, queue.stream);
  line_.Add("{\"name\":\"Stream ", queue.stream,
            " queue depth\",\"ph\":\"C\",\"pid\":", DeviceArea(queue.device),
            ",\"tid\":0,\"ts\":", Microseconds{time_ns}, ",\"args\":{\"tasks\":", tasks, "}}");
  Emit();
}

void EventText::AddBytesInFlight(std::int32_t device, std::int64_t time_ns, std::int64_t bytes) {
  NameArea(DeviceArea(device), "Ascend Hardware", Text("NPU ", device));
  line_.Add("{\"name\":\"Bytes in flight\",\"ph\":\"C\",\"pid\":", DeviceArea(device),
            ",\"tid\":0,\"ts\":", Microseconds{time_ns}, ",\"args\":{\"bytes\":", bytes, "}}");
  Emit();
}

}  // namespace sampan::trace
