// What was submitted, and the outcomes that the rules allow for it.
#include "tests/model/history.h"

#include <algorithm>
#include <utility>

namespace sampan::model {

int History::Add(Task task, aclError dropped) {
  const int id = static_cast<int>(tasks_.size());
  for (World& world : worlds_) {
    world.dropped.push_back(dropped);
    const aclError lost = task.recording < 0 ? ACL_SUCCESS : world.WaitCode(task.recording);
    if (lost != ACL_SUCCESS && dropped == ACL_SUCCESS) world.depends[task.stream] = lost;
    const auto depends = world.depends.find(task.stream);
    world.dependant.push_back(depends == world.depends.end() ? ACL_SUCCESS : depends->second);
    if (dropped != ACL_SUCCESS) continue;
    const aclError failure = task.failure != ACL_SUCCESS ? task.failure : lost;
    if (failure != ACL_SUCCESS) world.failures.push_back({task.stream, id, failure});
    if (task.effect) task.effect(world.image);
  }
  tasks_.push_back(std::move(task));
  return id;
}

void History::Fail(int task, aclError code) {
  tasks_[task].failure = code;
  tasks_[task].effect = nullptr;
  for (World& world : worlds_) {
    if (world.dropped[task] == ACL_SUCCESS) world.failures.push_back({tasks_[task].stream, task, code});
    Replay(world);
  }
}

void History::Branch(std::vector<World> worlds) {
  worlds_ = std::move(worlds);
  for (World& world : worlds_) {
    if (world.is_stale) Replay(world);
  }
}

std::vector<std::size_t> History::TakeParents() {
  std::vector<std::size_t> parents;
  for (std::size_t i = 0; i < worlds_.size(); ++i)
    parents.push_back(std::exchange(worlds_[i].parent, i));
  return parents;
}

bool History::Keep(const std::function<bool(std::size_t)>& fits) {
  std::vector<World> kept;
  for (std::size_t i = 0; i < worlds_.size(); ++i) {
    if (fits(i)) kept.push_back(std::move(worlds_[i]));
  }
  worlds_ = std::move(kept);
  return !worlds_.empty();
}

void History::Told(int stream) {
  for (World& world : worlds_)
    world.ForgetFailures(stream);
}

aclError History::FirstFailure(const World& world, int stream) const {
  const World::Failure* first = nullptr;
  for (const World::Failure& failure : world.failures) {
    if (failure.stream == stream && (first == nullptr || failure.task < first->task)) first = &failure;
  }
  return first == nullptr ? ACL_SUCCESS : first->code;
}

bool History::MayHaveFailed(int stream) const {
  return std::any_of(worlds_.begin(), worlds_.end(),
                     [&](const World& world) { return FirstFailure(world, stream) != ACL_SUCCESS; });
}

Clock History::Behind(const std::vector<int>& tasks) const {
  Clock clock;
  for (const int task : tasks)
    clock.Join(tasks_[task].clock);
  return clock;
}

Clock History::LimitsOf(const std::vector<int>& tasks) const {
  Clock limits;
  for (const int task : tasks)
    limits.Join(tasks_[task].limits);
  return limits;
}

void History::RenewClock(Task& task) const {
  Clock clock = task.submitted, limits = task.submitted;
  for (const int earlier : task.behind) {
    if (task.severed && tasks_[earlier].stream != task.stream) continue;
    clock.Join(tasks_[earlier].clock);
    limits.Join(tasks_[earlier].limits);
  }
  if (!task.severed) limits.Join(LimitsOf(task.maybe));
  clock.Reach(task.track, task.tick);
  limits.Reach(task.track, task.tick);
  task.clock = std::move(clock);
  task.limits = std::move(limits);
}

void History::RenewClocks() {
  for (Task& task : tasks_)
    RenewClock(task);
}

History History::WithoutWorlds() const {
  History other;
  other.tasks_ = tasks_;
  return other;
}

void History::Replay(World& world) const {
  world.image = Image{};
  world.is_stale = false;
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    if (world.dropped[i] == ACL_SUCCESS && tasks_[i].effect) tasks_[i].effect(world.image);
  }
}

}  // namespace sampan::model
