// The memory of a value wait counted as used for a moment after its stream was synchronised: the thread that
// watches such waits still had it. Programs that freed or unmapped it at once ran out of memory (207001) or
// could not map again (107000).
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <span>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/child_process.h"
#include "tests/support/mapped_memory.h"
#include "tests/support/memory_buffer.h"
#include "tests/support/stream.h"

namespace sampan::test::value_wait_keeps_memory_test {
namespace {

constexpr int kRounds = 3'000;
/// A round takes 10 to 20 ms on a GPU that others use.
constexpr std::chrono::seconds kLongest{8};

/// Calls it with the number of the round.
template <typename Round>
void RepeatRounds(Round round) {
  const auto until = std::chrono::steady_clock::now() + kLongest;
  for (int i = 0; i < kRounds && !::testing::Test::HasFailure(); ++i) {
    if (std::chrono::steady_clock::now() >= until) return;
    round(i);
  }
}

/// Waits for a word until another stream writes it, and synchronises both.
void PassAWait(void* word, aclrtStream waiting, aclrtStream writing, std::uint64_t value) {
  const std::uint64_t closed = ~value;
  WriteDevice(word, std::as_bytes(std::span(&closed, 1)));
  ASSERT_ACL(ACL_SUCCESS, aclrtValueWait(word, value, ACL_STREAM_WAIT_VALUE_EQ, waiting));
  ASSERT_ACL(ACL_SUCCESS, aclrtValueWrite(word, value, 0, writing));
  ASSERT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(waiting));
  ASSERT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(writing));
}

TEST(ValueWaitKeepsMemory, OfNoFreedAllocation) {
  // No more than one allocation fits.
  if (DoneInChild({{"SAMPAN_DEVICE_MEMORY", "64M"}})) return;
  constexpr std::size_t kMemoryBytes = std::size_t{40} << 20;
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  Stream waiting, writing;
  RepeatRounds([&](int round) {
    void* memory = nullptr;
    ASSERT_ACL(ACL_SUCCESS, aclrtMalloc(&memory, kMemoryBytes, ACL_MEM_MALLOC_HUGE_FIRST))
        << "round " << round;
    PassAWait(memory, waiting, writing, static_cast<std::uint64_t>(round));
    ASSERT_ACL(ACL_SUCCESS, aclrtFree(memory));
  });
}

TEST(ValueWaitKeepsMemory, OfNoUnmappedAddress) {
  if (DoneInChild()) return;
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  Stream waiting, writing;
  Physical physical;
  Reserved reserved(kPiece);
  RepeatRounds([&](int round) {
    ASSERT_ACL(ACL_SUCCESS, aclrtMapMem(reserved.data(), kPiece, 0, physical, 0)) << "round " << round;
    PassAWait(reserved.data(), waiting, writing, static_cast<std::uint64_t>(round));
    ASSERT_ACL(ACL_SUCCESS, aclrtUnmapMem(reserved.data()));
  });
}

}  // namespace
}  // namespace sampan::test::value_wait_keeps_memory_test
