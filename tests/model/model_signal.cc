// The reference's notifies and words: edges between streams that may be waited for before they are sent.
#include <algorithm>

#include "tests/model/model.h"

namespace sampan::model {
namespace {

Task SignalTask(Task::Kind kind, int signal) {
  Task task;
  task.kind = kind;
  task.signal = signal;
  return task;
}

}  // namespace

std::optional<Hold> Model::held_signal() const {
  for (const Hold& hold : holds_) {
    if (hold.signal != kGate) return hold;
  }
  return std::nullopt;
}

void Model::Release(int signal, int task) {
  const auto sent = [&](const Hold& hold) {
    if (hold.signal != signal) return false;
    if (signal < kNotifies) return true;
    return tables_[(signal - kNotifies) / kWords].words[(signal - kNotifies) % kWords].value >= hold.value;
  };
  for (const Hold& hold : holds_) {
    if (!sent(hold)) continue;
    const auto go_on = [&](Stream& stream) {
      if (stream.number == hold.stream) stream.last[0].push_back(task);
    };
    std::for_each(streams_.begin(), streams_.end(), go_on);
    std::for_each(defaults_.begin(), defaults_.end(), go_on);
  }
  std::erase_if(holds_, sent);
}

Verdict Model::CreateNotify(const Operation& op) {
  Notify& notify = notifies_[op.slot];
  if (notify.live) return Undetermined();
  notify = Notify{};
  notify.created = notify.live = true;
  return Answer(ACL_SUCCESS);
}

Verdict Model::DestroyNotify(const Operation& op) {
  Notify& notify = notifies_[op.slot];
  if (!notify.created) return Undetermined();
  if (!notify.live) return Answer(ACL_ERROR_RT_INVALID_HANDLE);
  if (!host().Covers(notify.uses)) return Undetermined();
  notify.live = false;
  return Answer(ACL_SUCCESS);
}

Stream* Model::FindNotifyStream(const Operation& op, Verdict& verdict) {
  const Notify& notify = notifies_[op.slot];
  if (!notify.live) {
    verdict = notify.created ? Answer(ACL_ERROR_RT_INVALID_HANDLE) : Undetermined();
    return nullptr;
  }
  Stream* const stream = FindStream(op.stream, verdict);
  if (stream == nullptr || !Foreign(*stream)) return stream;
  verdict = Answer(ACL_ERROR_RT_STREAM_CONTEXT);
  return nullptr;
}

Verdict Model::RecordNotify(const Operation& op) {
  Verdict verdict;
  Stream* stream = FindNotifyStream(op, verdict);
  if (stream == nullptr) return verdict;
  Notify& notify = notifies_[op.slot];
  const auto hold =
      std::find_if(holds_.begin(), holds_.end(), [&](const Hold& each) { return each.signal == op.slot; });
  // A second recording counts for nothing (notify-1), and one that comes before an earlier wait is lost.
  const Clock next = Next(*stream);
  const bool behind_waits =
      hold == holds_.end() ? next.Covers(notify.waits) : next.Covers(hold_waits_[op.slot]);
  if (stream->stops || notify.lost || notify.set_by >= 0 || !behind_waits) return Undetermined();
  if (hold != holds_.end() && MayBeHeld(*stream)) return Undetermined();  // whether it is sent at all is open
  if (!MayQueue(*stream, {}, verdict)) return verdict;
  const int id = Queue(*stream, {}, SignalTask(Task::Kind::kSetSignal, op.slot));
  notify.uses.Reach(history_.tasks()[id].track, history_.tasks()[id].tick);
  if (hold == holds_.end()) {
    notify.set_by = id;
  } else {
    Release(op.slot, id);
  }
  return Answer(ACL_SUCCESS);
}

Verdict Model::WaitNotify(const Operation& op) {
  Verdict verdict;
  Stream* stream = FindNotifyStream(op, verdict);
  if (stream == nullptr) return verdict;
  Notify& notify = notifies_[op.slot];
  const bool awaited =
      std::any_of(holds_.begin(), holds_.end(), [&](const Hold& hold) { return hold.signal == op.slot; });
  if (stream->stops || notify.lost || awaited) return Undetermined();
  // Otherwise it could take the signal of an earlier wait.
  if (!Next(*stream).Covers(notify.waits)) return Undetermined();
  if (!MayQueue(*stream, {}, verdict)) return verdict;
  Task task = SignalTask(Task::Kind::kWaitSignal, op.slot);
  if (notify.set_by >= 0) task.behind = {notify.set_by};
  const Clock earlier = notify.waits;
  const int id = Queue(*stream, {}, std::move(task));
  const Task& queued = history_.tasks()[id];
  if (notify.set_by < 0) {
    holds_.push_back({stream->number, queued.track, queued.tick, id, op.slot});
    hold_waits_[op.slot] = earlier;
  }
  notify.set_by = -1;
  notify.waits.Reach(queued.track, queued.tick);
  notify.uses.Reach(queued.track, queued.tick);
  return Answer(ACL_SUCCESS);
}

Verdict Model::ResetNotify(const Operation& op) {
  Notify& notify = notifies_[op.slot];
  const bool idle = host().Covers(notify.uses);
  if (!notify.live || !idle) return Undetermined();
  notify.lost = false;
  notify.set_by = -1;
  return Answer(ACL_SUCCESS);
}

Verdict Model::WriteWord(const Operation& op) {
  Word& word = tables_[current_].words[op.slot];
  Verdict verdict;
  Stream* stream = FindStream(op.stream, verdict);
  if (stream == nullptr) return verdict;
  if (Foreign(*stream)) return Answer(ACL_ERROR_RT_STREAM_CONTEXT);
  const Clock next = Next(*stream);
  // Writes grow and follow each other. Waits for an exact value must have seen theirs before it is gone.
  const bool ordered = (word.written_by < 0 || next.Covers(history_.tasks()[word.written_by].clock)) &&
                       next.Covers(word.exact_waits);
  const int signal = WordSignal(current_, op.slot);
  const bool sends = std::any_of(holds_.begin(), holds_.end(), [&](const Hold& hold) {
    return hold.signal == signal && hold.value <= op.value;
  });
  if (stream->stops || word.lost || op.value <= word.value || !ordered || (sends && MayBeHeld(*stream))) {
    return Undetermined();
  }
  if (!MayQueue(*stream, {}, verdict)) return verdict;
  const int id = Queue(*stream, {}, SignalTask(Task::Kind::kSetSignal, signal));
  word.value = op.value;
  word.written_by = id;
  word.uses.Reach(history_.tasks()[id].track, history_.tasks()[id].tick);
  Release(signal, id);
  return Answer(ACL_SUCCESS);
}

Verdict Model::WaitWord(const Operation& op) {
  Word& word = tables_[current_].words[op.slot];
  Verdict verdict;
  Stream* stream = FindStream(op.stream, verdict);
  if (stream == nullptr) return verdict;
  if (Foreign(*stream)) return Answer(ACL_ERROR_RT_STREAM_CONTEXT);
  const bool exact = op.kind == ACL_STREAM_WAIT_VALUE_EQ;
  const int signal = WordSignal(current_, op.slot);
  if (op.kind != ACL_STREAM_WAIT_VALUE_GEQ && !exact) return Undetermined();
  if (stream->stops || word.lost || (exact && op.value != word.value)) return Undetermined();
  if (!MayQueue(*stream, {}, verdict)) return verdict;
  const bool held = op.value > word.value;
  Task task = SignalTask(Task::Kind::kWaitSignal, signal);
  // Of a word that is written in order, only the latest write implies the value for sure.
  if (!held && op.value == word.value && word.written_by >= 0) task.behind = {word.written_by};
  const int id = Queue(*stream, {}, std::move(task));
  const Task& queued = history_.tasks()[id];
  if (held) holds_.push_back({stream->number, queued.track, queued.tick, id, signal, op.value});
  if (exact) word.exact_waits.Reach(queued.track, queued.tick);
  word.uses.Reach(queued.track, queued.tick);
  return Answer(ACL_SUCCESS);
}

Verdict Model::SetWord(const Operation& op) {
  Word& word = tables_[current_].words[op.slot];
  if (!host().Covers(word.uses)) return Undetermined();
  word.lost = false;
  word.value = op.value;
  word.written_by = -1;
  return Answer(ACL_SUCCESS);
}

}  // namespace sampan::model
