// Arenas: addresses, accounting, the two views, and what happens at the limits.
#include "backend/emulated/memory/arena.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

namespace sampan::emulated::arena_test {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

class ArenaTest : public ::testing::Test {
 protected:
  std::unique_ptr<Arena> Make(std::size_t capacity) {
    auto arena = Arena::Create({.name = "test arena",
                                .capacity_bytes = capacity,
                                .host_visible = true,
                                .reserved_from = &budget_,
                                .faults = &faults_});
    EXPECT_TRUE(arena.ok());
    return std::move(*arena);
  }

  HostBudget budget_{64 * kMiB};
  FaultPlan faults_;
};

TEST_F(ArenaTest, BothViewsShowTheSameBytes) {
  const auto arena = Make(8 * kMiB);
  const MemoryBlock block = *arena->Allocate(10000, Pages::kBySize);
  auto* user = reinterpret_cast<unsigned char*>(block.address);
  auto* engine = user + block.engine_delta;
  std::mt19937 random(1);
  for (int i = 0; i < 10000; ++i)
    user[i] = static_cast<unsigned char>(random());
  EXPECT_NE(user, engine);
  EXPECT_EQ(std::memcmp(user, engine, 10000), 0);
  arena->Free(block);
}

TEST_F(ArenaTest, FreedPagesComeBackEmptyAndTheirAddressesRest) {
  const auto arena = Make(8 * kMiB);
  const MemoryBlock first = *arena->Allocate(4096, Pages::kBySize);
  std::memset(reinterpret_cast<void*>(first.address), 0x5A, 4096);
  arena->Free(first);
  EXPECT_EQ(*reinterpret_cast<unsigned char*>(first.address), 0);
  for (int i = 0; i < 100; ++i) {
    const MemoryBlock next = *arena->Allocate(4096, Pages::kBySize);
    EXPECT_NE(next.address, first.address) << "a freed address was handed out again at once";
    arena->Free(next);
  }
}

/// memory-3: only after four times the capacity does an address come again.
TEST_F(ArenaTest, AddressesGoRoundOverFourTimesTheCapacity) {
  const auto arena = Make(8 * kMiB);
  std::vector<std::uint64_t> addresses;
  for (int i = 0; i < 64; ++i) {
    const MemoryBlock block = *arena->Allocate(kMiB, Pages::kBySize);
    addresses.push_back(block.address);
    arena->Free(block);
  }
  for (std::size_t i = 0; i < 32; ++i) {
    const auto again =
        std::find(addresses.begin() + static_cast<std::ptrdiff_t>(i) + 1, addresses.end(), addresses[i]);
    EXPECT_EQ(again - addresses.begin(), static_cast<std::ptrdiff_t>(i) + 32);
  }
}

TEST_F(ArenaTest, CountsExactlyAndEndsWithinItsCapacity) {
  const auto arena = Make(4 * kMiB);
  std::vector<MemoryBlock> blocks;
  for (;;) {
    auto block = arena->Allocate(kMiB, Pages::kBySize);
    if (!block.ok()) {
      const Status failure = block.TakeStatus();
      EXPECT_EQ(failure.code(), Code::kMemoryAllocation);
      EXPECT_NE(failure.error().message.find("1048576 bytes asked for, 0 of 4194304 free"), std::string::npos)
          << failure.error().message;
      break;
    }
    blocks.push_back(*block);
  }
  EXPECT_EQ(blocks.size(), 4U);
  EXPECT_EQ(arena->Info().free_bytes, 0U);
  for (const MemoryBlock& block : blocks)
    arena->Free(block);
  EXPECT_EQ(arena->Info().free_bytes, 4 * kMiB);
  EXPECT_EQ(budget_.left_bytes(), 64 * kMiB);
}

TEST_F(ArenaTest, ArenasShareTheBudgetOfTheHost) {
  const auto one = Make(48 * kMiB);
  const auto two = Make(48 * kMiB);
  const MemoryBlock block = *one->Allocate(40 * kMiB, Pages::kBySize);
  EXPECT_EQ(two->Info().free_bytes, 24 * kMiB);
  auto refused = two->Allocate(40 * kMiB, Pages::kBySize);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.code(), Code::kMemoryAllocation);
  one->Free(block);
  auto granted = two->Allocate(40 * kMiB, Pages::kBySize);
  ASSERT_TRUE(granted.ok());
  two->Free(*granted);
}

TEST_F(ArenaTest, FindsRoomThroughManyRoundsWithoutOverlaps) {
  const auto arena = Make(8 * kMiB);
  std::mt19937 random(3);
  std::vector<MemoryBlock> blocks;
  for (int round = 0; round < 20000; ++round) {
    if (!blocks.empty() && random() % 2 == 0) {
      const std::size_t victim = random() % blocks.size();
      arena->Free(blocks[victim]);
      blocks[victim] = blocks.back();
      blocks.pop_back();
      continue;
    }
    auto block = arena->Allocate(1 + random() % (random() % 8 == 0 ? 3 * kMiB : 20000), Pages::kBySize);
    if (!block.ok()) continue;
    for (const MemoryBlock& other : blocks) {
      ASSERT_TRUE(block->address + block->bytes <= other.address ||
                  other.address + other.bytes <= block->address);
    }
    blocks.push_back(*block);
  }
  for (const MemoryBlock& block : blocks)
    arena->Free(block);
  EXPECT_EQ(arena->Info().free_bytes, 8 * kMiB);
  // Everything grew together again: a block of the whole capacity fits.
  auto whole = arena->Allocate(8 * kMiB, Pages::kBySize);
  ASSERT_TRUE(whole.ok());
  arena->Free(*whole);
}

TEST_F(ArenaTest, FailsWhenOrderedTo) {
  const auto arena = Make(8 * kMiB);
  faults_.Arm(FaultKind::kMemory, 2);
  auto first = arena->Allocate(100, Pages::kBySize);
  EXPECT_TRUE(first.ok());
  EXPECT_FALSE(arena->Allocate(100, Pages::kBySize).ok());
  auto third = arena->Allocate(100, Pages::kBySize);
  EXPECT_TRUE(third.ok());
  arena->Free(*first);
  arena->Free(*third);
}

TEST_F(ArenaTest, HugePagesAreAlignedToThem) {
  const auto arena = Make(32 * kMiB);
  const MemoryBlock small = *arena->Allocate(4096, Pages::kBySize);
  const MemoryBlock large = *arena->Allocate(2 * kMiB, Pages::kBySize);
  const MemoryBlock forced = *arena->Allocate(4096, Pages::kHuge);
  EXPECT_EQ(small.page_bytes, 4096U);
  EXPECT_EQ(large.page_bytes, 2 * kMiB);
  EXPECT_EQ(large.address % (2 * kMiB), 0U);
  EXPECT_EQ(forced.address % (2 * kMiB), 0U);
  for (const MemoryBlock& block : {small, large, forced})
    arena->Free(block);
}

}  // namespace
}  // namespace sampan::emulated::arena_test
