// The recordings of an event that several processes share. They have numbers, in a cell that all processes
// map.
#include "core/sharing/shared_event.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <string>
#include <utility>

#include "base/error/text.h"
#include "base/threads/futex.h"
#include "base/threads/thread_sanitizer.h"
#include "observe/hooks.h"

namespace sampan {
namespace {

/// The interval at which a waiter checks that the recording process still runs.
constexpr std::chrono::milliseconds kLookForProcess{20};

/// A recording that depends on dropped work, and the code of waits for it, as one word of the cell.
struct DroppedRecording {
  static constexpr unsigned kCodeBits = 20;

  std::uint64_t recording;
  Code reason;

  static std::atomic<std::uint64_t>& WordOf(SharedCell& cell, std::uint64_t recording) {
    return cell.dropped[recording % cell.dropped.size()];
  }
  std::uint64_t Packed() const { return recording << kCodeBits | static_cast<std::uint64_t>(reason); }
  static DroppedRecording From(std::uint64_t word) {
    const auto reason = static_cast<Code>(word & ((1U << kCodeBits) - 1));
    // A broken process may write any number.
    return {word >> kCodeBits, reason < Code::kParamInvalid ? Code::kStreamAbort : reason};
  }
};
static_assert(static_cast<std::uint64_t>(Code::kHostMemoryNotRegistered) >> DroppedRecording::kCodeBits == 0);

/// Completes a recording. The number only grows, in whatever order processes complete. A dropped task
/// completes its recording too, as with events of one process. Otherwise waits for it would never complete.
class EndRecording final : public Effect {
 public:
  EndRecording(std::shared_ptr<SharedCell> cell, std::uint64_t recording)
      : cell_(std::move(cell)), recording_(recording) {}
  ~EndRecording() override {
    if (!applied_) {
      if (!dropped_) EndRecording::NoteDropped(Code::kStreamAbort);  // the submission was refused
      Complete();
    }
  }
  EndRecording(const EndRecording&) = delete;
  EndRecording& operator=(const EndRecording&) = delete;
  Status Apply() noexcept override {
    applied_ = true;
    Complete();
    return {};
  }
  void NoteDropped(Code reason) noexcept override {
    dropped_ = true;
    DroppedRecording::WordOf(*cell_, recording_).store(DroppedRecording{recording_, reason}.Packed());
  }

 private:
  void Complete() const noexcept {
    races::Release(&cell_->signal);
    races::Release(&races::other_processes);
    std::uint64_t before = cell_->completed.load();
    while (before < recording_ && !cell_->completed.compare_exchange_weak(before, recording_)) {
    }
    cell_->signal.value.fetch_add(1, std::memory_order_seq_cst);
    if (cell_->signal.sleepers.load(std::memory_order_seq_cst) != 0) FutexWake(cell_->signal.value);
  }

  const std::shared_ptr<SharedCell> cell_;
  const std::uint64_t recording_;
  bool applied_ = false, dropped_ = false;  // set by the thread that executes or drops it
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
  EventGate(std::shared_ptr<SharedCell> cell, std::uint64_t recording)
      : cell_(std::move(cell)), recording_(recording) {}
  bool Open() const noexcept override {
    return cell_->completed.load(std::memory_order_seq_cst) >= recording_;
  }
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
    // The cell names only the recorder of the latest recording. An older one completes with it.
    const std::uint64_t recorder = cell_->recorder.load();
    if (cell_->recorded.load() != recording_ || Runs(recorder) || Open()) return {};
    return {Code::kTaskTimeout,
            Text(Describe(), " can never end: process ", recorder, ", which recorded it, has ended")};
  }
  Status Outcome() const override {
    const auto word = DroppedRecording::WordOf(*cell_, recording_).load(std::memory_order_seq_cst);
    const DroppedRecording dropped = DroppedRecording::From(word);
    if (dropped.recording != recording_) return {};
    return WaitedForDropped(dropped.reason,
                            Text("recording ", recording_, " of shared event ", cell_->number));
  }
  SleepWord* word() const noexcept override { return &cell_->signal; }
  std::string Describe() const override {
    return Text("a wait for recording ", recording_, " of shared event ", cell_->number);
  }
  std::string Signaller() const override {
    return Text("process ", cell_->recorder.load(),
                " has queued the latest recording and has not reached it");
  }

 private:
  const std::shared_ptr<SharedCell> cell_;
  const std::uint64_t recording_;
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
  const std::lock_guard lock(mutex_);
  shared->recorder.store(static_cast<std::uint64_t>(::getpid()));
  const std::uint64_t recording = shared->recorded.fetch_add(1) + 1;
  const observe::SubjectScope subject(observe::TaskType::kEventRecord, shared->number, true);
  // A task that is refused completes the recording as well.
  auto point = stream.EnqueueWithPoint(EffectTask{std::make_shared<EndRecording>(shared, recording)});
  if (!point.ok()) return point.TakeStatus();
  last_own_ = recording;
  last_point_ = std::move(*point);
  return {};
}

Status SharedEvent::WaitIn(Stream& stream, std::chrono::nanoseconds limit) const {
  const auto shared = cell();
  const std::uint64_t recording = shared->recorded.load();
  if (recording == 0) return {};
  const observe::SubjectScope subject(observe::TaskType::kEventWait, shared->number, true);
  return stream.Enqueue(GateTask{std::make_shared<EventGate>(shared, recording), limit});
}

std::optional<Point> SharedEvent::LocalPoint(std::uint64_t recording) {
  const std::lock_guard lock(mutex_);
  return last_own_ == recording ? std::optional(last_point_) : std::nullopt;
}

Status SharedEvent::Synchronize(Deadline deadline) {
  const auto shared = cell();
  const std::uint64_t recording = shared->recorded.load();
  const Error late{Code::kEventSyncTimeout,
                   Text("shared event ", shared->number, " was not reached within the time limit")};
  EventGate gate(shared, recording);
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
  return EventGate(shared, recording).TryPass();
}

}  // namespace sampan
