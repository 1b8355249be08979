// The memory registry: uses outlive frees, and threads that find and free at once agree.
#include "core/memory/memory_registry.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "backend/emulated/memory/arena.h"

namespace sampan::core::memory_registry_test {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr Place kDevice{PlaceKind::kDevice, 0};

class MemoryRegistryTest : public ::testing::Test {
 protected:
  MemoryRegistryTest() {
    auto arena = emulated::Arena::Create(
        {.name = "test", .capacity_bytes = 16 * kMiB, .reserved_from = &budget_, .faults = &faults_});
    arena_ = std::move(*arena);
    registry_.AddSource(*arena_);
  }
  void* Allocate(std::size_t bytes) { return *registry_.Allocate({*arena_, kDevice, bytes, bytes, "test"}); }
  Status Free(void* address) {
    return registry_.End("devPtr", address, MemoryOrigin::kDevice, Code::kParamInvalid);
  }
  static std::uintptr_t AddressOf(void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

  emulated::HostBudget budget_{64 * kMiB};
  FaultPlan faults_;
  std::unique_ptr<emulated::Arena> arena_;
  MemoryRegistry registry_{false};
};

TEST_F(MemoryRegistryTest, AUseKeepsFreedMemoryFromBeingHandedOutAgain) {
  void* block = Allocate(kMiB);
  AllocationUse use = registry_.Find(AddressOf(block));
  ASSERT_TRUE(use);
  EXPECT_TRUE(use->live());
  EXPECT_TRUE(Free(block).ok());
  EXPECT_FALSE(use->live());
  EXPECT_FALSE(registry_.Find(AddressOf(block))) << "freed memory is still found";
  EXPECT_EQ(arena_->Info().free_bytes, 15 * kMiB) << "memory in use went back";
  use = AllocationUse();
  EXPECT_EQ(arena_->Info().free_bytes, 16 * kMiB);
}

TEST_F(MemoryRegistryTest, TellsWhatIsWrongWithAFree) {
  auto* block = static_cast<char*>(Allocate(kMiB));
  EXPECT_NE(Free(block + 1).error().message.find("lies inside"), std::string::npos);
  EXPECT_NE(registry_.End("devPtr", block, MemoryOrigin::kPinned, Code::kParamInvalid)
                .error()
                .message.find("another kind"),
            std::string::npos);
  EXPECT_TRUE(Free(block).ok());
  EXPECT_NE(Free(block).error().message.find("freed already"), std::string::npos);
}

TEST_F(MemoryRegistryTest, RevivedMemoryHasTheFactsOfItsNewOwner) {
  for (const bool with_backtraces : {false, true}) {
    MemoryRegistry registry(with_backtraces);
    auto block = arena_->Allocate(128, Pages::kBySize);
    const auto keeper = std::make_shared<MemoryKeeper>();
    Allocation* record = *registry.Adopt({.address = block->address, .bytes = 128, .asked_bytes = 100},
                                         keeper, MemoryOrigin::kPool);
    const AllocationUse queued = registry.Find(block->address);
    std::uint64_t serial = 1;
    for (const std::size_t asked : {100, 128, 128, 97}) {
      EXPECT_TRUE(record->Park());
      EXPECT_FALSE(registry.Find(block->address));
      const bool changes = with_backtraces || record->facts.asked_bytes != asked;
      record = registry.Revive(*record, asked, false);
      const AllocationUse found = registry.Find(block->address);
      ASSERT_EQ(found.get(), record);
      EXPECT_EQ(record->facts.asked_bytes, asked);
      EXPECT_EQ(record->facts.serial, changes ? ++serial : serial);
      EXPECT_EQ(record->facts.backtrace.empty(), !with_backtraces);
      EXPECT_TRUE(queued->live()) << "what is queued still runs";
      EXPECT_EQ(queued->facts.asked_bytes, 100u) << "and its facts stay";
    }
    EXPECT_TRUE(
        registry.End("ptr", reinterpret_cast<void*>(block->address), MemoryOrigin::kPool, Code::kParamInvalid)
            .ok());
    EXPECT_EQ(keeper.use_count(), 2) << "kept for what is queued";
    arena_->Free(*block);
  }
}

TEST_F(MemoryRegistryTest, EndsAllOfADeviceAndNothingElse) {
  std::vector<void*> blocks;
  for (int i = 0; i < 50; ++i)
    blocks.push_back(Allocate(1000));
  void* other = *registry_.Allocate({*arena_, Place{PlaceKind::kDevice, 1}, 1000, 1000, "test"});
  const std::uint64_t newest = registry_.Newest();
  void* later = Allocate(1000);
  registry_.EndAllOf(0, newest);
  for (void* block : blocks)
    EXPECT_FALSE(registry_.Find(AddressOf(block)));
  EXPECT_TRUE(registry_.Find(AddressOf(later))) << "it was not there yet";
  EXPECT_TRUE(Free(later).ok());
  EXPECT_TRUE(registry_.Find(AddressOf(other)));
  EXPECT_TRUE(Free(other).ok());
  EXPECT_EQ(arena_->Info().free_bytes, 16 * kMiB);
}

TEST_F(MemoryRegistryTest, FindersAndFreersAgree) {
  constexpr int kRounds = 20000;
  std::atomic<void*> shared{nullptr};
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> found{0};
  std::vector<std::thread> finders;
  for (int t = 0; t < 3; ++t) {
    finders.emplace_back([&] {
      while (!stop.load()) {
        const auto address = AddressOf(shared.load());
        if (address == 0) continue;
        const AllocationUse use = registry_.Find(address);
        if (!use) continue;
        // Whatever was found contains the address and does not change while it is held.
        ASSERT_TRUE(use->Contains(address));
        ASSERT_EQ(use->facts.bytes, 5000U);
        found.fetch_add(1);
      }
    });
  }
  for (int round = 0; round < kRounds || found.load() == 0; ++round) {
    void* block = Allocate(5000);
    shared.store(block);
    ASSERT_TRUE(Free(block).ok());
  }
  stop.store(true);
  for (std::thread& finder : finders)
    finder.join();
  EXPECT_EQ(arena_->Info().free_bytes, 16 * kMiB) << "something was lost";
}

}  // namespace
}  // namespace sampan::core::memory_registry_test
