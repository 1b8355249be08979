// The reference's pools: memory that is taken and given back in the order of a stream. Which addresses the
// library hands out does not matter here: what one owner writes must never show in another one's memory.
#include "tests/model/model.h"

namespace sampan::model {

Verdict Model::AllocateFromPool(const Operation& op) {
  if (op.stream == kNull) return Answer(ACL_ERROR_INVALID_PARAM);
  Verdict verdict;
  Stream* stream = FindStream(op.stream, verdict);
  if (stream == nullptr) return verdict;
  if (Foreign(*stream)) return Answer(ACL_ERROR_RT_STREAM_CONTEXT);
  if (contexts_[stream->context].stop >= 0) return Undetermined();
  if (!MayQueue(*stream, {}, verdict)) return verdict;
  // The stream may come behind whatever frees the memory that it gets, and the other thread wait for it.
  const bool any_held = !holds_.empty() || !ended_holds_[1 - thread_].empty();
  if (forked_ && any_held && !MayBeHeld(*stream)) return Undetermined();
  Buffer& buffer = buffers_[op.slot];
  buffer = Buffer{};
  buffer.slot = op.slot;
  buffer.serial = ++allocations_;
  buffer.state = Buffer::State::kLive;
  buffer.memory = Memory::kPool;
  buffer.device = current_;
  buffer.reach = (op.bytes + 31) / 32 * 32;
  // Until the stream has filled it, what an earlier owner left is there.
  DoNow({}, [slot = op.slot, bytes = buffer.reach](Image& image) { SetUnknown(image, slot, bytes); });
  for (std::size_t id = 0; id < history_.tasks().size(); ++id) {
    const Task& earlier = history_.tasks()[id];
    const bool over = host().Covers(earlier.track, earlier.tick);
    if (earlier.kind == Task::Kind::kFree && !over) buffer.earlier_frees.push_back(static_cast<int>(id));
  }
  Task task;
  task.effect = Initial(op.slot, buffer.reach);
  buffer.made_by = Queue(*stream, {{&buffer, 0, buffer.reach, true}}, std::move(task));
  return Answer(ACL_SUCCESS);
}

Verdict Model::FreeToPool(const Operation& op) {
  Buffer& buffer = buffers_[op.dst.slot];
  Verdict verdict;
  Stream* stream = op.stream == kNull ? nullptr : FindStream(op.stream, verdict);
  if (stream == nullptr || Foreign(*stream) || stream->device != buffer.device) return Undetermined();
  if (contexts_[stream->context].stop >= 0) return Undetermined();
  // The other thread's memory, and so its streams, would wait for the gate.
  if (forked_ && gate_thread_ != kNull && MayBeHeld(*stream)) return Undetermined();
  const std::vector<Touch> touches{{&buffer, 0, buffer.reach, true}};
  verdict = {};
  if (!MayQueue(*stream, touches, verdict)) return verdict;
  Task task;
  task.kind = Task::Kind::kFree;
  Queue(*stream, touches, std::move(task));
  buffer.state = Buffer::State::kFreed;
  buffer.freed_at = 0;
  return Answer(ACL_SUCCESS);
}

}  // namespace sampan::model
