// What libhccl needs of streams and device memory: work of a rank in stream order, and where memory lies.
#include <sched.h>

#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "acl/caller.h"
#include "acl/guard.h"
#include "acl/sharing/shared_key.h"
#include "base/platform_bridge.h"
#include "base/threads/spin.h"
#include "core/copy/device_range.h"
#include "core/memory/mapped/peer_mapping.h"
#include "core/memory/origin/code_place.h"
#include "observe/hooks.h"

namespace sampan::acl {
namespace {

/// A collective of processes that run at the same time takes some microseconds.
constexpr std::chrono::microseconds kMaxSpin{50};
/// From more bytes on, moving them takes longer than waking an engine. That costs up to 48 us if ranks keep
/// all cores busy. 1 MiB takes 17 us on the calling thread, and 65 us on an engine (bench_hccl).
constexpr std::uint64_t kBytesAtOnce = 1 << 20;

/// Tells observers of the work when its last step is over.
void NotePassed(StreamWork& work, StreamWork::Hold hold, const QueueLabel& queue) {
  if (!observe::On()) return;
  const std::int64_t now = NowNs();
  StreamWork::Times& times = work.times;
  if (hold == StreamWork::Hold::kTurn) times = {.begin_ns = now};
  if (hold == StreamWork::Hold::kPeers) times.met_ns = now;
  // Work that failed, and work whose beginning was not observed, is told as its tasks alone.
  if (hold != StreamWork::Hold::kEnd || times.begin_ns == 0 || times.moved_ns == 0) return;
  const StreamWork::Shown shown = work.shown();
  observe::TellOperator({.queue = queue,
                         .name = shown.name,
                         .algorithm = shown.algorithm,
                         .bytes = work.bytes(),
                         .rank = shown.rank,
                         .ranks = shown.ranks,
                         .slowest = shown.slowest,
                         .begin_ns = times.begin_ns,
                         .met_ns = times.met_ns,
                         .moved_ns = times.moved_ns,
                         .end_ns = now});
}

/// The stream is behind the wait.
void Pass(StreamWork& work, StreamWork::Hold hold, const QueueLabel& queue) {
  work.Passed(hold);
  NotePassed(work, hold, queue);
}

Status MoveBytes(StreamWork& work) {
  Status moved = work.Move();
  if (observe::On() && work.times.met_ns != 0 && moved.ok()) work.times.moved_ns = NowNs();
  return moved;
}

std::vector<EffectAccess> AccessesOf(const StreamWork& work) {
  std::vector<EffectAccess> all;
  for (const StreamWork::Access& each : work.Accesses())
    all.push_back({core::AllocationOf(*each.held), each.engine, each.bytes, each.writes});
  return all;
}

static_assert(StreamWork::kNotOutside == Gate::kNotOutside);

class WorkGate final : public Gate {
 public:
  WorkGate(std::shared_ptr<StreamWork> work, StreamWork::Hold hold, const QueueLabel& queue)
      : work_(std::move(work)), hold_(hold), queue_(queue) {}
  bool Open() const noexcept override { return work_->IsOpen(hold_); }
  bool TryPass() noexcept override {
    if (!work_->IsOpen(hold_)) return false;
    Pass(*work_, hold_, queue_);
    return true;
  }
  Status Check() const override { return work_->Check(hold_); }
  SleepWord* word() const noexcept override { return &work_->word(); }
  std::chrono::nanoseconds max_spin() const noexcept override { return kMaxSpin; }
  std::string Describe() const override { return work_->Describe(hold_); }
  const void* target() const noexcept override { return nullptr; }
  std::string Signaller() const override { return work_->Missing(hold_); }
  std::uint32_t OutsideStanding() const noexcept override { return work_->OutsideStanding(hold_); }
  void TellStanding(std::uint32_t ways) noexcept override { work_->TellStanding(ways); }
  Status TimedOut(std::chrono::nanoseconds limit) noexcept override {
    return work_->TimedOut(hold_, std::chrono::duration_cast<std::chrono::seconds>(limit));
  }

 private:
  const std::shared_ptr<StreamWork> work_;
  const StreamWork::Hold hold_;
  const QueueLabel queue_;
};

class WorkEffect final : public Effect {
 public:
  enum class Step { kAnnounce, kMove };
  WorkEffect(std::shared_ptr<StreamWork> work, Step step) : work_(std::move(work)), step_(step) {}
  Status Apply() noexcept override {
    return step_ == Step::kAnnounce ? work_->Announce() : MoveBytes(*work_);
  }
  std::size_t bytes() const noexcept override { return step_ == Step::kMove ? work_->bytes() : 0; }
  std::vector<EffectAccess> Accesses() const override {
    return step_ == Step::kMove ? AccessesOf(*work_) : std::vector<EffectAccess>();
  }
  /// Other ranks write this one's memory as soon as they know of it.
  std::vector<EffectAccess> MemoryToWrite() const override {
    return step_ == Step::kAnnounce ? AccessesOf(*work_) : std::vector<EffectAccess>();
  }
  void NoteRefused(const Status& reason) noexcept override { work_->Refuse(reason); }

 private:
  const std::shared_ptr<StreamWork> work_;
  const Step step_;
};

/// The steps of work, in their order. Each round has kPeers and kMove.
enum class Step { kTurn, kAnnounce, kPeers, kMove, kEnd, kOver };

/// The first step that was not executed, and how many rounds were not.
struct Remaining {
  Step step;
  std::uint32_t rounds;
};

template <typename Ready>
bool SpinUntil(const StreamWork::Spin& spin, Ready ready) {
  constexpr int kChecksWithoutClock = 16;
  if (spin.max.count() == 0) return ready();
  // The clock is slow beside what is awaited.
  for (int check = 0; check < kChecksWithoutClock; ++check) {
    if (ready()) return true;
    CpuRelax();
  }
  return SpinFor<1>(spin.max, [&] {
    const bool is_ready = ready();
    if (!is_ready && spin.shares_core) ::sched_yield();
    return is_ready;
  });
}

/// Executes the steps of short work inside its submission, as far as the other ranks let it. Does nothing
/// when it is executed later.
class GoingAhead final : public Effect {
 public:
  /// The work and the label must live until TakeRemaining.
  GoingAhead(StreamWork& work, const QueueLabel& queue, const StreamWork::Spin& spin)
      : work_(work),
        queue_(queue),
        spin_(spin),
        bytes_(work.bytes()),
        rounds_(work.rounds()),
        submitter_(std::this_thread::get_id()) {}

  Status Apply() noexcept override {
    if (!IsInSubmission()) return {};
    using Hold = StreamWork::Hold;
    if (!work_.IsOpen(Hold::kTurn)) return {};
    Pass(work_, Hold::kTurn, queue_);
    next_ = Step::kAnnounce;
    if (Status announced = Did(work_.Announce(), Step::kPeers); !announced.ok()) return announced;
    for (; rounds_ != 0; --rounds_) {
      if (!Passes(Hold::kPeers, Step::kMove)) return {};
      if (Status moved = Did(MoveBytes(work_), Step::kPeers); !moved.ok()) return moved;
    }
    next_ = Step::kEnd;
    Passes(Hold::kEnd, Step::kOver);
    return {};
  }
  bool is_for_submitter() const noexcept override { return true; }
  std::size_t bytes() const noexcept override { return bytes_; }
  std::vector<EffectAccess> Accesses() const override {
    return IsInSubmission() ? AccessesOf(work_) : std::vector<EffectAccess>();
  }
  std::vector<EffectAccess> MemoryToWrite() const override { return Accesses(); }
  void NoteRefused(const Status& reason) noexcept override {
    next_ = Step::kOver;
    work_.Refuse(reason);
  }

  /// For the submitter, behind the submission.
  Remaining TakeRemaining() {
    was_submitted_ = true;
    return {next_, rounds_};
  }

 private:
  /// Only the submitter touches what follows the comparison.
  bool IsInSubmission() const noexcept { return std::this_thread::get_id() == submitter_ && !was_submitted_; }
  Status Did(Status done, Step next) {
    next_ = done.ok() ? next : Step::kOver;
    return done;
  }
  bool Passes(StreamWork::Hold hold, Step next) {
    if (!SpinUntil(spin_, [&] { return work_.IsOpen(hold); })) return false;
    Pass(work_, hold, queue_);
    next_ = next;
    return true;
  }

  StreamWork& work_;
  const QueueLabel& queue_;
  const StreamWork::Spin spin_;
  const std::size_t bytes_;
  std::uint32_t rounds_;
  const std::thread::id submitter_;
  bool was_submitted_ = false;
  Step next_ = Step::kTurn;
};

/// Short work is over before an engine could wake, if the other ranks are there. Who judges the order of
/// tasks is told of its waits.
Result<Remaining> GoAhead(core::Stream& stream, const std::shared_ptr<StreamWork>& work) {
  const Remaining all{Step::kTurn, work->rounds()};
  if (work->bytes() > kBytesAtOnce || !work->may_go_ahead() || !stream.LetsSubmittersRun()) return all;
  if (observe::On() && observe::AnyJudgesOrder()) return all;
  const StreamWork::Spin spin = work->TakeSpin();
  if (!SpinUntil(spin, [&] { return stream.LooksIdle(); })) return all;
  const auto ahead = std::make_shared<GoingAhead>(*work, stream.label(), spin);
  if (Status queued = stream.Enqueue(EffectTask{ahead}); !queued.ok()) return queued;
  return ahead->TakeRemaining();
}

Status Submit(core::Stream& stream, const std::shared_ptr<StreamWork>& work, std::chrono::seconds limit) {
  using Hold = StreamWork::Hold;
  const auto hold = [&](Hold which) {
    return stream.Enqueue(GateTask{std::make_shared<WorkGate>(work, which, stream.label()), limit});
  };
  const auto act = [&](WorkEffect::Step which) {
    return stream.Enqueue(EffectTask{std::make_shared<WorkEffect>(work, which)});
  };
  auto next = GoAhead(stream, work);
  if (!next.ok()) return next.TakeStatus();
  Status queued;
  if (next->step <= Step::kTurn) queued = hold(Hold::kTurn);
  if (queued.ok() && next->step <= Step::kAnnounce) queued = act(WorkEffect::Step::kAnnounce);
  const std::uint32_t rounds = next->step <= Step::kPeers ? next->rounds : 0;
  for (std::uint32_t round = 0; queued.ok() && round != rounds; ++round) {
    queued = hold(Hold::kPeers);
    if (queued.ok()) queued = act(WorkEffect::Step::kMove);
  }
  if (queued.ok() && next->step <= Step::kEnd) queued = hold(Hold::kEnd);
  return queued;
}

Status FindRange(const core::MemoryArgument& argument, DeviceRange& range) {
  auto caller = CallerWithContext();
  if (!caller.ok()) return caller.TakeStatus();
  return FindDeviceRange(caller->runtime.memory(), argument, caller->device().id(), range);
}

}  // namespace
}  // namespace sampan::acl

using namespace sampan;
using namespace sampan::acl;

// HCCL's functions call these two inside of their own NoCancellation.
int sampanSubmitWork(const char* function, void* stream, const std::shared_ptr<StreamWork>& work,
                     std::chrono::seconds limit) {
  return Guard<ProtectsItself>(function, [&]() -> Status {
    auto call = FindOwnStreamCall(stream);
    if (!call.ok()) return call.TakeStatus();
    call->runtime.backend().WatchGates();
    return Submit(call->stream(), work, limit);
  });
}

int sampanFindRange(const char* function, const char* argument, const void* address, std::uint64_t bytes,
                    DeviceRange& range) {
  return Guard<ProtectsItself>(function, [&]() -> Status {
    return FindRange({argument, address, bytes}, range);
  });
}

bool sampanCopyHere(void* dst, const void* src, std::uint64_t bytes, bool past_caches) noexcept {
  core::Runtime* const runtime = process::TheRuntimeIfMade();
  return runtime != nullptr &&
         runtime->backend().CopyHere(
             {static_cast<std::byte*>(dst), static_cast<const std::byte*>(src), bytes}, past_caches);
}

void sampanDescribeCode(std::int64_t process, std::uintptr_t instruction, std::string& text) {
  text = core::DescribeCode(process, instruction);
}

bool sampanIsOnOtherHost(const void* address) noexcept {
  core::Runtime* const runtime = process::TheRuntimeIfMade();
  if (runtime == nullptr) return false;
  const AllocationUse use = runtime->memory().Find(reinterpret_cast<std::uintptr_t>(address));
  return use && core::PeerOf(runtime->memory(), *use.get()) != nullptr;
}

SampanChipName sampanChipName() noexcept {
  core::Runtime* const runtime = process::TheRuntimeIfMade();
  return runtime == nullptr ? "" : runtime->profile().chip.data();
}
