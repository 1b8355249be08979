// What libhccl needs of streams and device memory: work of a rank in stream order, and where memory lies.
#include <chrono>
#include <utility>

#include "acl/caller.h"
#include "acl/guard.h"
#include "acl/sharing/shared_key.h"
#include "base/platform_bridge.h"
#include "core/copy/device_range.h"

namespace sampan::acl {
namespace {

/// A collective of processes that run at the same time takes some microseconds.
constexpr std::chrono::microseconds kPatience{50};

class WorkGate final : public Gate {
 public:
  WorkGate(std::shared_ptr<StreamWork> work, StreamWork::Hold hold) : work_(std::move(work)), hold_(hold) {}
  bool Open() const noexcept override { return work_->IsOpen(hold_); }
  bool TryPass() noexcept override {
    if (!work_->IsOpen(hold_)) return false;
    work_->Passed(hold_);
    return true;
  }
  Status Check() const override { return work_->Check(hold_); }
  SleepWord* word() const noexcept override { return &work_->word(); }
  std::chrono::nanoseconds patience() const noexcept override { return kPatience; }
  std::string Describe() const override { return work_->Describe(hold_); }
  const void* target() const noexcept override { return nullptr; }
  Status TimedOut(std::chrono::nanoseconds limit) noexcept override {
    return work_->TimedOut(hold_, std::chrono::duration_cast<std::chrono::seconds>(limit));
  }

 private:
  const std::shared_ptr<StreamWork> work_;
  const StreamWork::Hold hold_;
};

class WorkEffect final : public Effect {
 public:
  enum class Step { kAnnounce, kMove };
  WorkEffect(std::shared_ptr<StreamWork> work, Step step) : work_(std::move(work)), step_(step) {}
  Status Apply() noexcept override { return step_ == Step::kMove ? work_->Move() : work_->Announce(); }
  std::size_t bytes() const noexcept override { return step_ == Step::kMove ? work_->bytes() : 0; }

 private:
  const std::shared_ptr<StreamWork> work_;
  const Step step_;
};

Status Submit(Stream& stream, const std::shared_ptr<StreamWork>& work, std::chrono::seconds limit) {
  using Hold = StreamWork::Hold;
  using Step = WorkEffect::Step;
  const auto hold = [&](Hold which) {
    return stream.Enqueue(GateTask{std::make_shared<WorkGate>(work, which), limit});
  };
  const auto act = [&](Step which) {
    return stream.Enqueue(EffectTask{std::make_shared<WorkEffect>(work, which)});
  };
  if (Status turn = hold(Hold::kTurn); !turn.ok()) return turn;
  if (Status announced = act(Step::kAnnounce); !announced.ok()) return announced;
  if (Status peers = hold(Hold::kPeers); !peers.ok()) return peers;
  if (Status moved = act(Step::kMove); !moved.ok()) return moved;
  return hold(Hold::kEnd);
}

Status FindRange(const MemoryArgument& argument, DeviceRange& range) {
  auto caller = CallerWithContext();
  if (!caller.ok()) return caller.TakeStatus();
  return FindDeviceRange(caller->runtime.memory(), argument, caller->device().id(), range);
}

}  // namespace
}  // namespace sampan::acl

using namespace sampan;
using namespace sampan::acl;

int sampanSubmitWork(const char* function, void* stream, const std::shared_ptr<StreamWork>& work,
                     std::chrono::seconds limit) {
  return Guard(function, [&]() -> Status {
    auto call = FindOwnStreamCall(stream);
    if (!call.ok()) return call.TakeStatus();
    call->runtime.backend().WatchGates();
    return Submit(call->stream(), work, limit);
  });
}

int sampanFindRange(const char* function, const char* argument, const void* address, std::uint64_t bytes,
                    DeviceRange& range) {
  return Guard(function, [&]() -> Status { return FindRange({argument, address, bytes}, range); });
}

bool sampanCopyHere(void* dst, const void* src, std::uint64_t bytes, bool past_caches) noexcept {
  Runtime* const runtime = process::TheRuntimeIfMade();
  return runtime != nullptr &&
         runtime->backend().CopyHere(
             {static_cast<std::byte*>(dst), static_cast<const std::byte*>(src), bytes}, past_caches);
}

SampanChipName sampanChipName() noexcept {
  Runtime* const runtime = process::TheRuntimeIfMade();
  return runtime == nullptr ? "" : runtime->profile().chip.data();
}
