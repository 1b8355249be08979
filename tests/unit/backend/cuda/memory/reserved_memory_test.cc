// The addresses of blocks on GPUs, without a GPU.
#include "backend/cuda/memory/reserved_memory.h"

#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <memory>
#include <random>

namespace sampan::cuda::reserved_memory_test {
namespace {

constexpr std::size_t kUnit = ReservedMemory::kUnitBytes, kGap = 4096;

/// Keeps account of what is committed.
class Account final : public Backing {
 public:
  explicit Account(std::map<std::uintptr_t, std::size_t>& committed) : committed_(committed) {}
  Status Commit(std::uintptr_t address, std::size_t bytes) override {
    EXPECT_TRUE(committed_.emplace(address, bytes).second);
    return {};
  }
  void Decommit(std::uintptr_t address, std::size_t bytes) noexcept override {
    EXPECT_EQ(committed_[address], bytes);
    committed_.erase(address);
  }

 private:
  std::map<std::uintptr_t, std::size_t>& committed_;
};

// Small and large blocks, freed in any sequence: no block begins within a gap behind another one.
TEST(ReservedMemory, LeavesAGapBehindEachBlock) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  std::map<std::uintptr_t, std::size_t> committed;
  FaultPlan faults;
  ReservedMemory memory({.name = "memory",
                         .base = std::uintptr_t{1} << 44,
                         .reserved_bytes = 400 * kUnit,
                         .capacity_bytes = 100 * kUnit,
                         .gap_bytes = kGap,
                         .faults = &faults},
                        std::make_unique<Account>(committed));
  std::map<std::uintptr_t, MemoryBlock> blocks;
  for (int step = 0; step < 2000; ++step) {
    if (blocks.size() > 40 || (!blocks.empty() && random() % 3 == 0)) {
      const auto block = std::next(blocks.begin(), static_cast<std::ptrdiff_t>(random() % blocks.size()));
      memory.Free(block->second);
      blocks.erase(block);
      continue;
    }
    const std::size_t bytes = 1 + random() % (random() % 4 == 0 ? 2 * kUnit : 100'000);
    auto made = memory.Allocate(bytes, Pages::kBySize);
    ASSERT_TRUE(made.ok());
    const MemoryBlock block = *made;
    const auto added = blocks.emplace(block.address, block);
    ASSERT_TRUE(added.second);
    const auto next = std::next(added.first);
    if (next != blocks.end()) {
      EXPECT_LE(block.address + block.bytes + kGap, next->first);
    }
    if (added.first == blocks.begin()) continue;
    const MemoryBlock& before = std::prev(added.first)->second;
    EXPECT_LE(before.address + before.bytes + kGap, block.address);
  }
  for (const auto& [address, block] : blocks)
    memory.Free(block);
  EXPECT_LE(committed.size(), 1U);  // one unit for the next small block
  EXPECT_EQ(memory.Info().free_bytes, memory.Info().total_bytes);
}

}  // namespace
}  // namespace sampan::cuda::reserved_memory_test
