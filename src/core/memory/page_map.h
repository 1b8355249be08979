// Finds the allocation at an address: a tree over pages that is read without a lock.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "backend/api/allocation.h"

namespace sampan {

/// Every page belongs to at most one allocation, so allocations begin on page boundaries. Any number of
/// readers run beside one writer; writers exclude each other outside. Tables are never freed before the map
/// is: a reader may be inside.
class PageMap {
 public:
  static constexpr std::size_t kPageBytes = 4096;

  PageMap();
  ~PageMap();
  PageMap(const PageMap&) = delete;
  PageMap& operator=(const PageMap&) = delete;

  /// The allocation whose pages include the address, or null. The pointer is only a hint: the record may be
  /// another allocation's by the time that TryUse succeeds on it.
  Allocation* Find(std::uintptr_t address) const {
    if ((address >> kAddressBits) != 0) return nullptr;
    std::uintptr_t entry = top_[address >> kTopShift].load(std::memory_order_acquire);
    if (const Table* const middle = TableIn(entry)) {
      entry = EntryIn(*middle, address >> kMiddleShift);
      if (const Table* const last = TableIn(entry)) entry = EntryIn(*last, address >> kPageShift);
    }
    return reinterpret_cast<Allocation*>(entry);
  }
  /// Whether any page of the range is taken.
  bool AnyIn(std::uintptr_t address, std::size_t bytes) const;
  /// Throws std::bad_alloc with nothing changed.
  void Insert(Allocation& allocation);
  void Erase(Allocation& allocation) noexcept;

 private:
  // Three levels: 1 GiB, 2 MiB, 4 KiB. An allocation that fills a whole entry stands in it directly.
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
  /// Makes the tables that setting this range will need.
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

}  // namespace sampan
