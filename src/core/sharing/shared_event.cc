// The recordings of an event that several processes share. They have numbers, in a cell that all processes
// map.
#include "core/sharing/shared_event.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <optional>
#include <string>
#include <utility>

#include "base/error/text.h"
#include "base/threads/futex.h"
#include "base/threads/thread_sanitizer.h"
#include "observe/hooks.h"

namespace sampan::core {
namespace {

/// The interval at which a waiter checks that the recording process still runs.
constexpr std::chrono::milliseconds kLookForProcess{20};

/// A recording that is over, as one word of the cell: its number, and why it was dropped.
struct EndedRecording {
  static constexpr unsigned kCodeBits = 20;

  std::uint64_t recording;
  Code reason;  // kOk: it does not depend on dropped work

  std::uint64_t Packed() const { return recording << kCodeBits | static_cast<std::uint64_t>(reason); }
  static EndedRecording From(std::uint64_t word) {
    const auto reason = static_cast<Code>(word & ((1U << kCodeBits) - 1));
    // A broken process may write any number.
    const bool known = reason == Code::kOk || reason >= Code::kParamInvalid;
    return {word >> kCodeBits, known ? reason : Code::kStreamAbort};
  }
};
static_assert(static_cast<std::uint64_t>(Code::kHostMemoryNotRegistered) >> EndedRecording::kCodeBits == 0);

/// The process that made a recording, as one word of the cell. The number's lower half tells it from others.
struct RecordedBy {
  std::uint32_t process, recording;

  std::uint64_t Packed() const { return std::uint64_t{recording} << 32 | process; }
  static RecordedBy From(std::uint64_t word) {
    return {static_cast<std::uint32_t>(word), static_cast<std::uint32_t>(word >> 32)};
  }
};

template <typename Words>
auto& WordOf(Words& words, std::uint64_t recording) {
  return words[recording % SharedCell::kRecordings];
}

/// Ends a recording. Recordings end in whatever order their streams reach them. A dropped task ends its
/// recording too, as with events of one process. Otherwise waits for it would never complete.
class EndRecording final : public Effect {
 public:
  EndRecording(std::shared_ptr<SharedCell> cell, std::shared_ptr<SharedEvent::OwnRecording> own)
      : cell_(std::move(cell)), own_(std::move(own)) {}
  ~EndRecording() override {
    if (!applied_) End(dropped_ != Code::kOk ? dropped_ : Code::kStreamAbort);
  }
  EndRecording(const EndRecording&) = delete;
  EndRecording& operator=(const EndRecording&) = delete;
  Status Apply() noexcept override {
    applied_ = true;
    End(dropped_);
    return {};
  }
  void NoteDropped(Code reason) noexcept override { dropped_ = reason; }

 private:
  void End(Code reason) const noexcept {
    races::Release(&cell_->signal);
    races::Release(&races::other_processes);
    const std::uint64_t packed = EndedRecording{own_->number, reason}.Packed();
    own_->ended.store(packed);
    // The word only grows.
    std::atomic<std::uint64_t>& word = WordOf(cell_->ended, own_->number);
    std::uint64_t before = word.load();
    while (before < packed && !word.compare_exchange_weak(before, packed)) {
    }
    cell_->signal.value.fetch_add(1, std::memory_order_seq_cst);
    if (cell_->signal.sleepers.load(std::memory_order_seq_cst) != 0) FutexWake(cell_->signal.value);
  }

  const std::shared_ptr<SharedCell> cell_;
  const std::shared_ptr<SharedEvent::OwnRecording> own_;
  bool applied_ = false;  // these two are set by the thread that executes or drops it
  Code dropped_ = Code::kOk;
};

/// Returns true if the process still runs. A killed process that its parent has not waited for does not.
bool Runs(std::uint64_t process) {
  if (::kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH) return false;
  std::ifstream file(Text("/proc/", process, "/stat"));
  std::string text;
  std::getline(file, text);
  const std::size_t name_end = text.rfind(") ");  // the name in brackets may contain anything
  if (name_end == std::string::npos) return true;
  const char state = text[std::min(name_end + 2, text.size() - 1)];
  return state != 'Z' && state != 'X';
}

class EventGate final : public Gate {
 public:
  /// `own` is set if this process made the recording.
  EventGate(std::shared_ptr<SharedCell> cell, std::uint64_t recording,
            std::shared_ptr<const SharedEvent::OwnRecording> own)
      : cell_(std::move(cell)), recording_(recording), own_(std::move(own)) {}
  /// In other processes, the next recording with the same word opens it too: its own end may be missed.
  bool Open() const noexcept override { return Ended().recording >= recording_; }
  bool TryPass() noexcept override {
    if (!Open()) return false;
    Acquire();
    return true;
  }
  /// What follows is after the recording.
  void Acquire() const noexcept {
    races::Acquire(&cell_->signal);
    races::Acquire(&races::other_processes);
  }
  Status Check() const override {
    const auto recorder = Recorder();
    if (!recorder || Runs(*recorder) || Open()) return {};
    return {Code::kTaskTimeout,
            Text(Describe(), " can never end: process ", *recorder, ", which recorded it, has ended")};
  }
  Status Outcome() const override {
    const EndedRecording ended = Ended();
    if (ended.recording != recording_ || ended.reason == Code::kOk) return {};
    return WaitedForDropped(ended.reason, Text("recording ", recording_, " of shared event ", cell_->number));
  }
  SleepWord* word() const noexcept override { return &cell_->signal; }
  std::string Describe() const override {
    return Text("a wait for recording ", recording_, " of shared event ", cell_->number);
  }
  std::string Signaller() const override {
    const auto recorder = Recorder();
    if (!recorder) return "the process that has queued the recording has not reached it";
    return Text("process ", *recorder, " has queued the recording and has not reached it");
  }

 private:
  EndedRecording Ended() const noexcept {
    const std::atomic<std::uint64_t>* word = &WordOf(cell_->ended, recording_);
    if (const SharedEvent::OwnRecording* const own = own_.get()) word = &own->ended;
    return EndedRecording::From(word->load(std::memory_order_seq_cst));
  }
  /// The process that made the recording, if it is still known.
  std::optional<std::uint32_t> Recorder() const noexcept {
    const RecordedBy by = RecordedBy::From(WordOf(cell_->recorders, recording_).load());
    return by.recording == static_cast<std::uint32_t>(recording_) ? std::optional(by.process) : std::nullopt;
  }

  const std::shared_ptr<SharedCell> cell_;
  const std::uint64_t recording_;
  const std::shared_ptr<const SharedEvent::OwnRecording> own_;
};

}  // namespace

std::shared_ptr<SharedCell> SharedEvent::cell() const {
  if (own_ != nullptr) return {own_, &**own_};
  return {foreign_, &**foreign_};
}

Result<std::string> SharedEvent::Key() const {
  if (own_ != nullptr) return own_->Key();
  return Error{Code::kFeatureNotSupport, "the event is another process's: only that one can share it"};
}

Status SharedEvent::Record(Stream& stream) {
  const auto shared = cell();
  const auto own = std::make_shared<OwnRecording>();
  // Made before the recording has a number: what has one, must end.
  EffectTask task{std::make_shared<EndRecording>(shared, own)};
  own->number = shared->recorded.fetch_add(1) + 1;
  WordOf(shared->recorders, own->number)
      .store(RecordedBy{static_cast<std::uint32_t>(::getpid()), static_cast<std::uint32_t>(own->number)}
                 .Packed());
  const auto keep = [&](const Point& point) {
    const std::lock_guard lock(mutex_);
    if (last_own_ != nullptr && last_own_->number > own->number) return;  // another thread recorded meanwhile
    last_own_ = own;
    last_point_ = point;
  };
  keep({});
  const observe::SubjectScope subject(observe::TaskType::kEventRecord, shared->number, true);
  // Blocks while the stream's queue is full, so without the lock. A task that is refused ends the recording.
  auto point = stream.EnqueueWithPoint(std::move(task));
  if (!point.ok()) return point.TakeStatus();
  keep(*point);
  return {};
}

std::shared_ptr<const SharedEvent::OwnRecording> SharedEvent::Own(std::uint64_t recording) const {
  const std::lock_guard lock(mutex_);
  return last_own_ != nullptr && last_own_->number == recording ? last_own_ : nullptr;
}

Status SharedEvent::WaitIn(Stream& stream, std::chrono::nanoseconds limit) const {
  const auto shared = cell();
  const std::uint64_t recording = shared->recorded.load();
  if (recording == 0) return {};
  const observe::SubjectScope subject(observe::TaskType::kEventWait, shared->number, true);
  return stream.Enqueue(GateTask{std::make_shared<EventGate>(shared, recording, Own(recording)), limit});
}

std::optional<Point> SharedEvent::LocalPoint(std::uint64_t recording) const {
  const std::lock_guard lock(mutex_);
  const bool known =
      last_own_ != nullptr && last_own_->number == recording && last_point_.timeline != nullptr;
  return known ? std::optional(last_point_) : std::nullopt;
}

Status SharedEvent::Synchronize(Deadline deadline) {
  const auto shared = cell();
  const std::uint64_t recording = shared->recorded.load();
  const Error late{Code::kEventSyncTimeout,
                   Text("shared event ", shared->number, " was not reached within the time limit")};
  EventGate gate(shared, recording, Own(recording));
  if (const auto local = LocalPoint(recording)) {
    if (!local->Wait(deadline)) return late;
    local->Observe();
    observe::Learned(*local);
    return gate.Outcome();
  }
  while (!gate.Open()) {
    if (Status possible = gate.Check(); !possible.ok()) return possible;
    if (Clock::now() >= deadline) return Error{late.code, Text(late.message, ": ", gate.Signaller())};
    shared->signal.sleepers.fetch_add(1, std::memory_order_seq_cst);
    const std::array wait = {FutexWait{&shared->signal.value, shared->signal.value.load()}};
    if (!gate.Open()) FutexSleep(wait, std::min(deadline, Clock::now() + kLookForProcess));
    shared->signal.sleepers.fetch_sub(1, std::memory_order_seq_cst);
  }
  gate.Acquire();
  return gate.Outcome();
}

bool SharedEvent::Recorded() {
  const auto shared = cell();
  const std::uint64_t recording = shared->recorded.load();
  if (const auto local = LocalPoint(recording)) {
    const bool reached = local->Reached();
    if (reached) {
      local->Observe();
      observe::Learned(*local);
    }
    return reached;
  }
  return EventGate(shared, recording, Own(recording)).TryPass();
}

}  // namespace sampan::core
