// The queues that gates hold, and the thread that detects open gates.
#include "backend/emulated/queue/gate_watch.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "backend/emulated/queue/emulated_queue.h"
#include "base/error/assert.h"
#include "base/threads/futex.h"
#include "base/threads/spin.h"
#include "observe/hooks.h"

namespace sampan::emulated {
namespace {

/// How long the thread spins before it sleeps, if the last sleep was short: signals come in bursts.
constexpr std::chrono::microseconds kSpinBeforeSleep{20};
/// The intervals at which gates without a word are polled: while signals come, and when they are rare. The
/// last one is the interval of checks whether gates can still open.
constexpr std::chrono::microseconds kGatePollInterval{50};
constexpr std::chrono::milliseconds kIdleGatePollInterval{1};
constexpr std::chrono::milliseconds kGateCheckInterval{20};

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
    observe::SetRole({observe::ThreadRole::Kind::kWatch});
    Loop();
  });
  started_.store(true, std::memory_order_release);
}

void GateWatch::Add(HeldQueue held) {
  SAMPAN_ASSERT(held.gate != nullptr && held.number != 0);
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    const auto same = [&](const HeldQueue& each) {
      return each.number == held.number && !each.queue.owner_before(held.queue) &&
             !held.queue.owner_before(each.queue);
    };
    if (std::any_of(held_.begin(), held_.end(), same)) return;
    held_.push_back(std::move(held));
    count_.store(held_.size());
    wake = thread_.joinable() && !thread_.IsCaller();
  }
  if (!wake) return;
  changed_.value.fetch_add(1, std::memory_order_seq_cst);
  if (changed_.sleepers.load(std::memory_order_seq_cst) != 0) FutexWake(changed_.value);
}

std::vector<HeldQueue> GateWatch::TakeReady() {
  std::vector<HeldQueue> ready;
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  const bool checks = now >= next_check_;
  if (checks) next_check_ = now + kGateCheckInterval;
  for (std::size_t i = 0; i < held_.size();) {
    HeldQueue& each = held_[i];
    const auto queue = each.queue.lock();
    const bool gone = queue == nullptr || queue->PassedBy(each.number);
    if (gone || now >= each.deadline || each.gate->Open() || (checks && !each.gate->Check().ok())) {
      if (!gone) ready.push_back(std::move(each));
      held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  count_.store(held_.size());
  return ready;
}

bool GateWatch::ResumeReady() {
  if (count_.load() == 0) return false;
  const std::vector<HeldQueue> ready = TakeReady();
  for (const HeldQueue& each : ready) {
    if (const auto queue = each.queue.lock()) queue->GoOnAtGate();
  }
  return !ready.empty();
}

void GateWatch::Loop() {
  bool busy = false;
  while (!stopping_.load()) {
    if (ResumeReady()) {
      busy = true;
      continue;
    }
    if (busy && std::thread::hardware_concurrency() > 1 && count_.load() != 0) {
      const std::uint32_t before = changed_.value.load();
      std::vector<std::shared_ptr<Gate>> gates;
      {
        const std::lock_guard lock(mutex_);
        for (const HeldQueue& each : held_)
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
    for (const HeldQueue& each : held_) {
      until = std::min({until, each.deadline, Clock::now() + kGateCheckInterval});
      SleepWord* const word = each.gate->word();
      if (word == nullptr || waits.size() == kMaxFutexWaits) {
        // The interval grows while no gate opens.
        const auto now = Clock::now();
        const auto interval =
            std::clamp<Clock::duration>((now - each.since) / 8, kGatePollInterval, kIdleGatePollInterval);
        until = std::min(until, now + interval);
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
