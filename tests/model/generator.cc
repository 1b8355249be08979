// Random steps on streams, events and memory.
#include "tests/model/generator.h"

#include <algorithm>

namespace sampan::model {
std::uint64_t Dice::Next() {
  state_ += 0x9E3779B97F4A7C15ULL;
  std::uint64_t value = state_;
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9ULL;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBULL;
  return value ^ (value >> 31);
}

Program Generator::Make(Theme theme) {
  Operation start = Make(Call::kUseDevice);
  start.device = dice_.Below(kDevices);
  Emit(start);
  Prologue();
  const std::size_t steps = dice_.Between(5, 40);
  for (std::size_t i = 0; i < steps; ++i) {
    if (i % 8 == 0 && theme == Theme::kPools) AddPoolStep();
    if (i % 8 == 0 && theme == Theme::kMappings) AddMapStep();
    if (i == 4 && theme == Theme::kFloods) AddFlood();
    if (i % 8 == 0 && theme == Theme::kSections) AddSection(theme);
    AddStep();
  }
  Epilogue();
  return program_;
}

void Generator::Prologue() {
  for (int slot = 0; slot < 4; ++slot) {
    static constexpr Memory kFirst[] = {Memory::kDevice, Memory::kDevice, Memory::kPinned, Memory::kPageable};
    Operation allocate = Make(Call::kAllocate);
    allocate.slot = slot;
    allocate.memory = kFirst[slot];
    allocate.bytes = PickSize();
    Emit(allocate);
  }
  const int streams = dice_.Below(4);
  for (int slot = 0; slot < streams; ++slot) {
    Operation create = Make(Call::kCreateStream);
    create.slot = slot;
    Emit(create);
  }
  Operation event = Make(Call::kCreateEvent);
  if (dice_.Percent(80)) Emit(event);
  Operation peer = Make(Call::kSetPeerAccess);
  peer.value = 1;
  if (dice_.Percent(25)) Emit(peer);
}

Operation Generator::Make(Call call) const {
  Operation op;
  op.call = call;
  op.device = model_.current_device();
  op.thread = thread_;
  return op;
}

void Generator::Epilogue() {
  thread_ = 0;
  Emit(Make(Call::kJoin));
  Emit(Make(Call::kOpenGate));
  while (model_.held_signal()) {
    const auto hold = model_.held_signal();
    if (SendSignal(0)) continue;
    GiveUp(*hold);
    const auto still = model_.held_signal();
    if (still && still->task == hold->task) break;  // the executor drops it
  }
  for (int context = kContexts - 1; context >= 0; --context) {
    if (!model_.context(context).live) continue;
    Enter(context, 0);
    for (int slot = kNull; slot < kStreams; ++slot) {
      if (slot != kNull && (!model_.stream(slot).live || model_.stream(slot).context != context)) continue;
      Operation sync = Make(Call::kSyncStream);
      sync.stream = slot;
      Emit(sync);
    }
  }
  for (int slot = 0; slot < kBuffers; ++slot) {
    const Buffer& buffer = model_.buffer(slot);
    if (buffer.state != Buffer::State::kLive) continue;
    Operation again = Make(Call::kMapAgain);
    again.slot = slot;
    if (buffer.unmapped) Emit(again);
    for (int device = 0; device < kDevices && !buffer.all_rights(); ++device) {
      Operation access = Make(Call::kSetAccess);
      access.slot = slot;
      access.device = device;
      access.value = static_cast<std::uint32_t>(Rights::kAll);
      Emit(access);
    }
    Operation verify = Make(Call::kVerify);
    verify.slot = slot;
    Emit(verify);
  }
}

void Generator::AddStep() {
  if (dice_.Percent(10)) focus_ = kNull;
  const int choice = dice_.Below(1000);
  if (choice < 110) return AddMemoryStep();
  if (choice < 220) return AddStreamStep();
  if (choice < 310) return AddEventStep();
  if (choice < 400) return AddSyncStep();
  if (choice < 570) return AddCopy();
  if (choice < 630) return AddRows();
  if (choice < 705) return AddBatch();
  if (choice < 755) return AddFill();
  if (choice < 825) return AddDescriptorStep();
  if (choice < 858) return AddCellStep();
  if (choice < 870) return AddPoolStep();
  if (choice < 910) return AddAbortStep();
  if (choice < 945) return AddSignalStep();
  if (choice < 965) return AddWordStep();
  if (choice < 980) return AddContextStep();
  if (choice < 989) return AddMapStep();
  if (choice < 999) return AddSection(Theme::kAny);
  return AddFlood();
}

int Generator::PickBuffer(bool on_device, bool any_device) {
  std::vector<int> fitting;
  for (int slot = 0; slot < kBuffers; ++slot) {
    const Buffer& buffer = model_.buffer(slot);
    if (buffer.state != Buffer::State::kLive || buffer.on_device() != on_device) continue;
    if (on_device && !any_device && buffer.device != model_.current_device()) continue;
    fitting.push_back(slot);
  }
  return fitting.empty() ? kNull : fitting[dice_.Below(static_cast<int>(fitting.size()))];
}

int Generator::PickAnyBuffer() {
  const bool on_device = dice_.Percent(50);
  const int slot = PickBuffer(on_device, true);
  return slot != kNull ? slot : PickBuffer(!on_device, true);
}

int Generator::PickStream() {
  if (focus_ != kNull && dice_.Percent(70)) return focus_;
  std::vector<int> fitting;
  if (dice_.Percent(2)) {
    for (int slot = 0; slot < kStreams; ++slot) {
      if (model_.stream(slot).created && !model_.stream(slot).live) return slot;
    }
  }
  const bool foreign = dice_.Percent(3);
  for (int slot = 0; slot < kStreams; ++slot) {
    if (model_.stream(slot).live && (model_.stream(slot).context != model_.current_context()) == foreign) {
      fitting.push_back(slot);
    }
  }
  if (fitting.empty() || dice_.Percent(10)) return kNull;
  return fitting[dice_.Below(static_cast<int>(fitting.size()))];
}

int Generator::PickEvent(bool recorded) {
  std::vector<int> fitting;
  for (int slot = 0; slot < kEvents; ++slot) {
    const Event& event = model_.event(slot);
    if (!event.live || event.form == EventForm::kTimeOnly) continue;
    if (model_.forked() && slot % kThreads != thread_) continue;
    const bool recordable = event.form == EventForm::kEx || !event.recorded();
    if (recorded ? event.recorded() : recordable) fitting.push_back(slot);
  }
  return fitting.empty() ? kNull : fitting[dice_.Below(static_cast<int>(fitting.size()))];
}

std::size_t Generator::PickSize() {
  const int choice = dice_.Below(100);
  if (choice < 15) return dice_.Between(1, 64);
  if (choice < 90) return dice_.Between(65, 4000);
  if (choice < 99) return dice_.Between(4001, 70000);
  return dice_.Between(1u << 20, (1u << 20) + 5000);
}

Address Generator::PickRange(int slot, std::size_t bytes) {
  const std::size_t room = model_.buffer(slot).reach - bytes;
  if (dice_.Percent(20)) return {slot, room};
  return {slot, dice_.Percent(30) ? 0 : dice_.Between(0, room)};
}

/// Whether the library can map memory at reserved addresses here.
bool MapsMemory() {
  static const bool maps = [] {
    void* range = nullptr;
    if (aclrtReserveMemAddress(&range, 1, 0, nullptr, 0) != ACL_SUCCESS) return false;
    return aclrtReleaseMemAddress(range) == ACL_SUCCESS;
  }();
  return maps;
}

void Generator::AddMemoryStep() {
  const int slot = dice_.Below(kBuffers);
  const Buffer& buffer = model_.buffer(slot);
  if (buffer.state != Buffer::State::kLive) {
    static constexpr Memory kChoices[] = {
        Memory::kDevice,   Memory::kDevice, Memory::kPinned, Memory::kPinned, Memory::kRegistered,
        Memory::kPageable, Memory::kPool,   Memory::kPool,   Memory::kPool,   Memory::kMapped};
    Operation allocate = Make(Call::kAllocate);
    allocate.slot = slot;
    allocate.memory = kChoices[dice_.Below(MapsMemory() ? 10 : 9)];
    const bool plain = allocate.memory != Memory::kPool && allocate.memory != Memory::kMapped;
    allocate.bytes = plain && dice_.Percent(2) ? 0 : PickSize();
    if (allocate.memory == Memory::kPool) {
      // Few sizes, so that blocks are handed on.
      static constexpr std::size_t kSizes[] = {64, 800, 800, 5000};
      allocate.bytes = kSizes[dice_.Below(4)];
      allocate.stream = PickStream();
    }
    Emit(allocate);
    return;
  }
  if (dice_.Percent(buffer.memory == Memory::kPool ? 30 : 60)) return;
  Operation free = Make(Call::kFree);
  free.dst.slot = slot;
  free.memory = buffer.memory;
  free.value = dice_.Percent(25) ? 1 : 0;
  free.stream = PickStream();
  if (dice_.Percent(15) && buffer.reach > 1) free.dst.offset = dice_.Between(1, buffer.reach - 1);
  if (dice_.Percent(10)) free.memory = Memory::kPinned;
  if (!Emit(free) || dice_.Percent(75)) return;
  Emit(free);  // once more: refused
  AddCopy();   // with some luck of the freed memory
}

void Generator::AddStreamStep() {
  const int slot = dice_.Below(kStreams);
  if (!model_.stream(slot).live && dice_.Percent(60)) {
    Operation create = Make(Call::kCreateStream);
    create.slot = slot;
    Emit(create);
    return;
  }
  const int choice = dice_.Below(12);
  if (choice < 2) {
    Operation destroy = Make(Call::kDestroyStream);
    destroy.stream = dice_.Percent(10) ? kNull : slot;
    destroy.value = dice_.Percent(30) ? 1 : 0;
    Emit(destroy);
  } else if (choice < 4) {
    Operation use = Make(Call::kUseDevice);
    use.device = 1 - model_.current_device();
    Emit(use);
  } else if (choice < 5) {
    Operation peer = Make(Call::kSetPeerAccess);
    peer.value = model_.peer_access(model_.current_device()) ? 0 : 1;
    Emit(peer);
  } else if (choice < 9) {
    Operation close = Make(Call::kCloseGate);
    close.stream = PickStream();
    Emit(close);
  } else {
    Operation function = Make(Call::kHostFunction);
    const int buffer = PickBuffer(false);
    if (buffer == kNull) return;
    function.stream = PickStream();
    function.value = static_cast<std::uint32_t>(dice_.Between(1, 255));
    function.bytes = dice_.Between(1, std::min<std::size_t>(model_.buffer(buffer).reach, 300));
    function.dst = PickRange(buffer, function.bytes);
    Emit(function);
  }
}

void Generator::AddEventStep() {
  const int slot = dice_.Below(kEvents);
  if (!model_.event(slot).created || (!model_.event(slot).live && dice_.Percent(70))) {
    static constexpr EventForm kForms[] = {EventForm::kEx,      EventForm::kEx,     EventForm::kEx,
                                           EventForm::kLegacy,  EventForm::kLegacy, EventForm::kLegacySync,
                                           EventForm::kTimeOnly};
    Operation create = Make(Call::kCreateEvent);
    create.event = slot;
    create.form = kForms[dice_.Below(7)];
    Emit(create);
    return;
  }
  static constexpr Call kCalls[] = {Call::kRecord, Call::kRecord,     Call::kRecord,
                                    Call::kWait,   Call::kWait,       Call::kWait,
                                    Call::kWait,   Call::kResetEvent, Call::kDestroyEvent};
  Operation op = Make(kCalls[dice_.Below(9)]);
  op.event = dice_.Percent(3) ? (dice_.Percent(50) ? kNull : kWild) : slot;
  op.stream = dice_.Percent(3) ? kWild : PickStream();
  Emit(op);
}

void Generator::AddSyncStep() {
  static constexpr Call kCalls[] = {Call::kSyncStream, Call::kSyncStream,  Call::kSyncEvent,
                                    Call::kSyncDevice, Call::kQueryStream, Call::kQueryEvent,
                                    Call::kVerify,     Call::kVerify,      Call::kOpenGate};
  Operation op = Make(kCalls[dice_.Below(9)]);
  op.value = static_cast<std::uint32_t>(dice_.Below(2));
  op.stream = dice_.Percent(3) ? kWild : PickStream();
  op.event = dice_.Below(kEvents);
  op.slot = dice_.Below(kBuffers);
  Emit(op);
}

}  // namespace sampan::model
