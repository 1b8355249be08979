// Memory that was freed in stream order, in the registry: opened again, or kept for earlier tasks.
#include <utility>

#include "base/error/assert.h"
#include "base/error/text.h"
#include "core/memory/memory_registry.h"
#include "observe/hooks.h"

namespace sampan::core {

Allocation* MemoryRegistry::Revive(Allocation& parked, std::size_t asked_bytes, bool work_is_pending) {
  SAMPAN_ASSERT(parked.parked() && asked_bytes <= parked.facts.bytes);
  if (!work_is_pending && parked.facts.asked_bytes == asked_bytes && backtraces_ == nullptr &&
      !observe::On()) {
    parked.Unpark();
    return &parked;
  }
  // Tasks may still use the record, and facts are fixed for them.
  const Record& record = static_cast<const Record&>(parked);
  AllocationFacts facts = FactsOf(record.facts);
  facts.asked_bytes = asked_bytes;
  Allocation* const successor =
      *Publish(std::move(facts), record.origin, {record.readers.load(), record.writers.load()}, &record);
  parked.Retire();
  return successor;
}

Allocation* MemoryRegistry::FreeAndLinger(Allocation& allocation) {
  Record& record = static_cast<Record&>(allocation);
  AllocationFacts facts = record.facts;
  const std::lock_guard lock(mutex_);
  Record& lingering = TakeRecord();
  if (!record.MarkFreed()) {
    unused_records_.push_back(&lingering);
    return nullptr;
  }
  lingering.facts = std::move(facts);
  lingering.origin = record.origin;
  lingering.readers.store(record.readers.load());
  lingering.writers.store(record.writers.load());
  lingering.BeginParked(*this);
  pages_.Insert(lingering);  // does not throw: the tables of these pages exist
  return &lingering;
}

MemoryKeeper* MemoryRegistry::HandoverOf(const AllocationUse& use) const {
  if (!use) return nullptr;
  const Record& record = static_cast<const Record&>(*use.get());
  return record.in_handover.load(std::memory_order_relaxed) ? record.origin.keeper.get() : nullptr;
}

Status MemoryRegistry::CheckHandover(const AllocationUse& use) const {
  MemoryKeeper* const keeper = AnyHandover() ? HandoverOf(use) : nullptr;
  if (keeper == nullptr || keeper->HandoverIsOver()) return {};
  return {Code::kSdmaCopyError,
          Text("queued work of an earlier owner still uses the memory: the stream that took it was aborted: ",
               Describe(*use.get()))};
}

void MemoryRegistry::Retire(Allocation& allocation) noexcept {
  Tell(static_cast<Record&>(allocation), observe::MemoryChange::kDropped);
  RetireLingering(allocation);
}

void MemoryRegistry::RetireLingering(Allocation& lingering) noexcept {
  SAMPAN_ASSERT(lingering.parked());
  Unpublish(static_cast<Record&>(lingering));
  lingering.Retire();
}

}  // namespace sampan::core
