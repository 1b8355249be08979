// The host touches device memory: the process dies, and the last words name the allocation.
// Rules of docs/BEHAVIOUR.md: memory-4.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/child_process.h"
#include "tests/support/memory_buffer.h"
#include "tests/support/text_match.h"

namespace sampan::test::fault_message_test {
namespace {

constexpr std::size_t kBytes = 4242;
constexpr std::ptrdiff_t kOffset = 100;

#if defined(__has_feature)
#define SANITIZED_CLANG (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define SANITIZED_CLANG 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || SANITIZED_CLANG
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

/// The signal itself, or the exit of a sanitizer that has reported it as well.
void ExpectDeath(const ChildResult& child) {
  EXPECT_FALSE(child.timed_out) << child;
  EXPECT_TRUE(child.signal == SIGSEGV || (kSanitized && child.exit_code != 0)) << child;
}

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// An allocation whose address the parent can read in the child's output.
volatile char* MakeMemory() {
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(1));
  void* memory = nullptr;
  EXPECT_ACL(ACL_SUCCESS, aclrtMalloc(&memory, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  std::printf("memory=%s\n", Hex(memory).c_str());
  std::fflush(stdout);
  return static_cast<volatile char*>(memory);
}

std::string PrintedAddress(const ChildResult& child) {
  const std::string address = FindMatch(child.output, "memory=([0-9a-f]+)");
  EXPECT_NE(address, "") << child;
  return address;
}

/// Kept from the optimiser.
volatile char sink;

TEST(HostAccess, ReadDiesAndNamesTheAllocation) {
  if (InChild()) {
    sink = MakeMemory()[kOffset];
    return;
  }
  const ChildResult child = RunInChild({});
  ExpectDeath(child);
  EXPECT_TRUE(Has(child.errors, PrintedAddress(child))) << child;
  EXPECT_TRUE(Has(child.errors, "device 1")) << child;
  EXPECT_TRUE(Has(child.errors, "aclrtMalloc")) << child;
  EXPECT_TRUE(Has(child.errors, "byte " + std::to_string(kOffset))) << child;
  EXPECT_TRUE(Matches(child.errors, "42[0-9][0-9] bytes")) << child;
}

TEST(HostAccess, WriteDiesAndNamesTheAllocation) {
  if (InChild()) {
    MakeMemory()[kOffset] = 1;
    return;
  }
  const ChildResult child = RunInChild({});
  ExpectDeath(child);
  EXPECT_TRUE(Has(child.errors, PrintedAddress(child))) << child;
  EXPECT_TRUE(Has(child.errors, "aclrtMalloc")) << child;
}

TEST(HostAccess, SaysWhereTheMemoryWasMade) {
  if (InChild()) {
    sink = MakeMemory()[kOffset];
    return;
  }
  const ChildResult child = RunInChild({{"SAMPAN_BACKTRACE", "1"}});
  ExpectDeath(child);
  EXPECT_TRUE(Has(child.errors, ProgramPath())) << child;
}

TEST(HostAccess, OfFreedMemoryDies) {
  if (InChild()) {
    volatile char* memory = MakeMemory();
    EXPECT_ACL(ACL_SUCCESS, aclrtFree(const_cast<char*>(memory)));
    sink = memory[kOffset];
    return;
  }
  const ChildResult child = RunInChild({});
  ExpectDeath(child);
  EXPECT_TRUE(Has(child.errors, "device memory")) << child;
}

TEST(HostAccess, OtherFaultsAreNotBlamedOnDeviceMemory) {
  if (InChild()) {
    MakeMemory();
    volatile std::uintptr_t nowhere = 64;  // a constant would be refused by the compiler
    sink = *reinterpret_cast<volatile char*>(nowhere);
    return;
  }
  const ChildResult child = RunInChild({});
  ExpectDeath(child);
  EXPECT_FALSE(Has(child.errors, "device memory")) << child;
}

TEST(HostAccess, ASentSignalStillKills) {
  if (InChild()) {
    MakeMemory();
    raise(SIGSEGV);
    return;
  }
  const ChildResult child = RunInChild({});
  ExpectDeath(child);
  EXPECT_FALSE(Has(child.errors, "device memory")) << child;
}

TEST(HostAccess, ReachesAHandlerThatWasThereBefore) {
  if (InChild()) {
    // The program's handler was there before the runtime: it is told after the explanation.
    struct sigaction action = {};
    action.sa_handler = [](int) { _exit(77); };
    EXPECT_EQ(sigaction(SIGSEGV, &action, nullptr), 0);
    sink = MakeMemory()[kOffset];
    return;
  }
  const ChildResult child = RunInChild({});
  EXPECT_EQ(child.exit_code, 77) << child;
  EXPECT_TRUE(Has(child.errors, "device 1")) << child;
}

TEST(HostAccess, OfPinnedMemoryIsFine) {
  if (DoneInChild()) return;
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  const PinnedBuffer buffer(kBytes);
  std::memset(buffer.data(), 1, kBytes);
  EXPECT_EQ(*buffer.at(kBytes - 1), std::byte{1});
}

TEST(HostAccess, ByASystemCallIsAnErrorNotADeath) {
  if (DoneInChild()) return;
  volatile char* memory = MakeMemory();
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  EXPECT_EQ(write(pipe_ends[1], const_cast<const char*>(memory), 16), -1);
  EXPECT_EQ(errno, EFAULT);
  close(pipe_ends[0]);
  close(pipe_ends[1]);
}

}  // namespace
}  // namespace sampan::test::fault_message_test
