// The order of uses in the reference: what waits for what, and what would race.
#include <algorithm>

#include "tests/model/model.h"

namespace sampan::model {
namespace {

/// The library queues tasks of its own here and there; this many are left room for.
constexpr std::uint32_t kSpareTasks = 64;

}  // namespace

bool Model::Ordered(const std::vector<Touch>& touches, const Clock& seen, Verdict& verdict) const {
  for (const Touch& touch : touches) {
    for (const Access& access : touch.buffer->accesses) {
      const bool apart = access.end <= touch.begin || touch.end <= access.begin;
      if (apart || (!access.write && !touch.write) || seen.Covers(access.track, access.tick)) continue;
      verdict.unordered_with.push_back(access.track / kThreads);
    }
  }
  return verdict.unordered_with.empty();
}

bool Model::Held(const Clock& clock) const {
  return std::any_of(holds_.begin(), holds_.end(),
                     [&](const Hold& hold) { return clock.Covers(hold.track, hold.tick); });
}

bool Model::AddsHold(const Stream& stream, const std::vector<int>& tasks) const {
  if (!forked_) return false;
  const Clock own = history_.LimitsOf(stream.last[thread_]), added = history_.LimitsOf(tasks);
  const auto adds = [&](const Hold& hold) {
    return added.Covers(hold.track, hold.tick) && !own.Covers(hold.track, hold.tick);
  };
  const std::vector<Hold>& ended = ended_holds_[1 - thread_];
  return std::any_of(holds_.begin(), holds_.end(), adds) || std::any_of(ended.begin(), ended.end(), adds);
}

bool Model::HostCanWait(const std::vector<int>& tasks, Verdict& verdict) const {
  verdict.held = Held(history_.LimitsOf(tasks));
  return !verdict.held;
}

bool Model::MayBeHeld(const Stream& stream) const {
  return Held(history_.LimitsOf(stream.last[thread_]));
}

Clock Model::Next(const Stream& stream) const {
  Clock clock = Last(stream);
  clock.Join(host());
  return clock;
}

std::uint32_t Model::Outstanding(const Stream& stream) const {
  std::uint32_t tasks = 0;
  for (int thread = 0; thread < kThreads; ++thread)
    tasks += stream.ticks[thread] - host().Tick(stream.number * kThreads + thread);
  return tasks;
}

bool Model::GoesOn(const Stream& stream, Verdict& verdict) const {
  const int stop = contexts_[stream.context].stop;
  if (stop < 0) return true;
  const Task& task = history_.tasks()[stop];
  if (Held(task.clock)) return true;
  if (host().Covers(task.track, task.tick)) {
    verdict = Answer(task.failure);
  } else {
    verdict.unordered_with.push_back(task.stream);
  }
  return false;
}

bool Model::MayQueue(const Stream& stream, const std::vector<Touch>& touches, Verdict& verdict) const {
  if (!GoesOn(stream, verdict)) return false;
  if (MayBeHeld(stream) && Outstanding(stream) + kSpareTasks > kQueueDepth) {
    verdict.held = true;
    return false;
  }
  const auto waits = [&](const Touch& touch) { return AddsHold(stream, touch.buffer->earlier_frees); };
  if (std::any_of(touches.begin(), touches.end(), waits)) return false;
  return Ordered(touches, Next(stream), verdict);
}

void Model::NoteUses(Task& task, const std::vector<Touch>& touches) const {
  const int id = static_cast<int>(history_.tasks().size());
  for (const Touch& touch : touches) {
    auto& accesses = touch.buffer->accesses;
    if (!forked_) std::erase_if(accesses, [&](const Access& a) { return host().Covers(a.track, a.tick); });
    accesses.push_back({task.track, task.tick, touch.begin, touch.end, touch.write, id});
    task.uses.push_back({touch.buffer->serial, touch.begin, touch.end, touch.write});
  }
}

int Model::Queue(Stream& stream, const std::vector<Touch>& touches, Task task) {
  std::vector<int>& last = stream.last[thread_];
  task.stream = stream.number;
  task.track = stream.number * kThreads + thread_;
  task.tick = std::max(task.tick, ++stream.ticks[thread_]);
  stream.ticks[thread_] = task.tick;
  task.submitted = host();
  task.behind.insert(task.behind.end(), last.begin(), last.end());
  task.concurrent = forked_;
  const int stop = contexts_[stream.context].stop;
  const bool behind_stop = stop >= 0 && history_.tasks()[stop].stream == stream.number;
  task.severed = behind_stop;
  for (const Touch& touch : touches)
    task.maybe.insert(task.maybe.end(), touch.buffer->earlier_frees.begin(),
                      touch.buffer->earlier_frees.end());
  history_.RenewClock(task);
  NoteUses(task, touches);
  const bool stops = task.failure != ACL_SUCCESS && stream.stops && stop < 0;
  const int id = history_.Add(std::move(task), behind_stop ? history_.tasks()[stop].failure : ACL_SUCCESS);
  if (stops) contexts_[stream.context].stop = id;
  last = {id};
  return id;
}

void Model::DoNow(const std::vector<Touch>& touches, Effect effect) {
  Task task;
  task.track = thread_;
  task.tick = ++host_ticks_[thread_];
  task.submitted = host();
  host().Reach(task.track, task.tick);
  history_.RenewClock(task);
  task.effect = std::move(effect);
  if (forked_) NoteUses(task, touches);
  history_.Add(std::move(task));
}

Effect Model::Move(const Address& dst, const Address& src, std::size_t bytes) {
  return [=](Image& image) { MoveBytes(image, dst, src, bytes); };
}

Verdict Model::FailureOf(const Stream& stream) {
  const int stop = contexts_[stream.context].stop;
  Verdict verdict = Answer(ACL_SUCCESS);
  for (const World& world : history_.worlds()) {
    const bool stopped = stop >= 0 && !Held(history_.tasks()[stop].clock);
    verdict.codes.push_back(stopped ? history_.tasks()[stop].failure
                                    : history_.FirstFailure(world, stream.number));
  }
  history_.Told(stream.number);
  return verdict;
}

}  // namespace sampan::model
