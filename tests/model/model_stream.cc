// The reference's streams, events and waits.
#include <algorithm>

#include "tests/model/model.h"

namespace sampan::model {
namespace {

bool Legacy(EventForm form) {
  return form != EventForm::kEx;
}

}  // namespace

Verdict Model::CreateStream(const Operation& op) {
  Stream& stream = streams_[op.slot];
  if (stream.live) return Undetermined();
  stream = Stream{};
  stream.created = stream.live = true;
  stream.device = current_;
  stream.context = context_;
  stream.number = streams_made_++;
  return Answer(ACL_SUCCESS);
}

Verdict Model::DestroyStream(const Operation& op) {
  if (op.stream == kNull) return Answer(ACL_ERROR_INVALID_PARAM);
  Verdict verdict;
  Stream* stream = FindStream(op.stream, verdict);
  if (stream == nullptr) return verdict;
  if (Foreign(*stream)) return op.value == 0 ? Answer(ACL_ERROR_RT_STREAM_CONTEXT) : Undetermined();
  if (op.value != 0) {
    verdict = Drop({stream}, ACL_ERROR_RT_STREAM_ABORT);
    if (verdict.admitted) stream->live = false;
    return verdict;
  }
  if (MayHaveFailed(*stream) || contexts_[stream->context].stop >= 0) return Undetermined();
  if (!HostCanWait(stream->last[thread_], verdict)) return verdict;
  host().Join(Last(*stream));
  stream->live = false;
  return Answer(ACL_SUCCESS);
}

Verdict Model::CreateEvent(const Operation& op) {
  Event& event = events_[op.event];
  if (event.live) return Undetermined();
  event = Event{};
  event.created = event.live = true;
  event.form = op.form;
  event.context = context_;
  return Answer(ACL_SUCCESS);
}

Verdict Model::DestroyEvent(const Operation& op) {
  Verdict verdict;
  Event* event = FindEvent(op.event, verdict);
  if (event == nullptr) return verdict;
  event->live = false;
  return Answer(ACL_SUCCESS);
}

Verdict Model::Record(const Operation& op) {
  Verdict verdict;
  Event* event = FindEvent(op.event, verdict);
  if (event == nullptr) return verdict;
  Stream* stream = FindStream(op.stream, verdict);
  if (stream == nullptr) return verdict;
  if (Foreign(*stream)) return Answer(ACL_ERROR_RT_STREAM_CONTEXT);
  if (Legacy(event->form) && event->recorded()) return Undetermined();
  if (event->reset && !Next(*stream).Covers(event->reset_point)) return Undetermined();
  if (!MayQueue(*stream, {}, verdict)) return verdict;
  event->recording = Queue(*stream, {});
  event->reset = false;
  return Answer(ACL_SUCCESS);
}

Verdict Model::Wait(const Operation& op) {
  Verdict verdict;
  Event* event = FindEvent(op.event, verdict);
  if (event == nullptr) return verdict;
  Stream* stream = FindStream(op.stream, verdict);
  if (stream == nullptr) return verdict;
  Codes codes;
  if (Foreign(*stream)) codes.insert(ACL_ERROR_RT_STREAM_CONTEXT);
  if (event->form == EventForm::kTimeOnly) codes.insert(ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  if (const auto refusal = FromCodes(codes)) return *refusal;
  if (event->reset) return Undetermined();
  if (!MayQueue(*stream, {}, verdict)) return verdict;
  Task task;
  if (event->recorded()) {
    if ((stream->stops || forked_) && MayBeDropped(event->recording)) return Undetermined();
    if (AddsHold(*stream, {event->recording})) return Undetermined();
    task.recording = event->recording;
    task.behind = {event->recording};
  }
  const Task& queued = history_.tasks()[Queue(*stream, {}, std::move(task))];
  event->waits.Reach(queued.track, queued.tick);
  return Answer(ACL_SUCCESS);
}

Verdict Model::ResetEvent(const Operation& op) {
  Verdict verdict;
  Event* event = FindEvent(op.event, verdict);
  if (event == nullptr) return verdict;
  Stream* stream = FindStream(op.stream, verdict);
  if (stream == nullptr) return verdict;
  Codes codes;
  if (Foreign(*stream)) codes.insert(ACL_ERROR_RT_STREAM_CONTEXT);
  if (event->form == EventForm::kEx || event->form == EventForm::kTimeOnly) {
    codes.insert(ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  }
  if (const auto refusal = FromCodes(codes)) return *refusal;
  if (!event->recorded() || !host().Covers(RecordingOf(*event)) || !host().Covers(event->waits)) {
    return Undetermined();
  }
  if (!MayQueue(*stream, {}, verdict)) return verdict;
  Task task;
  task.kind = Task::Kind::kResetEvent;
  event->reset_point = history_.tasks()[Queue(*stream, {}, std::move(task))].clock;
  event->recording = -1;
  event->reset = true;
  return Answer(ACL_SUCCESS);
}

Verdict Model::SyncStream(const Operation& op) {
  Verdict verdict;
  Stream* stream = FindStream(op.stream, verdict);
  if (stream == nullptr) return verdict;
  if (!HostCanWait(stream->last[thread_], verdict)) return verdict;
  const int stop = contexts_[stream->context].stop;
  const bool own = stop >= 0 && history_.tasks()[stop].stream == stream->number;
  if (Verdict stopped; !own && !GoesOn(*stream, stopped) && !stopped.admitted) return stopped;
  host().Join(Last(*stream));
  return FailureOf(*stream);
}

Verdict Model::SyncEvent(const Operation& op) {
  Verdict verdict;
  Event* event = FindEvent(op.event, verdict);
  if (event == nullptr) return verdict;
  if (event->reset) return Undetermined();
  if (!event->recorded()) return Answer(ACL_SUCCESS);
  if (!HostCanWait({event->recording}, verdict)) return verdict;
  host().Join(RecordingOf(*event));
  verdict = Answer(ACL_SUCCESS);
  for (const World& world : history_.worlds())
    verdict.codes.push_back(world.WaitCode(event->recording));
  return verdict;
}

std::optional<Clock> Model::ContextWork(Verdict& verdict) const {
  std::vector<int> all = defaults_[context_].last[thread_];
  bool failed = MayHaveFailed(defaults_[context_]) || contexts_[context_].stop >= 0;
  for (const Stream& stream : streams_) {
    if (!stream.live || Foreign(stream)) continue;
    all.insert(all.end(), stream.last[thread_].begin(), stream.last[thread_].end());
    failed = failed || MayHaveFailed(stream);
  }
  if (failed || !HostCanWait(all, verdict)) return std::nullopt;
  return history_.Behind(all);
}

Verdict Model::SyncDevice() {
  Verdict verdict;
  const auto work = ContextWork(verdict);
  if (!work) return verdict;
  host().Join(*work);
  return Answer(ACL_SUCCESS);
}

Verdict Model::QueryStream(const Operation& op) {
  Verdict verdict;
  Stream* stream = FindStream(op.stream, verdict);
  if (stream == nullptr) return verdict;
  if (!GoesOn(*stream, verdict)) return verdict;
  const Clock last = Last(*stream);
  const bool over = host().Covers(last);
  if (MayHaveFailed(*stream)) {
    if (!over) return Undetermined();
    verdict = FailureOf(*stream);
  } else {
    verdict = Answer(ACL_SUCCESS);
  }
  if (over && !forked_) verdict.ready = 1;
  if (Held(last)) verdict.ready = 0;
  return verdict;
}

Verdict Model::QueryEvent(const Operation& op) {
  Verdict verdict;
  Event* event = FindEvent(op.event, verdict);
  if (event == nullptr) return verdict;
  if (event->reset) return Undetermined();
  verdict = Answer(ACL_SUCCESS);
  if (!event->recorded()) {
    verdict.ready = Legacy(event->form) ? 0 : 1;
  } else if (host().Covers(RecordingOf(*event))) {
    verdict.ready = 1;
  } else if (Held(RecordingOf(*event))) {
    verdict.ready = 0;
  }
  return verdict;
}

Verdict Model::CloseGate(const Operation& op) {
  Verdict verdict;
  Stream* stream = FindStream(op.stream, verdict);
  if (stream == nullptr) return verdict;
  if (Foreign(*stream)) return Answer(ACL_ERROR_RT_STREAM_CONTEXT);
  if (gate_closed()) return Undetermined();
  if (!MayQueue(*stream, {}, verdict)) return verdict;
  const int id = Queue(*stream, {});
  const Task& task = history_.tasks()[id];
  holds_.push_back({stream->number, task.track, task.tick, id, kGate});
  if (forked_) gate_thread_ = thread_;
  return Answer(ACL_SUCCESS);
}

Verdict Model::OpenGate() {
  if (!gate_closed()) return Undetermined();
  EndHolds([](const Hold& hold) { return hold.signal == kGate; });
  return Answer(ACL_SUCCESS);
}

bool Model::gate_closed() const {
  return std::any_of(holds_.begin(), holds_.end(), [](const Hold& hold) { return hold.signal == kGate; });
}

Clock Model::RecordingOf(const Event& event) const {
  return history_.tasks()[event.recording].clock;
}

bool Model::MayBeDropped(int task) const {
  return std::any_of(history_.worlds().begin(), history_.worlds().end(),
                     [&](const World& world) { return world.WaitCode(task) != ACL_SUCCESS; });
}

}  // namespace sampan::model
