// The summary of a trace, counted by the same code as in a running program.
#include "tools/sampan/shared/trace/trace_summary.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "summary/activity_words.h"

namespace sampan::tool {
namespace {

/// The value of a word in the trace; `otherwise` for missing words and words of later versions.
template <typename Enum>
Enum Word(std::string_view word, Enum otherwise) {
  return summary::Parse<Enum>(word).value_or(otherwise);
}

summary::Memory MemoryOf(const TraceEvent& event, const char* end) {
  const TraceJson* const place = event.Find(end);
  if (place == nullptr || !place->is_object() || !place->contains("place")) return summary::Memory::kNone;
  return Word(place->value("place", ""), summary::Memory::kNone);
}

summary::Task TaskOf(const TraceEvent& event) {
  summary::Task task;
  task.type = Word(event.Text("Task Type"), summary::TaskType::kOther);
  task.form = Word(event.Text("form"), summary::Form::kNone);
  task.operation = Word(event.Text("operation"), summary::Operation::kNone);
  task.path = Word(event.Text("path"), summary::Path::kNone);
  task.dst = MemoryOf(event, "dst");
  task.src = MemoryOf(event, "src");
  task.discarded = event.Find("discarded") != nullptr;
  task.status = static_cast<std::int32_t>(event.Number("status"));
  // Blocking copies have a stream only if an asynchronous call made them.
  task.asynchronous_call = event.Find("Stream Id") != nullptr;
  // The driver gives the times of some tasks only.
  task.timed = event.Text("executed by") != "driver" || event.Find("bandwidth(GB/s)") != nullptr;
  task.device = DeviceOf(event);
  task.stream = event.Count("Stream Id", -1);
  task.bytes = static_cast<std::uint64_t>(event.Count("size(B)"));
  task.entries = static_cast<std::uint64_t>(event.Count("entries", 1));
  task.multiprocessors = static_cast<std::uint32_t>(event.Count("multiprocessors"));
  task.link = event.Text("link");
  task.submitted_ns = SubmittedNs(event);
  task.begin_ns = event.begin_ns;
  task.end_ns = event.begin_ns + event.duration_ns;
  return task;
}

/// What had not ended when the trace was written.
void AddUnfinished(summary::Summary& summary, const TraceEvent& event) {
  const bool is_task = IsTask(event);
  const auto at = event.name.find('@');
  const bool is_wait = event.Text("level") == "wait";
  const std::string_view name =
      at == std::string_view::npos || is_wait ? event.name : event.name.substr(at + 1);
  summary::Unfinished open{.name = std::string(name),
                           .of_stream = is_task,
                           .thread = static_cast<std::uint64_t>(event.thread),
                           .awaited = Word(event.Text("waits"), summary::Awaited::kNothing),
                           .device = is_task ? DeviceOf(event) : std::max(event.Device("Device Id"), 0),
                           .stream = event.Count("Stream Id", -1),
                           .task = static_cast<std::uint64_t>(event.Count("Task Id")),
                           .object = event.Count("Event Id", event.Count("Notify Id", -1)),
                           .behind = static_cast<std::uint64_t>(event.Count("queued behind")),
                           .reason = std::string(event.Text("waits for")),
                           .begin_ns = event.begin_ns,
                           .end_ns = event.begin_ns + event.duration_ns};
  if (is_wait) open.host_wait = summary::Parse<summary::WaitReason>(name.substr(name.find('@') + 1));
  summary.Add(open);
}

void AddHostSlice(summary::Summary& summary, const TraceEvent& event) {
  const auto thread = static_cast<std::uint64_t>(event.thread);
  const std::int64_t end_ns = event.begin_ns + event.duration_ns;
  const auto at = event.name.find('@');
  const std::string_view name = at == std::string_view::npos ? event.name : event.name.substr(at + 1);
  if (event.Text("level") == "wait") {
    if (const auto reason = summary::Parse<summary::WaitReason>(name))
      summary.Add(
          summary::Wait{.reason = *reason, .thread = thread, .begin_ns = event.begin_ns, .end_ns = end_ns});
    return;
  }
  summary.Add(summary::Call{.name = name,
                            .thread = thread,
                            .code = static_cast<std::int32_t>(event.Number("code")),
                            .platform = event.Text("level") == "hccl",
                            .awaited = Word(event.Text("waits"), summary::Awaited::kNothing),
                            .begin_ns = event.begin_ns,
                            .end_ns = end_ns});
}

void AddTransfer(summary::Summary& summary, const TraceEvent& event) {
  const std::string peer(event.Text("peer"));
  summary.Add(summary::Transfer{.peer = peer,
                                .code = static_cast<std::int32_t>(event.Number("code")),
                                .bytes = static_cast<std::uint64_t>(event.Count("size(B)")),
                                .wire_bytes = static_cast<std::uint64_t>(event.Count("on the wire(B)")),
                                .begin_ns = event.begin_ns,
                                .end_ns = event.begin_ns + event.duration_ns});
}

}  // namespace

std::int32_t DeviceOf(const TraceEvent& event) {
  return static_cast<std::int32_t>(event.process % (kMaxDevices + 1)) - 1;
}

bool IsTask(const TraceEvent& event) {
  return event.phase == 'X' && event.Find("Task Type") != nullptr;
}

bool IsUnfinished(const TraceEvent& event) {
  return event.phase == 'X' && event.Find("unfinished") != nullptr;
}

std::int64_t SubmittedNs(const TraceEvent& task) {
  return task.Time("submitted", task.begin_ns);
}

void AddTo(summary::Summary& summary, const TraceEvent& event) {
  if (IsUnfinished(event)) {
    AddUnfinished(summary, event);
  } else if (IsTask(event)) {
    summary.Add(TaskOf(event));
  } else if (event.phase == 'X' && event.Text("level") == "peer") {
    AddTransfer(summary, event);
  } else if (event.phase == 'X' && DeviceOf(event) < 0) {
    AddHostSlice(summary, event);
  } else if (event.phase == 'C') {
    unsigned stream = 0;
    if (std::sscanf(std::string(event.name).c_str(), "Stream %u queue depth", &stream) == 1) {
      summary.Add(summary::Depth{.device = DeviceOf(event),
                                 .stream = stream,
                                 .tasks = static_cast<std::uint64_t>(event.Count("tasks"))});
    }
  }
}

}  // namespace sampan::tool
