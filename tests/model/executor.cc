// Runs programs: streams, events and memory.
#include "tests/model/executor.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

namespace sampan::model {
namespace {

constexpr std::size_t kTableBytes = kDescriptors * kDescriptorStride + kCells * 8 + kWords * 8;
constexpr std::int32_t kLongMs = 60000;
constexpr std::int32_t kShortMs = 100;

/// What the calling thread's last failure says.
std::string WithMessage(std::string text) {
  const char* message = aclGetRecentErrMsg();
  if (message == nullptr) return text;
  const std::string all(message);
  return text + "; " + all.substr(0, all.find("[PID:", 1));
}

std::string Unexpected(aclError answer, aclError expected) {
  std::string text = "answered " + std::to_string(answer) + " instead of " + std::to_string(expected);
  return answer == ACL_SUCCESS ? text : WithMessage(std::move(text));
}

std::size_t FreeBytes(int device) {
  std::size_t free = 0, total = 0;
  if (aclrtSetDevice(device) != ACL_SUCCESS || aclrtGetMemInfo(ACL_HBM_MEM, &free, &total) != ACL_SUCCESS)
    return 0;
  return free;
}

}  // namespace

void GateFunction::Open() {
  {
    const std::lock_guard lock(mutex);
    open = true;
  }
  changed.notify_all();
}

void GateFunction::Run(void* gate) {
  auto& self = *static_cast<GateFunction*>(gate);
  std::unique_lock lock(self.mutex);
  self.changed.wait(lock, [&] { return self.open; });
}

void Executor::HostAddition::Run(void* addition) {
  auto& self = *static_cast<HostAddition*>(addition);
  const std::lock_guard lock(self.mutex);
  if (self.cancelled) return;
  for (std::size_t i = 0; i < self.bytes; ++i)
    self.at[i] = static_cast<std::uint8_t>(self.at[i] + self.value);
}

std::optional<Failure> Executor::Run(const Program& program) {
  std::string what = Prepare();
  std::size_t at = 0;
  for (; at < program.size() && what.empty(); ++at) {
    const Verdict expected = model_.Apply(program[at]);
    if (!expected.admitted) continue;
    if (program[at].call == Call::kFork) {
      what = RunSection(program, at);
    } else {
      what = Step(program[at], expected);
    }
  }
  const std::string cleaning = CleanUp(!what.empty());
  if (!what.empty()) return Failure{at - 1, what};
  if (!cleaning.empty()) return Failure{program.size(), cleaning};
  return std::nullopt;
}

std::string Executor::Prepare() {
  for (int device = kDevices - 1; device >= 0; --device) {
    RealTable& table = tables_[device];
    table.free_before = FreeBytes(device);
    if (aclrtMalloc(&table.memory, kTableBytes, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) return "no table";
    if (aclrtMemset(table.memory, kTableBytes, 0, kTableBytes) != ACL_SUCCESS) return "no clear table";
  }
  return aclrtMallocHost(&staging_, kStagingBytes) == ACL_SUCCESS ? "" : "no staging memory";
}

std::string Executor::CleanUp(bool failed) {
  std::string what;
  const auto expect = [&](aclError code, const char* call) {
    if (code != ACL_SUCCESS && what.empty())
      what = std::string(call) + " at the end: " + Unexpected(code, ACL_SUCCESS);
  };
  OpenGates();
  // A program may end with streams that wait for a signal; to abort one may drop the signal of another.
  const bool aborts = failed || model_.held_signal().has_value();
  if (model_.context(kOwnContext).live) expect(aclrtDestroyContext(context_), "aclrtDestroyContext");
  for (int device = 0; device < kDevices; ++device) {
    expect(aclrtSetDevice(device), "aclrtSetDevice");
    for (int slot = 0; slot < kStreams; ++slot) {
      if (!model_.stream(slot).live || model_.stream(slot).context != device) continue;
      if (aborts) aclrtStreamAbort(streams_[slot]);
      aclrtSynchronizeStream(streams_[slot]);
      expect(aclrtDestroyStream(streams_[slot]), "aclrtDestroyStream");
    }
    if (aborts) aclrtStreamAbort(nullptr);
    aclrtSynchronizeStream(nullptr);
    if (model_.peer_access(device))
      expect(aclrtDeviceDisablePeerAccess(1 - device), "aclrtDeviceDisablePeerAccess");
  }
  for (HostAddition* addition : additions_) {
    const std::lock_guard lock(addition->mutex);
    addition->cancelled = true;
  }
  for (int slot = 0; slot < kEvents; ++slot) {
    if (model_.event(slot).live && model_.event(slot).context != kOwnContext)
      expect(aclrtDestroyEvent(events_[slot]), "aclrtDestroyEvent");
  }
  for (int slot = 0; slot < kNotifies; ++slot) {
    if (model_.notify(slot).live) expect(aclrtDestroyNotify(notifies_[slot]), "aclrtDestroyNotify");
  }
  for (int slot = 0; slot < kBuffers; ++slot) {
    if (model_.buffer(slot).state != Buffer::State::kLive) continue;
    Operation free;
    free.dst.slot = slot;
    free.memory = buffers_[slot].memory;
    free.value = free.memory == Memory::kPool ? 1 : 0;
    expect(Free(free), "free");
  }
  expect(EndPools(), "aclrtMemPoolDestroy");
  for (RealTable& table : tables_)
    expect(aclrtFree(table.memory), "aclrtFree");
  expect(aclrtFreeHost(staging_), "aclrtFreeHost");
  for (void* const pattern : patterns_)
    expect(aclrtFreeHost(pattern), "aclrtFreeHost");
  for (int device = 0; device < kDevices && what.empty(); ++device) {
    const std::size_t before = tables_[device].free_before;
    const std::size_t now = FreeBytes(device);
    if (now != before) {
      what = "device " + std::to_string(device) + " had " + std::to_string(before) + " free bytes and has " +
             std::to_string(now) + " after everything was freed";
    }
  }
  return what;
}

bool Executor::Omits(const Operation& op) const {
  switch (sabotage_) {
    case Sabotage::kOmitEventWaits:
      return op.call == Call::kWait;
    case Sabotage::kOmitStreamSyncs:
      return op.call == Call::kSyncStream;
    case Sabotage::kOmitStopMode:
      return op.call == Call::kStopOnFailure;
    case Sabotage::kOmitNotifyWaits:
      return op.call == Call::kWaitNotify;
    case Sabotage::kOmitWordWaits:
      return op.call == Call::kWaitWord;
    case Sabotage::kOmitUnmaps:
      return op.call == Call::kUnmap || op.call == Call::kMapAgain;
    case Sabotage::kOmitRights:
      return op.call == Call::kSetAccess;
    default:
      return false;
  }
}

std::string Executor::Step(const Operation& op, const Verdict& expected) {
  // Only what would have succeeded is left out: the missing order must show in the bytes.
  const bool succeeds = expected.codes.empty() ? expected.code == ACL_SUCCESS
                                               : std::find(expected.codes.begin(), expected.codes.end(),
                                                           ACL_SUCCESS) != expected.codes.end();
  if (Omits(op) && succeeds) return "";
  if (op.call == Call::kVerify) {
    const std::vector<std::uint8_t> got = Read(op.slot);
    if (got.empty()) return WithMessage("could not be read");
    const std::string what = model_.ObserveBytes(op.slot, got);
    return what.empty() ? CheckGuards(op.slot) : what;
  }
  Answered answered = Ask(op, expected);
  if (!answered.what.empty()) return answered.what;
  std::string what = model_.Observe(expected, answered.code);
  return what.empty() || answered.code == ACL_SUCCESS ? what : WithMessage(std::move(what));
}

Executor::Answered Executor::Ask(const Operation& op, const Verdict& expected) {
  switch (op.call) {
    case Call::kQueryStream:
    case Call::kQueryEvent:
      return Query(op, expected);
    case Call::kBatch:
    case Call::kBatchAsync:
      return Batch(op, expected);
    default:
      return {Perform(op), ""};
  }
}

aclError Executor::Perform(const Operation& op) {
  const aclrtStream stream = StreamAt(op.stream);
  switch (op.call) {
    case Call::kUseDevice:
      return aclrtSetDevice(op.device);
    case Call::kSetPeerAccess: {
      const int other = 1 - model_.current_device();
      return op.value != 0 ? aclrtDeviceEnablePeerAccess(other, 0) : aclrtDeviceDisablePeerAccess(other);
    }
    case Call::kAllocate:
      return Allocate(op);
    case Call::kFree:
      return Free(op);
    case Call::kCreateStream:
      return aclrtCreateStream(&streams_[op.slot]);
    case Call::kDestroyStream:
      if (op.value != 0 && sabotage_ == Sabotage::kWaitBeforeForce) Finish(stream);
      return op.value == 0 ? aclrtDestroyStream(stream) : aclrtDestroyStreamForce(stream);
    case Call::kStopOnFailure:
      return aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE);
    case Call::kAbortStream:
      if (sabotage_ == Sabotage::kWaitBeforeAbort) Finish(stream);
      if (op.value == kWhileSubmitting) return AbortWhileSubmitting(stream);
      return op.value == 0 ? aclrtStreamAbort(stream) : aclrtStreamStop(stream);
    case Call::kAbortDevice:
      if (sabotage_ == Sabotage::kWaitBeforeDeviceAbort) {
        for (int slot = 0; slot < kStreams; ++slot) {
          if (model_.stream(slot).live) Finish(streams_[slot]);
        }
      }
      return aclrtDeviceTaskAbort(model_.current_device(), 0);
    case Call::kCreateContext:
      return aclrtCreateContext(&context_, model_.current_device());
    case Call::kUseContext:
      return aclrtSetCurrentContext(context_);
    case Call::kDestroyContext:
      return aclrtDestroyContext(context_);
    case Call::kUnmap:
      return UnmapPieces(buffers_[op.slot]);
    case Call::kMapAgain:
      return MapPieces(buffers_[op.slot]);
    case Call::kSetAccess:
      return SetAccess(op);
    case Call::kCreateNotify:
      return aclrtCreateNotify(&notifies_[op.slot], ACL_NOTIFY_DEFAULT);
    case Call::kDestroyNotify:
      return aclrtDestroyNotify(notifies_[op.slot]);
    case Call::kRecordNotify:
      return aclrtRecordNotify(notifies_[op.slot], stream);
    case Call::kWaitNotify:
      return aclrtWaitAndResetNotify(notifies_[op.slot], stream, 0);
    case Call::kResetNotify:
      return aclrtNotifyBatchReset(&notifies_[op.slot], 1);
    case Call::kWriteWord:
      return aclrtValueWrite(WordAt(op.slot), op.value, 0, stream);
    case Call::kWaitWord:
      return aclrtValueWait(WordAt(op.slot), op.value, static_cast<std::uint32_t>(op.kind), stream);
    case Call::kSetWord: {
      const std::uint64_t value = op.value;
      return aclrtMemcpy(WordAt(op.slot), sizeof(value), &value, sizeof(value), ACL_MEMCPY_HOST_TO_DEVICE);
    }
    case Call::kFlood:
      return Flood(op);
    case Call::kJoin:
      return ACL_SUCCESS;
    case Call::kCreateEvent:
      return CreateEvent(op);
    case Call::kDestroyEvent:
      return aclrtDestroyEvent(EventAt(op.event));
    case Call::kRecord:
      return aclrtRecordEvent(EventAt(op.event), stream);
    case Call::kWait:
      return aclrtStreamWaitEvent(stream, EventAt(op.event));
    case Call::kResetEvent:
      return aclrtResetEvent(EventAt(op.event), stream);
    case Call::kSyncStream:
      return op.value == 0 ? aclrtSynchronizeStream(stream)
                           : aclrtSynchronizeStreamWithTimeout(stream, kLongMs);
    case Call::kSyncEvent:
      return op.value == 0 ? aclrtSynchronizeEvent(EventAt(op.event))
                           : aclrtSynchronizeEventWithTimeout(EventAt(op.event), kLongMs);
    case Call::kSyncDevice:
      return aclrtSynchronizeDevice();
    case Call::kCloseGate:
      return aclrtLaunchHostFunc(stream, &GateFunction::Run, &MakeGate());
    case Call::kOpenGate:
      OpenGates();
      return ACL_SUCCESS;
    case Call::kHostFunction: {
      HostAddition& addition =
          KeepAddition(static_cast<std::uint8_t*>(At(op.dst)), op.bytes, static_cast<std::uint8_t>(op.value));
      return aclrtLaunchHostFunc(stream, &HostAddition::Run, &addition);
    }
    case Call::kCopy:
    case Call::kCopyAsync:
    case Call::kCopyRows:
    case Call::kCopyRowsAsync:
      return PerformCopy(op);
    case Call::kFill:
    case Call::kFillAsync:
    case Call::kFillWords:
    case Call::kFillWordsAsync:
      return Fill(op);
    default:
      return Indirect(op);
  }
}

aclError Executor::CreateEvent(const Operation& op) {
  aclrtEvent& event = events_[op.event];
  switch (op.form) {
    case EventForm::kLegacy:
      return aclrtCreateEvent(&event);
    case EventForm::kLegacySync:
      return aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC);
    case EventForm::kEx:
      return aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC);
    case EventForm::kTimeOnly:
      return aclrtCreateEventWithFlag(&event, ACL_EVENT_TIME_LINE);
  }
  return ACL_ERROR_FAILURE;
}

GateFunction& Executor::MakeGate() {
  const std::lock_guard lock(mutex_);
  static auto& all = *new std::deque<GateFunction>;  // never destroyed
  return *gates_.emplace_back(&all.emplace_back());
}

void Executor::OpenGates() {
  const std::lock_guard lock(mutex_);
  for (GateFunction* gate : gates_)
    gate->Open();
}

aclError Executor::AbortWhileSubmitting(aclrtStream stream) {
  aclrtContext context = nullptr;
  if (const aclError code = aclrtGetCurrentContext(&context); code != ACL_SUCCESS) return code;
  std::atomic<bool> submits{false}, is_over{false};
  std::thread other([&] {
    aclrtEvent event = nullptr;
    const bool ready = aclrtSetCurrentContext(context) == ACL_SUCCESS &&
                       aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC) == ACL_SUCCESS;
    submits = true;  // before the first call: it waits for the abort if the queue is full
    while (ready && !is_over && aclrtRecordEvent(event, stream) == ACL_SUCCESS) {
    }
    if (event == nullptr) return;
    aclrtSynchronizeEvent(event);  // none of the recordings is left
    aclrtDestroyEvent(event);
  });
  while (!submits)
    std::this_thread::yield();
  const aclError code = aclrtStreamAbort(stream);
  is_over = true;
  other.join();
  return code;
}

/// What an abort would have dropped happens first.
void Executor::Finish(aclrtStream stream) {
  OpenGates();
  aclrtSynchronizeStreamWithTimeout(stream, kShortMs);  // it may wait for a signal that never comes
}

Executor::HostAddition& Executor::KeepAddition(std::uint8_t* at, std::size_t bytes, std::uint8_t value) {
  const std::lock_guard lock(mutex_);
  // Never destroyed: an abort does not wait for one that runs (stream-6).
  static auto& all = *new std::deque<HostAddition>;
  HostAddition& kept = all.emplace_back();
  kept.at = at;
  kept.bytes = bytes;
  kept.value = value;
  additions_.push_back(&kept);
  return kept;
}

Executor::Answered Executor::Query(const Operation& op, const Verdict& expected) {
  aclError code;
  bool ready = false;
  if (op.call == Call::kQueryStream) {
    aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
    code = aclrtStreamQuery(StreamAt(op.stream), &status);
    ready = status == ACL_STREAM_STATUS_COMPLETE;
    if (code == ACL_SUCCESS && status == ACL_STREAM_STATUS_RESERVED) return {code, "wrote no status"};
  } else {
    // Starts out wrong, so that a status which is not written is noticed.
    auto status =
        expected.ready == 1 ? ACL_EVENT_RECORDED_STATUS_NOT_READY : ACL_EVENT_RECORDED_STATUS_COMPLETE;
    code = aclrtQueryEventStatus(EventAt(op.event), &status);
    ready = status == ACL_EVENT_RECORDED_STATUS_COMPLETE;
  }
  if (code == ACL_SUCCESS && expected.ready && (*expected.ready == 1) != ready) {
    return {code, ready ? "said complete, but cannot be" : "said not ready, but is complete"};
  }
  return {code, ""};
}

std::vector<std::uint8_t> Executor::Read(int slot) {
  const RealBuffer& real = buffers_[slot];
  std::vector<std::uint8_t> got(real.bytes);
  if (real.on_device()) {
    const aclError code =
        aclrtMemcpy(got.data(), got.size(), real.address, got.size(), ACL_MEMCPY_DEVICE_TO_HOST);
    if (code != ACL_SUCCESS) return {};
  } else {
    std::memcpy(got.data(), real.address, got.size());
  }
  return got;
}

std::string Executor::CheckGuards(int slot) const {
  const RealBuffer& real = buffers_[slot];
  for (std::size_t i = 0; i < kGuardBytes && !real.guarded.empty(); ++i) {
    if (real.guarded[i] != kGuard || real.guarded[real.guarded.size() - 1 - i] != kGuard) {
      return "a byte outside of b" + std::to_string(slot) + " was written";
    }
  }
  return "";
}

}  // namespace sampan::model
