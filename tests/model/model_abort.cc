// The reference's aborts: what is queued may have run or not, as whole tasks and in order. Each possibility
// is a world of its own.
#include <algorithm>

#include "tests/model/model.h"

namespace sampan::model {
namespace {

constexpr std::size_t kMaxWorlds = 24;

bool Contains(const std::vector<Stream*>& streams, int number) {
  return std::any_of(streams.begin(), streams.end(),
                     [&](const Stream* stream) { return stream->number == number; });
}

/// The tasks of one stream that an abort may find unfinished, in order. At most `max_executed` have run.
struct Pending {
  int stream = 0;
  std::vector<int> tasks;
  std::size_t max_executed = 0;
};

/// How many of the tasks the clock covers.
std::size_t Covered(const std::vector<int>& ids, const std::vector<Task>& tasks, const Clock& clock) {
  std::size_t count = 0;
  while (count < ids.size() && clock.Covers(tasks[ids[count]].track, tasks[ids[count]].tick))
    ++count;
  return count;
}

/// Whether the task may wait for ever, or go on too early, without the other one.
bool NeedsSignal(const Task& task, const Task& other) {
  if (task.kind != Task::Kind::kWaitSignal || task.signal != other.signal) return false;
  return other.kind == Task::Kind::kSetSignal ||
         (other.kind == Task::Kind::kWaitSignal && task.signal < kNotifies);
}

bool Meet(const Use& a, const Use& b) {
  return a.serial == b.serial && (a.write || b.write) && a.begin < b.end && b.begin < a.end;
}

/// Whether the task takes its operands from the other one.
bool NeedsOperands(const Task& task, const Task& other) {
  return std::any_of(task.uses.begin(), task.uses.end(), [&](const Use& read) {
    return read.serial >= kTableSerial &&
           std::any_of(other.uses.begin(), other.uses.end(),
                       [&](const Use& write) { return write.write && Meet(read, write); });
  });
}

/// Whether only the other one's place in its stream keeps the task behind work of its block's earlier owner:
/// it finds its memory when it runs, so it does not wait itself (pool-7).
bool LosesItsTurn(const Task& task, const Task& other) {
  if (task.kind != Task::Kind::kIndirect || other.maybe.empty()) return false;
  return std::any_of(task.uses.begin(), task.uses.end(), [&](const Use& own) {
    return std::any_of(other.uses.begin(), other.uses.end(),
                       [&](const Use& use) { return use.serial == own.serial; });
  });
}

/// All ways in which each stream ran some of its tasks, none of them before what it waited for.
class Choices {
 public:
  Choices(const std::vector<Pending>& pending, const std::vector<Task>& tasks)
      : pending_(pending), tasks_(tasks) {}

  /// Nothing when there are more than `limit`.
  std::optional<std::vector<std::vector<std::size_t>>> From(const Clock& over, std::size_t limit) {
    found_.clear();
    limit_ = limit;
    over_ = &over;
    std::vector<std::size_t> chosen;
    if (!Extend(chosen)) return std::nullopt;
    return found_;
  }

 private:
  bool Extend(std::vector<std::size_t>& chosen) {
    const std::size_t at = chosen.size();
    if (at == pending_.size()) {
      if (Consistent(chosen)) found_.push_back(chosen);
      return found_.size() <= limit_;
    }
    if (tried_++ > 4'000) return false;
    for (std::size_t count = Covered(pending_[at].tasks, tasks_, *over_); count <= pending_[at].max_executed;
         ++count) {
      chosen.push_back(count);
      const bool is_within_limits = Extend(chosen);
      chosen.pop_back();
      if (!is_within_limits) return false;
    }
    return true;
  }
  bool Consistent(const std::vector<std::size_t>& chosen) const {
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      if (chosen[i] == 0) continue;
      const Clock& ran = tasks_[pending_[i].tasks[chosen[i] - 1]].clock;
      for (std::size_t j = 0; j < chosen.size(); ++j) {
        if (Covered(pending_[j].tasks, tasks_, ran) > chosen[j]) return false;
      }
    }
    return true;
  }

  const std::vector<Pending>& pending_;
  const std::vector<Task>& tasks_;
  const Clock* over_ = nullptr;
  std::size_t limit_ = 0;
  std::size_t tried_ = 0;
  std::vector<std::vector<std::size_t>> found_;
};

/// What waits for the dropped tasks fails, and so does what waits for work behind that.
void FailDependants(World& world, const std::vector<Task>& tasks, std::set<int> lost, aclError code) {
  std::set<int> streams;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const int id = static_cast<int>(i);
    if (world.dropped[i] != ACL_SUCCESS) continue;
    if (lost.contains(tasks[i].recording)) {
      std::erase_if(world.failures, [&](const World::Failure& each) { return each.task == id; });
      world.failures.push_back({tasks[i].stream, id, code});
      world.depends[tasks[i].stream] = code;
      streams.insert(tasks[i].stream);
    }
    if (!streams.contains(tasks[i].stream)) continue;
    world.dependant[i] = code;
    lost.insert(id);
  }
}

/// The world in which each stream ran so many of its tasks.
World Branch(const World& from, const std::vector<Task>& tasks, const std::vector<Pending>& pending,
             const std::vector<std::size_t>& ran, aclError code) {
  World world = from;
  std::set<int> dropped;
  for (std::size_t i = 0; i < pending.size(); ++i) {
    world.ForgetFailures(pending[i].stream);
    if (ran[i] > 0) world.over.Join(tasks[pending[i].tasks[ran[i] - 1]].clock);
    for (std::size_t k = ran[i]; k < pending[i].tasks.size(); ++k) {
      world.dropped[pending[i].tasks[k]] = code;
      dropped.insert(pending[i].tasks[k]);
      world.is_stale = world.is_stale || (tasks[pending[i].tasks[k]].effect &&
                                          from.dropped[pending[i].tasks[k]] == ACL_SUCCESS);
    }
  }
  FailDependants(world, tasks, std::move(dropped), code);
  return world;
}

}  // namespace

bool Model::MayDrop(const std::vector<Stream*>& streams, const Clock& after, Verdict& verdict) const {
  const auto& tasks = history_.tasks();
  for (std::size_t id = 0; id < tasks.size(); ++id) {
    const Task& task = tasks[id];
    if (host().Covers(task.track, task.tick)) continue;
    if (Contains(streams, task.stream)) {
      const bool may_have_run = !Held(task.clock);
      const bool host_function = task.kind == Task::Kind::kHostFunction;  // an abort does not wait for it
      const bool stops = contexts_[ContextOf(task.stream)].stop == static_cast<int>(id);
      const bool open = IsInterleaved(task) || task.kind == Task::Kind::kResetEvent ||
                        (may_have_run && (host_function || stops || task.kind == Task::Kind::kManyCopies));
      if (open) verdict.unordered_with.push_back(task.stream);
      continue;
    }
    // Streams that stay must not depend on whether a signal or new operands came.
    for (const Task& other : tasks) {
      if (!Contains(streams, other.stream) || host().Covers(other.track, other.tick)) continue;
      if (NeedsSignal(task, other) || NeedsOperands(task, other) || LosesItsTurn(task, other))
        verdict.unordered_with.push_back(other.stream);
    }
  }
  return verdict.unordered_with.empty() && MayFailDependants(streams, verdict) &&
         OrderedWithout(streams, after, verdict);
}

bool Model::MayFailDependants(const std::vector<Stream*>& streams, Verdict& verdict) const {
  const auto& tasks = history_.tasks();
  std::set<int> lost, failing;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const Task& task = tasks[i];
    if (host().Covers(task.track, task.tick)) continue;
    const bool waits = lost.contains(task.recording);
    if (Contains(streams, task.stream)) {
      lost.insert(static_cast<int>(i));
    } else if (waits || failing.contains(task.stream)) {
      // What stops is dropped in turn; of two threads' tasks it is open which come behind the wait, and which
      // thread is told.
      const bool open = (waits && StopsAt(task)) || IsInterleaved(task) || IsOthersToo(task.stream);
      if (open) verdict.unordered_with.push_back(task.stream);
      failing.insert(task.stream);
      lost.insert(static_cast<int>(i));
    }
  }
  return verdict.unordered_with.empty();
}

int Model::ContextOf(int stream) const {
  for (const Stream& each : streams_) {
    if (each.created && each.number == stream) return each.context;
  }
  for (const Stream& each : defaults_) {
    if (each.created && each.number == stream) return each.context;
  }
  return 0;
}

bool Model::OrderedWithout(const std::vector<Stream*>& streams, const Clock& after, Verdict& verdict) const {
  History severed = Severed(streams);
  const auto& tasks = severed.tasks();
  for (std::size_t late = 0; late < tasks.size(); ++late) {
    // A free in stream order stays done, though what it waited for may be dropped.
    const bool done = tasks[late].kind == Task::Kind::kFree && tasks[late].severed;
    if (!done && after.Covers(tasks[late].track, tasks[late].tick)) continue;
    for (std::size_t early = 0; early < late; ++early) {
      const Task& first = tasks[early];
      if (after.Covers(first.track, first.tick) || tasks[late].clock.Covers(first.track, first.tick))
        continue;
      for (const Use& a : first.uses) {
        for (const Use& b : tasks[late].uses) {
          if (Meet(a, b)) verdict.unordered_with.push_back(first.stream);
        }
      }
    }
  }
  return verdict.unordered_with.empty();
}

History Model::Severed(const std::vector<Stream*>& streams) const {
  History severed = history_.WithoutWorlds();
  for (Task& task : severed.tasks()) {
    if (Contains(streams, task.stream) && !host().Covers(task.track, task.tick)) task.severed = true;
  }
  severed.RenewClocks();
  return severed;
}

Verdict Model::Drop(const std::vector<Stream*>& streams, aclError code) {
  Verdict verdict;
  Clock after = host();
  std::vector<Pending> pending(streams.size());
  const auto& tasks = history_.tasks();
  for (std::size_t i = 0; i < streams.size(); ++i) {
    pending[i].stream = streams[i]->number;
    for (std::size_t id = 0; id < tasks.size(); ++id) {
      const Task& task = tasks[id];
      if (task.stream != streams[i]->number || host().Covers(task.track, task.tick)) continue;
      pending[i].tasks.push_back(static_cast<int>(id));
      if (!Held(task.clock)) pending[i].max_executed = pending[i].tasks.size();
      after.Reach(task.track, task.tick);
    }
  }
  if (!MayDrop(streams, after, verdict)) return verdict;

  std::vector<World> worlds;
  Choices choices(pending, tasks);
  for (std::size_t parent = 0; parent < history_.worlds().size(); ++parent) {
    const World& world = history_.worlds()[parent];
    Clock over = world.over;
    over.Join(host());
    const auto ways = choices.From(over, kMaxWorlds - std::min(kMaxWorlds, worlds.size()));
    if (!ways || worlds.size() + ways->size() > kMaxWorlds) {
      for (std::size_t i = 0; i < streams.size(); ++i) {
        if (pending[i].max_executed > 0) verdict.unordered_with.push_back(streams[i]->number);
      }
      return verdict;
    }
    for (const auto& ran : *ways) {
      worlds.push_back(Branch(world, tasks, pending, ran, code));
      worlds.back().parent = parent;
    }
  }
  for (const Pending& each : pending)
    Forget(each.tasks);
  history_.TakeTasks(Severed(streams));
  for (Stream* stream : streams) {
    // A dropped wait orders nothing behind the signal that it waited for.
    for (std::vector<int>& last : stream->last)
      std::erase_if(last, [&](int id) { return tasks[id].stream != stream->number; });
  }
  history_.Branch(std::move(worlds));
  host() = after;
  const auto ends = [&](const Hold& hold) { return Contains(streams, hold.stream); };
  // The gate's function still runs: gates that the other thread opens would open it too, before the abort.
  const auto ends_gate = [&](const Hold& hold) { return ends(hold) && hold.signal == kGate; };
  if (forked_ && std::any_of(holds_.begin(), holds_.end(), ends_gate)) gate_thread_ = thread_;
  EndHolds(ends);
  return Answer(ACL_SUCCESS);
}

void Model::Forget(const std::vector<int>& dropped) {
  for (const int id : dropped) {
    const Task& task = history_.tasks()[id];
    if (task.signal >= 0 && task.signal < kNotifies) {
      notifies_[task.signal].lost = true;
      notifies_[task.signal].set_by = -1;
    } else if (task.kind == Task::Kind::kSetSignal) {
      const int word = task.signal - kNotifies;
      tables_[word / kWords].words[word % kWords].lost = true;
    }
    for (Context& context : contexts_) {
      if (context.stop == id) context.stop = -1;
    }
    for (Buffer& buffer : buffers_) {
      if (buffer.made_by == id) buffer.lost = true;
    }
    for (const Use& use : task.uses) {
      if (use.write && use.serial >= kTableSerial) ForgetOperands(use);
    }
  }
}

Verdict Model::AbortStream(const Operation& op) {
  if (op.stream == kNull && op.value == 1) return Answer(ACL_ERROR_RT_PARAM_INVALID);
  Verdict verdict;
  Stream* stream = FindStream(op.stream, verdict);
  if (stream == nullptr) return verdict;
  if (Foreign(*stream) || (forked_ && !MayAbortBeside(*stream))) return Undetermined();
  return Drop({stream}, ACL_ERROR_RT_STREAM_ABORT);
}

Verdict Model::AbortDevice() {
  std::vector<Stream*> streams;
  for (Stream& stream : streams_) {
    if (stream.live && stream.device == current_) streams.push_back(&stream);
  }
  for (Stream& stream : defaults_) {
    if (stream.live && stream.device == current_) streams.push_back(&stream);
  }
  return Drop(streams, ACL_ERROR_RT_DEVICE_TASK_ABORT);
}

Verdict Model::CreateContext() {
  if (contexts_[kOwnContext].live) return Undetermined();
  contexts_[kOwnContext] = {true, current_, -1};
  Stream& stream = defaults_[kOwnContext];
  stream = Stream{};
  stream.created = stream.live = true;
  stream.device = current_;
  stream.context = kOwnContext;
  stream.number = streams_made_++;
  context_ = kOwnContext;  // making one makes it current
  return Answer(ACL_SUCCESS);
}

Verdict Model::UseContext() {
  if (!contexts_[kOwnContext].live) return Undetermined();
  context_ = kOwnContext;
  current_ = contexts_[kOwnContext].device;
  return Answer(ACL_SUCCESS);
}

Verdict Model::DestroyContext() {
  if (!contexts_[kOwnContext].live || context_ == kOwnContext) return Undetermined();
  std::vector<Stream*> streams{&defaults_[kOwnContext]};
  for (Stream& stream : streams_) {
    if (stream.live && stream.context == kOwnContext) streams.push_back(&stream);
  }
  Verdict verdict = Drop(streams, ACL_ERROR_RT_STREAM_ABORT);
  if (!verdict.admitted) return verdict;
  for (Stream* stream : streams)
    stream->live = false;
  for (Event& event : events_)
    event.live = event.live && event.context != kOwnContext;
  contexts_[kOwnContext].live = false;
  return verdict;
}

Verdict Model::StopOnFailure(const Operation& op) {
  Verdict verdict;
  Stream* stream = FindStream(op.stream, verdict);
  if (stream == nullptr) return verdict;
  if (Foreign(*stream)) return Answer(ACL_ERROR_RT_STREAM_CONTEXT);
  // The failure stays with the context, so it must not be one that all programs share.
  if (op.stream == kNull || context_ != kOwnContext || MayHaveFailed(*stream)) return Undetermined();
  stream->stops = true;
  return Answer(ACL_SUCCESS);
}

}  // namespace sampan::model
