// Executes the steps of a replay, with as many threads as the program had.
#include "tools/sampan/replay/replay_run.h"

#include <acl/acl.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "bench/measure/acl_call.h"
#include "tools/sampan/replay/replay_copy.h"
#include "tools/sampan/replay/replay_memory.h"
#include "tools/sampan/shared/command_line/failure.h"
#include "tools/sampan/shared/process/interrupt.h"

namespace sampan::tool {
namespace {

using Clock = std::chrono::steady_clock;
using Kind = ReplayStep::Kind;

/// Makes steps begin in their order, across all threads.
class Turns {
 public:
  /// Waits for the step's turn. Returns false if the replay was stopped.
  bool Await(std::uint64_t step) {
    for (;;) {
      const std::uint64_t now = next_.load();
      if (now == step) return true;
      if (now == kStopped) return false;
      next_.wait(now);
    }
  }

  void Pass(std::uint64_t step) {
    std::uint64_t expected = step;
    if (next_.compare_exchange_strong(expected, step + 1)) next_.notify_all();
  }

  void Stop() {
    next_.store(kStopped);
    next_.notify_all();
  }

  bool IsStopped() const { return next_.load() == kStopped; }

 private:
  static constexpr std::uint64_t kStopped = ~std::uint64_t{0};
  std::atomic<std::uint64_t> next_ = 0;
};

/// Memory and streams that calls are using outside of their turn.
class Busy {
 public:
  void Begin(const std::vector<const void*>& things) {
    const std::lock_guard lock(mutex_);
    things_.insert(things.begin(), things.end());
  }

  void End(const std::vector<const void*>& things) {
    const std::lock_guard lock(mutex_);
    for (const void* thing : things)
      things_.erase(things_.find(thing));
    ended_.notify_all();
  }

  void AwaitIdle(const void* thing) {
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [&] { return !things_.contains(thing); });
  }

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  std::multiset<const void*> things_;
};

/// While it exists, other threads may take their turns, but none may free what is in use.
class OutOfTurn {
 public:
  OutOfTurn(Turns& turns, std::uint64_t step, Busy& busy, std::vector<const void*> things)
      : busy_(busy), things_(std::move(things)) {
    busy_.Begin(things_);
    turns.Pass(step);
  }
  ~OutOfTurn() { busy_.End(things_); }
  OutOfTurn(const OutOfTurn&) = delete;
  OutOfTurn& operator=(const OutOfTurn&) = delete;

 private:
  Busy& busy_;
  std::vector<const void*> things_;
};

/// A stream, and the last task that the host has waited for. Tasks are counted from 1.
struct Stream {
  std::int32_t device = 0;
  aclrtStream handle = nullptr;
  std::uint64_t issued = 0;
  std::atomic<std::uint64_t> awaited = 0;

  void NoteAwaited(std::uint64_t task) {
    std::uint64_t before = awaited.load();
    while (before < task && !awaited.compare_exchange_weak(before, task)) {
    }
  }
};

/// A task of a stream that other steps depend on.
struct Mark {
  std::shared_ptr<Stream> stream;
  std::uint64_t task = 0;
};

/// Replaces a host function of the program. It takes as long, at any speed of the replay.
void SleepFor(void* step) {
  std::this_thread::sleep_for(std::chrono::nanoseconds(static_cast<const ReplayStep*>(step)->bytes));
}

class Replay {
 public:
  Replay(const ReplayPlan& plan, ReplaySpeed speed) : plan_(plan), speed_(speed), memory_(plan) {}
  ~Replay() { CleanUp(); }

  void Run();

 private:
  using StreamKey = std::pair<std::int32_t, std::int64_t>;

  void RunThread(const std::vector<std::uint64_t>& mine);
  bool AwaitTime(const ReplayStep& step);
  void UseDevice(std::int32_t device);
  void Do(const ReplayStep& step, std::uint64_t number);
  void Allocate(std::uint64_t allocation);
  void Free(std::uint64_t allocation);
  void Copy(const ReplayStep& step, std::uint64_t number);
  void NoteUse(std::uint64_t allocation, const Mark& mark);
  void UseWord(const ReplayStep& step);
  void Synchronize(const ReplayStep& step, std::uint64_t number);
  void Settle(const Mark& mark);
  void Demand(aclError code, const ReplayStep& step, const char* call) const;
  const std::shared_ptr<Stream>& StreamOf(const ReplayStep& step);
  void DestroyStream(const StreamKey& key);
  aclrtEvent EventOf(const ReplayStep& step);
  aclrtNotify NotifyOf(const ReplayStep& step);
  void CleanUp();

  const ReplayPlan& plan_;
  ReplaySpeed speed_;
  Turns turns_;
  Busy busy_;
  Clock::time_point begin_;
  std::mutex failure_mutex_;
  std::exception_ptr failure_;
  // Only the thread that has the turn uses the members below.
  ReplayMemory memory_;
  ReplayOperands operands_;
  std::map<StreamKey, std::shared_ptr<Stream>> streams_;
  std::map<std::uint64_t, aclrtEvent> events_;
  std::map<std::uint64_t, Mark> records_;  ///< the latest recording of each event
  std::map<std::uint64_t, aclrtNotify> notifies_;
  std::map<std::uint64_t, std::vector<Mark>> uses_;  ///< the last use of each allocation by each stream
};

/// The device that this thread has made current.
thread_local std::int32_t current_device = -1;

void Replay::Demand(aclError code, const ReplayStep& step, const char* call) const {
  if (code == ACL_SUCCESS) return;
  throw Failure(kBadTrace, "line " + std::to_string(step.line) + " of the trace cannot be done again: " +
                               call + " failed (" + std::to_string(code) + "): " + bench::RecentMessage());
}

void Replay::UseDevice(std::int32_t device) {
  if (device < 0 || device == current_device) return;
  bench::Require(::aclrtSetDevice(device), "aclrtSetDevice");
  current_device = device;
}

const std::shared_ptr<Stream>& Replay::StreamOf(const ReplayStep& step) {
  std::shared_ptr<Stream>& stream = streams_[{step.device, step.stream}];
  if (stream == nullptr) {
    stream = std::make_shared<Stream>();
    stream->device = step.device;
    // The context already has its default stream.
    if (!plan_.default_streams.contains({step.device, step.stream}))
      Demand(::aclrtCreateStream(&stream->handle), step, "aclrtCreateStream");
  }
  return stream;
}

aclrtEvent Replay::EventOf(const ReplayStep& step) {
  aclrtEvent& event = events_[step.object];
  if (event == nullptr)
    Demand(::aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC), step, "aclrtCreateEventExWithFlag");
  return event;
}

aclrtNotify Replay::NotifyOf(const ReplayStep& step) {
  aclrtNotify& notify = notifies_[step.object];
  if (notify == nullptr) Demand(::aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT), step, "aclrtCreateNotify");
  return notify;
}

/// Waits for a task, if the host has not waited for it yet.
void Replay::Settle(const Mark& mark) {
  if (mark.stream->awaited.load() >= mark.task) return;
  const std::uint64_t issued = mark.stream->issued;
  UseDevice(mark.stream->device);
  bench::Require(::aclrtSynchronizeStream(mark.stream->handle), "aclrtSynchronizeStream");
  mark.stream->NoteAwaited(issued);
}

void Replay::Allocate(std::uint64_t allocation) {
  const std::int32_t device = plan_.allocations.at(allocation).device;
  UseDevice(device < 0 && current_device < 0 ? 0 : device);
  memory_.Allocate(allocation);
}

/// The program knew that its copies were completed before it freed their memory.
void Replay::Free(std::uint64_t allocation) {
  if (!memory_.IsAllocated(allocation)) return;
  if (const auto uses = uses_.find(allocation); uses != uses_.end()) {
    for (const Mark& mark : uses->second)
      Settle(mark);
    uses_.erase(uses);
  }
  busy_.AwaitIdle(memory_.At({allocation, 0}));
  const std::int32_t device = plan_.allocations.at(allocation).device;
  UseDevice(device < 0 && current_device < 0 ? 0 : device);
  memory_.Free(allocation);
}

void Replay::NoteUse(std::uint64_t allocation, const Mark& mark) {
  std::vector<Mark>& uses = uses_[allocation];
  for (Mark& use : uses) {
    if (use.stream == mark.stream) {
      use.task = mark.task;
      return;
    }
  }
  uses.push_back(mark);
}

void Replay::DestroyStream(const StreamKey& key) {
  const auto found = streams_.find(key);
  if (found == streams_.end()) return;
  Settle({found->second, found->second->issued});
  busy_.AwaitIdle(found->second.get());
  if (found->second->handle != nullptr) ::aclrtDestroyStream(found->second->handle);
  streams_.erase(found);
}

void Replay::Copy(const ReplayStep& step, std::uint64_t number) {
  const std::vector<std::uint64_t> allocations = AllocationsOf(plan_, step);
  for (const std::uint64_t allocation : allocations) {
    if (!memory_.IsAllocated(allocation)) Allocate(allocation);  // allocated before the trace began
  }
  UseDevice(step.device);
  const std::shared_ptr<Stream> stream = step.stream < 0 ? nullptr : StreamOf(step);
  const ReplayCopy copy(plan_, step, memory_, operands_);
  if (step.task >= 0) {
    const Mark mark{stream, ++stream->issued};
    for (const std::uint64_t allocation : allocations)
      NoteUse(allocation, mark);
    Demand(copy.Issue(stream->handle), step, "the copy");
    return;
  }
  // A blocking copy, or one that blocks because of pageable memory and so has no number in its stream.
  std::vector<const void*> things;
  for (const std::uint64_t allocation : allocations)
    things.push_back(memory_.At({allocation, 0}));
  if (stream != nullptr) things.push_back(stream.get());
  const OutOfTurn others(turns_, number, busy_, std::move(things));
  Demand(copy.Issue(stream == nullptr ? nullptr : stream->handle), step, "the copy");
}

void Replay::Synchronize(const ReplayStep& step, std::uint64_t number) {
  std::vector<Mark> reached;
  if (step.kind == Kind::kSynchronizeStream) {
    const std::shared_ptr<Stream> stream = StreamOf(step);
    reached.push_back({stream, stream->issued});
    const OutOfTurn others(turns_, number, busy_, {stream.get()});
    Demand(::aclrtSynchronizeStream(stream->handle), step, "aclrtSynchronizeStream");
  } else if (step.kind == Kind::kSynchronizeEvent) {
    const auto event = events_.find(step.object);
    if (event == events_.end()) return;  // recorded before the trace began
    const aclrtEvent handle = event->second;
    reached.push_back(records_[step.object]);
    turns_.Pass(number);
    Demand(::aclrtSynchronizeEvent(handle), step, "aclrtSynchronizeEvent");
  } else {
    for (const auto& [key, stream] : streams_) {
      if (key.first == step.device) reached.push_back({stream, stream->issued});
    }
    turns_.Pass(number);
    Demand(::aclrtSynchronizeDevice(), step, "aclrtSynchronizeDevice");
  }
  for (const Mark& mark : reached) {
    if (mark.stream != nullptr) mark.stream->NoteAwaited(mark.task);
  }
}

void Replay::UseWord(const ReplayStep& step) {
  const std::uint64_t allocation = step.dst.allocation;
  if (!memory_.IsAllocated(allocation)) Allocate(allocation);
  UseDevice(step.device);
  const std::shared_ptr<Stream> stream = StreamOf(step);
  NoteUse(allocation, {stream, ++stream->issued});
  void* const word = memory_.At(step.dst);
  if (step.kind == Kind::kWriteValue) {
    Demand(::aclrtValueWrite(word, step.object, 0, stream->handle), step, "aclrtValueWrite");
  } else {
    Demand(::aclrtValueWait(word, step.object, static_cast<std::uint32_t>(step.detail), stream->handle), step,
           "aclrtValueWait");
  }
}

void Replay::Do(const ReplayStep& step, std::uint64_t number) {
  UseDevice(step.device);
  switch (step.kind) {
    case Kind::kCopy:
      Copy(step, number);
      break;
    case Kind::kRecordEvent: {
      const std::shared_ptr<Stream>& stream = StreamOf(step);
      records_[step.object] = {stream, ++stream->issued};
      Demand(::aclrtRecordEvent(EventOf(step), stream->handle), step, "aclrtRecordEvent");
      break;
    }
    case Kind::kWaitForEvent:
      ++StreamOf(step)->issued;
      Demand(::aclrtStreamWaitEvent(StreamOf(step)->handle, EventOf(step)), step, "aclrtStreamWaitEvent");
      break;
    case Kind::kResetEvent:
      ++StreamOf(step)->issued;
      Demand(::aclrtResetEvent(EventOf(step), StreamOf(step)->handle), step, "aclrtResetEvent");
      break;
    case Kind::kRecordNotify:
      ++StreamOf(step)->issued;
      Demand(::aclrtRecordNotify(NotifyOf(step), StreamOf(step)->handle), step, "aclrtRecordNotify");
      break;
    case Kind::kWaitForNotify:
      ++StreamOf(step)->issued;
      Demand(::aclrtWaitAndResetNotify(NotifyOf(step), StreamOf(step)->handle, 0), step,
             "aclrtWaitAndResetNotify");
      break;
    case Kind::kWriteValue:
    case Kind::kWaitForValue:
      UseWord(step);
      break;
    case Kind::kHostFunction:
      ++StreamOf(step)->issued;
      Demand(::aclrtLaunchHostFunc(StreamOf(step)->handle, &SleepFor, const_cast<ReplayStep*>(&step)), step,
             "aclrtLaunchHostFunc");
      break;
    case Kind::kAllocate:
      Allocate(step.object);
      break;
    case Kind::kFree:
      Free(step.object);
      break;
    case Kind::kCreateStream:
      DestroyStream(
          {step.device, step.stream});  // an earlier stream with this number; the trace lacks its end
      StreamOf(step);
      break;
    case Kind::kDestroyStream:
      DestroyStream({step.device, step.stream});
      break;
    case Kind::kSynchronizeStream:
    case Kind::kSynchronizeEvent:
    case Kind::kSynchronizeDevice:
      Synchronize(step, number);
      break;
  }
}

/// Returns false if the replay was stopped before that time.
bool Replay::AwaitTime(const ReplayStep& step) {
  if (speed_ == ReplaySpeed::kAsap) return !turns_.IsStopped();
  const auto due = begin_ + std::chrono::nanoseconds(step.due_ns);
  constexpr auto kMaxSleep = std::chrono::milliseconds(50);  // so that Ctrl-C is noticed
  while (Clock::now() < due && !turns_.IsStopped() && Interrupted() == 0)
    std::this_thread::sleep_until(std::min(due, Clock::now() + kMaxSleep));
  return !turns_.IsStopped();
}

void Replay::RunThread(const std::vector<std::uint64_t>& mine) {
  try {
    for (const std::uint64_t number : mine) {
      const ReplayStep& step = plan_.steps[number];
      if (!AwaitTime(step) || !turns_.Await(number)) return;
      StopIfInterrupted();
      Do(step, number);
      turns_.Pass(number);
    }
  } catch (...) {
    const std::lock_guard lock(failure_mutex_);
    if (failure_ == nullptr) failure_ = std::current_exception();
    turns_.Stop();
  }
}

void Replay::Run() {
  constexpr std::uint32_t kMaxThreads = 1024;
  if (plan_.threads > kMaxThreads)
    throw Failure(kBadTrace, "the trace has " + std::to_string(plan_.threads) + " threads; at most " +
                                 std::to_string(kMaxThreads) + " can be replayed; record fewer");
  std::vector<std::vector<std::uint64_t>> steps(plan_.threads);
  for (std::uint64_t number = 0; number < plan_.steps.size(); ++number)
    steps[plan_.steps[number].thread].push_back(number);
  begin_ = Clock::now();
  std::vector<std::thread> threads;
  for (const std::vector<std::uint64_t>& mine : steps)
    threads.emplace_back([this, &mine] { RunThread(mine); });
  for (std::thread& thread : threads)
    thread.join();
  if (failure_ != nullptr) std::rethrow_exception(failure_);
  for (const auto& [key, stream] : streams_)
    Settle({stream, stream->issued});
}

void Replay::CleanUp() {
  for (const auto& [number, event] : events_)
    ::aclrtDestroyEvent(event);
  for (const auto& [number, notify] : notifies_)
    ::aclrtDestroyNotify(notify);
  for (const auto& [key, stream] : streams_) {
    if (stream->handle != nullptr) ::aclrtDestroyStream(stream->handle);
  }
}

}  // namespace

void RunReplay(const ReplayPlan& plan, ReplaySpeed speed) {
  bench::Require(::aclInit(nullptr), "starting the runtime");
  std::uint32_t devices = 0;
  bench::Require(::aclrtGetDeviceCount(&devices), "counting the devices");
  if (static_cast<std::int64_t>(devices) < plan.devices) {
    throw Failure(kBadTrace, "the trace uses " + std::to_string(plan.devices) + " devices and there are " +
                                 std::to_string(devices) + "; try --devices " + std::to_string(plan.devices));
  }
  for (std::int32_t device = 0; device < plan.devices; ++device) {
    bench::Require(::aclrtSetDevice(device), "aclrtSetDevice");
    for (std::int32_t peer = 0; peer < plan.devices; ++peer) {
      if (peer != device)
        ::aclrtDeviceEnablePeerAccess(peer, 0);  // if it fails, the copies that need it fail too
    }
  }
  Replay(plan, speed).Run();
  for (std::int32_t device = 0; device < plan.devices; ++device)
    ::aclrtResetDevice(device);
  ::aclFinalize();
}

}  // namespace sampan::tool
