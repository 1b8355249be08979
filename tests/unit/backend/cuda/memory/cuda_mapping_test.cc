// Mapped memory of GPUs without a GPU: what the driver is asked to do, and when.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "backend/cuda/memory/gpu_memory.h"
#include "backend/cuda/memory/mapped_ranges.h"
#include "backend/cuda/memory/reserved_memory.h"
#include "tests/unit/backend/cuda/driver_of_tests.h"

namespace sampan::cuda::cuda_mapping_test {
namespace {

constexpr std::size_t kUnit = ReservedMemory::kUnitBytes;

/// A driver that keeps account and refuses what a real one would.
struct Account {
  std::map<CuAddress, std::size_t> reserved, mapped;
  std::map<CuMemoryHandle, int> references;
  CuAddress next = CuAddress{1} << 44;
  bool access_fails = false;

  bool Free(CuAddress address, std::size_t bytes) const {
    const auto behind = mapped.lower_bound(address + bytes);
    return behind == mapped.begin() || std::prev(behind)->first + std::prev(behind)->second <= address;
  }
};
Account* account = nullptr;

Driver AccountingDriver() {
  Driver driver = DriverOfTests();
  driver.AddressReserve = [](CuAddress* address, std::size_t bytes, std::size_t, CuAddress wish,
                             unsigned long long) {
    if (bytes > std::size_t{1} << 40) return cu::kOutOfMemory;
    *address = wish != 0 && wish % kUnit == 0 ? wish : account->next;
    account->next += bytes + kUnit;
    EXPECT_TRUE(account->reserved.emplace(*address, bytes).second);
    return cu::kSuccess;
  };
  driver.AddressFree = [](CuAddress address, std::size_t bytes) {
    EXPECT_TRUE(account->Free(address, bytes)) << "something is mapped there";
    EXPECT_EQ(account->reserved.at(address), bytes);
    account->reserved.erase(address);
    return cu::kSuccess;
  };
  driver.MemMap = [](CuAddress address, std::size_t bytes, std::size_t, CuMemoryHandle, unsigned long long) {
    EXPECT_TRUE(account->Free(address, bytes)) << "something is mapped there";
    account->mapped.emplace(address, bytes);
    return cu::kSuccess;
  };
  driver.MemUnmap = [](CuAddress address, std::size_t bytes) {
    EXPECT_EQ(account->mapped.at(address), bytes);
    account->mapped.erase(address);
    return cu::kSuccess;
  };
  driver.MemSetAccess = [](CuAddress, std::size_t, const CuAccess*, std::size_t) {
    return account->access_fails ? cu::kInvalidValue : cu::kSuccess;
  };
  driver.MemRelease = [](CuMemoryHandle handle) {
    --account->references[handle];
    return cu::kSuccess;
  };
  return driver;
}

class NoBacking final : public Backing {
 public:
  Status Commit(std::uintptr_t, std::size_t) override { return {}; }
  void Decommit(std::uintptr_t, std::size_t) noexcept override {}
};

class MappedRangesTest : public ::testing::Test {
 protected:
  MappedRangesTest() { account = &notes; }
  ~MappedRangesTest() override {
    for (const auto& [handle, references] : notes.references)
      EXPECT_EQ(references, 0) << "handle " << handle;
    account = nullptr;
  }

  MemoryFile Memory(std::size_t bytes, std::int32_t device = 0) {
    const CuMemoryHandle handle = ++last_handle;
    ++notes.references[handle];
    return {.handle = std::make_shared<GpuMemory>(driver, handle, bytes), .bytes = bytes, .device = device};
  }
  AddressRange Reserved(std::size_t bytes) {
    auto range = mapped.Reserve(bytes, 0);
    EXPECT_TRUE(range.ok());
    return *range;
  }
  /// A range of a device in which something was mapped.
  AddressRange MappedAndUnmapped() {
    mapped.Attach(0, memory);
    const AddressRange range = Reserved(kUnit);
    EXPECT_TRUE(mapped.Map(range, Memory(kUnit), MapAccess::kReadWrite).ok());
    mapped.Unmap(range);
    return range;
  }
  std::vector<ReservedMemory::Range> Table() {
    std::vector<ReservedMemory::Range> ranges;
    memory.CopyRanges(ranges);
    return ranges;
  }

  Account notes;
  const Driver driver = AccountingDriver();
  CuMemoryHandle last_handle = 0;
  FaultPlan faults;
  ReservedMemory memory{{.name = "test memory",
                         .base = std::uintptr_t{1} << 40,
                         .reserved_bytes = 64 * kUnit,
                         .capacity_bytes = 16 * kUnit,
                         .faults = &faults},
                        std::make_unique<NoBacking>()};
  std::function<void()> sweep = [] {};
  MappedRanges mapped{driver, 2, [](std::int32_t) { return std::vector<CuAccess>(1); }, [this] { sweep(); }};
};

TEST_F(MappedRangesTest, ReservesMapsAndGivesBack) {
  const AddressRange range = Reserved(4 * kUnit);
  EXPECT_TRUE(mapped.Owns(range.address));
  EXPECT_TRUE(mapped.Owns(range.address + 4 * kUnit - 1));
  EXPECT_FALSE(mapped.Owns(range.address + 4 * kUnit));
  const AddressRange part{range.address + kUnit, kUnit, 0};
  ASSERT_TRUE(mapped.Map(part, Memory(kUnit), MapAccess::kReadWrite).ok());
  EXPECT_EQ(notes.mapped.at(part.address), kUnit);
  mapped.Unmap(part);
  EXPECT_TRUE(notes.mapped.empty());
  mapped.Release(range);
  EXPECT_TRUE(notes.reserved.empty());
  EXPECT_FALSE(mapped.Owns(range.address));
}

TEST_F(MappedRangesTest, RefusalsChangeNothing) {
  EXPECT_EQ(mapped.Reserve(std::size_t{1} << 50, 0).code(), Code::kMemoryAllocation);
  const AddressRange range = Reserved(2 * kUnit);
  EXPECT_EQ(
      mapped.Map({range.address, kUnit, 0}, {.descriptor = 3, .bytes = kUnit}, MapAccess::kReadWrite).code(),
      Code::kFeatureNotSupport)
      << "memory of another kind of device";
  notes.access_fails = true;
  EXPECT_EQ(mapped.Map({range.address, kUnit, 0}, Memory(kUnit), MapAccess::kReadWrite).code(),
            Code::kParamInvalid);
  EXPECT_FALSE(mapped.MapAnywhere(Memory(kUnit)).ok());
  EXPECT_TRUE(notes.mapped.empty());
  notes.access_fails = false;
  EXPECT_TRUE(mapped.Map({range.address, kUnit, 0}, Memory(kUnit), MapAccess::kReadWrite).ok());
  mapped.Unmap({range.address, kUnit, 0});
  mapped.Release(range);
}

/// cuda-6: the kernels of descriptors find an operand in one line of this table.
TEST_F(MappedRangesTest, TheTableHasNeighboursAsOneAndRightsApart) {
  mapped.Attach(0, memory);
  const AddressRange first = Reserved(4 * kUnit);
  const auto part = [&](std::size_t i) { return AddressRange{first.address + i * kUnit, kUnit, 0}; };
  for (std::size_t i = 0; i < 3; ++i)
    ASSERT_TRUE(mapped.Map(part(i), Memory(kUnit), MapAccess::kReadWrite).ok());
  ASSERT_TRUE(mapped.Map(part(3), Memory(kUnit, 1), MapAccess::kReadWrite).ok());  // another device's
  auto table = Table();
  ASSERT_EQ(table.size(), 1u);
  EXPECT_EQ(table[0].begin, first.address);
  EXPECT_EQ(table[0].end, first.address + 3 * kUnit);
  const std::uint64_t version = memory.version();
  mapped.SetAccess(part(1), MapAccess::kRead);
  EXPECT_NE(memory.version(), version);
  table = Table();
  ASSERT_EQ(table.size(), 3u);
  EXPECT_EQ(table[1].begin, part(1).address);
  EXPECT_EQ(table[1].end, (part(1).address + kUnit) | kReadOnlyRange);
  mapped.SetAccess(part(1), MapAccess::kNone);
  EXPECT_EQ(Table().size(), 2u);
  mapped.SetAccess(part(1), MapAccess::kReadWrite);
  EXPECT_EQ(Table().size(), 1u);
  for (std::size_t i = 0; i < 4; ++i)
    mapped.Unmap(part(i));
  EXPECT_TRUE(Table().empty());
  mapped.Release(first);
}

TEST_F(MappedRangesTest, ADeviceThatOpensLaterKnowsWhatIsMapped) {
  const AddressRange range = Reserved(kUnit);
  ASSERT_TRUE(mapped.Map(range, Memory(kUnit), MapAccess::kRead).ok());
  mapped.Attach(0, memory);
  ASSERT_EQ(Table().size(), 1u);
  EXPECT_EQ(Table()[0].end, (range.address + kUnit) | kReadOnlyRange);
  mapped.Unmap(range);
  mapped.Release(range);
  EXPECT_TRUE(notes.reserved.empty());
}

TEST_F(MappedRangesTest, WhatKernelsMayTouchStaysMapped) {
  auto held = memory.HoldFreed();
  const AddressRange range = MappedAndUnmapped();
  EXPECT_TRUE(Table().empty());
  EXPECT_EQ(notes.mapped.size(), 1u);
  EXPECT_EQ(mapped.Map(range, Memory(kUnit), MapAccess::kReadWrite).code(), Code::kParamInvalid);
  mapped.Release(range);
  EXPECT_EQ(notes.reserved.size(), 1u);
  held = nullptr;
  EXPECT_TRUE(memory.Allocate(4096, Pages::kBySize).ok());  // the next allocation releases it
  EXPECT_TRUE(notes.mapped.empty());
  EXPECT_TRUE(notes.reserved.empty());
}

/// A kernel that is about to complete, also one that has nothing to do with what is unmapped.
TEST_F(MappedRangesTest, MappingAgainWaitsForKernels) {
  auto held = memory.HoldFreed();
  const AddressRange range = MappedAndUnmapped();
  int sweeps = 0;
  sweep = [&] {
    if (++sweeps == 3) held = nullptr;
  };
  EXPECT_TRUE(mapped.Map(range, Memory(kUnit), MapAccess::kReadWrite).ok());
  EXPECT_EQ(sweeps, 3);
  mapped.Unmap(range);
  mapped.Release(range);
}

TEST_F(MappedRangesTest, ImportsAreMappedWholeAndSeenInPart) {
  mapped.Attach(0, memory);
  MemoryFile file = Memory(kUnit);
  file.offset = 8192;
  file.bytes = 100;
  auto seen = mapped.MapAnywhere(file);
  ASSERT_TRUE(seen.ok());
  EXPECT_EQ(seen->address % kUnit, 8192u);
  EXPECT_EQ(seen->bytes, 100u);
  ASSERT_EQ(Table().size(), 1u);
  EXPECT_EQ(Table()[0].end - Table()[0].begin, 100u);
  mapped.UnmapAnywhere(*seen);
  EXPECT_TRUE(notes.mapped.empty());
  EXPECT_TRUE(mapped.Owns(seen->address)) << "not reused soon";
  for (int i = 0; i < 200; ++i) {
    auto other = mapped.MapAnywhere(file);
    ASSERT_TRUE(other.ok());
    mapped.UnmapAnywhere(*other);
  }
  EXPECT_FALSE(mapped.Owns(seen->address));
  EXPECT_LE(notes.reserved.size(), 65u);
}

TEST_F(MappedRangesTest, HiddenBlocksHaveNoOwner) {
  auto block = memory.Allocate(kUnit, Pages::kHuge);
  ASSERT_TRUE(block.ok());
  EXPECT_EQ(Table().size(), 1u);
  memory.Hide(*block);
  EXPECT_TRUE(Table().empty());
  memory.Free(*block);
  EXPECT_EQ(memory.Info().free_bytes, 16 * kUnit);
}

}  // namespace
}  // namespace sampan::cuda::cuda_mapping_test
