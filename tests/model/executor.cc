// Runs programs: streams, events and memory.
#include "tests/model/executor.h"

#include <sys/mman.h>

#include <cstring>

namespace sampan::model {
namespace {

constexpr std::size_t kGuardBytes = 64;
constexpr std::uint8_t kGuard = 0xCB;
constexpr std::size_t kTableBytes = kDescriptors * kDescriptorStride + kCells * 8;
constexpr std::int32_t kLongMs = 60000;

std::string Unexpected(aclError answer, aclError expected) {
  const char* message = answer == ACL_SUCCESS ? nullptr : aclGetRecentErrMsg();
  std::string text = "answered " + std::to_string(answer) + " instead of " + std::to_string(expected);
  if (message != nullptr) {
    const std::string all(message);
    text += "; " + all.substr(0, all.find("[PID:", 1));
  }
  return text;
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
  const auto& self = *static_cast<const HostAddition*>(addition);
  for (std::size_t i = 0; i < self.bytes; ++i)
    self.at[i] = static_cast<std::uint8_t>(self.at[i] + self.value);
}

std::optional<Failure> Executor::Run(const Program& program) {
  std::string what = Prepare();
  std::size_t at = 0;
  for (; at < program.size() && what.empty(); ++at) {
    const Verdict expected = model_.Apply(program[at]);
    if (expected.admitted) what = Step(program[at], expected);
  }
  const std::string cleaning = CleanUp();
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

std::string Executor::CleanUp() {
  std::string what;
  const auto expect = [&](aclError code, const char* call) {
    if (code != ACL_SUCCESS && what.empty())
      what = std::string(call) + " at the end: " + Unexpected(code, ACL_SUCCESS);
  };
  for (GateFunction& gate : gates_)
    gate.Open();
  for (int device = 0; device < kDevices; ++device) {
    expect(aclrtSetDevice(device), "aclrtSetDevice");
    for (int slot = 0; slot < kStreams; ++slot) {
      if (!model_.stream(slot).live || model_.stream(slot).device != device) continue;
      aclrtSynchronizeStream(streams_[slot]);
      expect(aclrtDestroyStream(streams_[slot]), "aclrtDestroyStream");
    }
    aclrtSynchronizeStream(nullptr);
    if (model_.peer_access(device))
      expect(aclrtDeviceDisablePeerAccess(1 - device), "aclrtDeviceDisablePeerAccess");
  }
  for (int slot = 0; slot < kEvents; ++slot) {
    if (model_.event(slot).live) expect(aclrtDestroyEvent(events_[slot]), "aclrtDestroyEvent");
  }
  for (int slot = 0; slot < kBuffers; ++slot) {
    if (model_.buffer(slot).state != Buffer::State::kLive) continue;
    Operation free;
    free.dst.slot = slot;
    free.memory = buffers_[slot].memory;
    expect(Free(free), "free");
  }
  expect(EndPools(), "aclrtMemPoolDestroy");
  for (RealTable& table : tables_)
    expect(aclrtFree(table.memory), "aclrtFree");
  expect(aclrtFreeHost(staging_), "aclrtFreeHost");
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

std::string Executor::Step(const Operation& op, const Verdict& expected) {
  // Only what would have succeeded is left out: the missing order must show in the bytes.
  const bool omitted = (sabotage_ == Sabotage::kOmitEventWaits && op.call == Call::kWait) ||
                       (sabotage_ == Sabotage::kOmitStreamSyncs && op.call == Call::kSyncStream);
  if (omitted && expected.code == ACL_SUCCESS) return "";
  switch (op.call) {
    case Call::kVerify:
      return Compare(op.slot);
    case Call::kQueryStream:
    case Call::kQueryEvent:
      return Query(op, expected);
    case Call::kBatch:
    case Call::kBatchAsync:
      return Batch(op, expected);
    default:
      break;
  }
  const aclError answer = Perform(op);
  return answer == expected.code ? "" : Unexpected(answer, expected.code);
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
      return op.value == 0 ? aclrtDestroyStream(stream) : aclrtDestroyStreamForce(stream);
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
      return aclrtLaunchHostFunc(stream, &GateFunction::Run, &gates_.emplace_back());
    case Call::kOpenGate:
      for (GateFunction& gate : gates_)
        gate.Open();
      return ACL_SUCCESS;
    case Call::kHostFunction: {
      HostAddition& addition = additions_.emplace_back(HostAddition{
          static_cast<std::uint8_t*>(At(op.dst)), op.bytes, static_cast<std::uint8_t>(op.value)});
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

aclError Executor::Allocate(const Operation& op) {
  RealBuffer made;
  made.memory = op.memory;
  aclError code = ACL_SUCCESS;
  switch (op.memory) {
    case Memory::kDevice:
      code = aclrtMalloc(&made.address, op.bytes, ACL_MEM_MALLOC_HUGE_FIRST);
      break;
    case Memory::kPinned:
      code = aclrtMallocHost(&made.address, op.bytes);
      break;
    case Memory::kRegistered: {
      made.mapped_bytes = (op.bytes + kPage - 1) / kPage * kPage;
      made.address =
          mmap(nullptr, made.mapped_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      void* seen_by_device = nullptr;
      code = aclrtHostRegister(made.address, op.bytes, ACL_HOST_REGISTER_MAPPED, &seen_by_device);
      break;
    }
    case Memory::kPool:
      code = TakeFromPool(made, op.bytes);
      break;
    case Memory::kMapped:
      code = Map(made, op.bytes);
      break;
    case Memory::kPageable:
      made.guarded.assign(op.bytes + 2 * kGuardBytes, kGuard);
      made.address = made.guarded.data() + kGuardBytes;
      break;
  }
  if (code != ACL_SUCCESS) return code;
  const auto& initial = model_.buffer(op.slot).bytes;
  if (model_.buffer(op.slot).on_device()) {
    code =
        aclrtMemcpy(made.address, initial.size(), initial.data(), initial.size(), ACL_MEMCPY_HOST_TO_DEVICE);
  } else {
    std::memcpy(made.address, initial.data(), initial.size());
  }
  buffers_[op.slot] = std::move(made);
  return code;
}

aclError Executor::Free(const Operation& op) {
  void* const address = At(op.dst);
  switch (op.memory) {
    case Memory::kDevice:
      return op.value == 0 ? aclrtFree(address) : aclrtFreeWithDevSync(address);
    case Memory::kPinned:
      return op.value == 0 ? aclrtFreeHost(address) : aclrtFreeHostWithDevSync(address);
    case Memory::kRegistered: {
      const aclError code = aclrtHostUnregister(address);
      munmap(address, buffers_[op.dst.slot].mapped_bytes);
      return code;
    }
    case Memory::kPool:
      return GiveToPool(buffers_[op.dst.slot], address, op.value != 0);
    case Memory::kMapped:
      return Unmap(buffers_[op.dst.slot]);
    case Memory::kPageable:
      break;
  }
  buffers_[op.dst.slot] = RealBuffer{};
  return ACL_SUCCESS;
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

std::string Executor::Query(const Operation& op, const Verdict& expected) {
  aclError code;
  bool ready = false;
  if (op.call == Call::kQueryStream) {
    aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
    code = aclrtStreamQuery(StreamAt(op.stream), &status);
    ready = status == ACL_STREAM_STATUS_COMPLETE;
    if (code == ACL_SUCCESS && status == ACL_STREAM_STATUS_RESERVED) return "wrote no status";
  } else {
    // Starts out wrong, so that a status which is not written is noticed.
    auto status =
        expected.ready == 1 ? ACL_EVENT_RECORDED_STATUS_NOT_READY : ACL_EVENT_RECORDED_STATUS_COMPLETE;
    code = aclrtQueryEventStatus(EventAt(op.event), &status);
    ready = status == ACL_EVENT_RECORDED_STATUS_COMPLETE;
  }
  if (code != expected.code) return Unexpected(code, expected.code);
  if (code != ACL_SUCCESS) return "";
  if (expected.ready && (*expected.ready == 1) != ready) {
    return ready ? "said complete, but cannot be" : "said not ready, but is complete";
  }
  return "";
}

std::string Executor::Compare(int slot) {
  const Buffer& expected = model_.buffer(slot);
  const RealBuffer& real = buffers_[slot];
  const std::size_t bytes = expected.bytes.size();
  std::vector<std::uint8_t> got(bytes);
  if (expected.on_device()) {
    const aclError code = aclrtMemcpy(got.data(), bytes, real.address, bytes, ACL_MEMCPY_DEVICE_TO_HOST);
    if (code != ACL_SUCCESS) return Unexpected(code, ACL_SUCCESS);
  } else {
    std::memcpy(got.data(), real.address, bytes);
  }
  for (std::size_t i = 0; i < bytes; ++i) {
    if (got[i] == expected.bytes[i]) continue;
    return "byte " + std::to_string(i) + " of b" + std::to_string(slot) + " is " + std::to_string(got[i]) +
           " instead of " + std::to_string(expected.bytes[i]);
  }
  for (std::size_t i = 0; i < kGuardBytes && !real.guarded.empty(); ++i) {
    if (real.guarded[i] != kGuard || real.guarded[real.guarded.size() - 1 - i] != kGuard) {
      return "a byte outside of b" + std::to_string(slot) + " was written";
    }
  }
  return "";
}

}  // namespace sampan::model
