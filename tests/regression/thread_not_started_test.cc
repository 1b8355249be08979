// A thread that the system refused ended the process (std::terminate), or was an internal error (500000).
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/child_process.h"
#include "tests/support/memory_buffer.h"
#include "tests/support/stream.h"

// Each test changes the limits of its process, so each has one of its own.
namespace sampan::test::thread_not_started_test {
namespace {

constexpr uid_t kOtherUser = 65534;

/// While it lives, this process gets no more threads.
class NoMoreThreads {
 public:
  NoMoreThreads() {
    // The limit does not bind root.
    if (::geteuid() == 0) applied_ = ::setresuid(kOtherUser, kOtherUser, kOtherUser) == 0;
    ::getrlimit(RLIMIT_NPROC, &before_);
    rlimit none = before_;
    none.rlim_cur = 0;
    applied_ = applied_ && ::setrlimit(RLIMIT_NPROC, &none) == 0;
  }
  ~NoMoreThreads() { ::setrlimit(RLIMIT_NPROC, &before_); }
  NoMoreThreads(const NoMoreThreads&) = delete;
  NoMoreThreads& operator=(const NoMoreThreads&) = delete;
  bool applied() const { return applied_; }

 private:
  bool applied_ = true;
  rlimit before_{};
};

#define SKIP_IF_NOT_LIMITED(limit) \
  if (!(limit).applied()) GTEST_SKIP() << "this process cannot give up the right to start threads"

std::string RecentMessage() {
  const char* const message = aclGetRecentErrMsg();
  return message != nullptr ? message : "";
}

TEST(ThreadNotStarted, OfAGateFailsTheWait) {
  if (DoneInChild()) return;
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  Stream waiting, recording;
  DeviceBuffer word(64);
  aclrtNotify notify = nullptr;
  aclrtEvent event = nullptr;
  ASSERT_ACL(ACL_SUCCESS, aclrtCreateNotify(&notify, 0));
  ASSERT_ACL(ACL_SUCCESS, aclrtCreateEventExWithFlag(&event, ACL_EVENT_IPC));
  ASSERT_ACL(ACL_SUCCESS, aclrtMemset(word.data(), 64, 1, 64));
  {
    const NoMoreThreads limit;
    SKIP_IF_NOT_LIMITED(limit);
    EXPECT_ACL(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, aclrtWaitAndResetNotify(notify, waiting, 0));
    EXPECT_NE(RecentMessage().find("ulimit -u"), std::string::npos) << RecentMessage();
    EXPECT_ACL(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL,
               aclrtValueWait(word.data(), 7, ACL_STREAM_WAIT_VALUE_EQ, waiting));
    EXPECT_ACL(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, aclrtStreamWaitEvent(waiting, event));
    EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(waiting));
  }
  EXPECT_ACL(ACL_SUCCESS, aclrtWaitAndResetNotify(notify, waiting, 0));
  EXPECT_ACL(ACL_SUCCESS, aclrtRecordNotify(notify, recording));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(waiting));
}

TEST(ThreadNotStarted, OfAnEngineFailsTheCallThatOpensTheDevice) {
  if (DoneInChild()) return;
  std::uint32_t count = 0;
  ASSERT_ACL(ACL_SUCCESS, aclrtGetDeviceCount(&count));
  {
    const NoMoreThreads limit;
    SKIP_IF_NOT_LIMITED(limit);
    EXPECT_ACL(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, aclrtSetDevice(0));
    EXPECT_NE(RecentMessage().find("sampan-engine"), std::string::npos) << RecentMessage();
  }
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
}

TEST(ThreadNotStarted, OfAChosenScheduleFailsTheFirstCall) {
  if (DoneInChild({{"SAMPAN_SCHEDULE", "late"}})) return;
  {
    const NoMoreThreads limit;
    SKIP_IF_NOT_LIMITED(limit);
    EXPECT_ACL(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, aclrtSetDevice(0));
  }
  EXPECT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
}

void Ignore(aclrtExceptionInfo*) {}

TEST(ThreadNotStarted, OfExceptionCallbacksFailsTheRegistration) {
  if (DoneInChild()) return;
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  {
    const NoMoreThreads limit;
    SKIP_IF_NOT_LIMITED(limit);
    EXPECT_ACL(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, aclrtExceptionInfoCallbackRegister(Ignore));
  }
  EXPECT_ACL(ACL_SUCCESS, aclrtExceptionInfoCallbackRegister(Ignore));
}

TEST(ThreadNotStarted, OfAHostFunctionFailsItsStream) {
  if (DoneInChild()) return;
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  Stream stream;
  bool ran = false;
  const auto note = [](void* argument) { *static_cast<bool*>(argument) = true; };
  {
    const NoMoreThreads limit;
    SKIP_IF_NOT_LIMITED(limit);
    EXPECT_ACL(ACL_SUCCESS, aclrtLaunchHostFunc(stream, note, &ran));
    EXPECT_ACL(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, aclrtSynchronizeStream(stream));
    EXPECT_FALSE(ran);
    EXPECT_NE(RecentMessage().find("sampan-host"), std::string::npos) << RecentMessage();
  }
  EXPECT_ACL(ACL_SUCCESS, aclrtLaunchHostFunc(stream, note, &ran));
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
  EXPECT_TRUE(ran);
}

}  // namespace
}  // namespace sampan::test::thread_not_started_test
