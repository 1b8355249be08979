// Finds the allocation at an address: a tree of pages that readers use without a lock.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "backend/api/allocation.h"

namespace sampan::core {

/// Every page belongs to at most one allocation, so allocations begin on page boundaries. Any number of
/// readers run beside one writer. The caller serializes writers. Tables live as long as the map, because a
/// reader may use them.
class PageMap {
 public:
  static constexpr std::size_t kPageBytes = 4096;

  PageMap();
  ~PageMap();
  PageMap(const PageMap&) = delete;
  PageMap& operator=(const PageMap&) = delete;

  /// Returns the allocation of the page, or null. The pointer is only a hint: the record may belong to
  /// another allocation when TryUse succeeds.
  Allocation* Find(std::uintptr_t address) const {
    if ((address >> kAddressBits) != 0) return nullptr;
    std::uintptr_t entry = top_[address >> kTopShift].load(std::memory_order_acquire);
    if (const Table* const middle = TableIn(entry)) {
      entry = EntryIn(*middle, address >> kMiddleShift);
      if (const Table* const last = TableIn(entry)) entry = EntryIn(*last, address >> kPageShift);
    }
    return reinterpret_cast<Allocation*>(entry);
  }
  /// Returns true if a page of the range belongs to an allocation.
  bool AnyIn(std::uintptr_t address, std::size_t bytes) const;
  /// May throw std::bad_alloc, and then changes nothing.
  void Insert(Allocation& allocation);
  void Erase(Allocation& allocation) noexcept;

 private:
  // Three levels: 1 GiB, 2 MiB, 4 KiB. An allocation that covers a whole entry is stored in it directly.
  static constexpr unsigned kAddressBits = 48;
  static constexpr unsigned kTopShift = 30;
  static constexpr unsigned kTableBits = 9;
  static constexpr std::size_t kTableEntries = std::size_t{1} << kTableBits;
  static constexpr std::size_t kTopEntries = std::size_t{1} << (kAddressBits - kTopShift);
  static constexpr unsigned kMiddleShift = kTopShift - kTableBits, kPageShift = 12;
  static_assert(kPageShift == kMiddleShift - kTableBits);

  using Entry = std::atomic<std::uintptr_t>;  // 0, an Allocation*, or a Table* with the lowest bit set
  using Table = std::array<Entry, kTableEntries>;

  static Table* TableIn(std::uintptr_t entry) {
    return (entry & 1) != 0 ? reinterpret_cast<Table*>(entry - 1) : nullptr;
  }
  static std::uintptr_t EntryIn(const Table& table, std::uintptr_t index) {
    return table[index & (kTableEntries - 1)].load(std::memory_order_acquire);
  }
  Table* MakeTable(Entry& entry);
  /// Creates the tables that setting this range needs.
  void Prepare(Entry* entries, unsigned shift, std::uintptr_t first, std::uintptr_t last);
  void Set(Entry* entries, unsigned shift, std::uintptr_t first, std::uintptr_t last,
           std::uintptr_t value) noexcept;
  static bool Any(const Entry* entries, unsigned shift, std::uintptr_t first, std::uintptr_t last);

  struct Free {
    void operator()(Entry* entries) const { std::free(entries); }
  };
  std::unique_ptr<Entry[], Free> top_;
  std::vector<std::unique_ptr<Table>> tables_;
};

}  // namespace sampan::core
