// Counts what a program copied.
#include "summary/summary.h"

#include <algorithm>

#include "base/error/text.h"
#include "summary/quantity_text.h"

namespace sampan::summary {
namespace {

/// Copies up to kShortBytes are worth merging, if enough of them follow one another closely.
constexpr std::uint64_t kShortBytes = 64 << 10;
constexpr std::int64_t kCloseNs = 20'000;
constexpr std::uint64_t kLongRun = 32;

bool BetweenHostAndDevice(Operation operation) {
  return operation == Operation::kHostToDevice || operation == Operation::kDeviceToHost;
}

}  // namespace

void Summary::NoteTime(std::int64_t begin_ns, std::int64_t end_ns) {
  first_ns_ = std::min(first_ns_, begin_ns);
  last_ns_ = std::max(last_ns_, end_ns);
}

void Summary::Add(const Task& task) {
  NoteTime(task.submitted_ns, task.end_ns);
  if (!task.succeeded()) return NoteLost(task);
  if (!task.link.empty()) NoteLink(task);
  if (task.form == Form::kNone) return;
  Row& row = rows_[{task.operation, task.path}];
  row.operation = task.operation;
  row.path = task.path;
  row.calls += 1;
  row.bytes += task.bytes;
  row.time_ns += task.end_ns - task.begin_ns;
  row.timed = row.timed && task.timed;
  if (task.multiprocessors != 0 && task.timed) {
    counted_.kernel_copies += 1;
    counted_.multiprocessor_ns +=
        static_cast<double>(task.multiprocessors) * static_cast<double>(task.end_ns - task.begin_ns);
  }
  const bool pageable = task.dst == Memory::kPageable || task.src == Memory::kPageable;
  if (pageable && task.asynchronous_call) {
    counted_.pageable_copies += 1;
    if (task.path == Path::kBlocking || task.path == Path::kStaged) counted_.pageable_copies_blocked += 1;
  }
  if (BetweenHostAndDevice(task.operation) && task.timed) {
    Volume& volume = pageable ? pageable_ : pinned_;
    volume.copies += 1;
    volume.bytes += task.bytes;
    volume.time_ns += task.end_ns - task.begin_ns;
  }
  if (task.stream >= 0) NoteStream(task);
}

void Summary::NoteLost(const Task& task) {
  LostWork& lost = task.status != 0 ? counted_.failed : counted_.dropped;
  lost.tasks += 1;
  if (task.status != 0) lost.codes[task.status] += 1;
  if (task.form == Form::kNone) return;
  lost.copies += 1;
  lost.bytes += task.bytes;
}

void Summary::NoteLink(const Task& task) {
  auto found = links_.find(task.link);
  if (found == links_.end()) found = links_.emplace(task.link, LinkRow{std::string(task.link)}).first;
  LinkRow& row = found->second;
  if (task.form == Form::kNone) {
    row.signals += 1;
    return;
  }
  row.copies += 1;
  row.bytes += task.bytes;
  row.time_ns += task.end_ns - task.begin_ns;
}

void Summary::NoteStream(const Task& task) {
  StreamFacts& stream = streams_[{task.device, task.stream}];
  const std::int64_t time_ns = task.end_ns - task.begin_ns;
  if (task.timed && BetweenHostAndDevice(task.operation)) {
    stream.begin_ns = std::min(stream.begin_ns, task.begin_ns);
    stream.end_ns = std::max(stream.end_ns, task.end_ns);
    (task.operation == Operation::kHostToDevice ? stream.in_ns : stream.out_ns) += time_ns;
  }
  const bool is_short =
      task.form == Form::kLinear && task.bytes <= kShortBytes && BetweenHostAndDevice(task.operation);
  Run& run = stream.current;
  if (!is_short || task.operation != run.operation || task.submitted_ns - run.last_ns > kCloseNs) {
    CloseRun(stream);
    if (!is_short) return;
    run.first_ns = task.submitted_ns;
    run.operation = task.operation;
  }
  run.copies += 1;
  run.bytes += task.bytes;
  run.last_ns = std::max(run.last_ns, task.submitted_ns);
  run.end_ns = std::max(run.end_ns, task.end_ns);
}

void Summary::CloseRun(StreamFacts& stream) {
  const Run run = std::exchange(stream.current, Run());
  if (run.copies < kLongRun) return;
  Runs& runs = run.operation == Operation::kHostToDevice ? stream.runs_in : stream.runs_out;
  runs.copies += run.copies;
  runs.bytes += run.bytes;
  runs.longest = std::max(runs.longest, run.copies);
  // The spans of runs may overlap, so their sum may be longer than the trace.
  if (__builtin_add_overflow(runs.time_ns, run.end_ns - run.first_ns, &runs.time_ns))
    runs.time_ns = INT64_MAX;
}

void Summary::Add(const Call& call) {
  NoteTime(call.begin_ns, call.end_ns);
  (call.platform ? counted_.platform_calls : counted_.calls) += 1;
  if (call.code != 0) (call.platform ? counted_.failed_platform_calls : counted_.failed_calls) += 1;
  if (call.awaited != Awaited::kNothing) counted_.synchronize_ns += call.end_ns - call.begin_ns;
}

void Summary::Add(const Transfer& transfer) {
  NoteTime(transfer.begin_ns, transfer.end_ns);
  auto found = peers_.find(transfer.peer);
  if (found == peers_.end()) found = peers_.emplace(transfer.peer, PeerRow{std::string(transfer.peer)}).first;
  PeerRow& row = found->second;
  row.wire_bytes += transfer.wire_bytes;
  (transfer.code == 0 ? row.transfers : row.failed) += 1;
  if (transfer.code != 0) return;
  row.bytes += transfer.bytes;
  row.time_ns += transfer.end_ns - transfer.begin_ns;
}

void Summary::Add(const Wait& wait) {
  NoteTime(wait.begin_ns, wait.end_ns);
  (wait.reason == WaitReason::kQueueFull ? counted_.queue_full_ns : counted_.pageable_wait_ns) +=
      wait.end_ns - wait.begin_ns;
}

void Summary::Add(const Depth& depth) {
  if (depth.tasks <= counted_.deepest_queue) return;
  counted_.deepest_queue = depth.tasks;
  counted_.deepest_queue_device = depth.device;
  counted_.deepest_queue_stream = depth.stream;
}

namespace {

/// The summary names so many, and counts all.
constexpr std::size_t kMaxUnfinished = 16;

std::string UnfinishedText(const Unfinished& it) {
  const std::string stream =
      it.stream >= 0 ? Text("stream ", it.stream, " of device ", it.device) : std::string();
  std::string text = it.name;
  if (it.of_stream) {
    if (it.object >= 0) text += Text(it.name.starts_with("EVENT") ? " of event " : " of notify ", it.object);
    text += Text(", task ", it.task, " of ", stream);
  } else {
    text += Text(" on thread ", it.thread);
    if (it.awaited == Awaited::kEvent) text += Text(", which waits for event ", it.object);
    if (it.awaited == Awaited::kDevice) text += Text(", which waits for device ", it.device);
    if (!stream.empty()) text += Text(", which waits for ", stream);
  }
  text += Text(", for ", TimeText(it.end_ns - it.begin_ns));
  if (it.behind != 0) text += Text(", with ", it.behind, it.behind == 1 ? " task" : " tasks", " behind it");
  return it.reason.empty() ? text : Text(text, ": ", it.reason);
}

}  // namespace

void Summary::Add(const Unfinished& unfinished) {
  NoteTime(unfinished.begin_ns, unfinished.end_ns);
  if (unfinished.awaited != Awaited::kNothing)
    counted_.synchronize_ns += unfinished.end_ns - unfinished.begin_ns;
  if (unfinished.host_wait)
    (*unfinished.host_wait == WaitReason::kQueueFull ? counted_.queue_full_ns : counted_.pageable_wait_ns) +=
        unfinished.end_ns - unfinished.begin_ns;
  counted_.unfinished_count += 1;
  if (counted_.unfinished.size() < kMaxUnfinished) counted_.unfinished.push_back(UnfinishedText(unfinished));
}

Report Summary::MakeReport() const {
  Report report = counted_;
  for (const auto& [key, row] : rows_)
    report.rows.push_back(row);
  for (const auto& [link, row] : links_)
    report.links.push_back(row);
  for (const auto& [peer, row] : peers_)
    report.peers.push_back(row);
  report.host_wait_ns = report.synchronize_ns + report.queue_full_ns + report.pageable_wait_ns;
  report.span_ns = last_ns_ > first_ns_ ? last_ns_ - first_ns_ : 0;
  AdviseBatch(report);
  AdvisePinned(report);
  AdviseSecondStream(report);
  return report;
}

}  // namespace sampan::summary
