// The queues that stand before gates, and the thread that sees the gates open.
#include "backend/emulated/queue/gate_watch.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "backend/emulated/queue/emulated_queue.h"
#include "base/error/assert.h"
#include "base/threads/futex.h"
#include "base/threads/spin.h"
#include "trace/trace.h"

namespace sampan::emulated {
namespace {

/// How long the thread looks before it sleeps, where the last sleep was short: signals come in rows.
constexpr std::chrono::microseconds kSpinBeforeSleep{20};
/// How often gates without a word are looked at, and whether a gate can still open.
constexpr std::chrono::microseconds kLookAtMemory{50};
constexpr std::chrono::milliseconds kLookSeldom{1};
constexpr std::chrono::milliseconds kLookWhetherItCan{20};

}  // namespace

GateWatch::~GateWatch() {
  stopping_.store(true);
  changed_.value.fetch_add(1);
  FutexWake(changed_.value);
  if (thread_.joinable()) thread_.Join();
}

void GateWatch::Start() {
  if (watching_ != Watching::kByThread || started_.load(std::memory_order_acquire)) return;
  const std::lock_guard lock(mutex_);
  if (thread_.joinable()) return;
  thread_ = StartThread("sampan-gates", [this] {
    trace::SetRole({trace::ThreadRole::Kind::kWatch});
    Loop();
  });
  started_.store(true, std::memory_order_release);
}

void GateWatch::Add(Standing standing) {
  SAMPAN_ASSERT(standing.gate != nullptr && standing.value != 0);
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    const auto same = [&](const Standing& each) {
      return each.value == standing.value && !each.queue.owner_before(standing.queue) &&
             !standing.queue.owner_before(each.queue);
    };
    if (std::any_of(standing_.begin(), standing_.end(), same)) return;
    standing_.push_back(std::move(standing));
    count_.store(standing_.size());
    wake = thread_.joinable() && !thread_.IsCaller();
  }
  if (!wake) return;
  changed_.value.fetch_add(1, std::memory_order_seq_cst);
  if (changed_.sleepers.load(std::memory_order_seq_cst) != 0) FutexWake(changed_.value);
}

std::vector<Standing> GateWatch::TakeReady() {
  std::vector<Standing> ready;
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  const bool checks = now >= next_check_;
  if (checks) next_check_ = now + kLookWhetherItCan;
  for (std::size_t i = 0; i < standing_.size();) {
    Standing& each = standing_[i];
    const auto queue = each.queue.lock();
    const bool gone = queue == nullptr || queue->PassedBy(each.value);
    if (gone || now >= each.deadline || each.gate->Open() || (checks && !each.gate->Check().ok())) {
      if (!gone) ready.push_back(std::move(each));
      standing_.erase(standing_.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  count_.store(standing_.size());
  return ready;
}

bool GateWatch::Look() {
  if (count_.load() == 0) return false;
  const std::vector<Standing> ready = TakeReady();
  for (const Standing& each : ready) {
    if (const auto queue = each.queue.lock()) queue->GoOnAtGate();
  }
  return !ready.empty();
}

void GateWatch::Loop() {
  bool busy = false;
  while (!stopping_.load()) {
    if (Look()) {
      busy = true;
      continue;
    }
    if (busy && std::thread::hardware_concurrency() > 1 && count_.load() != 0) {
      const std::uint32_t before = changed_.value.load();
      std::vector<std::shared_ptr<Gate>> gates;
      {
        const std::lock_guard lock(mutex_);
        for (const Standing& each : standing_)
          gates.push_back(each.gate);
      }
      const bool found = SpinFor<1>(kSpinBeforeSleep, [&] {
        return changed_.value.load() != before ||
               std::any_of(gates.begin(), gates.end(), [](const auto& gate) { return gate->Open(); });
      });
      if (found) continue;
    }
    const auto asleep_at = Clock::now();
    Sleep();
    busy = Clock::now() - asleep_at < 10 * kSpinBeforeSleep;
  }
}

void GateWatch::Sleep() {
  std::vector<std::shared_ptr<Gate>> gates;  // keep the words mapped
  std::vector<FutexWait> waits;
  Deadline until = kNever;
  waits.push_back({&changed_.value, changed_.value.load(std::memory_order_seq_cst)});
  bool open = false;
  {
    const std::lock_guard lock(mutex_);
    for (const Standing& each : standing_) {
      until = std::min({until, each.deadline, Clock::now() + kLookWhetherItCan});
      SleepWord* const word = each.gate->word();
      if (word == nullptr || waits.size() == kMaxFutexWaits) {
        // The longer nothing happened, the less often.
        const auto now = Clock::now();
        const auto patience = std::clamp<Clock::duration>((now - each.since) / 8, kLookAtMemory, kLookSeldom);
        until = std::min(until, now + patience);
        continue;
      }
      gates.push_back(each.gate);
      word->sleepers.fetch_add(1, std::memory_order_seq_cst);
      waits.push_back({&word->value, word->value.load(std::memory_order_seq_cst)});
      open = open || each.gate->Open();
    }
    changed_.sleepers.store(1, std::memory_order_seq_cst);
  }
  if (!open && !stopping_.load()) FutexSleep(waits, until);
  changed_.sleepers.store(0, std::memory_order_seq_cst);
  for (const auto& gate : gates)
    gate->word()->sleepers.fetch_sub(1, std::memory_order_seq_cst);
}

}  // namespace sampan::emulated
