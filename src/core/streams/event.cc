// An event: the points at which it was last recorded, and the rules of its two generations.
#include "core/streams/event.h"

#include <algorithm>
#include <utility>

#include "base/error/assert.h"
#include "base/error/text.h"
#include "base/threads/thread_sanitizer.h"
#include "observe/hooks.h"

namespace sampan::core {

namespace {

/// Clears a recording that is completed when the stream reaches the reset. A recording that completes later
/// stays.
class TakeBack final : public Effect {
 public:
  TakeBack(Point recording, std::shared_ptr<std::atomic<bool>> taken_back)
      : recording_(std::move(recording)), taken_back_(std::move(taken_back)) {}
  Status Apply() noexcept override {
    if (taken_back_ != nullptr && recording_.PassedByNow()) taken_back_->store(true);
    return {};
  }

 private:
  const Point recording_;
  const std::shared_ptr<std::atomic<bool>> taken_back_;
};

}  // namespace

std::optional<Event::Recording> Event::Latest() {
  std::optional<Recording> latest;
  Point reset;
  {
    const std::lock_guard lock(mutex_);
    latest = latest_;
    reset = reset_;
  }
  if (!latest || latest->taken_back == nullptr) return latest;
  static_cast<void>(reset.Reached());  // a program that polls expects progress
  return latest->taken_back->load() ? std::nullopt : latest;
}

Result<std::uint32_t> Event::Id() {
  const std::lock_guard lock(mutex_);
  if (!id_) {
    auto id = ids_->Take();
    if (!id) return Error{Code::kNoEventResource, "the device has no event number left"};
    id_.emplace(std::move(*id));
    if (shared_ != nullptr) shared_->set_number(id_->id());
  }
  return id_->id();
}

std::uint32_t Event::Number() {
  const std::lock_guard lock(mutex_);
  return id_ ? id_->id() : 0;
}

std::uint32_t Event::ObservedId() {
  return observe::On() ? Number() : 0;
}

Status Event::CheckRecorded(std::string_view name) {
  return Latest() ? Status() : Status(Code::kInternalError, Text(name, " was never recorded"));
}

Status Event::Record(Stream& stream) {
  if (auto id = Id(); !id.ok()) return id.TakeStatus();
  if (shared_ != nullptr) return shared_->Record(stream);
  auto mark = std::make_shared<Mark>();
  const observe::SubjectScope subject(observe::TaskType::kEventRecord, ObservedId());
  auto point = stream.EnqueueWithPoint(MarkTask{mark});
  if (!point.ok()) return point.TakeStatus();
  SAMPAN_ASSERT(point->timeline == stream.Last().timeline);
  const std::lock_guard lock(mutex_);
  latest_ = Recording{std::move(*point), std::move(mark), nullptr};
  reset_ = {};
  return {};
}

Status Event::WaitIn(Stream& stream, std::chrono::seconds limit) {
  if (shared_ != nullptr) return shared_->WaitIn(stream, limit);
  if (!CanSync()) {
    return {Code::kFeatureNotSupport,
            "the event was made without ACL_EVENT_SYNC: a stream cannot wait for it"};
  }
  if (Status sticky = stream.context_failure()->Check(); !sticky.ok()) return sticky;
  const auto recording = Latest();
  if (!recording) {
    if (observe::On() && recording_point().timeline == nullptr) {
      observe::TellMistake(
          {.kind = observe::Mistake::Kind::kNeverRecorded, .queue = &stream.label(), .object = Number()});
    }
    return {};
  }
  const observe::SubjectScope subject(observe::TaskType::kEventWait, ObservedId());
  auto point = stream.EnqueueWithPoint(WaitTask{recording->point, limit, Number(), recording->mark});
  if (!point.ok()) return point.TakeStatus();
  if (generation_ == EventGeneration::kEx) return {};
  const std::lock_guard lock(mutex_);
  std::erase_if(waits_, [](const Point& wait) { return wait.Reached(); });
  waits_.push_back(std::move(*point));
  return {};
}

Status Event::Reset(Stream& stream) {
  if (generation_ == EventGeneration::kEx || !CanSync()) {
    return {Code::kFeatureNotSupport,
            "the event cannot be reset: made by aclrtCreateEventExWithFlag, or without ACL_EVENT_SYNC"};
  }
  SAMPAN_ASSERT(shared_ == nullptr);  // shared events are of the other generation
  const observe::SubjectScope subject(observe::TaskType::kEventReset, ObservedId());
  std::optional<Recording> recording;
  {
    const std::lock_guard lock(mutex_);
    if (latest_ && latest_->taken_back == nullptr)
      latest_->taken_back = std::make_shared<std::atomic<bool>>(false);
    recording = latest_;
  }
  auto effect = recording ? std::make_shared<TakeBack>(recording->point, recording->taken_back)
                          : std::make_shared<TakeBack>(Point{}, nullptr);
  auto point = stream.EnqueueWithPoint(EffectTask{std::move(effect)});
  if (!point.ok()) return point.TakeStatus();
  const std::lock_guard lock(mutex_);
  if (recording && latest_ && latest_->taken_back == recording->taken_back) reset_ = std::move(*point);
  return {};
}

Status Event::Synchronize(Deadline deadline) {
  if (observe::On()) observe::TellAwaited({.kind = observe::Awaited::kEvent, .object = ObservedId()});
  if (shared_ != nullptr) return shared_->Synchronize(deadline);
  const auto recording = Latest();
  if (!recording) return {};
  if (recording->point.Wait(deadline)) {
    races::Acquire(recording->mark.get());
    observe::Learned(recording->point);
    return recording->mark->Outcome(Number());
  }
  return {Code::kEventSyncTimeout, Text("event ", Number(), " was not reached within the time limit")};
}

Point Event::recording_point() {
  const std::lock_guard lock(mutex_);
  return latest_ ? latest_->point : Point();
}

bool Event::Recorded() {
  if (shared_ != nullptr) return shared_->Recorded();
  const auto recording = Latest();
  if (!recording) return generation_ == EventGeneration::kEx;
  const bool reached = recording->point.Reached();
  if (reached) {
    races::Acquire(recording->mark.get());
    observe::Learned(recording->point);
  }
  return reached;
}

bool Event::Waited() {
  std::vector<Point> waits;
  {
    const std::lock_guard lock(mutex_);
    waits = waits_;
  }
  for (const Point& wait : waits) {
    if (!wait.Reached()) return false;
    wait.Observe();
    observe::Learned(wait);
  }
  return true;
}

Result<std::int64_t> Event::TimeNs(std::string_view name) {
  const auto recording = Latest();
  if (!recording) return CheckRecorded(name);
  if ((flags_ & EventFlags::kTimeLine) == 0) {
    return Error{Code::kEventTimestampInvalid, Text(name, " was made without ACL_EVENT_TIME_LINE")};
  }
  SAMPAN_ASSERT(recording->mark != nullptr && recording->point.timeline != nullptr);
  if (!recording->point.Reached()) {
    return Error{Code::kEventTimestampInvalid, Text(name, " is not reached yet")};
  }
  const std::int64_t time = recording->mark->time_ns.load();
  if (time == 0) {
    return Error{Code::kEventTimestampInvalid,
                 Text(name,
                      " has no time: its recording was dropped, because its stream was aborted, "
                      "destroyed or stopped at a failure. Record it again")};
  }
  races::Acquire(recording->mark.get());
  observe::Learned(recording->point);
  return time;
}

}  // namespace sampan::core
