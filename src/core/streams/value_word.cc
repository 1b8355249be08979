// A 64-bit word of device memory that streams write and wait for.
#include "core/streams/value_word.h"

#include <mutex>
#include <string_view>
#include <utility>

#include "backend/api/task_memory.h"
#include "base/error/text.h"
#include "base/threads/thread_sanitizer.h"
#include "core/copy/memory_location.h"
#include "core/copy/peer_copy.h"
#include "core/memory/mapped/peer_mapping.h"
#include "observe/hooks.h"

namespace sampan::core {
namespace {

/// The lock keeps the memory while a thread reads the word. A backend's watch may check a gate that the
/// stream has passed already.
class ValueGate final : public Gate {
 public:
  ValueGate(BackendDevice& device, AllocationUse use, const std::byte* word, std::uint64_t value,
            ValueCondition condition)
      : device_(device),
        use_(std::move(use)),
        address_(use_->facts.address +
                 static_cast<std::uintptr_t>(word - use_->EngineView(use_->facts.address))),
        word_(word),
        value_(value),
        condition_(condition) {}

  bool Open() const noexcept override {
    const std::lock_guard lock(mutex_);
    return !use_ || !use_->live() || Fits();  // the queue finds out why
  }
  bool TryPass() noexcept override {
    const std::lock_guard lock(mutex_);
    const bool passes = !use_ || (use_->live() && Fits());
    if (passes) races::Acquire(&races::device_memory);
    return passes;
  }
  Status Check() const override {
    const std::lock_guard lock(mutex_);
    return use_ ? CheckLive(use_) : Status();
  }
  void Release() noexcept override {
    AllocationUse ended;
    const std::lock_guard lock(mutex_);
    std::swap(ended, use_);
  }
  const AllocationUse* memory() const noexcept override { return &use_; }
  SleepWord* word() const noexcept override { return nullptr; }
  const void* target() const noexcept override { return word_; }
  std::string Describe() const override {
    const std::lock_guard lock(mutex_);
    auto word = use_ && use_->live() ? device_.LoadWord(word_) : Result<std::uint64_t>(Error{});
    return Text("a wait for the word at ", Hex(address_), " to be ", Condition(), " ", Hex(value_),
                word.ok() ? Text(", it is ", Hex(*word)) : std::string(", which cannot be read"));
  }
  std::string Signaller() const override {
    return Text("no queued task of this process writes to ", Hex(address_),
                " with aclrtValueWrite: a stream, a copy or a peer has to change the word");
  }

 private:
  std::string_view Condition() const {
    switch (condition_) {
      case ValueCondition::kAtLeast:
        return "at least";
      case ValueCondition::kEqual:
        return "equal to";
      case ValueCondition::kAnd:
        return "not 0 after AND with";
      case ValueCondition::kNor:
        return "not 0 after NOR with";
    }
    return "";
  }
  bool Fits() const noexcept {
    auto loaded = device_.LoadWord(word_);
    if (!loaded.ok()) return false;  // the queue will detect the lost device
    const std::uint64_t word = *loaded;
    switch (condition_) {
      case ValueCondition::kAtLeast:
        return static_cast<std::int64_t>(word - value_) >= 0;
      case ValueCondition::kEqual:
        return word == value_;
      case ValueCondition::kAnd:
        return (word & value_) != 0;
      case ValueCondition::kNor:
        return ~(word | value_) != 0;
    }
    return true;
  }
  BackendDevice& device_;
  mutable std::mutex mutex_;
  AllocationUse use_;  // until the task is completed
  const std::uintptr_t address_;
  const std::byte* const word_;
  const std::uint64_t value_;
  const ValueCondition condition_;
};

Status LocateWord(void* address, HostAccess access, PlanContext context, Location& word) {
  const MemoryArgument argument{"devAddr", address, sizeof(std::uint64_t)};
  if (Status located = Locate(context.registry(), argument, word); !located.ok()) return located;
  if (!word.place.on_device()) {
    return {Code::kParamInvalid,
            Text("devAddr ", Hex(address), " must be device memory, it is ", Describe(word.place))};
  }
  if (reinterpret_cast<std::uintptr_t>(address) % sizeof(std::uint64_t) != 0) {
    return {Code::kParamInvalid,
            Text("devAddr ", Hex(address), " must be aligned to ", sizeof(std::uint64_t), " bytes")};
  }
  return CheckRights(word, argument, access, context.device());
}

/// For observers of the task that follows.
void NoteWord(const Location& word, std::uint64_t value, ValueCondition condition) {
  if (!observe::On()) return;
  observe::NoteWord(
      {observe::EndOf(word.engine, word.use.get()), value, static_cast<std::uint64_t>(condition)});
}

}  // namespace

Status PlanValueWrite(void* address, std::uint64_t value, PlanContext context, Plan& plan) {
  Location word;
  if (Status located = LocateWord(address, HostAccess::kWrite, context, word); !located.ok()) return located;
  NoteWord(word, value, {});
  plan.Make<WordTask>(WordTask{word.engine, value, std::move(word.use)});
  return RouteToPeers(context, plan);
}

Status PlanValueWait(const ValueWaitRequest& request, PlanContext context, BackendDevice& device,
                     Plan& plan) {
  Location word;
  if (Status located = LocateWord(request.address, HostAccess::kRead, context, word); !located.ok())
    return located;
  if (Status here = RefusePeer(context.registry(), word.use, "a wait for a value"); !here.ok()) return here;
  NoteWord(word, request.value, request.condition);
  plan.Make<GateTask>(GateTask{
      std::make_shared<ValueGate>(device, std::move(word.use), word.engine, request.value, request.condition),
      {}});
  return {};
}

}  // namespace sampan::core
