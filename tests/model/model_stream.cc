// The reference's streams, events and waits.
#include "tests/model/model.h"

namespace sampan::model {
namespace {

constexpr aclError kAsyncCopyError = ACL_ERROR_RT_SYS_DMA;

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
  stream.number = streams_made_++;
  return Answer(ACL_SUCCESS);
}

Verdict Model::DestroyStream(const Operation& op) {
  if (op.stream == kNull) return Answer(ACL_ERROR_INVALID_PARAM);
  Verdict verdict;
  Stream* stream = FindStream(op.stream, verdict);
  if (stream == nullptr) return verdict;
  if (Foreign(*stream)) return op.value == 0 ? Answer(ACL_ERROR_RT_STREAM_CONTEXT) : Undetermined();
  if (stream->failed) return Undetermined();
  if (!HostCanWait(stream->clock, verdict)) return verdict;
  if (op.value == 0) {
    host_.Join(stream->clock);
  } else if (!host_.Covers(stream->clock)) {
    verdict.unordered_with.push_back(stream->number);
    return verdict;
  }
  stream->live = false;
  return Answer(ACL_SUCCESS);
}

Verdict Model::CreateEvent(const Operation& op) {
  Event& event = events_[op.event];
  if (event.live) return Undetermined();
  event = Event{};
  event.created = event.live = true;
  event.form = op.form;
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
  if (Legacy(event->form) && event->recorded) return Undetermined();
  if (event->reset && !Next(*stream).Covers(event->reset_point)) return Undetermined();
  Queue(*stream, {});
  event->recorded = true;
  event->reset = false;
  event->record = stream->clock;
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
  if (event->recorded) stream->clock.Join(event->record);
  Queue(*stream, {});
  event->waits.Reach(stream->number, stream->tick);
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
  if (!event->recorded || !host_.Covers(event->record) || !host_.Covers(event->waits)) return Undetermined();
  Queue(*stream, {});
  event->recorded = false;
  event->reset = true;
  event->reset_point = stream->clock;
  return Answer(ACL_SUCCESS);
}

Verdict Model::SyncStream(const Operation& op) {
  Verdict verdict;
  Stream* stream = FindStream(op.stream, verdict);
  if (stream == nullptr) return verdict;
  if (!HostCanWait(stream->clock, verdict)) return verdict;
  host_.Join(stream->clock);
  const bool failed = stream->failed;
  stream->failed = false;
  return Answer(failed ? kAsyncCopyError : ACL_SUCCESS);
}

Verdict Model::SyncEvent(const Operation& op) {
  Verdict verdict;
  Event* event = FindEvent(op.event, verdict);
  if (event == nullptr) return verdict;
  if (event->reset) return Undetermined();
  if (event->recorded) {
    if (!HostCanWait(event->record, verdict)) return verdict;
    host_.Join(event->record);
  }
  return Answer(ACL_SUCCESS);
}

std::optional<Clock> Model::ContextWork(Verdict& verdict) const {
  Clock all = defaults_[current_].clock;
  bool failed = defaults_[current_].failed;
  for (const Stream& stream : streams_) {
    if (!stream.live || stream.device != current_) continue;
    all.Join(stream.clock);
    failed = failed || stream.failed;
  }
  if (failed || !HostCanWait(all, verdict)) return std::nullopt;
  return all;
}

Verdict Model::SyncDevice() {
  Verdict verdict;
  const auto work = ContextWork(verdict);
  if (!work) return verdict;
  host_.Join(*work);
  return Answer(ACL_SUCCESS);
}

Verdict Model::QueryStream(const Operation& op) {
  Verdict verdict;
  Stream* stream = FindStream(op.stream, verdict);
  if (stream == nullptr) return verdict;
  const bool over = host_.Covers(stream->clock);
  if (stream->failed) {
    if (!over) return Undetermined();
    stream->failed = false;
    return Answer(kAsyncCopyError);
  }
  verdict = Answer(ACL_SUCCESS);
  if (over) verdict.ready = 1;
  if (Held(stream->clock)) verdict.ready = 0;
  return verdict;
}

Verdict Model::QueryEvent(const Operation& op) {
  Verdict verdict;
  Event* event = FindEvent(op.event, verdict);
  if (event == nullptr) return verdict;
  if (event->reset) return Undetermined();
  verdict = Answer(ACL_SUCCESS);
  if (!event->recorded) {
    verdict.ready = Legacy(event->form) ? 0 : 1;
  } else if (host_.Covers(event->record)) {
    verdict.ready = 1;
  } else if (Held(event->record)) {
    verdict.ready = 0;
  }
  return verdict;
}

Verdict Model::CloseGate(const Operation& op) {
  Verdict verdict;
  Stream* stream = FindStream(op.stream, verdict);
  if (stream == nullptr) return verdict;
  if (Foreign(*stream)) return Answer(ACL_ERROR_RT_STREAM_CONTEXT);
  if (gate_) return Undetermined();
  Queue(*stream, {});
  gate_ = Gate{stream->number, stream->tick};
  return Answer(ACL_SUCCESS);
}

Verdict Model::OpenGate() {
  if (!gate_) return Undetermined();
  gate_.reset();
  return Answer(ACL_SUCCESS);
}

}  // namespace sampan::model
