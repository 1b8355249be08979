// The findings of the checker in words.
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "check/checker.h"
#include "observe/hooks.h"

namespace sampan::check {
namespace {

std::string_view WhatIs(const Place& place, bool registered) {
  switch (place.kind) {
    case PlaceKind::kDevice:
      return "device memory";
    case PlaceKind::kPinned:
      return registered ? "registered host memory" : "pinned host memory";
    case PlaceKind::kPageable:
      break;
  }
  return "pageable host memory";
}

std::string_view DoesOf(Use use) {
  if (use == Use::kWordWait) return "wait";
  return use == Use::kWrite || use == Use::kWordWrite ? "write" : "read";
}
std::string_view VerbOf(std::string_view does) {
  return does == "write" ? "writes" : "reads";
}

void AddBytes(MessageText& text, const Range& range) {
  if (range.bytes() == 1) {
    text.Add("byte ").Add(range.begin);
    return;
  }
  text.Add("bytes ").Add(range.begin).Add(" to ").Add(range.end - 1);
}

void AddBuffer(MessageText& text, const BufferReport& buffer) {
  text.Add(" of the ").Add(buffer.bytes).Add(" bytes of ").Add(buffer.what).Add(" that ").Add(buffer.call);
  text.Add(" made at {buffer}");
}

}  // namespace

BufferReport Checker::BufferOf(const CheckedMemory& memory) const {
  const observe::MemoryEvent& facts = memory.facts;
  return {.what = WhatIs(facts.place, facts.kind == observe::MemoryKind::kRegistered),
          .device = facts.place.on_device() ? facts.place.device : -1,
          .address = facts.address,
          .bytes = facts.bytes,
          .call = facts.made_by,
          .stack = memory.stack};
}

AccessReport Checker::ReportOf(const Conflict& conflict) {
  const TaskSite& site = *conflict.site;
  return {.call = site.call,
          .does = DoesOf(conflict.use),
          .device = site.queue.device,
          .stream = site.queue.stream,
          .entry = conflict.entry,
          .thread = site.thread,
          .range = conflict.all,
          .stack = site.stack};
}

AccessReport Checker::ReportOf(const TaskAccess& access, const Acting& acting) {
  return {.call = acting.call,
          .does = DoesOf(access.use),
          .device = acting.device,
          .stream = acting.site == nullptr ? -1 : static_cast<std::int64_t>(acting.site->queue.stream),
          .entry = access.entry,
          .thread = acting.thread,
          .range = access.shape.range,
          .stack = acting.stack};
}

void Checker::ReportConflict(const CheckedMemory& memory, const Conflict& earlier, const TaskAccess& later,
                             const Acting& acting, bool fills) {
  const BufferReport buffer = BufferOf(memory);
  std::array accesses = {ReportOf(earlier), ReportOf(later, acting)};
  MessageText message;
  FindingKind kind = FindingKind::kRace;
  std::string_view fix =
      "let the stream of {1} wait for an event that is recorded behind {0}, or synchronize before {1}";
  if (earlier.use == Use::kOperand || later.use == Use::kOperand) {
    kind = FindingKind::kStaleDescriptor;
    message.Add(earlier.use == Use::kOperand
                    ? "{1} changes a descriptor that the copy of {0} may not have read yet: "
                    : "the copy of {1} reads a descriptor that {0} may still be writing: ");
    fix = "change a descriptor only when the copies that use it are over, and let copies wait for the change";
  } else if (fills && memory.is_pinned() && acting.site == nullptr) {
    kind = FindingKind::kHostWriteInFlight;
    message.Add("{1} fills memory that the copy of {0} may still ");
    message.Add(earlier.use == Use::kWrite ? "write: " : "read: ");
    fix = "synchronize the stream of {0} before {1}";
  } else if (acting.site != nullptr && earlier.site == acting.site) {
    message.Add(
        "two entries of the batch of {0} touch the same bytes, and the entries have no order: entry ");
    message.Add(earlier.entry).Add(" ").Add(VerbOf(accesses[0].does)).Add(" and entry ").Add(later.entry);
    message.Add(" ").Add(VerbOf(accesses[1].does)).Add(" ");
    fix = "give the entries of one batch different destinations, or make two calls of {0}";
  } else {
    // What waited for ranks is judged later than it was submitted.
    if (acting.site != nullptr && acting.site->serial < earlier.site->serial)
      std::swap(accesses[0], accesses[1]);
    message.Add("{0} ").Add(VerbOf(accesses[0].does)).Add(" and {1} ").Add(VerbOf(accesses[1].does));
    message.Add(" the same memory, and nothing orders the two: ");
  }
  AddBytes(message, earlier.common);
  AddBuffer(message, buffer);
  findings_.Report({.kind = kind,
                    .message = message.text(),
                    .fix = fix,
                    .buffer = &buffer,
                    .overlap = &earlier.common,
                    .accesses = accesses});
}

void Checker::ReportHost(const CheckedMemory& memory, const Conflict& earlier,
                         const AccessReport& host) noexcept {
  const BufferReport buffer = BufferOf(memory);
  const std::array accesses = {ReportOf(earlier), host};
  const bool writes = host.does == "write";
  MessageText message;
  message.Add("the host ").Add(VerbOf(host.does)).Add(" at {1} what the copy of {0} ");
  message.Add(VerbOf(accesses[0].does)).Add(", and nothing told it that the copy is over: ");
  AddBytes(message, earlier.common);
  AddBuffer(message, buffer);
  findings_.Report({.kind = writes ? FindingKind::kHostWriteInFlight : FindingKind::kHostReadBeforeSync,
                    .message = message.text(),
                    .fix = writes
                               ? "synchronize the stream of {0} before {1} writes the buffer, or use another "
                                 "buffer"
                               : "call aclrtSynchronizeStream(stream) before {1} reads the buffer",
                    .buffer = &buffer,
                    .overlap = &earlier.common,
                    .accesses = accesses});
}

void Checker::ReportChanged(const CheckedMemory& memory, const SourceSums::Change& change,
                            const Acting& told) {
  const BufferReport buffer = BufferOf(memory);
  const TaskSite& site = *change.site;
  AccessReport copy = ReportOf({change.site, change.all, change.changed, Use::kRead, change.entry});
  const std::array accesses = {copy, AccessReport{.call = told.call,
                                                  .does = "wait",
                                                  .device = site.queue.device,
                                                  .stream = site.queue.stream,
                                                  .thread = told.thread,
                                                  .stack = told.stack}};
  MessageText message;
  message.Add("the host has changed what the copy of {0} reads, before {1} told it that the copy is over: ");
  AddBytes(message, change.changed);
  AddBuffer(message, buffer);
  findings_.Report({.kind = FindingKind::kHostWriteInFlight,
                    .message = message.text(),
                    .fix = "synchronize the stream of {0} before the host writes the buffer, or use another "
                           "buffer",
                    .buffer = &buffer,
                    .overlap = &change.changed,
                    .accesses = accesses});
}

void Checker::ReportFreed(const CheckedMemory& memory, const Conflict& earlier,
                          const AccessReport& freeing) noexcept {
  const BufferReport buffer = BufferOf(memory);
  const std::array accesses = {ReportOf(earlier), freeing};
  MessageText message;
  message.Add("{1} frees memory that the work of {0} may still use: ");
  AddBytes(message, earlier.all);
  AddBuffer(message, buffer);
  findings_.Report({.kind = FindingKind::kFreedInFlight,
                    .message = message.text(),
                    .fix = "synchronize the stream of {0} before {1}",
                    .buffer = &buffer,
                    .overlap = &earlier.all,
                    .accesses = accesses});
}

void Checker::ReportUseAfterFree(const FreedMemory& freed, const AccessReport& use) noexcept {
  const BufferReport buffer{.what = WhatIs(freed.place, freed.registered),
                            .device = freed.place.on_device() ? freed.place.device : -1,
                            .address = freed.address,
                            .bytes = freed.bytes,
                            .call = freed.made_by,
                            .stack = freed.made_stack};
  const std::array accesses = {AccessReport{.call = freed.freed_by,
                                            .does = "free",
                                            .thread = freed.freed_thread,
                                            .range = {0, freed.bytes},
                                            .stack = freed.freed_stack},
                               use};
  MessageText message;
  message.Add("{1} ").Add(VerbOf(use.does)).Add(" memory that {0} has freed: ");
  AddBytes(message, use.range);
  AddBuffer(message, buffer);
  findings_.Report({.kind = FindingKind::kUseAfterFree,
                    .message = message.text(),
                    .fix = "free the memory at {0} after its last use, which is {1}",
                    .buffer = &buffer,
                    .overlap = &use.range,
                    .accesses = accesses});
}

void Checker::ReportUnwritten(const CheckedMemory& memory, const TaskAccess& access, const Acting& acting) {
  MessageText message;
  message.Add("{0} reads device memory that nothing has written: ");
  AddBytes(message, access.shape.range);
  AddBuffer(message, BufferOf(memory));
  ReportOne(FindingKind::kUninitialisedRead, message.text(),
            "write the memory of {buffer} before {0}, with a copy or with aclrtMemset",
            ReportOf(access, acting), &memory);
}

void Checker::ReportOne(FindingKind kind, std::string_view message, std::string_view fix,
                        const AccessReport& access, const CheckedMemory* memory) {
  const BufferReport buffer = memory == nullptr ? BufferReport{} : BufferOf(*memory);
  findings_.Report({.kind = kind,
                    .message = message,
                    .fix = fix,
                    .buffer = memory == nullptr ? nullptr : &buffer,
                    .overlap = memory == nullptr ? nullptr : &access.range,
                    .accesses = {&access, 1}});
}

void Checker::OnMistake(const observe::Mistake& mistake) noexcept {
  if (observe::ThisThread().serves_operator) return;
  using Kind = observe::Mistake::Kind;
  const StateLock lock(lock_);
  const ThreadMark& thread = ThisThreadMark();
  AccessReport call{.call = thread.outer, .does = "wait", .thread = thread.number, .stack = CaptureStack()};
  if (mistake.queue != nullptr) {
    call.device = mistake.queue->device;
    call.stream = mistake.queue->stream;
  }
  if (mistake.kind == Kind::kNeverRecorded) {
    MessageText message;
    message.Add("the stream waits at {0} for event ").Add(mistake.object);
    message.Add(", which was never recorded: it waits for nothing");
    ReportOne(FindingKind::kWaitWithoutRecord, message.text(), "record the event before {0}", call, nullptr);
    return;
  }
  call.does = mistake.reads ? "read" : "write";
  const FreedMemory* const freed = memory_.FreedAt(mistake.address);
  if (mistake.kind == Kind::kNotAllocated && freed != nullptr &&
      mistake.address - freed->address < freed->bytes) {
    const std::uint64_t begin = mistake.address - freed->address;
    call.range = {begin, begin + mistake.bytes};
    ReportUseAfterFree(*freed, call);
    return;
  }
  if (mistake.kind == Kind::kWrongKind) {
    ReportOne(FindingKind::kWrongKind,
              "the copy of {0} has a kind that contradicts its memory; the runtime goes by the memory",
              "give {0} the kind of its memory, or ACL_MEMCPY_DEFAULT", call, nullptr);
    return;
  }
  const CheckedMemory* const memory = memory_.Find(mistake.allocation);
  MessageText message;
  message.Add("{0} leaves its memory");
  if (memory != nullptr) {
    const std::uint64_t begin = mistake.address - memory->facts.address;
    call.range = {begin, begin + mistake.bytes};
    message.Add(" by ").Add(call.range.end - memory->facts.bytes).Add(" bytes: ");
    AddBytes(message, call.range);
    AddBuffer(message, BufferOf(*memory));
  } else {
    message.Add(": no allocation is at ").AddHex(mistake.address);
    call.range = {0, mistake.bytes};
  }
  ReportOne(FindingKind::kOutOfBounds, message.text(), "check the size and the offset of {0}", call, memory);
}

template <typename Tell>
void Checker::TellLeak(const CheckedMemory& memory, Tell tell) const {
  const observe::MemoryEvent& facts = memory.facts;
  const BufferReport buffer = BufferOf(memory);
  MessageText message;
  message.Add(facts.bytes).Add(" bytes of ").Add(buffer.what).Add(" that ").Add(facts.made_by);
  message.Add(facts.kind == observe::MemoryKind::kRegistered ? " registered at {buffer} are not unregistered"
                                                             : " made at {buffer} are not freed");
  tell(Finding{.kind = FindingKind::kLeak,
               .message = message.text(),
               .fix = "free the memory of {buffer} before the program ends",
               .buffer = &buffer,
               .accesses = {}});
}

template <typename Tell>
void Checker::TellLeak(const LivingStream& stream, Tell tell) {
  MessageText message;
  message.Add("stream ").Add(stream.label.stream).Add(" of device ").Add(stream.label.device);
  message.Add(", made at {0}, is not destroyed");
  const AccessReport made{.call = stream.made.call,
                          .does = "write",
                          .device = stream.label.device,
                          .stream = stream.label.stream,
                          .thread = stream.made.thread,
                          .stack = stream.made.stack};
  tell(Finding{.kind = FindingKind::kLeak,
               .message = message.text(),
               .fix = "call aclrtDestroyStream for the stream of {0}",
               .accesses = {&made, 1}});
}

template <typename Tell>
void Checker::TellLeak(const LivingObject& object, Tell tell) {
  const bool is_event = object.kind == observe::ObjectEvent::Kind::kEvent;
  MessageText message;
  message.Add(is_event ? "an event" : "a context").Add(" of device ").Add(object.device);
  message.Add(", made at {0}, is not destroyed");
  const AccessReport made{.call = object.made.call,
                          .does = "write",
                          .device = object.device,
                          .thread = object.made.thread,
                          .stack = object.made.stack};
  tell(Finding{.kind = FindingKind::kLeak,
               .message = message.text(),
               .fix = is_event ? "call aclrtDestroyEvent for the event of {0}"
                               : "call aclrtDestroyContext for the context of {0}",
               .accesses = {&made, 1}});
}

void Checker::ReportLeaks() {
  const auto report = [&](const Finding& leak) { findings_.Report(leak); };
  memory_.ForAll([&](const CheckedMemory& memory) {
    if (!memory.facts.place.on_device() || !was_reset_) TellLeak(memory, report);
  });
  if (was_reset_) return;
  for (const auto& [number, stream] : streams_) {
    if (!stream.of_context) TellLeak(stream, report);
  }
  for (const auto& [handle, object] : objects_)
    TellLeak(object, report);
}

void Checker::CountHeld(CheckedMemory& memory) {
  const bool of_device = memory.facts.place.on_device();
  if (of_device && was_reset_) return;
  const HeldCounts::Counter counter = held_.Add({memory.stack, memory.facts.bytes, false}, of_device);
  memory.held = counter.number;
  if (counter.is_new)
    TellLeak(memory, [&](const Finding& leak) { findings_.WriteHeld(leak, counter.number); });
}

void Checker::CountHeld(LivingStream& stream) {
  if (stream.of_context || was_reset_) return;
  const HeldCounts::Counter counter = held_.Add({stream.made.stack, 0, true}, true);
  stream.held = counter.number;
  if (counter.is_new)
    TellLeak(stream, [&](const Finding& leak) { findings_.WriteHeld(leak, counter.number); });
}

void Checker::CountHeld(LivingObject& object) {
  if (was_reset_) return;
  const HeldCounts::Counter counter = held_.Add({object.made.stack, 0, false}, true);
  object.held = counter.number;
  if (counter.is_new)
    TellLeak(object, [&](const Finding& leak) { findings_.WriteHeld(leak, counter.number); });
}

void Checker::ReportDeadlock(std::span<const Standing> circle, std::string_view text) noexcept {
  // A finding is one line of 64 KiB, and a stack of it has at most 24 frames.
  constexpr std::size_t kMaxMembers = 48, kMaxStreams = 32;
  std::array<AccessReport, kMaxMembers> members;
  std::size_t count = 0;
  {
    const StateLock lock(lock_);
    for (const Standing& standing : circle) {
      if (count == kMaxStreams) break;  // the calls that wait have room in any case
      AccessReport& member = members[count++];
      member = {.does = "wait", .device = standing.device, .stream = standing.stream};
      if (const OrderedTask* const head = order_.Head(standing.queue)) {
        member.call = head->site->call;
        member.thread = head->site->thread;
        member.stack = head->site->stack;
      }
    }
    for (const WaitingCall& waiting : waiting_) {
      if (waiting.thread == 0 || count == kMaxMembers) continue;
      AccessReport& member = members[count++];
      member = {.call = waiting.call,
                .does = "wait",
                .device = waiting.awaited.device,
                .thread = waiting.thread,
                .stack = waiting.stack};
      if (waiting.awaited.kind == observe::Awaited::kStream) member.stream = waiting.awaited.object;
    }
    constexpr std::size_t kMaxText = 1900;
    FixedText<2048> message;
    message.Add("none of these can go on: ").Add(text.substr(0, kMaxText));
    if (text.size() > kMaxText) message.Add(" ...");
    findings_.Report({.kind = FindingKind::kDeadlock,
                      .message = message.text(),
                      .fix = "give the signal of {0} before the streams wait for one another",
                      .accesses = std::span<const AccessReport>(members).first(count)});
  }
  FinishAt("deadlock");
}

}  // namespace sampan::check
