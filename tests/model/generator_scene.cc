// Random steps around dropped work, signals, threads and full queues.
#include <algorithm>

#include "tests/model/generator.h"

namespace sampan::model {

int Generator::PickFreeSlot() {
  std::vector<int> fitting;
  for (int slot = 0; slot < kBuffers; ++slot) {
    if (model_.buffer(slot).state != Buffer::State::kLive) fitting.push_back(slot);
  }
  return fitting.empty() ? kNull : fitting[dice_.Below(static_cast<int>(fitting.size()))];
}

int Generator::PickMapped() {
  std::vector<int> fitting;
  for (int slot = 0; slot < kBuffers; ++slot) {
    const Buffer& buffer = model_.buffer(slot);
    if (buffer.state == Buffer::State::kLive && buffer.memory == Memory::kMapped) fitting.push_back(slot);
  }
  return fitting.empty() ? kNull : fitting[dice_.Below(static_cast<int>(fitting.size()))];
}

void Generator::QueueBehindGate(int stream) {
  Operation close = Make(Call::kCloseGate);
  close.stream = stream;
  Emit(close);
  focus_ = stream;
  const int copies = dice_.Below(4);
  for (int i = 0; i < copies; ++i) {
    if (dice_.Percent(25)) {
      AddMemoryStep();
    } else {
      AddCopy();
    }
  }
  focus_ = kNull;
  const int event = PickEvent(false);
  if (event == kNull || dice_.Percent(50)) return;
  Operation record = Make(Call::kRecord);
  record.event = event;
  record.stream = stream;
  if (!Emit(record)) return;
  Operation wait = Make(Call::kWait);
  wait.event = event;
  wait.stream = PickStream();
  Emit(wait);
  focus_ = wait.stream;
  AddCopy();
  focus_ = kNull;
}

void Generator::AddAbortStep() {
  const int stream = PickStream();
  if (dice_.Percent(40)) QueueBehindGate(stream);
  const int choice = dice_.Below(10);
  Operation op = Make(choice < 5   ? Call::kAbortStream
                      : choice < 7 ? Call::kAbortDevice
                                   : Call::kDestroyStream);
  op.stream = stream;
  op.value = choice < 5 ? (dice_.Percent(20) ? 1 : 0) : 1;
  if (choice == 0) op.value = kWhileSubmitting;
  Emit(op);
  if (dice_.Percent(30)) Emit(Make(Call::kOpenGate));
}

void Generator::AddContextStep() {
  const int home = model_.current_device();
  if (!model_.context(kOwnContext).live) {
    Emit(Make(Call::kCreateContext));
    for (int slot = 0; slot < kStreams; ++slot) {
      if (model_.stream(slot).live || dice_.Percent(40)) continue;
      Operation create = Make(Call::kCreateStream);
      create.slot = slot;
      Emit(create);
      Operation stop = Make(Call::kStopOnFailure);
      stop.stream = slot;
      if (dice_.Percent(80)) Emit(stop);
    }
  }
  if (!Enter(kOwnContext, 0)) return;
  int stream = kNull;
  for (int slot = 0; slot < kStreams; ++slot) {
    if (model_.stream(slot).live && model_.stream(slot).stops) stream = slot;
  }
  if (stream != kNull && dice_.Percent(60)) {
    if (dice_.Percent(70)) {
      Operation close = Make(Call::kCloseGate);
      close.stream = stream;
      Emit(close);
    }
    // Operands that are wrong when the copy runs, and work behind it.
    Operation rewrite = Make(Call::kRewriteDescriptor);
    rewrite.slot = dice_.Below(kDescriptors);
    rewrite.stream = stream;
    rewrite.dst = {PickBuffer(true), 0};
    rewrite.bytes = 16;
    Operation launch = Make(Call::kLaunchDescriptor);
    launch.slot = rewrite.slot;
    launch.kind = ACL_MEMCPY_INNER_DEVICE_TO_DEVICE;
    launch.stream = stream;
    if (rewrite.dst.slot != kNull && Emit(rewrite)) Emit(launch);
    focus_ = stream;
    for (int i = dice_.Below(4); i > 0; --i)
      AddCopy();
    focus_ = kNull;
    const int event = PickEvent(false);
    Operation record = Make(Call::kRecord);
    record.event = event;
    record.stream = stream;
    if (event != kNull && Emit(record) && dice_.Percent(60)) {
      Enter(home, 0);
      Operation wait = Make(Call::kWait);
      wait.event = event;
      wait.stream = PickStream();
      Emit(wait);
      AddCopy();
    }
  }
  if (dice_.Percent(60)) Enter(home, 0);
  if (dice_.Percent(30)) {
    Enter(home, 0);
    Emit(Make(Call::kDestroyContext));
  }
}

void Generator::AddSignalStep() {
  Operation op = Make(Call::kCreateNotify);
  op.slot = dice_.Below(kNotifies);
  op.stream = PickStream();
  const Notify& notify = model_.notify(op.slot);
  if (!notify.created || (!notify.live && dice_.Percent(70))) {
    Emit(op);
  } else if (notify.lost) {
    op.call = Call::kResetNotify;
    Emit(op);
  }
  const int choice = dice_.Below(20);
  if (choice == 0) {
    op.call = Call::kDestroyNotify;
    Emit(op);
    return;
  }
  // Mostly an edge: work on one stream, then work on another one behind it.
  const bool wait_first = dice_.Percent(30);
  const int waiting = PickStream();
  Operation wait = op;
  wait.call = Call::kWaitNotify;
  wait.stream = waiting;
  if (wait_first) Emit(wait);
  focus_ = op.stream;
  if (dice_.Percent(50)) AddCopy();
  focus_ = kNull;
  op.call = Call::kRecordNotify;
  Emit(op);
  if (!wait_first) Emit(wait);
  focus_ = waiting;
  if (dice_.Percent(70)) AddCopy();
  focus_ = kNull;
}

void Generator::AddWordStep() {
  Operation op = Make(Call::kWriteWord);
  op.slot = dice_.Below(kWords);
  op.stream = PickStream();
  op.value = static_cast<std::uint32_t>(model_.word(op.slot).value + dice_.Between(1, 3));
  if (model_.word(op.slot).lost) {
    op.call = Call::kSetWord;
    if (!Emit(op)) return;
    op.call = Call::kWriteWord;
    ++op.value;
  }
  const bool wait_first = dice_.Percent(30);
  Operation wait = op;
  wait.call = Call::kWaitWord;
  wait.kind = !wait_first && dice_.Percent(30) ? ACL_STREAM_WAIT_VALUE_EQ : ACL_STREAM_WAIT_VALUE_GEQ;
  wait.stream = PickStream();
  if (wait_first) Emit(wait);
  focus_ = op.stream;
  if (dice_.Percent(50)) AddCopy();
  focus_ = kNull;
  Emit(op);
  if (!wait_first) Emit(wait);
  focus_ = wait.stream;
  if (dice_.Percent(70)) AddCopy();
  focus_ = kNull;
}

void Generator::AddPoolStep() {
  // One stream frees with a copy held back; what it freed goes on to others, one of which may be aborted.
  Operation take = Make(Call::kAllocate);
  take.memory = Memory::kPool;
  take.bytes = 800;
  take.stream = PickStream();
  if (take.stream == kNull) return;
  Operation close = Make(Call::kCloseGate);
  close.stream = take.stream;
  Emit(close);
  const int owners = 2 + dice_.Below(2);
  for (int i = 0; i < owners; ++i) {
    take.slot = PickFreeSlot();
    if (take.slot == kNull || !Emit(take)) return;
    focus_ = take.stream;
    if (dice_.Percent(60)) AddCopy();
    focus_ = kNull;
    Operation give = Make(Call::kFree);
    give.memory = Memory::kPool;
    give.dst.slot = take.slot;
    give.stream = take.stream;
    if (i + 1 == owners || !Emit(give)) return;
    Operation abort = Make(dice_.Percent(60) ? Call::kAbortStream : Call::kDestroyStream);
    abort.stream = take.stream;
    abort.value = abort.call == Call::kDestroyStream ? 1 : 0;
    if (i > 0 && dice_.Percent(60)) Emit(abort);
    take.stream = PickStream();
  }
}

void Generator::AddMapStep() {
  int slot = PickMapped();
  if (slot == kNull) {
    Operation allocate = Make(Call::kAllocate);
    allocate.memory = Memory::kMapped;
    allocate.slot = slot = PickFreeSlot();
    allocate.bytes = dice_.Between(65, 4000);
    if (slot == kNull || !MapsMemory() || !Emit(allocate)) return;
  }
  const int stream = PickStream();
  if (dice_.Percent(60)) QueueBehindGate(stream);
  // Work that uses this very buffer.
  const int host = PickBuffer(false);
  if (host != kNull) {
    Operation copy = Make(Call::kCopyAsync);
    copy.stream = stream;
    copy.bytes = dice_.Between(1, std::min(model_.buffer(slot).reach, model_.buffer(host).reach));
    copy.dst_max = copy.bytes;
    copy.dst = PickRange(slot, copy.bytes);
    copy.src = PickRange(host, copy.bytes);
    if (dice_.Percent(40)) std::swap(copy.dst, copy.src);
    Emit(copy);
    Operation access = Make(Call::kSetAccess);
    access.slot = slot;
    access.device = dice_.Percent(70) ? model_.current_device() : dice_.Below(kDevices);
    access.value = static_cast<std::uint32_t>(dice_.Below(3));
    if (dice_.Percent(50) && Emit(access)) Emit(copy);
  }
  Operation unmap = Make(Call::kUnmap);
  unmap.slot = slot;
  Operation again = Make(Call::kMapAgain);
  again.slot = slot;
  if (dice_.Percent(60) && Emit(unmap) && dice_.Percent(50)) Emit(again);
  if (dice_.Percent(50)) Emit(Make(Call::kOpenGate));
  Emit(again);
}

void Generator::AddFlood() {
  const int stream = PickStream();
  Operation allocate = Make(Call::kAllocate);
  allocate.slot = PickFreeSlot();
  allocate.memory = Memory::kPinned;
  allocate.bytes = 2600;
  const int dst = PickBuffer(true);
  if (allocate.slot == kNull || dst == kNull || !Emit(allocate)) return;
  Operation flood = Make(Call::kFlood);
  flood.stream = stream;
  flood.bytes = dice_.Between(1, std::min<std::size_t>(model_.buffer(dst).reach, 40));
  flood.dst = PickRange(dst, flood.bytes);
  flood.src = {allocate.slot, 0};
  flood.height = dice_.Between(kQueueDepth - 200, kQueueDepth + 500);
  const bool to_the_brim = dice_.Percent(60);
  if (to_the_brim) {
    Operation sync = Make(Call::kSyncStream);
    sync.stream = stream;
    Emit(sync);
    Emit(Make(Call::kOpenGate));
    Operation close = Make(Call::kCloseGate);
    close.stream = stream;
    if (Emit(close)) flood.height = kQueueDepth - 1;
  }
  if (!Emit(flood) || dice_.Percent(60)) return;
  AddAbortStep();
}

void Generator::AddSectionAbort() {
  Operation close = Make(Call::kCloseGate);
  close.stream = PickStream();
  if (dice_.Percent(80)) Emit(close);
  focus_ = close.stream;
  for (int i = 1 + dice_.Below(3); i > 0; --i)
    AddCopy();
  Operation end = Make(dice_.Percent(70) ? Call::kAbortStream : Call::kOpenGate);
  end.stream = close.stream;
  end.value = dice_.Percent(50) ? kWhileSubmitting : 0;
  if (Emit(end) && dice_.Percent(50)) AddCopy();
  focus_ = kNull;
}

void Generator::AddSection(Theme theme) {
  if (!Emit(Make(Call::kFork))) return;
  const std::size_t steps = dice_.Between(4, 14);
  for (std::size_t i = 0; i < steps; ++i) {
    thread_ = dice_.Below(kThreads);
    const int choice = dice_.Below(100);
    if (choice < (theme == Theme::kSections ? 30 : 8)) {
      AddSectionAbort();
    } else if (choice < 30) {
      AddMemoryStep();
    } else if (choice < 40) {
      AddEventStep();
    } else if (choice < 50) {
      AddSyncStep();
    } else if (choice < 75) {
      AddCopy();
    } else if (choice < 82) {
      AddRows();
    } else if (choice < 92) {
      AddBatch();
    } else {
      AddFill();
    }
  }
  thread_ = 0;
  Emit(Make(Call::kJoin));
}

}  // namespace sampan::model
