// Adds operations to a random program, and orders them behind what they would race with.
#include "tests/model/generator.h"

namespace sampan::model {
namespace {

constexpr int kDeepestOrdering = 4;

}  // namespace

bool Generator::Emit(const Operation& op, int depth) {
  const Verdict verdict = model_.Apply(op);
  if (verdict.admitted) {
    program_.push_back(op);
    return true;
  }
  return depth < kDeepestOrdering && Order(op, verdict, depth + 1) && Emit(op, depth + 1);
}

bool Generator::Enter(int context, int depth) {
  if (context == model_.current_context()) return true;
  Operation go = Make(context == kOwnContext ? Call::kUseContext : Call::kUseDevice);
  if (context != kOwnContext) go.device = context;
  return Emit(go, depth);
}

bool Generator::SendSignal(int depth) {
  const auto hold = model_.held_signal();
  if (!hold) return false;
  // A refusal is an answer too, so what counts is whether the stream goes on.
  const auto sent = [&] { return !model_.held_signal() || model_.held_signal()->task != hold->task; };
  if (hold->signal < kNotifies) {
    Operation record = Make(Call::kRecordNotify);
    record.slot = hold->signal;
    record.stream = PickStream();
    if (Emit(record, depth) && sent()) return true;
    record.stream = kNull;
    return Emit(record, depth) && sent();
  }
  const int home = model_.current_context();
  const int word = hold->signal - kNotifies;
  if (model_.current_device() != word / kWords && !Enter(word / kWords, depth)) return false;
  Operation write = Make(Call::kWriteWord);
  write.slot = word % kWords;
  write.value = static_cast<std::uint32_t>(hold->value);
  write.stream = kNull;
  Emit(write, depth);
  return Enter(home, depth) && sent();
}

namespace {

/// Calls that only a wait of the host can be ordered by.
bool HappensOnHost(const Operation& op) {
  switch (op.call) {
    case Call::kAbortStream:
    case Call::kAbortDevice:
    case Call::kDestroyStream:
    case Call::kDestroyContext:
    case Call::kUnmap:
    case Call::kMapAgain:
    case Call::kSetAccess:
    case Call::kVerify:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool Generator::Order(const Operation& op, const Verdict& verdict, int depth) {
  if (verdict.held) return model_.gate_closed() ? Emit(Make(Call::kOpenGate), depth) : SendSignal(depth);
  if (verdict.unordered_with.empty()) return false;
  const int number = verdict.unordered_with.front();
  if (number == 0) return false;  // the other thread: not before the join
  int slot = kNull;
  int context = model_.current_context();
  for (int i = 0; i < kContexts; ++i) {
    if (model_.default_stream(i).live && model_.default_stream(i).number == number) context = i;
  }
  for (int i = 0; i < kStreams; ++i) {
    if (!model_.stream(i).live || model_.stream(i).number != number) continue;
    slot = i;
    context = model_.stream(i).context;
  }
  const int home = model_.current_context();
  if (!Enter(context, depth)) return false;

  bool done = false;
  const int event = PickEvent(false);
  if (event != kNull && !HappensOnHost(op) && dice_.Percent(75)) {
    Operation record = Make(Call::kRecord);
    record.event = event;
    record.stream = slot;
    Operation wait = Make(Call::kWait);
    wait.event = event;
    wait.stream = op.stream;
    done = Emit(record, depth);
    // When the host is what would race, the wait of a stream does not help, but does no harm either.
    done = Enter(home, depth) && done && Emit(wait, depth);
    if (done && model_.gate_closed() && dice_.Percent(30)) Emit(Make(Call::kOpenGate), depth);
    return done;
  }
  Operation sync = Make(Call::kSyncStream);
  sync.stream = slot;
  sync.value = static_cast<std::uint32_t>(dice_.Below(2));
  done = Emit(sync, depth);
  return Enter(home, depth) && done;
}

void Generator::GiveUp(const Hold& hold) {
  Operation abort = Make(Call::kAbortStream);
  for (int context = 0; context < kContexts; ++context) {
    if (!model_.default_stream(context).live || model_.default_stream(context).number != hold.stream)
      continue;
    Enter(context, 0);
    Emit(abort);
  }
  for (int slot = 0; slot < kStreams; ++slot) {
    if (!model_.stream(slot).live || model_.stream(slot).number != hold.stream) continue;
    Enter(model_.stream(slot).context, 0);
    abort.stream = slot;
    Emit(abort);
  }
}

}  // namespace sampan::model
