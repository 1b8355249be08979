// The reference's two threads: between a fork and a join, each may do what does not depend on the other.
#include <algorithm>

#include "tests/model/model.h"

namespace sampan::model {
namespace {

/// Calls whose answer does not depend on what the other thread does meanwhile.
bool MayRunInBoth(const Operation& op) {
  switch (op.call) {
    case Call::kAllocate:
      return op.memory != Memory::kMapped && op.memory != Memory::kRegistered;
    case Call::kFree:
      return op.value == 0 && op.memory != Memory::kMapped && op.memory != Memory::kRegistered;
    case Call::kRecord:
    case Call::kWait:
    case Call::kSyncStream:
    case Call::kSyncEvent:
    case Call::kHostFunction:
    case Call::kCopy:
    case Call::kCopyAsync:
    case Call::kCopyRows:
    case Call::kCopyRowsAsync:
    case Call::kBatch:
    case Call::kBatchAsync:
    case Call::kFill:
    case Call::kFillAsync:
    case Call::kFillWords:
    case Call::kFillWordsAsync:
    case Call::kVerify:
    case Call::kAbortStream:
    case Call::kCloseGate:
    case Call::kOpenGate:
    case Call::kJoin:
      return true;
    default:
      return false;
  }
}

bool UsesStream(const Operation& op) {
  switch (op.call) {
    case Call::kAllocate:
    case Call::kFree:
      return op.memory == Memory::kPool;
    case Call::kRecord:
    case Call::kWait:
    case Call::kSyncStream:
    case Call::kHostFunction:
    case Call::kCopyAsync:
    case Call::kCopyRowsAsync:
    case Call::kBatchAsync:
    case Call::kFillAsync:
    case Call::kFillWordsAsync:
    case Call::kAbortStream:
    case Call::kCloseGate:
      return true;
    default:
      return false;
  }
}

/// Calls after which a stream is one thread's, because what the other one finds there depends on when it
/// looks.
bool KeepsStream(Call call) {
  return call == Call::kAbortStream || call == Call::kCloseGate;
}

bool UsesEvent(Call call) {
  return call == Call::kRecord || call == Call::kWait || call == Call::kSyncEvent;
}

bool NamesSlot(Call call) {
  return call == Call::kAllocate || call == Call::kVerify;
}

std::vector<int> SlotsOf(const Operation& op) {
  std::vector<int> slots{op.dst.slot, op.src.slot, NamesSlot(op.call) ? op.slot : kNull};
  for (const Entry& entry : op.entries) {
    slots.push_back(entry.dst.slot);
    slots.push_back(entry.src.slot);
  }
  std::erase_if(slots, [](int slot) { return slot < 0; });
  return slots;
}

bool Changes(Call call) {
  return call == Call::kAllocate || call == Call::kFree;
}

}  // namespace

Verdict Model::Fork() {
  if (forked_) return Undetermined();
  forked_ = true;
  ended_holds_ = {};
  host_[1] = host_[0];
  for (auto* streams : {streams_.data(), defaults_.data()}) {
    const std::size_t count = streams == streams_.data() ? streams_.size() : defaults_.size();
    for (std::size_t i = 0; i < count; ++i) {
      streams[i].last[1] = streams[i].last[0];
      streams[i].users = 0;
      streams[i].kept_by = kNull;
    }
  }
  gate_thread_ = kNull;
  for (Buffer& buffer : buffers_) {
    buffer.users = 0;
    buffer.changed_by = kNull;
  }
  return Answer(ACL_SUCCESS);
}

Verdict Model::Join() {
  if (!forked_ || thread_ != 0) return Undetermined();
  forked_ = false;
  ended_holds_ = {};
  gate_thread_ = kNull;
  host_[0].Join(host_[1]);
  const auto join = [](Stream& stream) {
    for (const int task : stream.last[1]) {
      auto& last = stream.last[0];
      if (std::find(last.begin(), last.end(), task) == last.end()) last.push_back(task);
    }
  };
  std::for_each(streams_.begin(), streams_.end(), join);
  std::for_each(defaults_.begin(), defaults_.end(), join);
  return Answer(ACL_SUCCESS);
}

bool Model::MayRunBeside(const Operation& op) {
  if (!MayRunInBoth(op)) return false;
  // A failure is told to one of the threads only; which one is open.
  for (const Stream& stream : streams_) {
    if (op.call == Call::kSyncStream && stream.live && MayHaveFailed(stream)) return false;
  }
  if (op.call == Call::kSyncStream && MayHaveFailed(defaults_[context_])) return false;
  if (contexts_[context_].stop >= 0) return false;
  // To open gates opens all of them, so they are one thread's.
  if (op.call == Call::kOpenGate && gate_thread_ != op.thread) return false;
  if (op.call == Call::kCloseGate && gate_thread_ != kNull && gate_thread_ != op.thread) return false;
  if (const Stream* const stream = StreamOf(op)) {
    if (stream->kept_by != kNull && stream->kept_by != op.thread) return false;
    if (KeepsStream(op.call) && (stream->users & ~(1U << op.thread)) != 0) return false;
  }
  // Each thread has its own events.
  if (UsesEvent(op.call) && (op.event < 0 || op.event % kThreads != op.thread)) return false;
  for (const int slot : SlotsOf(op)) {
    const Buffer& buffer = buffers_[slot];
    if (buffer.changed_by != kNull && buffer.changed_by != op.thread) return false;
    if (Changes(op.call) && (buffer.users & ~(1U << op.thread)) != 0) return false;
  }
  return true;
}

Stream* Model::StreamOf(const Operation& op) {
  if (!UsesStream(op)) return nullptr;
  if (op.stream == kNull) return &defaults_[context_];
  return op.stream < 0 ? nullptr : &streams_[op.stream];
}

bool Model::MayAbortBeside(const Stream& stream) const {
  const int other = 1 - thread_;
  const auto& tasks = history_.tasks();
  for (const Task& dropped : tasks) {
    if (dropped.stream != stream.number || host().Covers(dropped.track, dropped.tick)) continue;
    if (host_[other].Covers(dropped.track, dropped.tick)) return false;
    for (const Task& task : tasks) {
      const bool is_others = task.concurrent && task.track % kThreads == other;
      if (is_others && task.clock.Covers(dropped.track, dropped.tick)) return false;
      // If this abort comes first, what the other thread aborts goes on and may run.
      const bool aborted_beside = task.severed && !host().Covers(task.track, task.tick);
      if (aborted_beside && history_.Behind(task.behind).Covers(dropped.track, dropped.tick)) return false;
    }
  }
  return true;
}

bool Model::IsOthersToo(int stream) const {
  const auto is_others = [&](const Stream& each) {
    return each.created && each.number == stream && (each.users & 1U << (1 - thread_)) != 0;
  };
  return forked_ && (std::any_of(streams_.begin(), streams_.end(), is_others) ||
                     std::any_of(defaults_.begin(), defaults_.end(), is_others));
}

bool Model::IsInterleaved(const Task& task) const {
  if (!task.concurrent) return false;
  return std::any_of(history_.tasks().begin(), history_.tasks().end(), [&](const Task& other) {
    return other.concurrent && other.stream == task.stream && other.track != task.track &&
           !other.clock.Covers(task.track, task.tick) && !task.clock.Covers(other.track, other.tick);
  });
}

void Model::NoteUsers(const Operation& op) {
  if (Stream* const stream = StreamOf(op)) {
    stream->users |= 1U << op.thread;
    if (KeepsStream(op.call)) stream->kept_by = op.thread;
  }
  for (const int slot : SlotsOf(op)) {
    const std::uint32_t before = buffers_[slot].users;
    buffers_[slot].users = before | 1U << op.thread;
    if (Changes(op.call)) buffers_[slot].changed_by = op.thread;
  }
}

}  // namespace sampan::model
