// The page map: what it finds at the edges of allocations of every size, and after they are gone.
#include "core/memory/page_map.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <random>

namespace sampan::core::page_map_test {
namespace {

constexpr std::size_t kPage = PageMap::kPageBytes;

Allocation& Make(std::deque<Allocation>& records, std::uintptr_t address, std::size_t bytes) {
  Allocation& record = records.emplace_back();
  record.facts.address = address;
  record.facts.bytes = bytes;
  return record;
}

TEST(PageMap, FindsEveryByteAndNothingBeside) {
  // From one byte to more than the largest entry, at boundaries of all levels and off them.
  const std::size_t sizes[] = {1,
                               kPage,
                               kPage + 1,
                               std::size_t{2} << 20,
                               (std::size_t{2} << 20) + kPage,
                               std::size_t{1} << 30,
                               (std::size_t{3} << 30) + 5 * kPage + 7};
  for (const std::uintptr_t base : {std::uintptr_t{1} << 40, (std::uintptr_t{1} << 40) + 7 * kPage}) {
    for (const std::size_t bytes : sizes) {
      PageMap map;
      std::deque<Allocation> records;
      Allocation& record = Make(records, base, bytes);
      EXPECT_FALSE(map.AnyIn(base, bytes));
      map.Insert(record);
      const std::uintptr_t last_page = (base + bytes - 1) / kPage * kPage;
      EXPECT_EQ(map.Find(base), &record);
      EXPECT_EQ(map.Find(base + bytes / 2), &record);
      EXPECT_EQ(map.Find(base + bytes - 1), &record);
      EXPECT_EQ(map.Find(base - 1), nullptr);
      EXPECT_EQ(map.Find(last_page + kPage), nullptr);
      EXPECT_TRUE(map.AnyIn(base + bytes - 1, 1));
      EXPECT_TRUE(map.AnyIn(base - kPage, 3 * kPage));
      EXPECT_FALSE(map.AnyIn(last_page + kPage, std::size_t{1} << 32));
      map.Erase(record);
      EXPECT_EQ(map.Find(base), nullptr);
      EXPECT_FALSE(map.AnyIn(base, bytes));
    }
  }
}

TEST(PageMap, AgreesWithAnOrderedMapOverRandomChanges) {
  std::mt19937_64 random(2026);
  PageMap map;
  std::deque<Allocation> records;
  std::map<std::uintptr_t, Allocation*> expected;
  const std::uintptr_t base = std::uintptr_t{1} << 41;
  const std::uintptr_t span = std::uintptr_t{1} << 33;
  for (int change = 0; change < 4000; ++change) {
    if (!expected.empty() && random() % 3 == 0) {
      const auto victim =
          std::next(expected.begin(), static_cast<std::ptrdiff_t>(random() % expected.size()));
      map.Erase(*victim->second);
      expected.erase(victim);
    } else {
      const std::uintptr_t address = base + random() % (span / kPage) * kPage;
      const std::size_t bytes = 1 + random() % (std::size_t{1} << (random() % 32));
      const auto next = expected.lower_bound(address);
      const bool hits_next = next != expected.end() && next->first < address + bytes;
      const bool hits_before = next != expected.begin() && [&] {
        const AllocationFacts& before = std::prev(next)->second->facts;
        return (before.address + before.bytes - 1) / kPage * kPage + kPage > address;
      }();
      EXPECT_EQ(map.AnyIn(address, bytes), hits_next || hits_before);
      if (hits_next || hits_before) continue;
      Allocation& record = Make(records, address, bytes);
      map.Insert(record);
      expected.emplace(address, &record);
    }
    const std::uintptr_t probe = base + random() % span;
    const auto behind = expected.upper_bound(probe);
    Allocation* wanted = nullptr;
    if (behind != expected.begin()) {
      Allocation* candidate = std::prev(behind)->second;
      const std::uintptr_t last = candidate->facts.address + candidate->facts.bytes - 1;
      if (probe / kPage <= last / kPage) wanted = candidate;
    }
    ASSERT_EQ(map.Find(probe), wanted) << "at change " << change;
  }
}

TEST(PageMap, RefusesAddressesBeyondItsRange) {
  const PageMap map;
  EXPECT_EQ(map.Find(UINTPTR_MAX), nullptr);
  EXPECT_EQ(map.Find(std::uintptr_t{1} << 48), nullptr);
}

}  // namespace
}  // namespace sampan::core::page_map_test
