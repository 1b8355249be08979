// A notify: a binary signal between streams, of one process or of several.
#include "core/notify.h"

#include <utility>

#include "base/futex.h"
#include "base/text.h"
#include "trace/trace.h"

namespace sampan {
namespace {

constexpr std::uint32_t kClear = 0, kSet = 1;

class RecordEffect final : public Effect {
 public:
  explicit RecordEffect(std::shared_ptr<SleepWord> word) : word_(std::move(word)) {}
  Status Apply() noexcept override {
    // Sequentially consistent against those who sleep: they count themselves first and look then.
    word_->value.store(kSet, std::memory_order_seq_cst);
    if (word_->sleepers.load(std::memory_order_seq_cst) != 0) FutexWake(word_->value);
    return {};
  }

 private:
  const std::shared_ptr<SleepWord> word_;
};

class NotifyGate final : public Gate {
 public:
  NotifyGate(std::shared_ptr<SleepWord> word, std::uint32_t id) : word_(std::move(word)), id_(id) {}
  bool Open() const noexcept override { return word_->value.load(std::memory_order_seq_cst) == kSet; }
  bool TryPass() noexcept override {
    std::uint32_t set = kSet;
    return word_->value.compare_exchange_strong(set, kClear, std::memory_order_seq_cst);
  }
  SleepWord* word() const noexcept override { return word_.get(); }
  std::string Describe() const override { return Text("a wait for notify ", id_); }

 private:
  const std::shared_ptr<SleepWord> word_;
  const std::uint32_t id_;
};

}  // namespace

Notify::Notify(std::shared_ptr<OwnCell> cell, IdLease id)
    : own_(std::move(cell)), id_(std::make_shared<const IdLease>(std::move(id))) {
  (*own_)->number = id_->id();
}

std::shared_ptr<SleepWord> Notify::SharedWord() const {
  if (own_ != nullptr) return {own_, &cell().signal};
  return {foreign_, &cell().signal};
}

Status Notify::Record(Stream& stream) const {
  const trace::About about(summary::TaskType::kNotifyRecord, id());
  return stream.Enqueue(EffectTask{std::make_shared<RecordEffect>(SharedWord())});
}

Status Notify::WaitIn(Stream& stream, std::chrono::nanoseconds limit) const {
  const trace::About about(summary::TaskType::kNotifyWait, id());
  return stream.Enqueue(GateTask{std::make_shared<NotifyGate>(SharedWord(), id()), limit});
}

void Notify::Reset() noexcept {
  cell().signal.value.store(kClear, std::memory_order_seq_cst);
}

}  // namespace sampan
