// The reference's memory, and the order of its uses.
#include "tests/model/model.h"

#include <algorithm>

namespace sampan::model {
namespace {

/// Whether the operation names a buffer that was never made, or memory that the program itself has freed. The
/// library may then get NULL.
bool NamesUnmade(const Operation& op, const std::array<Buffer, kBuffers>& buffers) {
  const auto unmade = [&](const Address& address) {
    if (address.slot < 0) return false;
    const Buffer& buffer = buffers[address.slot];
    const bool is_own = buffer.memory == Memory::kPageable && op.call != Call::kAllocate;
    return buffer.state == Buffer::State::kNever || (is_own && buffer.state == Buffer::State::kFreed);
  };
  return unmade(op.dst) || unmade(op.src) ||
         std::any_of(op.entries.begin(), op.entries.end(),
                     [&](const Entry& entry) { return unmade(entry.dst) || unmade(entry.src); });
}

std::size_t RoundUp32(std::size_t bytes) {
  return (bytes + 31) / 32 * 32;
}

}  // namespace

Effect Model::Initial(int slot, std::size_t bytes) {
  return [=](Image& image) { SetInitial(image, slot, bytes); };
}

Model::Model() {
  for (int device = 0; device < kDevices; ++device) {
    Stream& stream = defaults_[device];
    stream.created = stream.live = true;
    stream.device = stream.context = device;
    stream.number = streams_made_++;
    contexts_[device] = {true, device, -1};
    tables_[device].memory.serial = kTableSerial + static_cast<std::uint64_t>(device);
  }
  for (int slot = 0; slot < kBuffers; ++slot)
    buffers_[slot].slot = slot;
}

Verdict Model::Answer(aclError code) {
  Verdict verdict;
  verdict.admitted = true;
  verdict.code = code;
  return verdict;
}

std::optional<Verdict> Model::FromCodes(const Codes& codes) {
  if (codes.empty()) return std::nullopt;
  return codes.size() == 1 ? Answer(*codes.begin()) : Undetermined();
}

Verdict Model::Apply(const Operation& op) {
  if ((op.thread != 0 && !forked_) || NamesUnmade(op, buffers_)) return Undetermined();
  if (forked_ && !MayRunBeside(op)) return Undetermined();
  thread_ = op.thread;
  Verdict verdict = Dispatch(op);
  if (forked_ && verdict.admitted) NoteUsers(op);
  thread_ = 0;
  return verdict;
}

Verdict Model::Dispatch(const Operation& op) {
  switch (op.call) {
    case Call::kUseDevice:
      return UseDevice(op);
    case Call::kSetPeerAccess:
      return SetPeerAccess(op);
    case Call::kAllocate:
      return Allocate(op);
    case Call::kFree:
      return Free(op);
    case Call::kUnmap:
      return Unmap(op);
    case Call::kMapAgain:
      return MapAgain(op);
    case Call::kSetAccess:
      return SetAccess(op);
    case Call::kCreateContext:
      return CreateContext();
    case Call::kUseContext:
      return UseContext();
    case Call::kDestroyContext:
      return DestroyContext();
    case Call::kStopOnFailure:
      return StopOnFailure(op);
    case Call::kAbortStream:
      return AbortStream(op);
    case Call::kAbortDevice:
      return AbortDevice();
    case Call::kCreateNotify:
      return CreateNotify(op);
    case Call::kDestroyNotify:
      return DestroyNotify(op);
    case Call::kRecordNotify:
      return RecordNotify(op);
    case Call::kWaitNotify:
      return WaitNotify(op);
    case Call::kResetNotify:
      return ResetNotify(op);
    case Call::kWriteWord:
      return WriteWord(op);
    case Call::kWaitWord:
      return WaitWord(op);
    case Call::kSetWord:
      return SetWord(op);
    case Call::kFork:
      return Fork();
    case Call::kJoin:
      return Join();
    case Call::kFlood:
      return Flood(op);
    case Call::kCreateStream:
      return CreateStream(op);
    case Call::kDestroyStream:
      return DestroyStream(op);
    case Call::kCreateEvent:
      return CreateEvent(op);
    case Call::kDestroyEvent:
      return DestroyEvent(op);
    case Call::kRecord:
      return Record(op);
    case Call::kWait:
      return Wait(op);
    case Call::kResetEvent:
      return ResetEvent(op);
    case Call::kSyncStream:
      return SyncStream(op);
    case Call::kSyncEvent:
      return SyncEvent(op);
    case Call::kSyncDevice:
      return SyncDevice();
    case Call::kQueryStream:
      return QueryStream(op);
    case Call::kQueryEvent:
      return QueryEvent(op);
    case Call::kCloseGate:
      return CloseGate(op);
    case Call::kOpenGate:
      return OpenGate();
    case Call::kHostFunction:
      return HostFunction(op);
    case Call::kCopy:
      return Copy(op);
    case Call::kCopyAsync:
      return CopyAsync(op);
    case Call::kCopyRows:
      return CopyRows(op, false);
    case Call::kCopyRowsAsync:
      return CopyRows(op, true);
    case Call::kBatch:
      return Batch(op, false);
    case Call::kBatchAsync:
      return Batch(op, true);
    case Call::kFill:
      return Fill(op, false);
    case Call::kFillAsync:
      return Fill(op, true);
    case Call::kFillWords:
      return FillWords(op, false);
    case Call::kFillWordsAsync:
      return FillWords(op, true);
    case Call::kSetDescriptor:
      return SetDescriptor(op);
    case Call::kRewriteDescriptor:
      return RewriteDescriptor(op);
    case Call::kCopyDescriptor:
      return CopyDescriptor(op);
    case Call::kLaunchDescriptor:
      return LaunchDescriptor(op);
    case Call::kSetCell:
      return SetCell(op);
    case Call::kRewriteCell:
      return RewriteCell(op);
    case Call::kCopyThroughCells:
      return CopyThroughCells(op);
    case Call::kVerify:
      return Verify(op);
  }
  return Undetermined();
}

Stream* Model::FindStream(int slot, Verdict& verdict) {
  if (slot == kNull) return &defaults_[context_];
  if (slot != kWild && !streams_[slot].created) return nullptr;
  if (slot != kWild && streams_[slot].live) return &streams_[slot];
  verdict = Answer(ACL_ERROR_RT_INVALID_HANDLE);
  return nullptr;
}

Event* Model::FindEvent(int slot, Verdict& verdict) {
  if (slot == kNull) {
    verdict = Answer(ACL_ERROR_INVALID_PARAM);
    return nullptr;
  }
  if (slot != kWild && !events_[slot].created) return nullptr;
  if (slot != kWild && events_[slot].live) return &events_[slot];
  verdict = Answer(ACL_ERROR_RT_INVALID_HANDLE);
  return nullptr;
}

Verdict Model::UseDevice(const Operation& op) {
  current_ = context_ = op.device;
  return Answer(ACL_SUCCESS);
}

Verdict Model::SetPeerAccess(const Operation& op) {
  const bool enable = op.value != 0;
  if (peer_[current_] == enable) return Undetermined();
  peer_[current_] = enable;
  return Answer(ACL_SUCCESS);
}

Verdict Model::Allocate(const Operation& op) {
  Buffer& buffer = buffers_[op.slot];
  if (buffer.state == Buffer::State::kLive) return Undetermined();
  if (op.bytes == 0) return op.memory == Memory::kDevice ? Answer(ACL_ERROR_INVALID_PARAM) : Undetermined();
  if (op.memory == Memory::kPool) return AllocateFromPool(op);
  buffer = Buffer{};
  buffer.slot = op.slot;
  buffer.serial = ++allocations_;
  buffer.state = Buffer::State::kLive;
  buffer.memory = op.memory;
  buffer.device = current_;
  const bool rounded = op.memory == Memory::kDevice || op.memory == Memory::kPinned;
  buffer.reach = rounded ? RoundUp32(op.bytes) : op.bytes;
  DoNow({{&buffer, 0, buffer.reach, true}}, Initial(op.slot, buffer.reach));
  return Answer(ACL_SUCCESS);
}

Verdict Model::Free(const Operation& op) {
  if (op.dst.slot == kNull) {
    return op.memory == Memory::kDevice || op.memory == Memory::kPinned ? Answer(ACL_ERROR_INVALID_PARAM)
                                                                        : Undetermined();
  }
  Buffer& buffer = buffers_[op.dst.slot];
  if (buffer.state == Buffer::State::kNever || !buffer.known_to_runtime()) {
    if (buffer.state != Buffer::State::kLive || op.memory != Memory::kPageable || op.dst.offset != 0) {
      return Undetermined();
    }
  }
  if (buffer.unmapped) return Undetermined();
  const bool mistake =
      op.dst.offset != 0 || buffer.state == Buffer::State::kFreed || op.memory != buffer.memory;
  if (mistake) {
    const bool again =
        buffer.state == Buffer::State::kFreed && Dangling(buffer) && op.memory == buffer.memory;
    const bool interior =
        buffer.state == Buffer::State::kLive && op.memory == buffer.memory && op.dst.offset < buffer.reach;
    const bool device_as_host = buffer.state == Buffer::State::kLive && op.memory == Memory::kPinned &&
                                buffer.memory == Memory::kDevice && op.dst.offset == 0;
    const bool runtime_memory = buffer.memory == Memory::kDevice || buffer.memory == Memory::kPinned;
    const bool determined = runtime_memory && op.value == 0 && (again || interior || device_as_host);
    return determined ? Answer(ACL_ERROR_RT_PARAM_INVALID) : Undetermined();
  }
  if (op.memory == Memory::kPool && op.value == 0) return FreeToPool(op);
  Verdict verdict;
  Clock known = host();
  const bool syncs = op.value != 0 && (op.memory == Memory::kDevice || op.memory == Memory::kPinned);
  if (syncs) {
    const auto work = ContextWork(verdict);
    if (!work) return verdict;
    known.Join(*work);
  }
  if (!Ordered({{&buffer, 0, buffer.reach, true}}, known, verdict)) return verdict;
  host() = known;
  DoNow({{&buffer, 0, buffer.reach, true}}, nullptr);
  buffer.state = Buffer::State::kFreed;
  buffer.freed_at = allocations_;
  if (!forked_) buffer.accesses.clear();
  return Answer(ACL_SUCCESS);
}

Verdict Model::HostFunction(const Operation& op) {
  Verdict verdict;
  Stream* stream = FindStream(op.stream, verdict);
  if (stream == nullptr) return verdict;
  if (Foreign(*stream)) return Answer(ACL_ERROR_RT_STREAM_CONTEXT);
  const Site site = Locate(op.dst, op.bytes);
  if (!site.known || !site.usable || site.device_side || site.buffer == nullptr) return Undetermined();
  Buffer& buffer = *site.buffer;
  const std::vector<Touch> touches{{&buffer, op.dst.offset, op.dst.offset + op.bytes, true}};
  if (!MayQueue(*stream, touches, verdict)) return verdict;
  Task task;
  task.kind = Task::Kind::kHostFunction;
  task.effect = [at = op.dst, bytes = op.bytes, value = op.value](Image& image) {
    AddToBytes(image, at, bytes, value);
  };
  Queue(*stream, touches, std::move(task));
  return Answer(ACL_SUCCESS);
}

Verdict Model::Verify(const Operation& op) {
  Buffer& buffer = buffers_[op.slot];
  if (buffer.state != Buffer::State::kLive || buffer.unmapped || buffer.lost) return Undetermined();
  if (!buffer.all_rights()) return Undetermined();
  Verdict verdict;
  if (!Ordered({{&buffer, 0, buffer.reach, false}}, host(), verdict)) return verdict;
  if (forked_) DoNow({{&buffer, 0, buffer.reach, false}}, nullptr);
  return Answer(ACL_SUCCESS);
}

}  // namespace sampan::model
