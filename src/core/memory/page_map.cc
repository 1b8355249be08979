// Finds the allocation at an address: a tree of pages that readers use without a lock.
#include "core/memory/page_map.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "base/error/assert.h"

namespace sampan::core {
namespace {

struct PageRange {
  std::uintptr_t first, last;  // addresses of bytes in the first and the last page
};

PageRange PagesOf(std::uintptr_t address, std::size_t bytes) {
  return {address, address + bytes - 1};
}

/// Calls `each(index, from, to)` for each entry of this level that overlaps the range; [from, to] is the
/// overlap.
template <typename Each>
void ForEntries(unsigned shift, std::uintptr_t mask, std::uintptr_t first, std::uintptr_t last, Each each) {
  for (std::uintptr_t from = first; from <= last;) {
    const std::uintptr_t end = from | ((std::uintptr_t{1} << shift) - 1);
    each((from >> shift) & mask, from, std::min(end, last));
    if (end == UINTPTR_MAX) return;
    from = end + 1;
  }
}

/// Returns true if [from, to] covers all pages of an entry of this level.
bool Whole(unsigned shift, unsigned page_shift, std::uintptr_t from, std::uintptr_t to) {
  const std::uintptr_t entry_pages = std::uintptr_t{1} << (shift - page_shift);
  return (to >> page_shift) - (from >> page_shift) + 1 == entry_pages;
}

}  // namespace

// calloc gives zero pages of the system, so only used parts cost memory. All-zero bytes are valid entries.
PageMap::PageMap() : top_(static_cast<Entry*>(std::calloc(kTopEntries, sizeof(Entry)))) {
  if (top_ == nullptr) throw std::bad_alloc();
}
PageMap::~PageMap() = default;

PageMap::Table* PageMap::MakeTable(Entry& entry) {
  const std::uintptr_t before = entry.load(std::memory_order_relaxed);
  if (Table* table = TableIn(before)) return table;
  tables_.push_back(std::make_unique<Table>());
  Table* table = tables_.back().get();
  for (Entry& each : *table)
    each.store(before, std::memory_order_relaxed);
  entry.store(reinterpret_cast<std::uintptr_t>(table) | 1, std::memory_order_release);
  return table;
}

void PageMap::Prepare(Entry* entries, unsigned shift, std::uintptr_t first, std::uintptr_t last) {
  const std::uintptr_t mask = shift == kTopShift ? kTopEntries - 1 : kTableEntries - 1;
  ForEntries(shift, mask, first, last, [&](std::uintptr_t index, std::uintptr_t from, std::uintptr_t to) {
    if (shift == kPageShift) return;
    Entry& entry = entries[index];
    if (Whole(shift, kPageShift, from, to) && TableIn(entry.load(std::memory_order_relaxed)) == nullptr)
      return;
    Prepare(MakeTable(entry)->data(), shift - kTableBits, from, to);
  });
}

void PageMap::Set(Entry* entries, unsigned shift, std::uintptr_t first, std::uintptr_t last,
                  std::uintptr_t value) noexcept {
  const std::uintptr_t mask = shift == kTopShift ? kTopEntries - 1 : kTableEntries - 1;
  ForEntries(shift, mask, first, last, [&](std::uintptr_t index, std::uintptr_t from, std::uintptr_t to) {
    Entry& entry = entries[index];
    if (Table* table = TableIn(entry.load(std::memory_order_relaxed))) {
      Set(table->data(), shift - kTableBits, from, to, value);
    } else {
      entry.store(value, std::memory_order_release);
    }
  });
}

bool PageMap::Any(const Entry* entries, unsigned shift, std::uintptr_t first, std::uintptr_t last) {
  const std::uintptr_t mask = shift == kTopShift ? kTopEntries - 1 : kTableEntries - 1;
  bool any = false;
  ForEntries(shift, mask, first, last, [&](std::uintptr_t index, std::uintptr_t from, std::uintptr_t to) {
    const std::uintptr_t entry = entries[index].load(std::memory_order_relaxed);
    if (const Table* table = TableIn(entry)) {
      any = any || Any(table->data(), shift - kTableBits, from, to);
    } else {
      any = any || entry != 0;
    }
  });
  return any;
}

bool PageMap::AnyIn(std::uintptr_t address, std::size_t bytes) const {
  const PageRange pages = PagesOf(address, bytes);
  return Any(top_.get(), kTopShift, pages.first, pages.last);
}

void PageMap::Insert(Allocation& allocation) {
  const PageRange pages = PagesOf(allocation.facts.address, allocation.facts.bytes);
  SAMPAN_ASSERT(pages.first <= pages.last && (pages.last >> kAddressBits) == 0);
  Prepare(top_.get(), kTopShift, pages.first, pages.last);
  Set(top_.get(), kTopShift, pages.first, pages.last, reinterpret_cast<std::uintptr_t>(&allocation));
}

void PageMap::Erase(Allocation& allocation) noexcept {
  SAMPAN_ASSERT(Find(allocation.facts.address) == &allocation);
  const PageRange pages = PagesOf(allocation.facts.address, allocation.facts.bytes);
  Set(top_.get(), kTopShift, pages.first, pages.last, 0);
}

}  // namespace sampan::core
