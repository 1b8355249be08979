// pthread_cancel during a blocking call ended the process: unwinding met a function that may not throw.
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "acl/acl.h"
#include "tests/support/acl_expect.h"
#include "tests/support/child_process.h"
#include "tests/support/stream.h"

namespace sampan::test::cancelled_thread_test {
namespace {

struct Waiting {
  aclrtStream stream = nullptr;
  aclrtContext context = nullptr;
  std::atomic<bool> begun{false}, returned{false};
  aclError code = ACL_ERROR_FAILURE;
};

void* Synchronize(void* argument) {
  Waiting& waiting = *static_cast<Waiting*>(argument);
  EXPECT_ACL(ACL_SUCCESS, aclrtSetCurrentContext(waiting.context));
  waiting.begun.store(true);
  waiting.code = aclrtSynchronizeStream(waiting.stream);
  waiting.returned.store(true);
  for (;;)
    ::pthread_testcancel();
}

void ExpectCancelledAfterTheCall(const Variables& variables) {
  if (DoneInChild(variables)) return;
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  Stream stream;
  Waiting waiting;
  waiting.stream = stream;
  ASSERT_ACL(ACL_SUCCESS, aclrtGetCurrentContext(&waiting.context));
  pthread_t thread{};
  {
    Gate gate(stream);
    ASSERT_EQ(::pthread_create(&thread, nullptr, &Synchronize, &waiting), 0);
    while (!waiting.begun.load())
      std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // until it sleeps there
    ASSERT_EQ(::pthread_cancel(thread), 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_FALSE(waiting.returned.load());
  }
  void* result = nullptr;
  ASSERT_EQ(::pthread_join(thread, &result), 0);
  EXPECT_EQ(result, PTHREAD_CANCELED);
  EXPECT_TRUE(waiting.returned.load()) << "the call ends first";
  EXPECT_ACL(ACL_SUCCESS, waiting.code);
  EXPECT_ACL(ACL_SUCCESS, aclrtSynchronizeStream(stream));
}

TEST(CancelledThread, EndsAfterASynchronisation) {
  ExpectCancelledAfterTheCall({});
}

TEST(CancelledThread, EndsAfterASynchronisationUnderTheLateSchedule) {
  ExpectCancelledAfterTheCall({{"SAMPAN_SCHEDULE", "late"}});
}

void* WaitForACallback(void* argument) {
  Waiting& waiting = *static_cast<Waiting*>(argument);
  waiting.begun.store(true);
  waiting.code = aclrtProcessReport(100);
  waiting.returned.store(true);
  for (;;)
    ::pthread_testcancel();
}

TEST(CancelledThread, EndsAfterWaitingForACallback) {
  if (DoneInChild()) return;
  ASSERT_ACL(ACL_SUCCESS, aclrtSetDevice(0));
  Waiting waiting;
  pthread_t thread{};
  ASSERT_EQ(::pthread_create(&thread, nullptr, &WaitForACallback, &waiting), 0);
  while (!waiting.begun.load())
    std::this_thread::yield();
  ASSERT_EQ(::pthread_cancel(thread), 0);
  void* result = nullptr;
  ASSERT_EQ(::pthread_join(thread, &result), 0);
  EXPECT_EQ(result, PTHREAD_CANCELED);
  EXPECT_TRUE(waiting.returned.load());
}

}  // namespace
}  // namespace sampan::test::cancelled_thread_test
