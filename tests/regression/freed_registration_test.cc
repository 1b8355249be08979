// Registered memory that was freed with a copy queued ended the process with a bare signal in an engine.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/child_process.h"
#include "tests/support/memory_buffer.h"
#include "tests/support/stream.h"
#include "tests/support/text_match.h"

namespace sampan::test::freed_registration_test {
namespace {

/// Enough that free() gives the pages back, and that engines share the copy.
constexpr std::size_t kBytes = std::size_t{4} << 20, kPage = 4096;

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

std::string Number(const void* address) {
  return "0x" + Hex(address);
}

/// Registers the memory, queues work on it behind a gate, takes the memory away and lets the work go.
template <typename Submit, typename TakeAway>
void FreeTooEarly(void* memory, Submit submit, TakeAway take_away) {
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  std::memset(memory, 0x5a, kBytes);
  void* device_view = nullptr;
  ASSERT_ACL(ACL_SUCCESS, aclrtHostRegister(memory, kBytes, ACL_HOST_REGISTER_MAPPED, &device_view));
  const DeviceBuffer device(kBytes);
  std::printf("host=%s device=%s\n", Number(memory).c_str(), Number(device.data()).c_str());
  std::fflush(stdout);
  const Stream stream;
  Gate gate(stream);
  submit(device.data(), stream.get());
  take_away();
  gate.Open();
  aclrtSynchronizeStream(stream);
}

void ExpectNamed(const ChildResult& child, int signal, const std::string& copy) {
  EXPECT_FALSE(child.timed_out) << child;
  EXPECT_TRUE(child.signal == signal || (kSanitized && child.exit_code != 0)) << child;
  const std::string host = FindMatch(child.output, "host=(0x[0-9a-f]+)");
  EXPECT_TRUE(Matches(child.errors,
                      "registration #[0-9]+ \\[" + host + ", \\+4194304 bytes, made by aclrtHostRegister"))
      << child;
  EXPECT_TRUE(Matches(child.errors, "the copy is task 2 of stream [0-9]+ on device 0: " + copy)) << child;
  EXPECT_TRUE(Matches(child.errors, "aclrtHostUnregister before")) << child;
}

void* Map(int file) {
  const int flags = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  void* const memory = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, flags, file, 0);
  EXPECT_NE(memory, MAP_FAILED);
  return memory;
}

TEST(FreedRegistration, FreeIsNamedWithTheCopy) {
  if (kSanitized) GTEST_SKIP() << "the sanitizer's free() keeps the pages";
  if (InChild()) {
    void* const memory = std::aligned_alloc(kPage, kBytes);
    FreeTooEarly(
        memory,
        [&](void* device, aclrtStream stream) {
          EXPECT_ACL(ACL_SUCCESS,
                     aclrtMemcpyAsync(device, kBytes, memory, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
        },
        [&] { std::free(memory); });
    return;
  }
  const ChildResult child = RunInChild({{"SAMPAN_ENGINES", "4"}});
  ExpectNamed(child, SIGSEGV,
              "4194304 bytes from " + FindMatch(child.output, "host=(0x[0-9a-f]+)") + " to " +
                  FindMatch(child.output, "device=(0x[0-9a-f]+)"));
}

TEST(FreedRegistration, UnmappedDestinationIsNamedWithItsRows) {
  if (InChild()) {
    void* const memory = Map(-1);
    FreeTooEarly(
        memory,
        [&](void* device, aclrtStream stream) {
          EXPECT_ACL(ACL_SUCCESS, aclrtMemcpy2dAsync(memory, 8192, device, 8192, 1000, 500,
                                                     ACL_MEMCPY_DEVICE_TO_HOST, stream));
        },
        [&] { ::munmap(memory, kBytes); });
    return;
  }
  const ChildResult child = RunInChild({});
  ExpectNamed(child, SIGSEGV,
              "500 rows of 1000 bytes from " + FindMatch(child.output, "device=(0x[0-9a-f]+)") + " to " +
                  FindMatch(child.output, "host=(0x[0-9a-f]+)"));
}

TEST(FreedRegistration, TruncatedFileIsNamedWithTheCopy) {
  if (InChild()) {
    const int file = ::memfd_create("freed_registration", MFD_CLOEXEC);
    ASSERT_EQ(::ftruncate(file, kBytes), 0);
    void* const memory = Map(file);
    FreeTooEarly(
        memory,
        [&](void* device, aclrtStream stream) {
          EXPECT_ACL(ACL_SUCCESS,
                     aclrtMemcpyAsync(device, kBytes, memory, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
        },
        [&] { EXPECT_EQ(::ftruncate(file, 0), 0); });
    return;
  }
  ExpectNamed(RunInChild({}), SIGBUS, "4194304 bytes from 0x");
}

}  // namespace
}  // namespace sampan::test::freed_registration_test
