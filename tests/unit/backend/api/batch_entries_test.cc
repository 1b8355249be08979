// The entries of a batch and their allocations, found again in its segments.
#include "backend/api/batch_entries.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

namespace sampan::batch_entries_test {
namespace {

constexpr std::size_t kMax = BatchTask::kMaxSegmentBytes;

Segment At(std::uintptr_t dst, std::uintptr_t src, std::size_t bytes) {
  return {reinterpret_cast<std::byte*>(dst), reinterpret_cast<const std::byte*>(src), bytes};
}

TEST(BatchEntries, ArePutTogetherFromFullSegments) {
  constexpr std::uintptr_t kDst = 16 * kMax, kSrc = 64 * kMax;
  const std::vector<Segment> segments = {
      At(kDst, kSrc, kMax),                     // an entry of two full segments
      At(kDst + kMax, kSrc + kMax, kMax),       //
      At(kDst + 2 * kMax, kSrc + 2 * kMax, 5),  // ... and a rest
      At(kDst + 2 * kMax + 5, kSrc + 2 * kMax + 5,
         7),                            // adjacent to a segment that is not full: another entry
      At(kDst, kSrc + 9 * kMax, kMax),  // full, but the next one continues at one end only
      At(kDst + kMax, kSrc, 3),
  };
  std::vector<std::array<std::size_t, 3>> entries;
  ForEntries(segments, [&](const Segment& entry) {
    entries.push_back({reinterpret_cast<std::uintptr_t>(entry.dst),
                       reinterpret_cast<std::uintptr_t>(entry.src), entry.bytes});
  });
  const std::vector<std::array<std::size_t, 3>> expected = {
      {kDst, kSrc, 2 * kMax + 5},
      {kDst + 2 * kMax + 5, kSrc + 2 * kMax + 5, 7},
      {kDst, kSrc + 9 * kMax, kMax},
      {kDst + kMax, kSrc, 3},
  };
  EXPECT_EQ(entries, expected);
}

class NoOwner final : public AllocationOwner {
 public:
  void Reclaim(Allocation&) noexcept override {}
};

TEST(BatchEntries, AreInTheAllocationThatEnginesSeeThere) {
  constexpr std::ptrdiff_t kDelta = 0x1000'0000;
  NoOwner owner;
  std::array<Allocation, 2> memory;
  std::vector<AllocationUse> uses;
  uses.emplace_back();  // pageable memory has no record
  for (std::size_t i = 0; i < memory.size(); ++i) {
    memory[i].facts.address = 0x10'0000 * (i + 1);
    memory[i].facts.bytes = 0x1000;
    memory[i].facts.engine_delta = kDelta;
    memory[i].Begin(owner);
    ASSERT_TRUE(memory[i].TryUse());
    uses.emplace_back(&memory[i]);
  }
  const auto engine = [](std::uintptr_t address) {
    return reinterpret_cast<const std::byte*>(address + kDelta);
  };
  EXPECT_EQ(memory[1].ProgramView(engine(0x20'0010)), 0x20'0010U);
  EXPECT_EQ(AllocationAt(uses, engine(0x10'0000), nullptr), &memory[0]);
  EXPECT_EQ(AllocationAt(uses, engine(0x20'0fff), &memory[0]), &memory[1]);
  EXPECT_EQ(AllocationAt(uses, engine(0x20'1000), &memory[1]), nullptr) << "behind its end";
  EXPECT_EQ(AllocationAt(uses, engine(0x10'0000) - kDelta, nullptr), nullptr) << "the program's address";
  EXPECT_EQ(AllocationAt({}, engine(0x10'0000), &memory[0]), &memory[0]) << "found without a search";
}

}  // namespace
}  // namespace sampan::batch_entries_test
