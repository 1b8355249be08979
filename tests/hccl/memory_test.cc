// hccl::DeviceMem and hccl::HostMem: who owns what, and that everything is freed exactly once.
#include <gtest/gtest.h>

#include <type_traits>
#include <utility>

#include "hccl/platform/mem_device_pub.h"
#include "hccl/platform/mem_host_pub.h"
#include "tests/hccl/hccl_expect.h"
#include "tests/support/device_fixture.h"

namespace sampan::test::memory_test {
namespace {

using hccl::DeviceMem;
using hccl::HostMem;

static_assert(!std::is_convertible_v<decltype(nullptr), DeviceMem>);
static_assert(std::is_nothrow_move_constructible_v<DeviceMem> &&
              std::is_nothrow_move_constructible_v<HostMem>);
static_assert(std::is_same_v<decltype(std::declval<DeviceMem&>() = std::declval<DeviceMem>()), DeviceMem>);
static_assert(
    std::is_same_v<decltype(std::declval<DeviceMem&>() = std::declval<const DeviceMem&>()), DeviceMem&>);
static_assert(std::is_same_v<decltype(std::declval<HostMem&>() = std::declval<HostMem>()), HostMem>);
static_assert(std::is_convertible_v<DeviceMem, bool>);

constexpr u64 kBytes = 1 << 20;

/// Counts device memory: nothing is leaked, and nothing is freed twice (the runtime would say so).
class OwnershipTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    before_ = FreeBytes();
  }
  void TearDown() override {
    EXPECT_EQ(FreeBytes(), before_) << "device memory leaked";
    EXPECT_ACL(ACL_SUCCESS, aclrtGetLastError(ACL_RT_THREAD_LEVEL)) << "something was freed twice";
    DeviceTest::TearDown();
  }

  static std::size_t FreeBytes() {
    std::size_t free = 0, total = 0;
    EXPECT_ACL(ACL_SUCCESS, aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
    return free;
  }
  bool SomethingAllocated() const { return FreeBytes() != before_; }
  static bool IsAllocated(void* address) {
    char byte = 0;
    const bool is = aclrtMemcpy(&byte, 1, address, 1, ACL_MEMCPY_DEVICE_TO_HOST) == ACL_SUCCESS;
    aclrtGetLastError(ACL_RT_THREAD_LEVEL);
    return is;
  }

 private:
  std::size_t before_ = 0;
};

TEST_F(OwnershipTest, ADefaultOneIsEmpty) {
  const DeviceMem memory{};
  EXPECT_FALSE(memory);
  EXPECT_EQ(memory.ptr(), nullptr);
  EXPECT_EQ(memory.size(), 0u);
  EXPECT_TRUE(memory == DeviceMem(nullptr, 0));
}

TEST_F(OwnershipTest, AllocOwnsUntilTheEnd) {
  void* address = nullptr;
  {
    const DeviceMem memory = DeviceMem::alloc(kBytes);
    ASSERT_TRUE(memory);
    EXPECT_EQ(memory.size(), kBytes);
    address = memory.ptr();
    EXPECT_TRUE(IsAllocated(address));
  }
  EXPECT_FALSE(IsAllocated(address));
}

TEST_F(OwnershipTest, AllocWithACodeReplacesWhatWasThere) {
  DeviceMem memory = DeviceMem::alloc(kBytes);
  void* const first = memory.ptr();
  EXPECT_HCCL(HCCL_SUCCESS, DeviceMem::alloc(memory, 2 * kBytes));
  EXPECT_EQ(memory.size(), 2 * kBytes);
  EXPECT_NE(memory.ptr(), first);
  EXPECT_FALSE(IsAllocated(first));
  EXPECT_HCCL(HCCL_E_PARA, DeviceMem::alloc(memory, 0));
  EXPECT_HCCL(HCCL_E_MEMORY, DeviceMem::alloc(memory, u64{1} << 50));
  EXPECT_EQ(memory.size(), 2 * kBytes) << "a failure changes nothing";
  aclrtGetLastError(ACL_RT_THREAD_LEVEL);
}

TEST_F(OwnershipTest, AFailedAllocIsFalseAndKeepsTheSize) {
  const DeviceMem memory = DeviceMem::alloc(u64{1} << 50);
  EXPECT_FALSE(memory);
  EXPECT_EQ(memory.size(), u64{1} << 50);
  aclrtGetLastError(ACL_RT_THREAD_LEVEL);
}

TEST_F(OwnershipTest, CopiesAreViews) {
  DeviceMem owner = DeviceMem::alloc(kBytes);
  {
    const DeviceMem copy = owner;
    EXPECT_TRUE(copy == owner);
    const DeviceMem made = DeviceMem::create(owner.ptr(), kBytes);
    EXPECT_TRUE(made == owner);
    DeviceMem assigned{};
    assigned = owner;
    assigned.free();
    EXPECT_EQ(assigned.ptr(), owner.ptr()) << "free leaves a view alone";
  }
  EXPECT_TRUE(IsAllocated(owner.ptr()));
}

TEST_F(OwnershipTest, MovingTakesOver) {
  DeviceMem from = DeviceMem::alloc(kBytes);
  void* const address = from.ptr();
  DeviceMem to(std::move(from));
  EXPECT_FALSE(from);
  EXPECT_EQ(from.size(), 0u);
  EXPECT_EQ(to.ptr(), address);
  DeviceMem last{};
  last = std::move(to);
  EXPECT_FALSE(to);
  EXPECT_TRUE(IsAllocated(address));
  last.free();
  EXPECT_FALSE(IsAllocated(address));
  EXPECT_EQ(last.ptr(), nullptr);
  EXPECT_EQ(last.size(), kBytes) << "free keeps the size";
  last.free();
}

TEST_F(OwnershipTest, AssigningFreesWhatWasOwned) {
  DeviceMem memory = DeviceMem::alloc(kBytes);
  void* const first = memory.ptr();
  memory = DeviceMem::alloc(kBytes);
  EXPECT_FALSE(IsAllocated(first));
  void* const second = memory.ptr();
  DeviceMem other = DeviceMem::alloc(kBytes);
  memory = other;  // now a view
  EXPECT_FALSE(IsAllocated(second));
  memory.free();
  EXPECT_TRUE(IsAllocated(other.ptr()));
}

TEST_F(OwnershipTest, MoveAssignmentGivesAViewByValue) {
  DeviceMem first{}, second{};
  DeviceMem source = DeviceMem::alloc(kBytes);
  void* const address = source.ptr();
  second = (first = std::move(source));  // chained, as templates write it
  EXPECT_EQ(first.ptr(), address);
  EXPECT_EQ(second.ptr(), address);
  second.free();
  EXPECT_TRUE(IsAllocated(address));
}

TEST_F(OwnershipTest, SelfAssignmentChangesNothing) {
  DeviceMem memory = DeviceMem::alloc(kBytes);
  void* const address = memory.ptr();
  DeviceMem& same = memory;
  memory = same;
  EXPECT_EQ(memory.ptr(), address);
  memory = std::move(same);
  EXPECT_EQ(memory.ptr(), address);
  EXPECT_TRUE(IsAllocated(address));
}

TEST_F(OwnershipTest, AnOwnerNarrowedToItsOwnPartStillOwnsTheBlock) {
  DeviceMem memory = DeviceMem::alloc(kBytes);
  void* const address = memory.ptr();
  memory = memory.range(4096, 100);
  EXPECT_EQ(memory.ptr(), static_cast<u8*>(address) + 4096);
  EXPECT_EQ(memory.size(), 100u);
  EXPECT_TRUE(IsAllocated(memory.ptr()));
  const DeviceMem view = memory;
  memory = view;
  EXPECT_TRUE(IsAllocated(address));
}

TEST_F(OwnershipTest, AnOwnerByPointerFreesIt) {
  void* block = nullptr;
  ASSERT_ACL(ACL_SUCCESS, aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  { const DeviceMem owner(block, kBytes, true); }
  EXPECT_FALSE(IsAllocated(block));
}

TEST_F(OwnershipTest, RangesAreCheckedWithoutWrappingRound) {
  const DeviceMem memory = DeviceMem::alloc(kBytes);
  EXPECT_EQ(memory.range(0, kBytes).ptr(), memory.ptr());
  EXPECT_EQ(memory.range(10, 20).ptr(), static_cast<u8*>(memory.ptr()) + 10);
  EXPECT_TRUE(memory.range(kBytes, 0)) << "an empty part at the end is inside";
  EXPECT_FALSE(memory.range(kBytes, 1));
  EXPECT_FALSE(memory.range(1, kBytes));
  EXPECT_FALSE(memory.range(~u64{0}, 2)) << "the sum wraps round";
  EXPECT_FALSE(memory.range(2, ~u64{0}));
  EXPECT_EQ(memory.range(1, kBytes).size(), 0u);
  EXPECT_TRUE(MessageHas("offset 1 and size 1048576"));
  EXPECT_FALSE(DeviceMem().range(0, 0)) << "nothing has no parts";
}

class HostMemTest : public OwnershipTest, public ::testing::WithParamInterface<bool> {};

TEST_P(HostMemTest, OwnersFreeOnceAndViewsNever) {
  HostMem owner = HostMem::alloc(kBytes, GetParam());
  ASSERT_TRUE(owner);
  static_cast<char*>(owner.ptr())[kBytes - 1] = 7;
  {
    HostMem view = owner;
    view.free();
    EXPECT_EQ(view.ptr(), owner.ptr()) << "free leaves a view alone";
    HostMem part = owner.range(8, 8);
    part.free();
    HostMem made = HostMem::create(owner.ptr(), kBytes);
    made.free();
  }
  EXPECT_EQ(static_cast<char*>(owner.ptr())[kBytes - 1], 7);
  HostMem taken{};
  taken = std::move(owner);
  EXPECT_FALSE(owner);
  taken = taken.range(16, 16);
  static_cast<char*>(taken.ptr())[0] = 1;
  taken = HostMem::alloc(64, !GetParam());  // the other kind: freed in its own way
  EXPECT_TRUE(taken);
  taken.free();
  EXPECT_FALSE(taken);
  EXPECT_EQ(taken.size(), 64u);
  EXPECT_FALSE(HostMem::alloc(0, GetParam()));
  aclrtGetLastError(ACL_RT_THREAD_LEVEL);
  EXPECT_FALSE(HostMem().range(0, 0));
}

INSTANTIATE_TEST_SUITE_P(PinnedAndPlain, HostMemTest, ::testing::Bool());

}  // namespace
}  // namespace sampan::test::memory_test
