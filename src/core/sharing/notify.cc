// A notify: a binary signal between streams of one or several processes.
#include "core/sharing/notify.h"

#include <utility>

#include "base/error/assert.h"
#include "base/error/text.h"
#include "base/threads/futex.h"
#include "base/threads/thread_sanitizer.h"
#include "core/memory/mapped/peer_transfer.h"
#include "observe/hooks.h"

namespace sampan::core {
namespace {

constexpr std::uint32_t kClear = 0, kSet = 1;

void Set(SleepWord& word) noexcept {
  // Sequentially consistent: a sleeper first adds itself to the count, then reads the word.
  word.value.store(kSet, std::memory_order_seq_cst);
  if (word.sleepers.load(std::memory_order_seq_cst) != 0) FutexWake(word.value);
}

/// Fails if the link of a record is broken, which then sets nothing. A task before it that failed breaks the
/// link: what the record announces may be missing.
Status CheckLink(SignalLink* link, std::uint32_t id, const Stream& stream) noexcept {
  if (link == nullptr) return {};
  Status holds = link->Check();
  if (holds.ok()) {
    const Status failure = stream.PendingFailure();
    if (failure.ok()) return holds;
    link->OnFailure(failure.error().message);
    holds = link->Check();
  }
  if (holds.ok()) return holds;
  return {holds.code(),
          Text("notify ", id, ", ", link->Describe(), ", is withheld: ", holds.error().message)};
}

class RecordEffect final : public Effect {
 public:
  RecordEffect(std::shared_ptr<SleepWord> word, std::uint32_t id, const Stream& stream,
               std::shared_ptr<SignalLink> link, bool is_shared)
      : word_(std::move(word)), id_(id), stream_(stream), link_(std::move(link)), is_shared_(is_shared) {}
  Status Apply() noexcept override {
    if (Status holds = CheckLink(link_.get(), id_, stream_); !holds.ok()) return holds;
    races::Release(word_.get());
    if (is_shared_) races::Release(&races::other_processes);
    Set(*word_);
    return {};
  }
  const void* target() const noexcept override { return word_.get(); }

 private:
  const std::shared_ptr<SleepWord> word_;
  const std::uint32_t id_;
  const Stream& stream_;  // that executes it
  const std::shared_ptr<SignalLink> link_;
  const bool is_shared_;  // with other processes
};

/// The record of another host's notify: it is over when the owner has set it.
class PeerRecord final : public HostWork {
 public:
  PeerRecord(std::shared_ptr<PeerMemory> peer, std::uint32_t id, const Stream& stream,
             std::shared_ptr<SignalLink> link)
      : peer_(std::move(peer)), id_(id), stream_(stream), link_(std::move(link)) {}
  void Start(std::function<void(Status)> resume) noexcept override {
    if (Status holds = CheckLink(link_.get(), id_, stream_); !holds.ok()) return resume(std::move(holds));
    StartObserved(peer_, {PeerTransfer::Kind::kSignal, {}}, std::move(resume));
  }
  void Help(const std::function<bool()>& enough) noexcept override { peer_->Help(enough); }
  bool takes_help() const override { return true; }
  std::string Describe() const override {
    return Text("the record of notify ", id_, " of ", peer_->Describe());
  }

 private:
  const std::shared_ptr<PeerMemory> peer_;
  const std::uint32_t id_;
  const Stream& stream_;  // that executes it
  const std::shared_ptr<SignalLink> link_;
};

/// What processes of other hosts may do with a notify: set it.
class LentNotify final : public LentMemory {
 public:
  LentNotify(std::shared_ptr<OwnCell> cell, std::uint32_t id) : cell_(std::move(cell)) {
    facts_.attribute = id;
  }
  const PeerMemoryFacts& facts() const override { return facts_; }
  bool Admits(const PeerProcess& importer) const override { return cell_->AdmitsOfServer(importer); }
  Result<std::byte*> Map() override { return static_cast<std::byte*>(nullptr); }
  bool Signal() noexcept override {
    SleepWord& word = (*cell_)->signal;
    races::Release(&word);
    Set(word);
    return true;
  }

 private:
  const std::shared_ptr<OwnCell> cell_;
  PeerMemoryFacts facts_;
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

Status Notify::OnlyItsOwner(std::string_view can) const {
  return {Code::kFeatureNotSupport,
          Text("notify ", id(), " belongs to ", peer_->Describe(), ": only its owner can ", can, " it")};
}

Status Notify::Lend(const NetworkKeys& keys) {
  const std::lock_guard lock(mutex_);
  if (loan_ != nullptr) return {};
  auto loan = keys.Lend(*own_, std::make_shared<LentNotify>(own_, id()));
  if (!loan.ok()) return loan.TakeStatus();
  loan_ = std::move(*loan);
  return {};
}

Status Notify::Record(Stream& stream, std::shared_ptr<SignalLink> link) const {
  if (peer_ != nullptr) {
    const observe::SubjectScope subject(observe::TaskType::kNotifyRecord, id(), true);
    return stream.Enqueue(HostTask{std::make_shared<PeerRecord>(peer_, id(), stream, std::move(link))});
  }
  const bool is_shared = (races::Watched() || observe::On()) && (imported() || own_->HeldElsewhere());
  const observe::SubjectScope subject(observe::TaskType::kNotifyRecord, id(), is_shared);
  return stream.Enqueue(
      EffectTask{std::make_shared<RecordEffect>(SharedWord(), id(), stream, std::move(link), is_shared)});
}

Status Notify::WaitIn(Stream& stream, std::chrono::nanoseconds limit,
                      std::shared_ptr<SignalLink> link) const {
  if (peer_ != nullptr) return OnlyItsOwner("wait for");
  const bool is_shared = observe::On() && (imported() || own_->HeldElsewhere());
  const observe::SubjectScope subject(observe::TaskType::kNotifyWait, id(), is_shared);
  if (link == nullptr)
    return stream.Enqueue(GateTask{std::make_shared<NotifyGate>(SharedWord(), id()), limit});
  return stream.Enqueue(GateTask{std::make_shared<LinkedGate>(SharedWord(), id(), std::move(link)), limit});
}

void Notify::Reset() noexcept {
  SAMPAN_ASSERT(peer_ == nullptr);
  cell().signal.value.store(kClear, std::memory_order_seq_cst);
  if (observe::On()) observe::TellSignalCleared(&cell().signal);
}

}  // namespace sampan::core
