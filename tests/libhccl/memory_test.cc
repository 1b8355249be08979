// Memory that the program registers with communicators. Operators need none of it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "tests/support/acl_expect.h"
#include "world.h"

namespace sampan::test::memory_test {
namespace {

using namespace ::collectives;

constexpr std::size_t kBytes = 4096;

class RegisteredMemory : public testing::Test {
 protected:
  void SetUp() override {
    if (HasChip("ascend310-rc")) GTEST_SKIP() << "the chip has no communicators";
    Check(aclrtSetDevice(0));
    HcclRootInfo info;
    Check(HcclGetRootInfo(&info));
    Check(HcclCommInitRootInfo(1, &info, 0, &comm_));
    Check(aclrtMalloc(&memory_, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  }
  void TearDown() override {
    if (comm_ != nullptr) Check(HcclCommDestroy(comm_));
    if (memory_ != nullptr) Check(aclrtFree(memory_));
  }

  static bool HasChip(const std::string& name) {
    const char* const profile = std::getenv("SAMPAN_PROFILE");
    return profile != nullptr && name == profile;
  }
  static void Expect(HcclResult code, const char* part, HcclResult answer) {
    EXPECT_EQ(code, answer) << RecentMessage();
    EXPECT_NE(RecentMessage().find(part), std::string::npos) << RecentMessage();
  }
  static void ExpectGood(HcclResult answer) { EXPECT_EQ(HCCL_SUCCESS, answer) << RecentMessage(); }
  void* At(std::size_t offset) const { return static_cast<char*>(memory_) + offset; }

  HcclComm comm_ = nullptr;
  void* memory_ = nullptr;
};

TEST_F(RegisteredMemory, IsCheckedInOrder) {
  int other = 0;
  void* window = nullptr;
  Expect(HCCL_E_PTR, "comm is NULL", HcclCommRegister(nullptr, nullptr, 0, nullptr, 1));
  Expect(HCCL_E_PTR, "addr is NULL", HcclCommRegister(comm_, nullptr, 0, nullptr, 1));
  Expect(HCCL_E_PTR, "handle is NULL", HcclCommRegister(comm_, memory_, 0, nullptr, 1));
  Expect(HCCL_E_PARA, "no communicator", HcclCommRegister(&other, memory_, 0, &window, 1));
  Expect(HCCL_E_PARA, "flag is 1, it must be 0", HcclCommRegister(comm_, memory_, 0, &window, 1));
  Expect(HCCL_E_PARA, "size is 0", HcclCommRegister(comm_, memory_, 0, &window, 0));
  Expect(HCCL_E_PARA, "addr", HcclCommRegister(comm_, &other, 4, &window, 0));
  Expect(HCCL_E_PARA, "addr", HcclCommRegister(comm_, memory_, uint64_t{1} << 40, &window, 0));
  EXPECT_EQ(window, nullptr);
  ExpectGood(HcclCommRegister(comm_, memory_, kBytes, &window, 0));

  uint32_t ranks[] = {0}, wrong[] = {1};
  Expect(HCCL_E_PTR, "comm is NULL", HcclCommExchangeMem(nullptr, window, ranks, 1));
  Expect(HCCL_E_PTR, "handle is NULL", HcclCommExchangeMem(comm_, nullptr, ranks, 1));
  Expect(HCCL_E_PTR, "peerRanks is NULL", HcclCommExchangeMem(comm_, window, nullptr, 1));
  Expect(HCCL_E_PARA, "is no window", HcclCommExchangeMem(comm_, &other, ranks, 1));
  Expect(HCCL_E_PARA, "peerRankNum is 0", HcclCommExchangeMem(comm_, window, ranks, 0));
  Expect(HCCL_E_PARA, "peerRankNum is 2", HcclCommExchangeMem(comm_, window, ranks, 2));
  Expect(HCCL_E_PARA, "peerRanks is 1", HcclCommExchangeMem(comm_, window, wrong, 1));
  ExpectGood(HcclCommExchangeMem(comm_, window, ranks, 1));

  Expect(HCCL_E_PTR, "comm is NULL", HcclCommDeregister(nullptr, window));
  Expect(HCCL_E_PTR, "handle is NULL", HcclCommDeregister(comm_, nullptr));
  Expect(HCCL_E_PARA, "is no window", HcclCommDeregister(comm_, memory_));
  ExpectGood(HcclCommDeregister(comm_, window));
  Expect(HCCL_E_PARA, "was deregistered", HcclCommDeregister(comm_, window));
}

/// collective-25: A window is its communicator's, and ends with it.
TEST_F(RegisteredMemory, BelongsToItsCommunicator) {
  HcclRootInfo info;
  Check(HcclGetRootInfo(&info));
  HcclComm second = nullptr;
  Check(HcclCommInitRootInfo(1, &info, 0, &second));
  void *window = nullptr, *next = nullptr;
  ExpectGood(HcclCommRegister(second, memory_, kBytes, &window, 0));
  Expect(HCCL_E_PARA, "is no window", HcclCommDeregister(comm_, window));
  Check(HcclCommDestroy(second));
  Expect(HCCL_E_PARA, "is no communicator", HcclCommDeregister(second, window));
  ExpectGood(HcclCommRegister(comm_, memory_, kBytes, &next, 0));
  EXPECT_NE(window, next);
}

TEST_F(RegisteredMemory, SymmetricWindowsKnowTheChip) {
  int other = 0;
  HcclCommSymWindow window = nullptr, found = nullptr;
  std::size_t offset = 7;
  const auto make = [&](uint64_t size, uint32_t flag) {
    return HcclCommSymWinRegister(comm_, memory_, size, &window, flag);
  };
  Expect(HCCL_E_PTR, "comm is NULL", HcclCommSymWinRegister(nullptr, memory_, kBytes, &window, 1));
  Expect(HCCL_E_PTR, "addr is NULL", HcclCommSymWinRegister(comm_, nullptr, kBytes, &window, 1));
  Expect(HCCL_E_PTR, "winHandle is NULL", HcclCommSymWinRegister(comm_, memory_, kBytes, nullptr, 1));
  Expect(HCCL_E_PARA, "no communicator", HcclCommSymWinRegister(&other, memory_, kBytes, &window, 1));
  Expect(HCCL_E_PTR, "winHandle is NULL", HcclCommSymWinDeregister(nullptr));
  Expect(HCCL_E_PTR, "offset is NULL", HcclCommSymWinGet(comm_, memory_, 1, &found, nullptr));
  Expect(HCCL_E_PTR, "ptr is NULL", HcclSymWinGetPeerPointer(&other, 0, 0, nullptr));
  void* peer = &other;
  Expect(HCCL_E_NOT_SUPPORT, "kernels on the device", HcclSymWinGetPeerPointer(&other, 0, 0, &peer));
  EXPECT_EQ(peer, &other);
  if (!HasChip("ascend910c")) {
    Expect(HCCL_E_NOT_SUPPORT, "no symmetric windows", make(kBytes, 1));
    Expect(HCCL_E_NOT_SUPPORT, "no symmetric windows", HcclCommSymWinGet(comm_, memory_, 1, &found, &offset));
    Expect(HCCL_E_PARA, "is no window", HcclCommSymWinDeregister(&other));
    return;
  }
  Expect(HCCL_E_PARA, "flag is 0, it must be 1", make(kBytes, 0));
  Expect(HCCL_E_PARA, "size is 0", make(0, 1));
  Expect(HCCL_E_PARA, "allows 16 GB", make((uint64_t{16} << 30) + 1, 1));
  Expect(HCCL_E_PARA, "addr", make(uint64_t{16} << 30, 1));  // more than there is
  ExpectGood(make(kBytes, 1));
  Expect(HCCL_E_PARA, "is no window", HcclCommDeregister(comm_, window));
  Expect(HCCL_E_PARA, "size is 0", HcclCommSymWinGet(comm_, memory_, 0, &found, &offset));
  Expect(HCCL_E_NOT_FOUND, "4096 bytes at", HcclCommSymWinGet(comm_, At(1), kBytes, &found, &offset));
  EXPECT_EQ(offset, 7U);
  ExpectGood(HcclCommSymWinGet(comm_, At(100), kBytes - 100, &found, &offset));
  EXPECT_EQ(found, window);
  EXPECT_EQ(offset, 100U);
  ExpectGood(HcclCommSymWinDeregister(window));
  Expect(HCCL_E_PARA, "is no window", HcclCommSymWinDeregister(window));
  Expect(HCCL_E_NOT_FOUND, "1 bytes at", HcclCommSymWinGet(comm_, memory_, 1, &found, &offset));
}

TEST_F(RegisteredMemory, RangesKnowTheChip) {
  int other = 0;
  const auto set = [&](void* base, std::size_t size) {
    return HcclCommSetMemoryRange(comm_, base, size, 0, 0);
  };
  const auto activate = [&](void* at, std::size_t size) {
    return HcclCommActivateCommMemory(comm_, at, size, 0, &other, 0);
  };
  Expect(HCCL_E_PTR, "comm is NULL", HcclCommSetMemoryRange(nullptr, memory_, 1, 0, 0));
  Expect(HCCL_E_PTR, "baseVirPtr is NULL", set(nullptr, 1));
  Expect(HCCL_E_PTR, "baseVirPtr is NULL", HcclCommUnsetMemoryRange(comm_, nullptr));
  Expect(HCCL_E_PTR, "handle is NULL", HcclCommActivateCommMemory(comm_, memory_, 1, 0, nullptr, 0));
  Expect(HCCL_E_PTR, "virPtr is NULL", HcclCommDeactivateCommMemory(comm_, nullptr));
  if (!HasChip("ascend910c")) {
    Expect(HCCL_E_NOT_SUPPORT, "no ranges of memory", set(memory_, 1));
    Expect(HCCL_E_NOT_SUPPORT, "no ranges of memory", HcclCommUnsetMemoryRange(comm_, memory_));
    Expect(HCCL_E_NOT_SUPPORT, "no ranges of memory", activate(memory_, 1));
    Expect(HCCL_E_NOT_SUPPORT, "no ranges of memory", HcclCommDeactivateCommMemory(comm_, memory_));
    return;
  }
  Expect(HCCL_E_PARA, "alignment is 8", HcclCommSetMemoryRange(comm_, memory_, kBytes, 8, 0));
  Expect(HCCL_E_PARA, "flags is 2", HcclCommSetMemoryRange(comm_, memory_, kBytes, 0, 2));
  Expect(HCCL_E_PARA, "size is 0", set(memory_, 0));
  Expect(HCCL_E_PARA, "no range", activate(memory_, 64));
  ExpectGood(set(memory_, 1024));
  Expect(HCCL_E_PARA, "overlaps", set(At(1023), 10));
  ExpectGood(set(At(1024), 1024));
  Expect(HCCL_E_PARA, "offset is 4", HcclCommActivateCommMemory(comm_, memory_, 64, 4, &other, 0));
  Expect(HCCL_E_PARA, "flags is 1", HcclCommActivateCommMemory(comm_, memory_, 64, 0, &other, 1));
  Expect(HCCL_E_PARA, "size is 0", activate(memory_, 0));
  Expect(HCCL_E_PARA, "virPtr", activate(&other, 4));
  Expect(HCCL_E_PARA, "no range", activate(At(1000), 64));  // in two of them
  ExpectGood(activate(At(64), 64));
  Expect(HCCL_E_PARA, "overlaps", activate(At(127), 1));
  Expect(HCCL_E_PARA, "has active memory", HcclCommUnsetMemoryRange(comm_, memory_));
  Expect(HCCL_E_PARA, "no memory is active", HcclCommDeactivateCommMemory(comm_, memory_));
  ExpectGood(HcclCommDeactivateCommMemory(comm_, At(64)));
  ExpectGood(HcclCommUnsetMemoryRange(comm_, memory_));
  Expect(HCCL_E_PARA, "no range is set", HcclCommUnsetMemoryRange(comm_, memory_));
  ExpectGood(HcclCommUnsetMemoryRange(comm_, At(1024)));
}

}  // namespace
}  // namespace sampan::test::memory_test
