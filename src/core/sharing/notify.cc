// A notify: a binary signal between streams of one or several processes.
#include "core/sharing/notify.h"

#include <utility>

#include "base/error/text.h"
#include "base/threads/futex.h"
#include "base/threads/thread_sanitizer.h"
#include "observe/hooks.h"

namespace sampan {
namespace {

constexpr std::uint32_t kClear = 0, kSet = 1;

class RecordEffect final : public Effect {
 public:
  RecordEffect(std::shared_ptr<SleepWord> word, std::uint32_t id, std::shared_ptr<const SignalLink> link,
               bool is_shared)
      : word_(std::move(word)), id_(id), link_(std::move(link)), is_shared_(is_shared) {}
  Status Apply() noexcept override {
    if (link_ != nullptr) {
      Status holds = link_->Check();
      if (!holds.ok()) return Withheld(holds.error());
    }
    races::Release(word_.get());
    if (is_shared_) races::Release(&races::other_processes);
    // Sequentially consistent: a sleeper first adds itself to the count, then reads the word.
    word_->value.store(kSet, std::memory_order_seq_cst);
    if (word_->sleepers.load(std::memory_order_seq_cst) != 0) FutexWake(word_->value);
    return {};
  }
  const void* target() const noexcept override { return word_.get(); }

 private:
  Status Withheld(const Error& reason) const noexcept {
    return {reason.code, Text("notify ", id_, ", ", link_->Describe(), ", is withheld: ", reason.message)};
  }

  const std::shared_ptr<SleepWord> word_;
  const std::uint32_t id_;
  const std::shared_ptr<const SignalLink> link_;
  const bool is_shared_;  // with other processes
};

class NotifyGate : public Gate {
 public:
  NotifyGate(std::shared_ptr<SleepWord> word, std::uint32_t id) : word_(std::move(word)), id_(id) {}
  bool Open() const noexcept override { return word_->value.load(std::memory_order_seq_cst) == kSet; }
  bool TryPass() noexcept override {
    std::uint32_t set = kSet;
    if (!word_->value.compare_exchange_strong(set, kClear, std::memory_order_seq_cst)) return false;
    races::Acquire(word_.get());
    races::Acquire(&races::other_processes);
    return true;
  }
  SleepWord* word() const noexcept override { return word_.get(); }
  std::string Describe() const override { return Text("a wait for notify ", id_); }
  std::string Signaller() const override {
    return Text("no queued task of this process records notify ", id_,
                ": a stream of this process or of another one has to (aclrtRecordNotify)");
  }

 private:
  const std::shared_ptr<SleepWord> word_;
  const std::uint32_t id_;
};

/// The same for the signal of a connection, which may be broken.
class LinkedGate final : public NotifyGate {
 public:
  LinkedGate(std::shared_ptr<SleepWord> word, std::uint32_t id, std::shared_ptr<SignalLink> link)
      : NotifyGate(std::move(word), id), link_(std::move(link)) {}
  Status Check() const override {
    Status holds = link_->Check();
    if (holds.ok()) return holds;
    return {holds.code(), Text(Describe(), " cannot end: ", holds.error().message)};
  }
  std::string Describe() const override { return Text(NotifyGate::Describe(), ", ", link_->Describe(), ","); }
  Status TimedOut(std::chrono::nanoseconds limit) noexcept override {
    Status failure = Gate::TimedOut(limit);
    link_->OnTimeout(failure.error().message);
    return failure;
  }

 private:
  const std::shared_ptr<SignalLink> link_;
};

}  // namespace

Notify::Notify(std::shared_ptr<OwnCell> cell, IdLease id)
    : own_(std::move(cell)), id_(std::make_shared<const IdLease>(std::move(id))) {
  (*own_)->number = id_->id();
  if (observe::On())
    observe::TellSignalCleared(&this->cell().signal);  // an older notify may have had the cell
}

std::shared_ptr<SleepWord> Notify::SharedWord() const {
  if (own_ != nullptr) return {own_, &cell().signal};
  return {foreign_, &cell().signal};
}

Status Notify::Record(Stream& stream, std::shared_ptr<const SignalLink> link) const {
  const bool is_shared = (races::Watched() || observe::On()) && (imported() || own_->HeldElsewhere());
  const observe::SubjectScope subject(observe::TaskType::kNotifyRecord, id(), is_shared);
  return stream.Enqueue(
      EffectTask{std::make_shared<RecordEffect>(SharedWord(), id(), std::move(link), is_shared)});
}

Status Notify::WaitIn(Stream& stream, std::chrono::nanoseconds limit,
                      std::shared_ptr<SignalLink> link) const {
  const bool is_shared = observe::On() && (imported() || own_->HeldElsewhere());
  const observe::SubjectScope subject(observe::TaskType::kNotifyWait, id(), is_shared);
  if (link == nullptr)
    return stream.Enqueue(GateTask{std::make_shared<NotifyGate>(SharedWord(), id()), limit});
  return stream.Enqueue(GateTask{std::make_shared<LinkedGate>(SharedWord(), id(), std::move(link)), limit});
}

void Notify::Reset() noexcept {
  cell().signal.value.store(kClear, std::memory_order_seq_cst);
  if (observe::On()) observe::TellSignalCleared(&cell().signal);
}

}  // namespace sampan
