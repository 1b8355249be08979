// The first call of a process, which makes the runtime, with memory that runs out on the way.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>

#include "acl/acl.h"
#include "tests/fault/allocation_fault.h"

namespace sampan::fault::first_use_test {
namespace {

enum ExitCode { kFailureHappened = 0, kNothingFailed = 10, kWrongCode = 11, kNoRecovery = 12, kNoCopy = 13 };
constexpr std::uint64_t kMaxAttempts = 5000;

struct FirstCall {
  const char* name;
  aclError (*call)();
};

bool CopiesWork() {
  if (aclrtSetDevice(0) != ACL_SUCCESS) return false;
  void* device = nullptr;
  std::uint32_t out = 0x12345678, back = 0;
  return aclrtMalloc(&device, sizeof(out), ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS &&
         aclrtMemcpy(device, sizeof(out), &out, sizeof(out), ACL_MEMCPY_HOST_TO_DEVICE) == ACL_SUCCESS &&
         aclrtMemcpy(&back, sizeof(back), device, sizeof(back), ACL_MEMCPY_DEVICE_TO_HOST) == ACL_SUCCESS &&
         back == out && aclrtFree(device) == ACL_SUCCESS;
}

/// Runs in a child of its own.
ExitCode Try(const FirstCall& first, std::uint64_t n) {
  ArmAllocation(n);
  const aclError code = first.call();
  const bool happened = !AllocationArmed();
  ArmAllocation(0);
  if (code != ACL_SUCCESS) {
    const bool shortage = code == ACL_ERROR_BAD_ALLOC || code == ACL_ERROR_RT_MEMORY_ALLOCATION ||
                          code == ACL_ERROR_RT_RESOURCE_ALLOC_FAIL || code == ACL_ERROR_RT_DEV_SETUP_ERROR;
    if (!happened || !shortage) return kWrongCode;
    if (first.call() != ACL_SUCCESS) return kNoRecovery;
  }
  if (!CopiesWork()) return kNoCopy;
  return happened ? kFailureHappened : kNothingFailed;
}

class FirstUse : public ::testing::TestWithParam<FirstCall> {};

TEST_P(FirstUse, RecoversFromEveryFailure) {
  for (std::uint64_t n = 1; n <= kMaxAttempts; ++n) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) _exit(Try(GetParam(), n));
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status)) << "failure of allocation " << n << ": signal " << WTERMSIG(status);
    if (WEXITSTATUS(status) == kNothingFailed) {
      RecordProperty("failures", static_cast<int>(n - 1));
      return;
    }
    ASSERT_EQ(WEXITSTATUS(status), kFailureHappened) << "failure of allocation " << n;
  }
  FAIL() << "no end after " << kMaxAttempts << " failures";
}

INSTANTIATE_TEST_SUITE_P(Api, FirstUse,
                         ::testing::Values(FirstCall{"aclrtSetDevice", [] { return aclrtSetDevice(0); }},
                                           FirstCall{"aclInit", [] { return aclInit(nullptr); }},
                                           FirstCall{"aclrtGetDeviceCount",
                                                     [] {
                                                       std::uint32_t count = 0;
                                                       return aclrtGetDeviceCount(&count);
                                                     }},
                                           FirstCall{"aclrtCreateContext",
                                                     [] {
                                                       aclrtContext context = nullptr;
                                                       return aclrtCreateContext(&context, 0);
                                                     }},
                                           FirstCall{"aclrtPointerGetAttributes",
                                                     [] {
                                                       aclrtPtrAttributes attributes = {};
                                                       return aclrtPointerGetAttributes(&attributes,
                                                                                        &attributes);
                                                     }}),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace sampan::fault::first_use_test
