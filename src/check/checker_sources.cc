// Writes of the host to the sources of copies, where its accesses cannot be seen: found by checksums.
#include <algorithm>
#include <utility>

#include "check/checker.h"
#include "check/host/host_aliases.h"
#include "check/host/page_guard.h"
#include "check/session.h"

namespace sampan::check {

void Checker::NoteUnguarded(CheckedMemory& memory) {
  const Range all{0, memory.facts.bytes};
  const std::uint64_t guarded =
      guards_pages_ && memory.can_guard() ? GuardablePages(memory).end - memory.facts.address : 0;
  if (!memory.is_pinned() || guarded >= all.end) return;
  memory.unguarded = {guarded, all.end};
  has_unguarded_ = true;
}

bool Checker::MayBeSummed(const observe::MemoryEvent& memory) {
  if (memory.kind == observe::MemoryKind::kOwn) return true;
  if (memory.kind != observe::MemoryKind::kRegistered || memory.place.on_device()) return false;
  if (memory.engine_delta != 0 && memory.bytes % HostPageBytes() == 0) return false;  // all pages are guarded
  const Range addresses{memory.address, memory.address + memory.bytes};
  const HostAliases* const aliases = Aliases();
  return aliases != nullptr ? aliases->IsPrivate(addresses) : HostAliases().IsPrivate(addresses);
}

void Checker::BeginWrites(const Submitting& task) {
  if (!has_unguarded_) return;
  EndWrites();
  // The bytes that such a copy writes are not known yet.
  if (task.indirect) {
    for (CheckedMemory* const memory : summed_)
      memory->sources.DropAll();
  }
  bool writes = task.indirect;
  for (const TaskAccess& access : task.accesses.all) {
    if (access.use != Use::kWrite && access.use != Use::kWordWrite) continue;
    CheckedMemory* const memory = memory_.Find(access.allocation);
    if (memory == nullptr || memory->unguarded.bytes() == 0) continue;
    memory->sources.Drop(access.shape);
    writes = true;
  }
  if (!writes) return;
  ThisThreadMark().submits_writes = true;
  ++submitted_writes_;
}

void Checker::EndWrites() noexcept {
  if (!std::exchange(ThisThreadMark().submits_writes, false)) return;
  --submitted_writes_;
}

void Checker::SumSource(CheckedMemory& memory, const TaskAccess& access, const SharedSite& site) {
  const bool counts = access.use == Use::kRead && memory.unguarded.Touches(access.shape.range);
  if (!counts || memory.was_given_up || writes_hidden_) return;
  // Work that may still write there changes the bytes as well.
  const TaskAccess reading{0, access.shape, Use::kRead};
  const bool is_written = submitted_writes_ != 0 || !indirect_.empty() ||
                          memory.history.FindConflict(reading, 0, 0, order_.host()).site != nullptr ||
                          order_.AnyWaiting([&](const TaskAccess& each) {
                            return each.allocation == access.allocation && each.use != Use::kRead &&
                                   each.shape.Common(access.shape).has_value();
                          });
  if (is_written) return;
  if (memory.sources.empty()) summed_.push_back(&memory);
  memory.sources.Add(memory.facts.address, access, memory.unguarded, site);
  if (memory.sources.empty()) summed_.pop_back();
}

void Checker::JudgeSources(const TaskSite* teller) {
  std::erase_if(summed_, [&](CheckedMemory* memory) {
    memory->sources.TakeKnown(memory->facts.address, order_.host(), [&](const SourceSums::Change& change) {
      if (memory->was_given_up || writes_hidden_) return;
      const ThreadMark& thread = ThisThreadMark();
      Acting told{.call = thread.outer, .thread = thread.number};
      if (teller != nullptr) {
        told = {.call = teller->call, .stack = teller->stack, .thread = teller->thread};
      } else {
        told.stack = CaptureStack();
      }
      ReportChanged(*memory, change, told);
    });
    return memory->sources.empty();
  });
}

}  // namespace sampan::check
